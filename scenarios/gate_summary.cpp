// SPDX-License-Identifier: Apache-2.0
#include "scenarios/gate_summary.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "scenarios/human.h"
#include "scenarios/summary.h"
#include "scenarios/text_table.h"

namespace poolcast {
namespace {

using Json = nlohmann::ordered_json;

Json counts_json(const GateCounts& gates) {
  Json reasons = Json::object();
  for (std::size_t i = 1; i < gates.counts.size(); ++i) {
    if (gates.counts[i] > 0) reasons[name(static_cast<Reason>(i))] = gates.counts[i];
  }
  return {{"judged", gates.judged()}, {"passed", gates.passed()}, {"reasons", reasons}};
}

/// Empty: none.
std::string compatibility_pool(const Summary& s, std::size_t cls) {
  const std::size_t model = s.facts.classes[cls].model.value;
  return model < s.facts.compatibility.size() ? s.facts.compatibility[model] : "";
}

std::string compatibility_text(const Summary& s) {
  std::string text;
  for (std::size_t c = 0; c < s.facts.classes.size(); ++c) {
    const std::string pool = compatibility_pool(s, c);
    if (pool.empty() || s.gates.nobody[c] == 0) continue;
    const std::string refused =
        s.gates.nobody[c] > s.gates.compatibility[c]
            ? fmt::format(", {} rejected", human_count(s.gates.nobody[c] - s.gates.compatibility[c]))
            : "";
    text += wrapped("  ", fmt::format("{} of {}, which no implementation might serve, to {}{}",
                                      human_count(s.gates.compatibility[c]), s.facts.classes[c].name, pool, refused));
  }
  return text.empty() ? text : "Compatibility pool\n" + text;
}

}  // namespace

std::uint64_t GateCounts::judged() const { return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); }

void GateCounts::add(const std::array<std::uint64_t, kReasons>& more) {
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += more[i];
}

GateCounts gates_of_pool(const Summary& summary, std::size_t pool) {
  GateCounts all;
  for (const auto& of_class : summary.gates.counts) all.add(of_class[pool]);
  return all;
}

std::string reasons_text(const std::array<std::uint64_t, kReasons>& counts) {
  std::vector<std::string> parts;
  for (std::size_t i = 1; i < counts.size(); ++i) {
    if (counts[i] > 0) parts.push_back(fmt::format("{} {}", name(static_cast<Reason>(i)), human_count(counts[i])));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string gates_text(const Summary& s) {
  if (!s.facts.gated) return "";
  TextTable table({"Gates", "judged", "passed", "refused", "because"});
  bool any = false;
  for (std::size_t p = 0; p < s.pools.size(); ++p) {
    GateCounts gates = gates_of_pool(s, p);
    const std::uint64_t refused = gates.judged() - gates.passed();
    any |= refused > 0;
    if (refused == 0) {
      table.row({s.pools[p].facts.name, human_count(gates.judged()), human_count(gates.passed()), "0", "-"});
    }
    std::vector<std::string> cells = {s.pools[p].facts.name, human_count(gates.judged()), human_count(gates.passed()),
                                      human_count(refused), ""};
    for (std::size_t i = 1; i < gates.counts.size(); ++i) {
      if (gates.counts[i] == 0) continue;
      cells.back() = fmt::format("{} {}", name(static_cast<Reason>(i)), human_count(gates.counts[i]));
      table.row(cells);
      cells = {"", "", "", "", ""};
    }
  }
  return any ? table.text() + compatibility_text(s) + "\n" : "";
}

Json gates_json(const Summary& summary, std::size_t pool) {
  if (!summary.facts.gated) return Json::object();
  Json json = counts_json(gates_of_pool(summary, pool));
  json["classes"] = Json::array();
  for (std::size_t c = 0; c < summary.facts.classes.size(); ++c) {
    GateCounts gates;
    gates.add(summary.gates.counts[c][pool]);
    if (gates.judged() == 0) continue;
    Json entry = {{"class", summary.facts.classes[c].name}};
    entry.update(counts_json(gates));
    json["classes"].push_back(std::move(entry));
  }
  return json;
}

Json compatibility_json(const Summary& summary) {
  Json json = Json::array();
  for (std::size_t c = 0; c < summary.facts.classes.size(); ++c) {
    const ClassSpec& cls = summary.facts.classes[c];
    const std::string pool = compatibility_pool(summary, c);
    if (pool.empty()) continue;
    json.push_back({{"model", summary.facts.models[cls.model.value]},
                    {"class", cls.name},
                    {"pool", pool},
                    {"nobody", summary.gates.nobody[c]},
                    {"taken", summary.gates.compatibility[c]}});
  }
  return json;
}

}  // namespace poolcast
