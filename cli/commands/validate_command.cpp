// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "commands/each_file.hpp"
#include "interrupt.hpp"
#include "options/options.hpp"
#include "options/standard_input.hpp"
#include "output/exit_code.hpp"
#include "output/format.hpp"
#include "output/json_output.hpp"
#include "output/option_names.hpp"
#include "output/progress_bar.hpp"

#include "terrazzo/validate.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace terrazzo::cli {
namespace {

constexpr std::uint32_t kFindingsShown = 10;    // per rule, in the text
constexpr std::uint32_t kFindingsInJson = 100;  // per rule

constexpr char kFooter[] =
    R"(Checks the layout: directories before tiles, overviews from small to large, every tile inside the file, no
overlapping tiles, correct leaders and trailers. Applies all rules of GDAL's validator in its full check, and more. The
exit code is 0 if every file is a valid COG, and 4 if one is not.

Examples:
  terrazzo validate dem.tif
  terrazzo validate --decode *.tif           also decode every tile
  terrazzo validate --strict dem.tif         warnings fail too
  terrazzo validate --json dem.tif           for scripts
  terrazzo validate --rules                  list the rules that findings name)";

struct Options {
  CommonOptions common;
  std::vector<std::string> files;
  bool decode = false, strict = false, rules = false;
  std::uint32_t max_findings = 0;
};

bool has(Validation const& result, Severity severity) {
  return std::ranges::any_of(result.findings, [&](Finding const& f) { return f.severity == severity; });
}

bool passes(Validation const& result, Options const& options) {
  return result.valid_cog && !(options.strict && has(result, Severity::warning));
}

Json tile_to_json(std::optional<TileId> const& tile) {
  if (!tile) { return {}; }
  return {{"column", tile->column}, {"row", tile->row}, {"plane", tile->plane}};
}

Json to_json(std::string const& file, Validation const& result, bool ok) {
  Json findings = Json::array();
  for (Finding const& finding : result.findings) {
    findings.push_back({{"severity", to_string(finding.severity)},
                        {"rule", finding.rule},
                        {"message", with_option_names(finding.message)},
                        {"ifd", or_null(finding.ifd)},
                        {"tile", tile_to_json(finding.tile)},
                        {"offset", or_null(finding.offset)},
                        {"known_to_gdal", finding.known_to_gdal}});
  }
  return {{"file", file},
          {"ok", ok},
          {"valid_cog", result.valid_cog},
          {"valid_tiff", result.valid_tiff},
          {"tiles", result.tiles},
          {"sparse_tiles", result.sparse_tiles},
          {"header_bytes", result.header_bytes},
          {"slack_bytes", result.slack_bytes},
          {"findings", std::move(findings)},
          {"findings_left_out", result.findings_left_out}};
}

std::string verdict(Validation const& result) {
  if (!result.valid_cog) { return result.valid_tiff ? "NOT a valid COG" : "NOT a whole TIFF file"; }
  return has(result, Severity::warning) ? "a valid COG, with warnings" : "a valid COG";
}

void print_text(std::string const& file, Validation const& result, bool quiet) {
  std::cout << printable_name(file) << ": " << verdict(result);
  if (result.tiles > 0) {
    std::cout << " (" << format_count(result.tiles) << (result.tiles == 1 ? " tile" : " tiles");
    if (result.sparse_tiles > 0) { std::cout << ", " << format_count(result.sparse_tiles) << " of them empty"; }
    std::cout << ", " << format_bytes(result.header_bytes) << " of header)";
  }
  std::cout << '\n';
  std::uint64_t hidden = result.findings_left_out;
  std::uint32_t of_this_rule = 0;
  std::string const* rule = nullptr;
  for (Finding const& finding : result.findings) {
    if (quiet && finding.severity != Severity::error) { continue; }
    of_this_rule = rule != nullptr && *rule == finding.rule ? of_this_rule + 1 : 1;
    rule = &finding.rule;
    if (of_this_rule > kFindingsShown) {
      ++hidden;
      continue;
    }
    std::cout << "  " << to_string(finding.severity) << "  " << finding.rule << ": "
              << printable(with_option_names(finding.message));
    if (finding.ifd) { std::cout << " [IFD " << *finding.ifd << ']'; }
    std::cout << '\n';
  }
  if (hidden > 0) { std::cout << "  ... and " << format_count(hidden) << " more findings (--json, --max-findings)\n"; }
}

FileResult run_file(Options const& options, std::string const& file) {
  ProgressBar bar("validate", options.common.quiet);
  ValidateOptions how;
  how.open = options.common.open;
  how.decode = options.decode;
  how.threads = options.common.threads;
  how.memory_limit_bytes = options.common.memory_limit_bytes;
  how.max_findings = options.max_findings > 0 ? options.max_findings : kFindingsInJson;
  how.progress = bar.callback();
  how.cancel = cancel_flag();
  Validation const result =
      is_standard_input(file) ? validate_memory(spool_standard_input(), "standard input", how) : validate(file, how);
  bool const ok = passes(result, options);
  if (!options.common.json) { print_text(file, result, options.common.quiet); }
  return {to_json(file, result, ok), ok ? kExitOk : exit_code(ErrorKind::malformed)};
}

void print_rules(bool json) {
  if (json) {
    Json rules = Json::array();
    for (ValidationRule const& rule : validation_rules()) {
      rules.push_back({{"rule", rule.name},
                       {"severity", to_string(rule.severity)},
                       {"known_to_gdal", rule.known_to_gdal},
                       {"meaning", rule.meaning}});
    }
    print_json(rules);
    return;
  }
  Table table({"rule", "severity", "GDAL", "what is wrong"});
  for (ValidationRule const& rule : validation_rules()) {
    table.add({std::string(rule.name), std::string(to_string(rule.severity)), rule.known_to_gdal ? "too" : "",
               std::string(rule.meaning)});
  }
  table.print(std::cout, "");
}

int run(Options const& options) {
  if (options.rules) {
    print_rules(options.common.json);
    return kExitOk;
  }
  if (options.files.empty()) { throw Error(ErrorKind::usage, "FILE is missing; type \"terrazzo validate FILE\""); }
  apply_settings(options.common);
  return run_each_file(options.files, options.common.json,
                       [&](std::string const& file) { return run_file(options, file); });
}

}  // namespace

void add_validate(CLI::App& app, Action& action) {
  auto const options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("validate", "Check that a file is complete and a valid Cloud-Optimized GeoTIFF");
  command->footer(kFooter);
  command->add_option("FILE", options->files, "GeoTIFF or TIFF files")->type_name("");
  command->add_flag("--decode,--full", options->decode, "Also decode every tile");
  command->add_flag("--strict", options->strict, "Warnings fail too");
  command->add_flag("--rules", options->rules, "List the rules instead");
  add_whole(*command, "--max-findings", options->max_findings,
            "Findings per rule in the JSON; further ones are counted; default 100", 1);
  add_common(*command, options->common);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace terrazzo::cli
