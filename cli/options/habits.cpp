// SPDX-License-Identifier: Apache-2.0
#include "options/habits.hpp"

#include "options/habit_table.hpp"
#include "options/parse.hpp"
#include "options/usage.hpp"

#include "terrazzo/error.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace terrazzo::cli {
namespace {

bool contains_word(std::string_view words, std::string_view word) {
  for (std::size_t at = 0; at <= words.size();) {
    std::size_t const end = std::min(words.find(' ', at), words.size());
    if (words.substr(at, end - at) == word) { return true; }
    at = end + 1;
  }
  return false;
}

bool looks_like_option(std::string_view word) { return word.size() > 1 && word[0] == '-' && !are_numbers(word); }

// "convert" of "terrazzo convert FILE"; empty for other texts.
std::string_view command_in(std::string_view text) {
  constexpr std::string_view kProgram = "terrazzo ";
  std::size_t const at = text.find(kProgram);
  if (at == std::string_view::npos) { return ""; }
  std::string_view const rest = text.substr(at + kProgram.size());
  return rest.substr(0, rest.find_first_of(" \""));
}

bool has_command(CLI::App const& app, std::string_view name) {
  auto const commands = app.get_subcommands({});
  return std::ranges::any_of(commands, [&](CLI::App const* one) { return one->get_name() == name; });
}

// "0 1 2 3" and "[0, 1, 2, 3]", as rio takes a box, with commas only.
std::string with_commas(std::string_view value) {
  std::string result;
  for (char const c : value) {
    bool const separates = c == ' ' || c == ',' || c == '[' || c == ']';
    if (!separates) {
      result += c;
    } else if (!result.empty() && !result.ends_with(',')) {
      result += ',';
    }
  }
  if (result.ends_with(',')) { result.pop_back(); }
  return result;
}

// Whether an option with values of this form (CLI11's name of their type) takes numbers only.
bool takes_numbers(std::string_view form) {
  return form == "N" || form == "R" || form == "W,H" || form.find("MIN,") != std::string_view::npos ||
         form.starts_with("COL,");
}

// GDAL's spelling of a value becomes ours.
std::string our_value(std::string_view option, std::string const& value) {
  std::string lower = lower_case(value);
  if (option == "--compression") {
    std::ranges::replace(lower, '_', '-');
    return lower == "raw" ? "none" : lower;
  }
  if (option == "--resampling" || option == "--overview-resampling") {
    std::ranges::replace(lower, '_', '-');
    if (lower == "near") { return "nearest"; }
    if (lower == "med") { return "median"; }
    return lower == "cubicspline" ? "cubic-spline" : lower;
  }
  if (option == "--dtype") { return lower == "byte" ? "uint8" : lower; }
  if (option == "--rule") { return lower == "average" ? "mean" : lower; }
  if (option == "--bbox" || option == "--range") { return with_commas(value); }
  return value;
}

std::string for_shell(std::string const& value) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:/=+@%-";
  return value.find_first_not_of(kPlain) == std::string::npos && !value.empty() ? value : "'" + value + "'";
}

// The command line in parts: the innermost command, its name, and the words after it.
struct Line {
  CLI::App const* app;
  CLI::App const* command;
  std::string name;  // "terrazzo bench read"
  std::span<char const* const> words;
};

Line divide(CLI::App const& app, std::span<char const* const> words) {
  Line line{&app, &app, app.get_name(), words};
  while (!line.words.empty()) {
    auto const below = line.command->get_subcommands({});
    auto const next =
        std::ranges::find_if(below, [&](CLI::App const* one) { return one->get_name() == line.words.front(); });
    if (next == below.end()) { break; }
    line.command = *next;
    line.name += " " + line.command->get_name();
    line.words = line.words.subspan(1);
  }
  return line;
}

CLI::Option const* option_of(CLI::App const& command, std::string_view name) {
  return command.get_option_no_throw(std::string(name.substr(0, name.find(' '))));
}

// The habits found on one command line.
class Translation {
 public:
  explicit Translation(Line const& line) : line_(line) {}

  // The index after the habit at `at`; nullopt if the word is not a habit that this command can answer.
  std::optional<std::size_t> take(std::size_t at);

  void throw_if_any();
  void note_file(std::string_view word) {
    if (file_.empty()) { file_ = word; }
  }
  void note_output(std::string_view word) { output_ = word; }

 private:
  struct Given {
    std::string name;
    std::vector<std::string> values;
    std::size_t next = 0;  // index of the word after the values
  };

  [[nodiscard]] Given given(std::size_t at, int count) const;
  [[nodiscard]] Habit const* habit_for(std::string_view name, std::size_t at) const;
  [[nodiscard]] bool exists(std::string_view ours) const;
  void take_creation_option(Given const& creation);
  void apply(std::string_view ours, std::string const& name, std::vector<std::string> const& values);
  void add_typed(std::string word);
  void explain(std::string const& name, std::string const& text);
  void merge_blocks();
  [[nodiscard]] std::string fill(std::string_view ours, std::vector<std::string> const& values) const;
  [[nodiscard]] std::string elsewhere(std::string_view name, std::size_t at) const;

  Line line_;
  std::string file_, output_;
  std::vector<std::string> names_;    // typed options, without repetition
  std::vector<std::string> typed_;    // our options
  std::vector<std::string> defaults_; // typed options that are the default here
  std::string other_command_;
  std::vector<std::string> explanations_;  // "-tap: ..."
  std::vector<std::string> bands_;
  std::string block_width_, block_height_;
};

Translation::Given Translation::given(std::size_t at, int count) const {
  std::string_view const word = line_.words[at];
  std::size_t const equals = word.starts_with("--") ? word.find('=') : std::string_view::npos;
  Given result{std::string(word.substr(0, equals)), {}, at + 1};
  if (equals != std::string_view::npos) {
    result.values.emplace_back(word.substr(equals + 1));
    return result;
  }
  std::size_t const most = count == kUpToFourNumbers ? 4 : static_cast<std::size_t>(count);
  for (; result.values.size() < most && result.next < line_.words.size(); ++result.next) {
    std::string_view const value = line_.words[result.next];
    if (looks_like_option(value) || (count == kUpToFourNumbers && !are_numbers(value))) { break; }
    result.values.emplace_back(value);
    if (std::size_t const at_equals = value.find('='); word == "--config" && at_equals != std::string_view::npos) {
      result.values = {std::string(value.substr(0, at_equals)), std::string(value.substr(at_equals + 1))};
      return {result.name, result.values, result.next + 1};
    }
  }
  return result;
}

bool Translation::exists(std::string_view ours) const {
  if (ours.starts_with("--")) { return option_of(*line_.command, ours) != nullptr; }
  if (ours.starts_with("terrazzo ")) { return has_command(*line_.app, command_in(ours)); }
  return true;
}

Habit const* Translation::habit_for(std::string_view name, std::size_t at) const {
  for (Habit const& habit : kHabits) {
    if (!contains_word(habit.theirs, name) || !exists(habit.ours)) { continue; }
    if (!habit.only.empty() && habit.only != line_.command->get_name()) { continue; }
    if (!habit.when.empty()) {
      Given const typed = given(at, habit.values);
      if (typed.values.empty() || !contains_word(habit.when, lower_case(typed.values.front()))) { continue; }
    }
    return &habit;
  }
  return nullptr;
}

// Values that our option cannot take (50%, a long WKT) and missing ones are replaced by the form of the value.
std::string Translation::fill(std::string_view ours, std::vector<std::string> const& values) const {
  std::string const option(ours.substr(0, ours.find(' ')));
  CLI::Option const* const target = ours.starts_with("--") ? option_of(*line_.command, ours) : nullptr;
  std::string const form = target == nullptr ? option : option + " " + target->get_type_name();
  if (target != nullptr && ours == option && target->get_items_expected_max() > 0) { return form; }
  std::string result;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i] != '$' || i + 1 == ours.size()) {
      result += ours[i];
      continue;
    }
    char const which = ours[++i];
    if (which == 'F') {
      result += file_.empty() ? "FILE" : for_shell(file_);
      continue;
    }
    if (which == 'O') {
      result += output_.empty() ? "PATH" : for_shell(output_);
      continue;
    }
    std::string value;
    if (which == '*') {
      for (std::string const& one : values) { value += (value.empty() ? "" : ",") + one; }
    } else if (static_cast<std::size_t>(which - '1') < values.size()) {
      value = values[static_cast<std::size_t>(which - '1')];
    }
    value = our_value(option, value);
    bool const no_size = option == "--target-size" && value == "0";
    bool const no_number = target != nullptr && takes_numbers(target->get_type_name()) && !are_numbers(value);
    if (value.empty() || value.size() > 80 || no_size || no_number) {
      if (target != nullptr) { return form; }
      value = "VALUE";
    }
    result += for_shell(value);
  }
  return result;
}

void Translation::apply(std::string_view ours, std::string const& name, std::vector<std::string> const& values) {
  if (std::ranges::find(names_, name) == names_.end()) { names_.push_back(name); }
  std::string typed = name;
  for (std::string const& value : values) { typed += " " + value; }
  if (ours.empty()) {
    defaults_.push_back(typed);
  } else if (ours.starts_with("--")) {
    add_typed(fill(ours, values));
  } else if (ours.starts_with("terrazzo ")) {
    other_command_ = ours;  // filled when the file is known
  } else {
    explain(name, fill(ours, values));
  }
}

// A text that several options have in common is told once.
void Translation::explain(std::string const& name, std::string const& text) {
  bool const is_known =
      std::ranges::any_of(explanations_, [&](std::string const& told) { return told.ends_with(": " + text); });
  if (!is_known) { explanations_.push_back(name + ": " + text); }
}

// An option that takes one value is shown once, with the last value; `--band 1` is shown once, too.
void Translation::add_typed(std::string word) {
  constexpr std::string_view kFirstBand = "--band 1 ";
  auto const is_band = [](std::string const& one) { return one.starts_with("--band "); };
  if (word.starts_with(kFirstBand) && std::ranges::any_of(typed_, is_band)) { word.erase(0, kFirstBand.size()); }
  std::string_view const name = std::string_view(word).substr(0, word.find(' '));
  CLI::Option const* const option = option_of(*line_.command, name);
  bool const repeats = option != nullptr && option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  if (!repeats) {
    std::erase_if(typed_,
                  [&](std::string const& one) { return one == name || one.starts_with(std::string(name) + " "); });
  }
  typed_.push_back(std::move(word));
}

void Translation::take_creation_option(Given const& creation) {
  std::string const item = creation.values.empty() ? "" : creation.values.front();
  std::size_t const equals = item.find('=');
  std::string const key = lower_case(item.substr(0, equals));
  std::string const value = equals == std::string::npos ? "" : item.substr(equals + 1);
  std::string lower = lower_case(value);
  std::string const typed = creation.name + " " + item;
  if (item.empty()) {
    apply("--compression $1", creation.name, {});
    return;
  }
  auto const remember = [&] {
    if (std::ranges::find(names_, creation.name) == names_.end()) { names_.push_back(creation.name); }
  };
  if (key == "blockxsize" || key == "blockysize") {
    remember();
    (key == "blockxsize" ? block_width_ : block_height_) = value;
    return;
  }
  for (CreationHabit const& habit : kCreation) {
    bool const yes = lower == "true" || lower == "on" || lower == "1" || lower == "yes";
    bool const no = lower == "false" || lower == "off" || lower == "0" || lower == "no";
    bool const same =
        habit.value.empty() || habit.value == lower || (habit.value == "yes" && yes) || (habit.value == "no" && no);
    if (!contains_word(habit.key, key) || !same || !exists(habit.ours)) { continue; }
    remember();
    if (habit.ours.empty()) {
      defaults_.push_back(typed);
    } else {
      apply(habit.ours, creation.name, {value});
    }
    return;
  }
  remember();
  explain(typed, "no option of this command does that; leave it out, or use gdal_translate");
}

// Tiles have a width and a height; GDAL's BLOCKYSIZE alone is the height of strips.
void Translation::merge_blocks() {
  if (block_width_.empty() && block_height_.empty()) { return; }
  if (block_width_.empty() && exists("--strips")) {
    add_typed("--strips " + block_height_);
    return;
  }
  std::string const size = block_width_.empty() ? block_height_
                           : block_height_.empty() || block_width_ == block_height_
                               ? block_width_
                               : block_width_ + "x" + block_height_;
  add_typed("--tile-size " + size);
}

// For an option of other programs that only other commands have.
std::string Translation::elsewhere(std::string_view name, std::size_t at) const {
  for (Habit const& habit : kHabits) {
    if (!contains_word(habit.theirs, name) || !habit.ours.starts_with("--") || !habit.only.empty()) { continue; }
    std::string commands;
    Line other = line_;
    for (CLI::App const* command : line_.app->get_subcommands({})) {
      if (option_of(*command, habit.ours) == nullptr) { continue; }
      commands += (commands.empty() ? "" : ", ") + command->get_name();
      other.command = command;
    }
    if (commands.empty()) { continue; }
    return in_quotes(Translation(other).fill(habit.ours, given(at, habit.values).values)) +
           " is an option of these commands: " + commands;
  }
  return "";
}

std::optional<std::size_t> Translation::take(std::size_t at) {
  std::string const name = given(at, 0).name;
  if (contains_word(kCreationNames, name) && option_of(*line_.command, "--compression") != nullptr) {
    Given const creation = given(at, 1);
    if (creation.values.empty() || creation.values.front().find('=') != std::string::npos || name != "--profile") {
      take_creation_option(creation);
      return creation.next;
    }
  }
  Habit const* const habit = habit_for(name, at);
  if (habit == nullptr) {
    if (name.starts_with("--")) { return std::nullopt; }  // perhaps a misspelt option of ours
    std::string const where = elsewhere(name, at);
    if (where.empty()) { return std::nullopt; }
    throw Error(ErrorKind::usage, line_.name + " has no option " + name + "; " + where);
  }
  Given typed = given(at, habit->values);
  if (habit->ours == "--scale $*" && typed.values.size() == 2) {
    typed.values.insert(typed.values.end(), {"0", "255"});  // GDAL's default
  }
  if (habit->ours == "--bands $*" && !typed.values.empty()) {
    if (std::ranges::find(names_, name) == names_.end()) { names_.push_back(name); }
    bands_.push_back(typed.values.front());
  } else {
    apply(habit->ours, name, typed.values);
  }
  return typed.next;
}

void Translation::throw_if_any() {
  if (names_.empty()) { return; }
  if (!bands_.empty()) { add_typed(fill("--bands $*", bands_)); }
  merge_blocks();
  std::string told = line_.name + (names_.size() == 1 ? " has no option " : " has no options ");
  for (std::size_t i = 0; i < names_.size(); ++i) {
    told += (i == 0 ? "" : i + 1 == names_.size() ? " and " : ", ") + names_[i];
  }
  for (std::string const& one : explanations_) {
    std::size_t const colon = one.find(": ");
    bool const names_one = names_.size() == 1 && one.substr(0, colon) == names_.front();
    told += "; " + (names_one ? one.substr(colon + 2) : one);
  }
  std::string const rest = explanations_.empty() ? "" : "for the rest, ";
  if (!other_command_.empty()) {
    std::string whole = fill(other_command_, {});
    CLI::App const& other = *line_.app->get_subcommand(std::string(command_in(other_command_)));
    for (std::string const& word : typed_) {
      if (option_of(other, word) != nullptr) { whole += " " + word; }
    }
    throw Error(ErrorKind::usage, told + "; " + rest + "type " + in_quotes(whole));
  }
  std::string line, surplus;
  for (std::string const& word : typed_) { line += (line.empty() ? "" : " ") + word; }
  for (std::string const& word : defaults_) { surplus += (surplus.empty() ? "" : ", ") + in_quotes(word); }
  if (!line.empty()) { told += "; " + rest + "type " + in_quotes(line); }
  if (!surplus.empty()) {
    told += (line.empty() ? "; leave out " : ", and leave out ") + surplus + ", the default here";
  }
  throw Error(ErrorKind::usage, std::move(told));
}

}  // namespace

namespace {

void refuse_word_of_others(Line const& line) {
  std::string const word = line.words.empty() ? "" : line.words.front();
  for (WordHabit const& habit : kWords) {
    if (habit.command != line.command->get_name() || !contains_word(habit.words, word)) { continue; }
    std::error_code unknown;
    if (std::filesystem::exists(word, unknown)) { return; }
    throw Error(ErrorKind::usage, line.name + " has no command " + in_quotes(word) + "; type " + in_quotes(habit.ours));
  }
}

// "-oa.tif": a path, not a misspelt option (-output).
bool is_attached_output(CLI::App const& command, std::string_view word) {
  std::string_view const path = word.substr(2);
  return word.starts_with("-o") && option_of(command, "-o") != nullptr &&
         (path == "-" || path.find_first_of("./") != std::string_view::npos);
}

}  // namespace

std::vector<std::string> translate_habits(CLI::App const& app, std::span<char const* const> words) {
  std::vector<std::string> result(words.begin(), words.end());
  Line const line = divide(app, words);
  if (line.command == &app) { return result; }
  refuse_word_of_others(line);
  std::size_t const before = words.size() - line.words.size();
  Translation translation(line);
  for (std::size_t at = 0; at < line.words.size();) {
    std::string_view const word = line.words[at];
    if (word == "--") { break; }
    if (!looks_like_option(word)) {
      if (word != "-") { translation.note_file(word); }
      ++at;
      continue;
    }
    bool const is_long = word.starts_with("--");
    std::size_t const equals = is_long ? word.find('=') : std::string_view::npos;
    std::string_view const name = word.substr(0, equals);
    CLI::Option const* option = is_long || word.size() == 2 ? option_of(*line.command, name) : nullptr;
    if (option == nullptr) {
      auto const* const synonym = std::ranges::find(kAccepted, name, &Synonym::theirs);
      if (synonym != std::end(kAccepted)) { option = option_of(*line.command, synonym->ours); }
      if (option != nullptr) { result[before + at].replace(0, name.size(), synonym->ours); }
    }
    if (option == nullptr && (name == "--version" || name == "-V")) { return {"--version"}; }
    if (option != nullptr) {
      if (option->check_lname("out") && equals == std::string_view::npos && at + 1 < line.words.size()) {
        translation.note_output(line.words[at + 1]);
      }
      at += option->get_items_expected_max() > 0 && equals == std::string_view::npos ? 2 : 1;
      continue;
    }
    auto const next = translation.take(at);
    // CLI11 would take the letters of "-hidden" for options: -h prints the help.
    bool const is_cluster = !next && !is_long && word.size() > 2;
    if (is_cluster && !is_attached_output(*line.command, word)) {
      throw unknown_option(app, *line.command, line.name, word);
    }
    at = next.value_or(at + 1);
  }
  translation.throw_if_any();
  return result;
}

std::string command_for_habit(CLI::App const& app, std::string_view typed) {
  std::string name = lower_case(typed);
  if (name.ends_with(".py")) { name.resize(name.size() - 3); }
  if (name.starts_with("rio-")) { name.erase(0, 4); }
  for (CommandHabit const& habit : kCommands) {
    if (!contains_word(habit.theirs, name)) { continue; }
    std::string_view const command = command_in(habit.ours);
    if (!command.empty() && !has_command(app, command)) { continue; }
    // A hint that shows --bbox is for builds that have it.
    if (habit.ours.find("--bbox") != std::string_view::npos &&
        app.get_subcommand(std::string(command))->get_option_no_throw("--bbox") == nullptr) {
      continue;
    }
    return std::string(habit.ours);
  }
  return name.ends_with(".tif") || name.ends_with(".tiff") ? "type \"terrazzo info " + std::string(typed) + "\"" : "";
}

}  // namespace terrazzo::cli
