// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/catalog.h"
#include "scenarios/scenario.h"
#include "scenarios/yaml.h"

/// The sections of a scenario file, one source file each. Only load.cpp puts them together. Every function throws
/// ConfigError at the first fault.
namespace poolcast {

struct LoadContext {
  const Catalog& catalog;
  std::string folder;  ///< of the scenario file; empty = the working folder
  std::vector<std::string>& notes;
  std::vector<SideFile>* side_files = nullptr;  ///< collects what is read; may be null

  void reads(const std::string& kind, const std::string& path) const {
    if (side_files == nullptr) return;
    for (const SideFile& file : *side_files) {  // pools may share one
      if (file.kind == kind && file.path == path) return;
    }
    side_files->push_back({kind, path});
  }
};

inline constexpr std::int64_t kMostTokens = 1'000'000'000;  ///< of one request, step or limit: sums stay far from 2^63
inline constexpr std::int64_t kMostReplicas = 1'000'000;

/// A catalog name, or figures; `base: NAME` starts from the catalog's.
Accelerator load_accelerator(const YamlNode& node, const LoadContext& context);
TransformerShape load_shape(const YamlNode& node, const Catalog& catalog);

/// "p99.9" -> 99.9
double load_percentile(const MappingReader& reader, const std::string& key);
LengthSpec load_length(const YamlNode& node, const LoadContext& context);
ArrivalSpec load_arrivals(const YamlNode& node);
ThinkSpec load_think_time(const YamlNode& node);
TraceSpec load_trace(const YamlNode& node, const LoadContext& context);
WorkloadEntry load_workload_entry(const YamlNode& node, const std::vector<LogicalModel>& models,
                                  const LoadContext& context);

CurveSource load_curves(const YamlNode& node, const LoadContext& context);

/// Implementations refer to pools by name only; `link_models` checks them.
LogicalModel load_model(const YamlNode& node, const LoadContext& context);
/// `contract` of a model whose name, task and shape are known.
void load_contract(const YamlNode& node, LogicalModel& model);
ImplementationEntry load_implementation(const YamlNode& node);
/// `{context: …, input: …, output: …}`; what it leaves out, or `none`, stays as it is.
void load_length_limits(const YamlNode& node, LengthLimits& limits);
/// A share from 50 % to below 100 %.
double load_confidence(const YamlNode& node);
Layout load_layout(const YamlNode& node);
/// Everything that does not depend on the model that the pool serves.
PoolEntry load_pool(const YamlNode& node, const LoadContext& context);
EngineEntry load_engine(const YamlNode& node, const Accelerator& accelerator, const Layout& layout,
                        const LoadContext& context);

/// Gives each pool its model, or says why it has none or two.
void link_models(std::vector<LogicalModel>& models, std::vector<PoolEntry>& pools);
/// What follows from the model: lengths, KV blocks, and the engine's own rules.
void complete_pool(PoolEntry& pool, const std::vector<LogicalModel>& models, const LoadContext& context);
/// Of that, the engine's part.
void complete_engine(PoolEntry& pool, const LogicalModel& model, const LoadContext& context);
/// And its KV on the host.
void complete_host(PoolEntry& pool, const LogicalModel& model);

PoolRole load_role(const YamlNode& node, const EngineEntry& engine);
TopologyEntry load_topology(const YamlNode& node, const std::vector<LogicalModel>& models,
                            const std::vector<PoolEntry>& pools);
/// `move` or `moves`, after the pools have their models.
std::vector<MoveEntry> load_moves(const YamlNode& node, const std::vector<LogicalModel>& models,
                                  const std::vector<PoolEntry>& pools);
/// `otherwise` in what `node` does not say.
SignalSpec load_signals(const YamlNode& node, const SignalSpec& otherwise);
RoutingEntry load_routing(const YamlNode& node, const std::vector<LogicalModel>& models,
                          const std::vector<PoolEntry>& pools, const LoadContext& context);
MeasureSpec load_measure(const YamlNode& node);

// Small readers that several sections share.

/// Throws unless it is the version of the format that this program reads.
void check_format_version(const YamlNode& version);

/// The node below `node` at `keys`, or the deepest one that exists: a place for messages.
YamlNode deepest(const YamlNode& node, const std::vector<std::string_view>& keys);
/// The degree of a pool's layout that `what`, the message of an UnsupportedLayout, begins with.
YamlNode degree_of(const YamlNode& pool, std::string_view what);
/// The path under which a file can be opened. A scenario file travels with the files that it names, so its folder comes
/// first; an option of the command line is written by someone who looks at the working folder. `advice` ends the
/// message that no place has it.
std::string find_file(const YamlNode& node, const std::string& folder, const std::string& advice = "");
/// An open interval bound: `none` is `open`.
std::int64_t load_bound(const YamlNode& node, std::int64_t open);
/// A duration, or `none` = kNever.
SimTime load_time_limit(const YamlNode& node);
/// The two values of `[from, to]`.
std::pair<YamlNode, YamlNode> load_pair(const YamlNode& node);
/// Throws when an entry's name is empty or stands twice.
void check_names(const std::vector<std::pair<std::string, YamlNode>>& names);

}  // namespace poolcast
