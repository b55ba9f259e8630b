// SPDX-License-Identifier: Apache-2.0
#include "tools/calibration_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/curve_file.h"
#include "scenarios/human.h"
#include "scenarios/text_table.h"

namespace poolcast {
namespace {

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

std::string reach_text(const calibration::FittedPart& part) {
  std::string text;
  for (const std::int64_t most : part.reach) text += (text.empty() ? "" : " x ") + std::to_string(most);
  return text.empty() ? "-" : text;
}

std::string coefficients_text(calibration::Term term, const calibration::FittedPart& part) {
  const auto names = calibration::feature_names(term);
  std::string text;
  for (std::size_t i = 0; i < part.coefficients.size(); ++i)
    text += fmt::format("{}{:.3g} {}", i == 0 ? "" : ", ", part.coefficients[i], names[i]);
  return text;
}

}  // namespace

std::string errors_text(const std::vector<TermError>& errors) {
  if (errors.empty()) return "no shape was held out\n";
  TextTable table({"Held-out error", "regime", "shapes", "median", "p95"});
  for (const TermError& e : errors)
    table.row({e.term, e.regime, std::to_string(e.shapes), percent(e.median), percent(e.p95)});
  return table.text();
}

std::string identity_text(const calibration::Calibration& c) {
  const CurveIdentity& id = c.head.identity;
  std::string text = fmt::format("{} tp {}, {} weights, {} KV, {} clock, {}\n", id.shape.name, id.layout.tp,
                                 name(id.weights), name(id.kv), id.clock, id.origin);
  text += fmt::format("on {}, implementation {}\n", id.device, id.implementation);
  for (const auto& [key, value] : c.provenance) text += wrapped(fmt::format("  {:18} ", key), value);
  const auto count = [&](auto rule) { return std::count_if(c.points.begin(), c.points.end(), rule); };
  return text + fmt::format("{} shapes: {} held out, {} noisy, {} failed; {} steps\n", c.points.size(),
                            count([](const auto& p) { return p.held_out; }),
                            count([](const auto& p) { return p.noisy; }),
                            count([](const auto& p) { return !p.failure.empty(); }), c.steps.size());
}

std::string parts_text(const calibration::Calibration& c, const std::vector<calibration::FittedPart>& parts) {
  TextTable table({"Parts", "term", "times", "points", "reach", "at its end"});
  std::string models;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const calibration::Part& part = c.parts[i];
    calibration::Shape last{};
    std::copy(parts[i].reach.begin(), parts[i].reach.end(), last.begin());
    table.row({part.name, name(part.term), fmt::format("{:g}", part.times), std::to_string(parts[i].points),
               reach_text(parts[i]), parts[i].empty() ? "-" : human_seconds(parts[i].at(last))});
    if (!parts[i].empty()) models += wrapped("  ", part.name + ": " + coefficients_text(part.term, parts[i]));
  }
  return table.text() + "\nModels, for shapes between and beyond the points of a table\n" + models;
}

std::string curve_text(const std::string& path) {
  const CurveFile file = read_curve_file(path);
  if (!file.curve) return fmt::format("no curve yet: {}\n", file.why_no_curve);
  return errors_text(file.errors) + fmt::format("sha256:{}\n", file.digest);
}

}  // namespace poolcast
