// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/flow_spec.h"
#include "sim/routing/parameters.h"
#include "sim/routing/plugin.h"
#include "sim/routing/prefix_index.h"
#include "sim/routing/profile.h"

namespace poolcast::routing {

struct PluginSpec {
  std::string name;  ///< unique
  std::string type;  ///< of `plugin_table`
  Value parameters;
};

/// Whether the prompt of a request is computed elsewhere: it is, when it has at least `prompt_tokens` and at least
/// `uncached_tokens` of them do not lie on the replica that decodes. Source: llm-d's prefix-based-pd-decider.
struct PrefillRule {
  std::int64_t prompt_tokens = 0;
  std::int64_t uncached_tokens = 0;
};

/// What an EndpointPickerConfig asks for of one pool: plain values, names resolved to indices. Of several profiles it
/// holds the one that chooses in this pool.
struct PipelineSpec {
  struct Ref {
    std::size_t plugin;  ///< index in `plugins`
    double weight = 1;   ///< of scorers
  };
  std::vector<PluginSpec> plugins;
  std::string profile = "default";       ///< the name of the scheduling profile
  std::optional<std::vector<Ref>> refs;  ///< what it runs, in order; nothing: not said
  std::optional<FlowControlSpec> flow;   ///< a queue before it
  std::optional<PrefillRule> prefill;    ///< of a pool that decodes; nothing: every prompt is computed elsewhere
};

/// Fills in what llm-d does: without plugins its built-in profile (queue-scorer 2, kv-cache-utilization-scorer 2,
/// prefix-cache-scorer 3); without a profile one of all plugins; a max-score-picker, a handler and the producers that
/// are missing: precise-prefix-cache-producer for its scorer, and the approximate one unless only that is asked for.
/// `spec` holds only known types and valid references.
void complete_pipeline(PipelineSpec& spec);

/// How the approximate prefix index is set up, from the pipeline's approx-prefix-cache-producer; nothing: it has none,
/// because nobody asks for it beside the exact one.
std::optional<PrefixIndex::Options> prefix_options(const PipelineSpec& spec);
/// The plugin that has engines tell what their prefix caches hold: its index in `spec.plugins`.
std::optional<std::size_t> exact_producer(const PipelineSpec& spec);

/// Whether some expression or script of it names busy shares (Endpoints::busy).
bool reads_busy(const PipelineSpec& spec);

/// Whether it has a predicted-latency-producer, which fills Endpoints::latency.
bool predicts_latency(const PipelineSpec& spec);

/// A running pipeline: its plugins and their state.
class Pipeline {
 public:
  /// `spec` is complete and every plugin accepts its parameters; anything else is a fault of the program (throws
  /// ParameterFault). Each plugin draws from a random stream of its own, named `stream`/NAME.
  Pipeline(const PipelineSpec& spec, std::uint64_t seed, const std::string& stream);

  /// Before the first decision, and when endpoints or their labels change.
  void bind(const Endpoints& endpoints);
  /// Chooses among `open` and tells the plugins what was chosen.
  Decision decide(const RequestView& request, const Endpoints& endpoints, std::span<const std::uint32_t> open);

  /// Whether a plugin wants to know how requests end, and tells those that do.
  bool listens() const { return !listeners_.empty(); }
  void answered(std::uint32_t endpoint, const Answer& answer) {
    for (Listener* listener : listeners_) listener->answered(endpoint, answer);
  }

  /// The next decisions write down how they came about; null: no longer.
  void trace(PipelineTrace* trace) { profile_.trace(trace); }
  /// How full the endpoints are by the detector of flow control; 0 without one.
  double saturation(const Endpoints& endpoints, std::span<const std::uint32_t> open);

  const Profile& profile() const { return profile_; }
  /// Of each plugin whose rule is a script: its name and how its calls went.
  std::vector<std::pair<std::string, ScriptFaults>> script_faults() const;

 private:
  std::vector<std::unique_ptr<Plugin>> plugins_;
  std::vector<std::string> names_;  ///< of those
  std::vector<Listener*> listeners_;
  Detector* detector_ = nullptr;
  Profile profile_;
};

}  // namespace poolcast::routing
