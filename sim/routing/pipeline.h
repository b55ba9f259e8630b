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

/// What an EndpointPickerConfig asks for: plain values, names resolved to indices.
struct PipelineSpec {
  struct Ref {
    std::size_t plugin;  ///< index in `plugins`
    double weight = 1;   ///< of scorers
  };
  std::vector<PluginSpec> plugins;
  std::string profile = "default";       ///< the name of the one scheduling profile
  std::optional<std::vector<Ref>> refs;  ///< what it runs, in order; nothing: not said
};

/// Fills in what llm-d does: without plugins its built-in profile (queue-scorer 2, kv-cache-utilization-scorer 2,
/// prefix-cache-scorer 3); without a profile one of all plugins; a max-score-picker, a handler and the producers that
/// are missing. `spec` holds only known types and valid references.
void complete_pipeline(PipelineSpec& spec);

/// How the approximate prefix index is set up, from the pipeline's approx-prefix-cache-producer.
PrefixIndex::Options prefix_options(const PipelineSpec& spec);

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

  /// The next decisions write down how they came about; null: no longer.
  void trace(PipelineTrace* trace) { profile_.trace(trace); }

  const Profile& profile() const { return profile_; }
  /// Of each plugin whose rule is a script: its name and how its calls went.
  std::vector<std::pair<std::string, ScriptFaults>> script_faults() const;

 private:
  std::vector<std::unique_ptr<Plugin>> plugins_;
  std::vector<std::string> names_;  ///< of those
  Profile profile_;
};

}  // namespace poolcast::routing
