// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/accelerator.h"
#include "models/transformer.h"
#include "models/units.h"
#include "scenarios/engines/engine_settings.h"

/// What poolcast knows about the world, each figure with its source: scenarios/catalog/*.yaml.
namespace poolcast {

struct ModelEntry {
  TransformerShape shape;                               ///< `shape.name` is the catalog name
  std::string title;                                    ///< its name on the hub
  std::optional<double> parameters, active_parameters;  ///< as its makers count them
  std::string source;
  std::string note;
};

/// One row of a public price list, as listed.
struct PriceEntry {
  std::string provider;
  std::string instance;
  std::string device;       ///< as the list spells it
  std::string accelerator;  ///< catalog name; empty when the catalog has no such accelerator
  std::int64_t count = 0;   ///< devices of the instance
  // Of the whole instance; ranges over the regions or sources seen.
  std::optional<DollarsPerHour> on_demand;
  std::optional<DollarsPerHour> reserved;  ///< effective, with a commitment
  std::optional<DollarsPerHour> spot_lowest, spot_highest;
  std::optional<DollarsPerHour> claimed_lowest, claimed_highest;  ///< on a secondary page
  std::string region;
  std::string note;  ///< why a figure is missing or doubtful
  std::string source;

  std::optional<DollarsPerHour> on_demand_per_device() const;
  std::string name() const;                           ///< "AWS/p5.48xlarge": how a scenario names it
  bool is_called(std::string_view other_name) const;  ///< by its name in any case
};

enum class EngineUsage { kApi, kOffline };

/// One argument of an engine version.
struct EngineArg {
  std::string name;                          ///< the engine's own spelling, with underscores
  std::optional<std::string> default_value;  ///< as text, for the device and usage asked for; nothing = missing
  std::string source;
  std::string note;
  bool modelled = true;  ///< false: known to the engine, accepted, and without effect on the simulation
};

/// The defaults of one engine version on one device.
struct EngineDefaults {
  std::string kind;
  std::string version;  ///< of the table: "0.19" also answers for "0.19.0"
  /// Known defaults are filled in. What follows from the model, the memory or other arguments is not: it is told in
  /// `known`, and set when a pool is completed.
  EngineSettings settings;
  std::vector<EngineArg> known;      ///< every argument that the version has, in the order of the table
  std::vector<std::string> missing;  ///< modelled ones whose default no source states: the scenario must state them

  const EngineArg* find(std::string_view name) const;
  std::vector<std::string_view> names() const;  ///< views into `known`
};

/// The catalog of one folder. Files are read on first use, so a program pays only for what it asks. Lookups return null
/// for an unknown name; the lists of names serve messages (`suggestion`). Throws ConfigError with the place in the file
/// when a file is missing or wrong. Pointers stay valid as long as the catalog. Not safe for concurrent first use.
class Catalog {
 public:
  static Catalog load(const std::string& folder);
  Catalog(Catalog&&) noexcept;
  Catalog& operator=(Catalog&&) noexcept;
  ~Catalog();

  const Accelerator* accelerator(std::string_view name) const;
  const ModelEntry* model(std::string_view name) const;
  const std::vector<Accelerator>& accelerators() const;
  const std::vector<ModelEntry>& models() const;
  const std::vector<PriceEntry>& prices() const;

  std::vector<std::string_view> accelerator_names() const;
  std::vector<std::string_view> model_names() const;
  std::vector<std::string_view> engine_kinds() const;
  std::vector<std::string_view> engine_versions(std::string_view kind) const;  ///< empty for an unknown kind

  /// Nothing when kind or version is unknown. `devices` is the world size of a replica (CPU defaults scale with it).
  std::optional<EngineDefaults> engine_defaults(std::string_view kind, std::string_view version,
                                                const Accelerator& accelerator, EngineUsage usage = EngineUsage::kApi,
                                                std::int64_t devices = 1) const;

  const std::string& folder() const;

 private:
  struct Impl;
  explicit Catalog(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The folder with the catalog's files: $POOLCAST_CATALOG, else share/poolcast/catalog beside the program's bin/, else
/// the source tree that it was built from. Throws ConfigError naming the places when none has it.
std::string find_catalog_folder();

}  // namespace poolcast
