// SPDX-License-Identifier: Apache-2.0
#include "scenarios/h5_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "scenarios/digest.h"
#include "scenarios/error.h"
#include "scenarios/hdf5_handle.h"

namespace poolcast {
namespace {

/// HDF5 prints its error stack unless it is told not to; the exceptions say what happened.
void quiet() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

H5Handle string_type(std::size_t size) {
  H5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, size);
  H5Tset_cset(type, H5T_CSET_UTF8);
  if (size != H5T_VARIABLE) H5Tset_strpad(type, H5T_STR_NULLPAD);
  return type;
}

H5Handle scalar() { return {H5Screate(H5S_SCALAR), H5Sclose}; }

/// No time of day in the file: equal calls give equal bytes.
H5Handle without_times(hid_t kind) {
  H5Handle properties(H5Pcreate(kind), H5Pclose);
  H5Pset_obj_track_times(properties, false);
  return properties;
}

// A file begins with a block that HDF5 skips. It holds the digest of the rest, because HDF5 1.10 crashes on some
// damaged files: those never reach it.
constexpr hsize_t kSealBytes = 512;  // the least that HDF5 allows
constexpr std::string_view kSeal = "poolcast HDF5, sha256 of what follows these 512 bytes: ";

std::string read_all(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw FileError(Location{path}, "", "is a folder, not a file");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw FileError(Location{path}, "", std::string("cannot open: ") + std::strerror(errno));
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

H5Handle making_groups() {
  H5Handle properties(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(properties, 1);
  H5Pset_char_encoding(properties, H5T_CSET_UTF8);
  return properties;
}

}  // namespace

struct H5Out::Parts {
  std::string path;
  std::string shown;
  H5Handle file;

  [[noreturn]] void fail() const {
    throw FileError(Location{shown}, "",
                    fmt::format("cannot write: {}", errno != 0 ? std::strerror(errno) : "HDF5 gives no reason"));
  }
  void check(bool good) const {
    if (!good) fail();
  }
  H5Handle group(const std::string& name) const {
    if (name.empty()) return {H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose};
    if (H5Lexists(file, name.substr(0, name.find('/', 1)).c_str(), H5P_DEFAULT) > 0 &&
        H5Lexists(file, name.c_str(), H5P_DEFAULT) > 0)
      return {H5Gopen2(file, name.c_str(), H5P_DEFAULT), H5Gclose};
    return {H5Gcreate2(file, name.c_str(), making_groups(), without_times(H5P_GROUP_CREATE), H5P_DEFAULT), H5Gclose};
  }
  void attribute(const std::string& at, const std::string& name, hid_t type, hid_t memory, const void* value) const {
    const H5Handle place = group(at);
    const H5Handle made(H5Acreate2(place, name.c_str(), type, scalar(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    check(made && H5Awrite(made, memory, value) >= 0);
  }
  void column(const std::string& place, hid_t type, hid_t memory, std::size_t count, const void* values) const {
    const hsize_t rows = count;
    const H5Handle space(H5Screate_simple(1, &rows, nullptr), H5Sclose);
    const H5Handle made(
        H5Dcreate2(file, place.c_str(), type, space, making_groups(), without_times(H5P_DATASET_CREATE), H5P_DEFAULT),
        H5Dclose);
    check(made && (count == 0 || H5Dwrite(made, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0));
  }
};

H5Out::H5Out(const std::string& path, std::string shown_path) : parts_(std::make_unique<Parts>()) {
  quiet();
  errno = 0;
  parts_->path = path;
  parts_->shown = std::move(shown_path);
  const H5Handle properties(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_userblock(properties, kSealBytes);
  parts_->file = H5Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, properties, H5P_DEFAULT), H5Fclose);
  parts_->check(static_cast<bool>(parts_->file));
}
H5Out::~H5Out() = default;

/// Of variable length, because h5py gives such an attribute as a string and one of fixed length as bytes.
void H5Out::put(const std::string& group, const std::string& name, const std::string& value) {
  const char* const text = value.c_str();
  const H5Handle type = string_type(H5T_VARIABLE);
  parts_->attribute(group, name, type, type, &text);
}
void H5Out::put(const std::string& group, const std::string& name, std::int64_t value) {
  parts_->attribute(group, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}
void H5Out::put(const std::string& group, const std::string& name, double value) {
  parts_->attribute(group, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}
void H5Out::column(const std::string& path, const std::vector<std::int64_t>& values) {
  parts_->column(path, H5T_STD_I64LE, H5T_NATIVE_INT64, values.size(), values.data());
}
void H5Out::column(const std::string& path, const std::vector<double>& values) {
  parts_->column(path, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.size(), values.data());
}
void H5Out::column(const std::string& path, const std::vector<std::string>& values) {
  std::size_t longest = 1;
  for (const std::string& value : values) longest = std::max(longest, value.size());
  std::string packed;
  for (const std::string& value : values) packed.append(value).append(longest - value.size(), '\0');
  const H5Handle type = string_type(longest);
  parts_->column(path, type, type, values.size(), packed.data());
}
void H5Out::close() {
  parts_->check(H5Fflush(parts_->file, H5F_SCOPE_GLOBAL) >= 0 && parts_->file.close() >= 0);
  const std::string bytes = read_all(parts_->path);
  const std::string seal = std::string(kSeal) + sha256(std::string_view(bytes).substr(kSealBytes)) + "\n";
  std::fstream file(parts_->path, std::ios::binary | std::ios::in | std::ios::out);
  file << seal;
  parts_->check(static_cast<bool>(file.flush()));
}

struct H5In::Parts {
  std::string path;
  H5Handle file;

  [[noreturn]] void fail(const std::string& place, const std::string& message) const {
    throw ConfigError(Location{path}, place, message);
  }
  /// H5Lexists wants every group on the way to exist.
  bool exists(const std::string& place) const {
    for (std::size_t end = place.find('/', 1);; end = place.find('/', end + 1)) {
      if (H5Lexists(file, place.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
      if (end == std::string::npos) return true;
    }
  }
  static const char* root(const std::string& group) { return group.empty() ? "/" : group.c_str(); }
  H5Handle attribute(const std::string& group, const std::string& name, H5T_class_t kind) const {
    H5Handle made(H5Aopen_by_name(file, root(group), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    if (!made) fail(group, fmt::format("the attribute {} is missing", name));
    const H5Handle type(H5Aget_type(made), H5Tclose);
    if (H5Tget_class(type) != kind) fail(group, fmt::format("the attribute {} is of another type", name));
    return made;
  }
  template <class T>
  T number(const std::string& group, const std::string& name, H5T_class_t kind, hid_t memory) const {
    T value{};
    if (H5Aread(attribute(group, name, kind), memory, &value) < 0) fail(group, "is damaged");
    return value;
  }
  H5Handle dataset(const std::string& place, H5T_class_t kind, std::size_t& count) const {
    if (!exists(place)) fail(place, "the column is missing");
    H5Handle data(H5Dopen2(file, place.c_str(), H5P_DEFAULT), H5Dclose);
    const H5Handle type(data ? H5Dget_type(data) : -1, H5Tclose), space(data ? H5Dget_space(data) : -1, H5Sclose);
    if (!space || H5Sget_simple_extent_ndims(space) != 1 || H5Tget_class(type) != kind)
      fail(place, "is no column of that type");
    count = static_cast<std::size_t>(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(space)));
    // A damaged header may state any size: what is stored bounds what is read.
    constexpr std::size_t kMost = std::size_t{1} << 28U;
    if (count > kMost) fail(place, "states more rows than such a file can hold");
    return data;
  }
  template <class T>
  std::vector<T> column(const std::string& place, H5T_class_t kind, hid_t memory) const {
    std::size_t count = 0;
    const H5Handle data = dataset(place, kind, count);
    std::vector<T> values(count);
    if (count > 0 && H5Dread(data, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) fail(place, "is damaged");
    return values;
  }
};

H5In::H5In(const std::string& path) : parts_(std::make_unique<Parts>()) {
  quiet();
  parts_->path = path;
  const std::string bytes = read_all(path);
  if (bytes.compare(0, kSeal.size(), kSeal) != 0) {
    const bool hdf5 = H5Fis_hdf5(path.c_str()) > 0;
    throw FileError(Location{path}, "", hdf5 ? "is an HDF5 file, but none of poolcast's" : "is no HDF5 file");
  }
  const std::string stated = bytes.substr(kSeal.size(), 64);
  if (bytes.size() <= kSealBytes || stated != sha256(std::string_view(bytes).substr(kSealBytes)))
    throw FileError(Location{path}, "", "is damaged, cut short or was changed: its digest is not the one it states");
  parts_->file = H5Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!parts_->file) throw FileError(Location{path}, "", "cannot be opened as HDF5");
}
H5In::~H5In() = default;

bool H5In::has(const std::string& path) const { return parts_->exists(path); }
bool H5In::has(const std::string& group, const std::string& name) const {
  return (group.empty() || has(group)) &&
         H5Aexists_by_name(parts_->file, Parts::root(group), name.c_str(), H5P_DEFAULT) > 0;
}
std::vector<std::string> H5In::groups(const std::string& group) const {
  std::vector<std::string> names;
  if (!group.empty() && !has(group)) return names;
  const H5Handle place(H5Gopen2(parts_->file, Parts::root(group), H5P_DEFAULT), H5Gclose);
  const auto keep = [](hid_t, const char* name, const H5L_info_t*, void* into) -> herr_t {
    static_cast<std::vector<std::string>*>(into)->emplace_back(name);
    return 0;
  };
  H5Literate(place, H5_INDEX_NAME, H5_ITER_INC, nullptr, keep, &names);
  return names;
}
std::vector<std::string> H5In::attributes(const std::string& group) const {
  std::vector<std::string> names;
  if (!group.empty() && !has(group)) return names;
  const H5Handle place(H5Gopen2(parts_->file, Parts::root(group), H5P_DEFAULT), H5Gclose);
  const auto keep = [](hid_t, const char* name, const H5A_info_t*, void* into) -> herr_t {
    static_cast<std::vector<std::string>*>(into)->emplace_back(name);
    return 0;
  };
  H5Aiterate2(place, H5_INDEX_NAME, H5_ITER_INC, nullptr, keep, &names);
  return names;
}

std::string H5In::text(const std::string& group, const std::string& name) const {
  const H5Handle made = parts_->attribute(group, name, H5T_STRING);
  const H5Handle type(H5Aget_type(made), H5Tclose);
  if (H5Tis_variable_str(type) <= 0) {
    std::string value(H5Tget_size(type), '\0');
    if (H5Aread(made, type, value.data()) < 0) parts_->fail(group, "is damaged");
    return value.c_str();
  }
  char* text = nullptr;
  if (H5Aread(made, type, &text) < 0) parts_->fail(group, "is damaged");
  std::string value = text == nullptr ? "" : text;
  H5free_memory(text);
  return value;
}
std::int64_t H5In::integer(const std::string& group, const std::string& name) const {
  return parts_->number<std::int64_t>(group, name, H5T_INTEGER, H5T_NATIVE_INT64);
}
double H5In::real(const std::string& group, const std::string& name) const {
  return parts_->number<double>(group, name, H5T_FLOAT, H5T_NATIVE_DOUBLE);
}
std::vector<std::int64_t> H5In::integers(const std::string& path) const {
  return parts_->column<std::int64_t>(path, H5T_INTEGER, H5T_NATIVE_INT64);
}
std::vector<double> H5In::reals(const std::string& path) const {
  return parts_->column<double>(path, H5T_FLOAT, H5T_NATIVE_DOUBLE);
}
std::vector<std::string> H5In::texts(const std::string& path) const {
  std::size_t count = 0;
  const H5Handle data = parts_->dataset(path, H5T_STRING, count);
  const H5Handle type(H5Dget_type(data), H5Tclose);
  if (H5Tis_variable_str(type) > 0) parts_->fail(path, "is no column of that type");
  const std::size_t width = H5Tget_size(type);
  if (width > 1'000'000 || count * width > (std::size_t{1} << 30U)) parts_->fail(path, "is too large");
  std::string packed(count * width, '\0');
  if (count > 0 && H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, packed.data()) < 0)
    parts_->fail(path, "is damaged");
  std::vector<std::string> values;
  for (std::size_t i = 0; i < count; ++i) values.emplace_back(packed.substr(i * width, width).c_str());
  return values;
}

}  // namespace poolcast
