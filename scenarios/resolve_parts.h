// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "scenarios/scenario.h"
#include "scenarios/yaml_writer.h"

/// The sections of the resolved scenario. Only resolve.cpp puts them together.
namespace poolcast {

enum class Resolve {
  kForReading,  ///< with comments, and traces by a path that can be opened
  kForDigest,   ///< without comments, and traces by name and size
};

void write_workload_entry(YamlWriter& yaml, const WorkloadEntry& entry, Resolve mode);
const char* name(PoolRole role);
void write_pool(YamlWriter& yaml, const PoolEntry& pool, Resolve mode);
std::string signals_text(const SignalSpec& signals, bool reads_busy);  ///< a mapping in one line
void write_model(YamlWriter& yaml, const LogicalModel& model);
void write_gateway(YamlWriter& yaml, const Scenario& scenario);
void write_retry(YamlWriter& yaml, const RetrySpec& retry);
void write_moves(YamlWriter& yaml, const Scenario& scenario);
/// The model of a class, and its place there; the number of models when it is not valid.
std::pair<std::size_t, std::size_t> owner_of(ClassId cls, const std::vector<LogicalModel>& models);
void write_figures(YamlWriter& yaml, const Accelerator& accelerator);
void write_shape(YamlWriter& yaml, const TransformerShape& shape);
std::string layout_text(const Layout& layout);
std::string limit_text(std::int64_t limit);  ///< INT64_MAX is "none"

}  // namespace poolcast
