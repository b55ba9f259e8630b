// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "scenarios/load_parts.h"
#include "scenarios/units.h"

namespace poolcast {
namespace {

RooflineOptions load_roofline(const YamlNode& node) {
  RooflineOptions options;
  MappingReader reader(node);
  const auto efficiency = [&](const std::string& key, double& share) {
    const auto value = reader.optional(key);
    if (!value) return;
    share = read_share(*value);
    if (!(share > 0)) value->fail("must be above 0, got " + quote(value->text()));
  };
  const auto time = [&](const std::string& key, Seconds& seconds) {
    if (const auto value = reader.optional(key)) seconds = read_seconds(*value);
  };
  efficiency("compute_efficiency", options.compute_efficiency);
  efficiency("attention_efficiency", options.attention_efficiency);
  efficiency("memory_efficiency", options.memory_efficiency);
  efficiency("link_efficiency", options.link_efficiency);
  time("link_latency", options.link_latency);
  time("host_base", options.host_base);
  time("host_per_request", options.host_per_request);
  if (const auto overlap = reader.optional("host_overlap")) options.host_overlap = overlap->boolean();
  if (const auto imbalance = reader.optional("expert_imbalance")) options.expert_imbalance = imbalance->number(1, 1e6);
  if (const auto skew = reader.optional("expert_skew")) {
    if (options.expert_imbalance != 1) skew->fail("expert_imbalance is stated, which it stands in for");
    options.expert_skew = skew->number(0, 100);
  }
  if (const auto compute = reader.optional("compute"); compute && !compute->is_word("auto")) {
    std::vector<std::string_view> names;
    for (Precision precision : kPrecisions) names.emplace_back(name(precision));
    options.compute = kPrecisions[compute->choice(names)];
  }
  reader.finish();
  return options;
}

StepFit load_step_fit(const YamlNode& node) {
  StepFit fit;
  MappingReader reader(node);
  const auto time = [&](const std::string& key, Seconds& seconds) {
    if (const auto value = reader.optional(key)) seconds = read_seconds(*value);
  };
  fit.base = read_seconds(reader.required("base"));
  time("per_token", fit.per_token);
  time("per_request", fit.per_request);
  time("per_context_token", fit.per_context_token);
  time("per_prefill_context", fit.per_prefill_context);
  if (const auto range = reader.optional("range")) {
    MappingReader parts(*range);
    const auto most = [&](const std::string& key, std::optional<std::int64_t>& limit) {
      if (const auto value = parts.optional(key)) limit = value->integer(1, kMostTokens);
    };
    most("tokens", fit.max_tokens);
    most("batch", fit.max_decode_requests);
    most("context", fit.max_decode_context);
    most("prefill_context", fit.max_prefill_context);
    parts.finish();
  }
  if (const auto source = reader.optional("source")) fit.source = source->text();
  reader.finish();
  return fit;
}

bool is_calibration(std::string_view name) { return name.size() > 3 && name.substr(name.size() - 3) == ".h5"; }

MeasuredCurve load_measured(const YamlNode& node, const LoadContext& context) {
  MeasuredCurve curve;
  curve.file =
      find_file(node, context.folder,
                "; `poolcast calibrate --model MODEL -o " + node.text() + "` measures one on a device at hand");
  auto content = std::make_shared<CurveFile>();
  try {
    *content = read_curve_file(curve.file);
  } catch (const ConfigError& error) {
    node.fail(error.what());
  }
  if (!content->curve) node.fail(fmt::format("{} holds no curve yet: {}", quote(curve.file), content->why_no_curve));
  curve.content = std::move(content);
  return curve;
}

}  // namespace

CurveSource load_curves(const YamlNode& node, const LoadContext& context) {
  if (node.is_scalar()) {
    if (is_calibration(node.text())) return load_measured(node, context);
    node.choice({"roofline"});
    return RooflineOptions{};
  }
  MappingReader reader(node);
  const auto [kind, value] = reader.one_of({"roofline", "step_fit", "file"});
  if (kind < 2) {
    reader.finish();
    if (kind == 0) return load_roofline(value);
    return load_step_fit(value);
  }
  MeasuredCurve curve = load_measured(value, context);
  const std::string is = "sha256:" + curve.content->digest;
  if (const auto digest = reader.optional("digest"); digest && digest->text() != is) {
    digest->fail("the file is another one now: its digest is " + is);
  }
  reader.finish();
  return curve;
}

}  // namespace poolcast
