// SPDX-License-Identifier: Apache-2.0
#include "manual/man_page.hpp"

#include "terrazzo/version.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

namespace terrazzo::cli {
namespace {

constexpr std::string_view kExitStatus = R"(.SH EXIT STATUS
.TP
.B 0
done
.TP
.B 1
a defect of terrazzo
.TP
.B 2
a wrong command line, or a request outside the file
.TP
.B 3
a file cannot be read or written
.TP
.B 4
the file violates its format, or is not a valid COG
.TP
.B 5
this build cannot decode the file
.TP
.B 6
a memory limit
.TP
.B 7
the GPU or its driver
.TP
.B 8
cancelled
)";

// Text that roff prints as it is.
std::string roff(std::string_view text) {
  std::string result;
  for (char const c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  if (result.starts_with('.') || result.starts_with('\'')) { result.insert(0, "\\&"); }
  return result;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return text;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

std::string synopsis(CommandFacts const& command) {
  std::string line = bold(command.name());
  if (!command.commands.empty()) { return line + " " + italic("COMMAND") + " [" + italic("OPTIONS") + "]"; }
  for (OptionFacts const& option : command.options) {
    std::string part;
    if (option.positional) {
      part = italic(option.names.front()) + (option.repeats ? "..." : "");
    } else if (option.required) {
      part = bold(option.names.back()) + " " + italic(option.value);
    } else {
      continue;
    }
    line += " " + (option.required ? part : "[" + part + "]");
  }
  return line + " [" + italic("OPTIONS") + "]";
}

std::string option_entry(OptionFacts const& option) {
  std::string names;
  for (std::string const& name : option.names) {
    names += (names.empty() ? "" : ", ") + (option.positional ? italic(name) : bold(name));
  }
  if (!option.value.empty()) { names += " " + italic(option.value); }
  return ".TP\n" + names + "\n" + roff(option.description) + "\n";
}

std::string options_section(CommandFacts const& command) {
  std::vector<std::string> groups;
  for (OptionFacts const& option : command.options) {
    if (std::ranges::find(groups, option.group) == groups.end()) { groups.push_back(option.group); }
  }
  std::string text;
  for (std::string const& group : groups) {
    bool const main = group == "Options";
    if (!main) { text += ".SS " + roff(group) + "\n"; }
    for (OptionFacts const& option : command.options) {
      if (option.group == group) { text += option_entry(option); }
    }
  }
  return text.empty() ? "" : ".SH OPTIONS\n" + text;
}

// Footers are text, headings that end in a colon ("Examples:"), and indented lines that keep their breaks.
std::string footer_section(std::string const& footer, bool heading_is_open) {
  std::string text;
  bool keeps_breaks = false, starts_paragraph = true;
  auto const end_block = [&] {
    if (keeps_breaks) { text += ".fi\n.RE\n"; }
    keeps_breaks = false;
  };
  std::istringstream lines(footer);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) {
      end_block();
      starts_paragraph = true;
    } else if (line == "Examples:" || line == "Try:") {
      end_block();
      text += ".SH EXAMPLES\n";
      heading_is_open = true;
      starts_paragraph = true;
    } else if (line.starts_with("  ")) {
      if (!keeps_breaks) { text += ".PP\n.RS 2\n.nf\n"; }
      keeps_breaks = true;
      text += roff(line.substr(2)) + "\n";
    } else {
      end_block();
      if (!heading_is_open) { text += ".SH NOTES\n"; }
      heading_is_open = true;
      if (starts_paragraph) { text += ".PP\n"; }
      starts_paragraph = false;
      text += roff(line) + "\n";
    }
  }
  end_block();
  return text;
}

}  // namespace

std::string man_page_name(CommandFacts const& command) { return command.name("-"); }

std::string man_page(CommandFacts const& program, CommandFacts const& command) {
  std::string const name = man_page_name(command);
  std::string text = ".\\\" Made by \"terrazzo man\" from the options of the command line.\n.TH " + roff(upper(name)) +
                     " 1 \"\" \"terrazzo " + std::string(version()) + "\" \"Terrazzo\"\n.SH NAME\n" + roff(name) +
                     " \\- " + roff(command.description) + "\n.SH SYNOPSIS\n" + synopsis(command) +
                     "\n.SH DESCRIPTION\n" + roff(command.description) +
                     (command.description.ends_with('.') ? "" : ".") + "\n";
  text += footer_section(command.footer, true);
  if (!command.commands.empty()) {
    text += ".SH COMMANDS\n";
    for (CommandFacts const& below : command.commands) {
      text += ".TP\n" + bold(below.path.back()) + "\n" + roff(below.description) + "\n";
    }
  }
  text += options_section(command);
  text += kExitStatus;
  text += ".SH SEE ALSO\n";
  std::vector<std::string> pages;
  for (CommandFacts const* other : all_commands(program)) {
    if (other != &command) { pages.push_back(bold(man_page_name(*other)) + "(1)"); }
  }
  for (std::size_t i = 0; i < pages.size(); ++i) { text += pages[i] + (i + 1 < pages.size() ? ",\n" : "\n"); }
  return text;
}

}  // namespace terrazzo::cli
