// SPDX-License-Identifier: Apache-2.0
#include "scenarios/catalog.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "scenarios/catalog_engines.h"
#include "scenarios/catalog_read.h"
#include "scenarios/error.h"
#include "scenarios/yaml.h"

namespace poolcast {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProbe = "accelerators.yaml";  // a folder that has it is a catalog

/// A catalog file: `sources` and one more key, `what`.
struct File {
  SourceNames sources;
  YamlNode content;

  File(const std::string& folder, const std::string& what) {
    MappingReader reader(load_yaml_file((fs::path(folder) / (what + ".yaml")).string()));
    const auto names = reader.optional("sources");
    if (names) sources = SourceNames(*names);
    content = reader.required(what);
    reader.finish();
  }
};

/// "0.19" answers for "0.19" and "0.19.2", not for "0.190".
bool answers_for(std::string_view table, std::string_view version) {
  return version.substr(0, table.size()) == table && (version.size() == table.size() || version[table.size()] == '.');
}

template <class Entry, class Name>
const Entry* find(const std::vector<Entry>& entries, std::string_view name, Name name_of) {
  for (const Entry& entry : entries) {
    if (name_of(entry) == name) return &entry;
  }
  return nullptr;
}

}  // namespace

struct Catalog::Impl {
  struct Kind {
    std::string name;
    std::vector<std::pair<std::string, YamlNode>> versions;
  };

  std::string folder;
  std::optional<std::vector<Accelerator>> accelerators;
  std::optional<std::vector<ModelEntry>> models;
  std::optional<std::vector<PriceEntry>> prices;
  std::optional<File> engines;
  std::vector<Kind> kinds;  // of `engines`

  const std::vector<Kind>& engine_kinds() {
    if (!engines) {
      engines.emplace(folder, "engines");
      for (const auto& [name, versions] : engines->content.entries()) kinds.push_back({name, versions.entries()});
    }
    return kinds;
  }

  const Kind* engine_kind(std::string_view name) {
    return find(engine_kinds(), name, [](const Kind& kind) { return std::string_view(kind.name); });
  }
};

Catalog::Catalog(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Catalog::Catalog(Catalog&&) noexcept = default;
Catalog& Catalog::operator=(Catalog&&) noexcept = default;
Catalog::~Catalog() = default;

Catalog Catalog::load(const std::string& folder) {
  auto impl = std::make_unique<Impl>();
  impl->folder = folder;
  return Catalog(std::move(impl));
}

const std::string& Catalog::folder() const { return impl_->folder; }

const std::vector<Accelerator>& Catalog::accelerators() const {
  if (!impl_->accelerators) {
    const File file(impl_->folder, "accelerators");
    std::vector<Accelerator> list;
    for (const auto& [name, node] : file.content.entries()) list.push_back(read_accelerator(name, node, file.sources));
    impl_->accelerators = std::move(list);
  }
  return *impl_->accelerators;
}

const std::vector<ModelEntry>& Catalog::models() const {
  if (!impl_->models) {
    const File file(impl_->folder, "models");
    std::vector<ModelEntry> list;
    for (const auto& [name, node] : file.content.entries()) list.push_back(read_model(name, node, file.sources));
    impl_->models = std::move(list);
  }
  return *impl_->models;
}

const std::vector<PriceEntry>& Catalog::prices() const {
  if (!impl_->prices) {
    const File file(impl_->folder, "prices");
    std::vector<PriceEntry> list;
    for (const YamlNode& node : file.content.items()) list.push_back(read_price_entry(node, file.sources));
    impl_->prices = std::move(list);
  }
  return *impl_->prices;
}

const Accelerator* Catalog::accelerator(std::string_view name) const {
  return find(accelerators(), name, [](const Accelerator& entry) { return std::string_view(entry.name); });
}

const ModelEntry* Catalog::model(std::string_view name) const {
  return find(models(), name, [](const ModelEntry& entry) { return std::string_view(entry.shape.name); });
}

std::vector<std::string_view> Catalog::accelerator_names() const {
  std::vector<std::string_view> names;
  for (const Accelerator& entry : accelerators()) names.push_back(entry.name);
  return names;
}

std::vector<std::string_view> Catalog::model_names() const {
  std::vector<std::string_view> names;
  for (const ModelEntry& entry : models()) names.push_back(entry.shape.name);
  return names;
}

std::vector<std::string_view> Catalog::engine_kinds() const {
  std::vector<std::string_view> names;
  for (const Impl::Kind& kind : impl_->engine_kinds()) names.push_back(kind.name);
  return names;
}

std::vector<std::string_view> Catalog::engine_versions(std::string_view kind) const {
  std::vector<std::string_view> names;
  const Impl::Kind* found = impl_->engine_kind(kind);
  if (found == nullptr) return names;
  for (const auto& [name, args] : found->versions) names.push_back(name);
  return names;
}

std::optional<EngineDefaults> Catalog::engine_defaults(std::string_view kind, std::string_view version,
                                                       const Accelerator& accelerator, EngineUsage usage,
                                                       std::int64_t devices) const {
  const Impl::Kind* found = impl_->engine_kind(kind);
  if (found == nullptr) return std::nullopt;
  for (const auto& [table, args] : found->versions) {
    if (!answers_for(table, version)) continue;
    return read_engine_defaults(found->name, table, args, impl_->engines->sources, {accelerator, usage, devices});
  }
  return std::nullopt;
}

std::optional<DollarsPerHour> PriceEntry::on_demand_per_device() const {
  if (!on_demand) return std::nullopt;
  return *on_demand / static_cast<double>(count);
}

std::string PriceEntry::name() const { return provider + "/" + instance; }

bool PriceEntry::is_called(std::string_view other_name) const {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  const std::string own = name();
  return std::equal(own.begin(), own.end(), other_name.begin(), other_name.end(),
                    [&](char a, char b) { return lower(a) == lower(b); });
}

std::string find_catalog_folder() {
  const auto is_catalog = [](const fs::path& folder) {
    std::error_code ignored;
    return fs::exists(folder / kProbe, ignored);
  };
  // A folder that the user names is taken or refused, never passed over.
  const char* named = std::getenv("POOLCAST_CATALOG");
  if (named != nullptr && *named != '\0') {
    if (is_catalog(named)) return named;
    throw ConfigError("POOLCAST_CATALOG: no catalog in " + std::string(named) + " (it has no " + kProbe + ")");
  }
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none);
  const fs::path installed = program.parent_path().parent_path() / "share" / "poolcast" / "catalog";
  if (is_catalog(installed)) return installed.string();
  const fs::path source = fs::path(POOLCAST_SOURCE_DIR) / "scenarios" / "catalog";
  if (is_catalog(source)) return source.string();
  throw ConfigError("no catalog found in " + installed.string() + " or " + source.string() +
                    "; set POOLCAST_CATALOG to its folder");
}

}  // namespace poolcast
