// SPDX-License-Identifier: Apache-2.0
#include "manual/facts.hpp"

#include "options/options.hpp"

namespace terrazzo::cli {
namespace {

ValueKind kind_of(CLI::Option const& option, OptionFacts const& facts) {
  if (option.get_items_expected_max() == 0) { return ValueKind::none; }
  if (!facts.choices.empty()) { return ValueKind::choice; }
  if (facts.value == "FOLDER") { return ValueKind::folder; }
  if (facts.value == "PATH" || facts.value == "FILE" || (facts.positional && facts.names.front() == "FILE")) {
    return ValueKind::path;
  }
  return ValueKind::text;
}

OptionFacts facts_of(CLI::Option const& option) {
  OptionFacts facts;
  facts.positional = option.get_positional();
  if (facts.positional) {
    facts.names.push_back(option.get_name());
  } else {
    for (std::string const& name : option.get_snames()) { facts.names.push_back("-" + name); }
    for (std::string const& name : option.get_lnames()) { facts.names.push_back("--" + name); }
  }
  facts.value = option.get_type_name();
  facts.choices = choices_of(option);
  facts.kind = kind_of(option, facts);
  if (facts.kind == ValueKind::none) { facts.value.clear(); }
  facts.description = option.get_description();
  facts.group = option.get_group();
  facts.required = option.get_required();
  facts.repeats = option.get_items_expected_max() > 1;
  return facts;
}

CommandFacts facts_below(CLI::App const& app, std::vector<std::string> path) {
  CommandFacts facts;
  path.push_back(app.get_name());
  facts.path = path;
  facts.description = app.get_description();
  facts.footer = app.get_footer();
  for (CLI::Option const* option : app.get_options()) {
    if (!option->get_group().empty()) { facts.options.push_back(facts_of(*option)); }
  }
  for (CLI::App const* command : app.get_subcommands({})) {
    if (!command->get_group().empty()) { facts.commands.push_back(facts_below(*command, path)); }
  }
  return facts;
}

void collect(CommandFacts const& facts, std::vector<CommandFacts const*>& all) {
  all.push_back(&facts);
  for (CommandFacts const& command : facts.commands) { collect(command, all); }
}

}  // namespace

std::string CommandFacts::name(std::string const& separator) const {
  std::string joined;
  for (std::string const& word : path) { joined += (joined.empty() ? "" : separator) + word; }
  return joined;
}

CommandFacts facts_of(CLI::App const& app) { return facts_below(app, {}); }

std::vector<CommandFacts const*> all_commands(CommandFacts const& facts) {
  std::vector<CommandFacts const*> all;
  collect(facts, all);
  return all;
}

}  // namespace terrazzo::cli
