// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "sim/routing/endpoints.h"
#include "sim/routing/script_faults.h"

namespace poolcast::routing {

/// A plugin met a state for which it has no answer: where the real one panics.
class RoutingError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where a request goes.
struct Decision {
  std::optional<std::uint32_t> endpoint;  ///< none: no endpoint is left after the filters
  std::optional<std::uint32_t> prefill;   ///< where its prompt is computed, if elsewhere
};

/// One configured plugin. What it can do is told by the interfaces below that it also has: some are filter and scorer
/// in one. A plugin may keep state between decisions, and only its own random stream makes chance.
class Plugin {
 public:
  virtual ~Plugin() = default;
  /// Called before the first decision, with the number of endpoints and their labels.
  virtual void bind(const Endpoints& /*endpoints*/) {}
  /// Called when the decision that the plugin took part in stands.
  virtual void decided(const RequestView& /*request*/, const Decision& /*decision*/) {}
  /// Of a plugin whose rule is a script; null for all others.
  virtual const ScriptFaults* faults() const { return nullptr; }
};

/// A request that has left its endpoint, as its router sees it.
struct Answer {
  std::int64_t sent_ns = 0, ended_ns = 0;  ///< instants
  std::int64_t prompt_tokens = 0;
  std::int64_t output_tokens = 0;  ///< that came
  bool completed = false;
};

class Listener {
 public:
  virtual ~Listener() = default;
  /// Called for every request that ends on one of the endpoints.
  virtual void answered(std::uint32_t endpoint, const Answer& answer) = 0;
};

class Filter {
 public:
  virtual ~Filter() = default;
  /// Removes endpoints from `kept` (which may come in any order) and may change their order.
  virtual void filter(const RequestView& request, const Endpoints& endpoints, std::vector<std::uint32_t>& kept) = 0;
};

class Scorer {
 public:
  virtual ~Scorer() = default;
  /// Writes the score of candidates[i] to scores[i]; both have one size. Scores mean something in [0, 1]; whoever adds
  /// them clamps them.
  virtual void score(const RequestView& request, const Endpoints& endpoints, std::span<const std::uint32_t> candidates,
                     std::span<double> scores) = 0;
};

class Picker {
 public:
  virtual ~Picker() = default;
  /// Called before `pick`, with what that decides on.
  virtual void look(const RequestView& /*request*/, const Endpoints& /*endpoints*/) {}
  /// Best first, at most as many as the picker is set to. `candidates` is not empty.
  virtual void pick(std::span<const std::uint32_t> candidates, std::span<const double> scores,
                    std::vector<std::uint32_t>& picked) = 0;
  /// Whether equals go by the order of the candidates, which the caller then has to make random.
  virtual bool takes_order() const { return false; }
};

class Detector {
 public:
  virtual ~Detector() = default;
  /// How full the endpoints are together: 1 is saturated.
  virtual double saturation(const Endpoints& endpoints, std::span<const std::uint32_t> candidates) = 0;
};

/// Throws RoutingError if a candidate has no metrics at all.
void need_metrics(const Endpoints& endpoints, std::span<const std::uint32_t> candidates);

}  // namespace poolcast::routing
