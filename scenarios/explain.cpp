// SPDX-License-Identifier: Apache-2.0
#include "scenarios/explain.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "scenarios/build.h"
#include "scenarios/catalog.h"
#include "scenarios/error.h"
#include "scenarios/load.h"

namespace poolcast {
namespace {

BuiltScenario built_from(const ExplainOptions& options) {
  const Catalog catalog = Catalog::load(find_catalog_folder());
  return build(load_scenario(options.scenario, catalog, options.overrides));
}

/// Ends the run: nothing after the request's end is wanted.
struct Found {};

class Finder : public Observer {
 public:
  explicit Finder(const DecisionLog& log) : log_(log) {}
  void request_ended(const RequestRecord& record) override {
    if (record.source == log_.source) seen_ = std::max(seen_, record.row + 1);
    if (!log_.wants(record)) return;
    found_ = record;
    throw Found();
  }
  const RequestRecord& found() const { return found_; }
  std::uint64_t rows_seen() const { return seen_; }

 private:
  const DecisionLog& log_;
  RequestRecord found_;
  std::uint64_t seen_ = 0;
};

[[noreturn]] void no_such_request(const ExplainOptions& options, std::uint64_t rows) {
  throw ConfigError(fmt::format("{}: source {} of the workload has no request {}{}", options.scenario, options.source,
                                options.row,
                                rows == 0 ? std::string() : fmt::format("; its rows end at {}", rows - 1)));
}

/// Where a request went: what `--diff` compares.
struct Place {
  std::string pool;
  std::uint32_t replica = UINT32_MAX;  ///< within the pool
  Reason refused = Reason::kNone;

  bool operator==(const Place&) const = default;
};

struct Sent {
  SimTime intended = kNever;
  Place place;
};

using Places = std::map<std::pair<std::uint32_t, std::uint64_t>, Sent>;  // by source and row

class PlaceCollector : public Observer {
 public:
  explicit PlaceCollector(const RunFacts& facts) : facts_(facts) {
    for (const PoolFacts& pool : facts.pools) {
      first_.push_back(engines_);
      engines_ += static_cast<std::uint32_t>(pool.replicas * pool.ranks);
    }
  }
  void request_ended(const RequestRecord& r) override {
    Sent& sent = places[{r.source.value, r.row}];
    sent.intended = r.at.intended;
    if (r.pool.valid()) {
      sent.place.pool = facts_.pools[r.pool.value].name;
      sent.place.replica = r.replica.value - first_[r.pool.value];
    } else {
      sent.place.refused = r.reason;
    }
  }
  Places places;

 private:
  const RunFacts& facts_;
  std::vector<std::uint32_t> first_;
  std::uint32_t engines_ = 0;
};

Places places_of(const ExplainOptions& options, const ExplainProgress& progress) {
  BuiltScenario built = built_from(options);
  PlaceCollector collector(built.facts);
  simulate(std::move(built.spec), {&collector}, progress);
  return std::move(collector.places);
}

}  // namespace

Explanation explain(const ExplainOptions& options, const ExplainProgress& progress) {
  BuiltScenario built = built_from(options);
  Explanation e;
  e.facts = built.facts;
  e.log.source = SourceId(options.source);
  e.log.row = options.row;
  built.spec.log = &e.log;
  Finder finder(e.log);
  if (options.source >= built.spec.sources.size()) {
    throw ConfigError(fmt::format("{}: the workload has no source {}; its sources are 0 to {}", options.scenario,
                                  options.source, built.spec.sources.size() - 1));
  }
  try {
    simulate(std::move(built.spec), {&finder}, progress);
  } catch (const Found&) {
    e.request = finder.found();
    return e;
  }
  no_such_request(options, finder.rows_seen());
}

ExplainedDifference explain_difference(const ExplainOptions& base, const ExplainOptions& candidate,
                                       const ExplainProgress& progress) {
  const Places before = places_of(base, progress), after = places_of(candidate, progress);
  ExplainedDifference d;
  std::tuple<SimTime, std::uint32_t, std::uint64_t> first{kNever, 0, 0};
  for (const auto& [key, sent] : before) {
    const auto other = after.find(key);
    if (other == after.end()) continue;
    ++d.requests;
    if (other->second.place == sent.place) continue;
    ++d.elsewhere;
    const SimTime intended = std::min(sent.intended, other->second.intended);
    first = std::min(first, std::tuple(intended, key.first, key.second));
  }
  d.unpaired = before.size() + after.size() - 2 * d.requests;
  if (d.elsewhere == 0) return d;
  ExplainOptions one = base, two = candidate;
  std::tie(std::ignore, one.source, one.row) = first;
  two.source = one.source;
  two.row = one.row;
  d.first = ExplainedDifference::First{explain(one, progress), explain(two, progress)};
  return d;
}

}  // namespace poolcast
