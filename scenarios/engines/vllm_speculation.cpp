// SPDX-License-Identifier: Apache-2.0
// Names: vllm/config/speculative.py. `draft_time` is poolcast's own: the drafting model has no curve.
#include "scenarios/engines/vllm_speculation.h"

#include "scenarios/units.h"

namespace poolcast {
namespace {

using Method = SpeculationArgs::Method;

constexpr std::int64_t kMostDrafts = 64;
const std::vector<std::string_view> kMethods = {"ngram", "draft_model", "eagle"};

std::vector<double> read_rates(const YamlNode& list, std::int64_t drafts) {
  std::vector<double> rates;
  for (const YamlNode& item : list.one_or_more()) rates.push_back(item.number(0, 1));
  if (static_cast<std::int64_t>(rates.size()) != drafts) {
    list.fail(fmt::format("{} rates for {} drafts: state one for each", rates.size(), drafts));
  }
  return rates;
}

SpeculationArgs read(const YamlNode& node) {
  SpeculationArgs args;
  MappingReader reader(node);
  args.method = static_cast<Method>(1 + reader.required("method").choice(kMethods));
  const std::int64_t drafts = args.num_speculative_tokens =
      reader.required("num_speculative_tokens").integer(1, kMostDrafts);
  const auto [which, accepted] = reader.one_of({"synthetic_acceptance_rates", "synthetic_acceptance_length"});
  if (which == 0) {
    args.synthetic_acceptance_rates = read_rates(accepted, drafts);
  } else {
    const double length = accepted.number(0, static_cast<double>(drafts));
    args.synthetic_acceptance_rates.assign(static_cast<std::size_t>(drafts), acceptance_for_length(length, drafts));
  }
  if (args.runs_model()) {
    args.draft_time = read_seconds(reader.required("draft_time"));
  } else if (const auto time = reader.optional("draft_time")) {
    args.draft_time = read_seconds(*time);
  }
  // How the drafts are made shows in their rates and their time only.
  for (const char* key : {"model", "draft_tensor_parallel_size", "prompt_lookup_max", "prompt_lookup_min"}) {
    reader.optional(key);
  }
  reader.not_modelled_yet({"num_speculative_tokens_per_batch_size", "parallel_drafting"});
  reader.finish();
  return args;
}

std::string text(const SpeculationArgs& args) {
  if (!args.on()) return "none";
  std::vector<std::string> rates;
  for (const double rate : args.synthetic_acceptance_rates) rates.push_back(number_text(rate));
  return fmt::format("{{method: {}, num_speculative_tokens: {}, synthetic_acceptance_rates: [{}], draft_time: {}}}",
                     kMethods[static_cast<std::size_t>(args.method) - 1], args.num_speculative_tokens,
                     fmt::join(rates, ", "), to_text(args.draft_time));
}

}  // namespace

EngineArgument speculative_config() {
  return {"speculative_config",
          [](EngineSettings& s, const YamlNode& v) {
            std::get<VllmArgs>(s.args).speculation = v.is_word("none") ? SpeculationArgs{} : read(v);
          },
          [](const EngineSettings& s) { return text(std::get<VllmArgs>(s.args).speculation); }};
}

}  // namespace poolcast
