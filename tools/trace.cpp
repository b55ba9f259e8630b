// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/catalog.h"
#include "scenarios/load_parts.h"
#include "scenarios/traces/lint.h"
#include "scenarios/traces/probe.h"
#include "scenarios/traces/readers.h"
#include "scenarios/traces/selection.h"
#include "scenarios/traces/stats.h"
#include "scenarios/traces/trace_files.h"
#include "scenarios/traces/writer.h"
#include "scenarios/units.h"
#include "tools/commands.h"
#include "tools/trace_report.h"

/// `poolcast trace stats|lint|convert|synth`: what is in a trace, what is wrong with it, other formats, a made-up one.
namespace poolcast {
namespace {

/// Options that become keys of a scenario's `trace`, and are read by the same reader.
struct TraceKeys {
  std::string file;
  std::vector<std::pair<std::string, std::string>> keys;  ///< name and YAML text, of those that were given

  bool given(std::string_view option) const {
    return std::any_of(keys.begin(), keys.end(), [&](const auto& key) { return key.first == option; });
  }
};

const std::pair<const char*, const char*> kKeyOptions[] = {
    {"trace-format", "azure, mooncake, burstgpt, agentic, servegen, csv, jsonl or hdf5; default: by its content"},
    {"time-unit", "of timestamps that have none, such as ms; default: the likely one"},
    {"block-tokens", "tokens per block of hash_ids; default: what fits the prompts"},
    {"on-bad-row", "stop or skip"},
    {"reorder", "put rows in order that are out of it by at most this time"},
    {"time-window", "only this stretch, such as '[0 s, 30 min]'"},
    {"limit", "only the first rows"},
};

std::string yaml_key(std::string option) {
  if (option == "trace-format") return "format";
  for (char& c : option) c = c == '-' ? '_' : c;
  return option;
}

void add_key_options(CLI::App& command, const std::shared_ptr<TraceKeys>& keys, const std::string& file_help) {
  command.add_option("FILE", keys->file, file_help)->required();
  for (const auto& [option, help] : kKeyOptions) {
    const std::string name_of_option = option;
    command
        .add_option_function<std::string>(
            "--" + name_of_option,
            [keys, name_of_option](const std::string& value) { keys->keys.emplace_back(name_of_option, value); }, help)
        ->type_name("VALUE");
  }
}

TraceSpec spec_of(const TraceKeys& keys) {
  if (keys.file.empty()) throw ConfigError("trace: the name of the file is empty");
  if (const std::string fault = fault_of_trace_path(keys.file); !fault.empty())
    throw FileError(Location{keys.file}, "", fault);
  YamlNode node = parse_yaml("FILE", "{}", true);
  node = node.with("file", parse_yaml("FILE", nlohmann::json(keys.file).dump(), true));
  for (const auto& [option, value] : keys.keys)
    node = node.with(yaml_key(option), parse_yaml("--" + option, value, true));
  const Catalog catalog = Catalog::load(find_catalog_folder());
  std::vector<std::string> notes;
  TraceSpec spec = load_trace(node, LoadContext{catalog, "", notes});
  spec.guess_time_unit = true;
  return spec;
}

void add_output_format(CLI::App& command, std::string& format) {
  command.add_option("--format", format, "what stdout gets")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

/// A generator may have no end in sight: a billion rows are no statistics that anybody waits for.
constexpr std::uint64_t kGeneratedRows = 1'000'000;

void add_stats(CLI::App& app) {
  struct Arguments {
    std::string format = "text";
  };
  CLI::App* command = app.add_subcommand("stats", "What is in a trace: rows, rates, lengths, shared prompts");
  const auto keys = std::make_shared<TraceKeys>();
  const auto arguments = std::make_shared<Arguments>();
  add_key_options(*command, keys, "the trace: a file, or a folder of sessions or of ServeGen tables");
  add_output_format(*command, arguments->format);
  command->footer(
      "Bad rows are skipped and counted, unless --on-bad-row stop is given; `trace lint` tells what is wrong with "
      "them.\n"
      "Of ServeGen tables, which generate rows, the first million is measured unless --limit says otherwise.\n"
      "Example:\n  poolcast trace stats AzureLLMInferenceTrace_code.csv");
  command->callback([keys, arguments] {
    TraceSpec spec = spec_of(*keys);
    if (!keys->given("on-bad-row")) spec.on_bad_row = TraceSpec::BadRow::kSkip;  // counted; `lint` says what they are
    const TraceFormat format = spec.format == TraceFormat::kAuto ? detect_format(spec.file).format : spec.format;
    if (format == TraceFormat::kServeGen && spec.limit == 0) spec.limit = kGeneratedRows;
    const TraceStats stats = measure_trace(spec);
    print(arguments->format == "json" ? stats_json(keys->file, stats) : stats_text(keys->file, stats));
  });
}

void add_lint(CLI::App& app, int& status) {
  struct Arguments {
    std::string format = "text";
  };
  CLI::App* command = app.add_subcommand("lint", "What is wrong or odd about a trace; exit status 1 if not usable");
  const auto keys = std::make_shared<TraceKeys>();
  const auto arguments = std::make_shared<Arguments>();
  add_key_options(*command, keys, "the trace: a file, or a folder of sessions or of ServeGen tables");
  add_output_format(*command, arguments->format);
  command->footer(
      "A trace with bad rows is usable with --on-bad-row skip, as with on_bad_row: skip in a scenario.\n"
      "Example:\n  poolcast trace lint mooncake_synthetic_trace.jsonl --time-unit ms");
  command->callback([keys, arguments, &status] {
    const LintReport report = lint_trace(spec_of(*keys));
    print(arguments->format == "json" ? lint_json(keys->file, report) : lint_text(keys->file, report));
    if (!report.usable) status = 1;
  });
}

/// The format to write: as asked, or by the name of the file.
TraceFormat output_format(const std::string& to, const std::string& file) {
  if (to == "csv") return TraceFormat::kCsv;
  if (to == "jsonl") return TraceFormat::kJsonl;
  if (to == "h5") return TraceFormat::kHdf5;
  const TraceFormat format = format_of_name(file);
  if (format == TraceFormat::kAuto)
    throw ConfigError(Location{file}, "", "the name does not tell the format to write",
                      "use .csv, .jsonl, .h5 (or .csv.gz, .jsonl.gz), or --to");
  return format;
}

void add_output_options(CLI::App& command, std::string& out, std::string& to) {
  command.add_option("OUT", out, "the file to write: .csv, .jsonl or .h5, also .csv.gz and .jsonl.gz")->required();
  command.add_option("--to", to, "the format to write, whatever the name")
      ->check(CLI::IsMember({"csv", "jsonl", "h5"}));
}

void convert(const TraceSpec& spec, const std::string& out, TraceFormat format) {
  std::vector<std::string> notes;
  const TraceSpec resolved = resolve_trace(spec, notes);
  for (const std::string& note : notes) fmt::print(stderr, "{}: {}\n", spec.file, note);
  Selection rows(resolved, open_resolved(resolved, std::make_shared<TraceLog>(spec.file, spec.on_bad_row)));
  const auto writer = make_trace_writer(out, format, rows.reader().block_tokens());
  TraceRow row;
  std::uint64_t written = 0;
  for (; rows.next(row); ++written) writer->write(row);
  writer->close();
  if (writer->lost_hash_ids() > 0)
    fmt::print(stderr, "{}: CSV has no place for hash_ids: {} rows lost theirs (.jsonl and .h5 keep them)\n", out,
               writer->lost_hash_ids());
  if (writer->lost_callers() > 0)
    fmt::print(stderr, "{}: CSV cannot say which session called a sub-agent: {} became sessions of their own\n", out,
               writer->lost_callers());
  const std::uint64_t skipped = rows.reader().skipped_rows();
  print(fmt::format("{}: {} rows written{}\n", out, written, skipped > 0 ? fmt::format(", {} skipped", skipped) : ""));
}

void add_convert(CLI::App& app) {
  struct Arguments {
    std::string out, to;
  };
  CLI::App* command = app.add_subcommand("convert", "Write a trace in one of poolcast's own formats");
  const auto keys = std::make_shared<TraceKeys>();
  const auto arguments = std::make_shared<Arguments>();
  add_key_options(*command, keys, "the trace to read");
  add_output_options(*command, arguments->out, arguments->to);
  command->footer("Example:\n  poolcast trace convert mooncake_synthetic_trace.jsonl mooncake.h5 --time-unit ms");
  command->callback([keys, arguments] {
    const TraceFormat format = output_format(arguments->to, arguments->out);
    convert(spec_of(*keys), arguments->out, format);
  });
}

struct SynthArguments {
  std::string out, to;
  std::uint64_t requests = 0;
  std::uint64_t seed = 0;
  std::string duration, rate, arrivals, prompt_tokens, output_tokens;
};

SynthSpec synth_of(const SynthArguments& arguments) {
  const Catalog catalog = Catalog::load(find_catalog_folder());
  std::vector<std::string> notes;
  const LoadContext context{catalog, "", notes};
  if (arguments.requests == 0 && arguments.duration.empty())
    throw ConfigError("trace synth: needs --requests or --duration, or it would never end");
  if (arguments.rate.empty() && arguments.arrivals.empty())
    throw ConfigError("trace synth: needs --rate or --arrivals");
  SynthSpec synth;
  synth.requests = arguments.requests;
  if (!arguments.duration.empty())
    synth.duration = to_sim_time(read_seconds(parse_yaml("--duration", arguments.duration, true)));
  YamlNode arrivals = parse_yaml("--arrivals", arguments.arrivals.empty() ? "{}" : arguments.arrivals, true);
  if (!arguments.rate.empty()) arrivals = arrivals.with("rate", parse_yaml("--rate", arguments.rate, true));
  synth.arrivals = load_arrivals(arrivals);
  synth.prompt_tokens = load_length(parse_yaml("--prompt-tokens", arguments.prompt_tokens, true), context);
  synth.output_tokens = load_length(parse_yaml("--output-tokens", arguments.output_tokens, true), context);
  return synth;
}

void synthesise(const SynthArguments& arguments) {
  const TraceFormat format = output_format(arguments.to, arguments.out);
  const auto source = make_source(synth_of(arguments), ClassId(0u), 0, arguments.seed, "workload/0");
  const auto writer = make_trace_writer(arguments.out, format, 0);
  TraceRow row;
  std::uint64_t written = 0;
  for (; source->peek() != kNever; ++written) {
    const Arrival arrival = source->pop();
    row.timestamp = to_seconds(arrival.intended);
    row.prompt_tokens = arrival.prompt_tokens;
    row.output_tokens = arrival.output_tokens;
    writer->write(row);
  }
  writer->close();
  print(fmt::format("{}: {} rows written\n", arguments.out, written));
}

void add_synth(CLI::App& app) {
  CLI::App* command = app.add_subcommand("synth", "Make a trace from distributions, as a scenario's `synth` does");
  const auto arguments = std::make_shared<SynthArguments>();
  add_output_options(*command, arguments->out, arguments->to);
  command->add_option("--requests", arguments->requests, "stop after so many")->type_name("N");
  command->add_option("--duration", arguments->duration, "stop at this time, such as '2 h'")->type_name("TIME");
  command->add_option("--rate", arguments->rate, "mean rate of arrivals, such as 5/s")->type_name("RATE");
  command->add_option("--arrivals", arguments->arrivals, "as in a scenario; default: poisson")->type_name("YAML");
  command->add_option("--prompt-tokens", arguments->prompt_tokens, "as in a scenario")->type_name("YAML")->required();
  command->add_option("--output-tokens", arguments->output_tokens, "as in a scenario")->type_name("YAML")->required();
  command->add_option("--seed", arguments->seed, "of the random streams")->type_name("N")->capture_default_str();
  command->footer(
      "Example:\n"
      "  poolcast trace synth load.csv --requests 10000 --rate 5/s --arrivals '{process: gamma, cv: 2}' \\\n"
      "    --prompt-tokens '{distribution: lognormal, mean: 1024, cv: 0.8}' --output-tokens 256");
  command->callback([arguments] { synthesise(*arguments); });
}

}  // namespace

void add_trace(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("trace", "Look at request traces, check them, convert them, make them");
  command->require_subcommand(1);
  command->footer("Example:\n  poolcast trace stats AzureLLMInferenceTrace_code.csv");
  add_stats(*command);
  add_lint(*command, status);
  add_convert(*command);
  add_synth(*command);
}

}  // namespace poolcast
