// SPDX-License-Identifier: Apache-2.0
#include "scenarios/h5_columns.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

#include <hdf5.h>

#include "scenarios/error.h"
#include "scenarios/hdf5_handle.h"

namespace poolcast {
namespace {

static_assert(std::endian::native == std::endian::little, "chunks are written as they lie in memory");

/// Keeps HDF5 from printing its error stack: the message of the exception says what happened.
class QuietErrors {
 public:
  QuietErrors() {
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~QuietErrors() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

/// The cause at the bottom of HDF5's error stack: the system's own words where it has them.
std::string cause() {
  std::string text = "HDF5 gives no reason";
  const auto keep_first = [](unsigned n, const H5E_error2_t* error, void* into) -> herr_t {
    if (n == 0 && error->desc != nullptr) *static_cast<std::string*>(into) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &text);
  constexpr std::string_view kSystem = "error message = '";
  const auto begin = text.find(kSystem);
  if (begin == std::string::npos) return text;
  text.erase(0, begin + kSystem.size());
  return text.substr(0, text.find('\''));
}

[[noreturn]] void fail(const std::string& shown_path) {
  throw FileError(Location{shown_path, 0, 0}, {}, "cannot write: " + cause());
}

H5Handle checked(const std::string& shown_path, hid_t id, H5Handle::Closer closer) {
  if (id < 0) fail(shown_path);
  return {id, closer};
}

void check(const std::string& shown_path, herr_t status) {
  if (status < 0) fail(shown_path);
}

std::size_t width(H5Type type) {
  switch (type) {
    case H5Type::kInt64:
    case H5Type::kUint64:
      return 8;
    case H5Type::kInt32:
      return 4;
    case H5Type::kBool:
    case H5Type::kEnum:
      return 1;
  }
  return 0;
}

H5Handle make_enum(hid_t base, const std::vector<std::string>& names) {
  H5Handle type(H5Tenum_create(base), H5Tclose);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto value = static_cast<std::uint8_t>(i);
    H5Tenum_insert(type, names[i].c_str(), &value);
  }
  return type;
}

H5Handle make_type(const H5Column& column) {
  switch (column.type) {
    case H5Type::kInt64:
      return {H5Tcopy(H5T_STD_I64LE), H5Tclose};
    case H5Type::kUint64:
      return {H5Tcopy(H5T_STD_U64LE), H5Tclose};
    case H5Type::kInt32:
      return {H5Tcopy(H5T_STD_I32LE), H5Tclose};
    case H5Type::kBool:
      return make_enum(H5T_STD_I8LE, {"FALSE", "TRUE"});
    case H5Type::kEnum:
      return make_enum(H5T_STD_U8LE, column.enum_names);
  }
  return {};
}

H5Handle make_string_type(std::size_t size) {
  H5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, size);
  H5Tset_cset(type, H5T_CSET_UTF8);
  if (size != H5T_VARIABLE) H5Tset_strpad(type, H5T_STR_NULLPAD);
  return type;
}

H5Handle make_scalar() { return {H5Screate(H5S_SCALAR), H5Sclose}; }

/// How datasets are created: chunked, never filled, and without the time of day, so that equal runs give equal bytes.
H5Handle column_properties() {
  H5Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const hsize_t chunk = H5Columns::kChunkRows;
  H5Pset_chunk(properties, 1, &chunk);
  H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
  H5Pset_obj_track_times(properties, false);
  return properties;
}

H5Handle making_groups() {
  H5Handle properties(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(properties, 1);
  H5Pset_char_encoding(properties, H5T_CSET_UTF8);
  return properties;
}

/// Of variable length, because h5py gives such an attribute as a string and one of fixed length as bytes.
void write_text_attribute(const std::string& shown_path, hid_t object, const std::string& name,
                          const std::string& text) {
  const H5Handle type = make_string_type(H5T_VARIABLE);
  const H5Handle scalar = make_scalar();
  const H5Handle made =
      checked(shown_path, H5Acreate2(object, name.c_str(), type, scalar, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const char* const value = text.c_str();
  check(shown_path, H5Awrite(made, type, &value));
}

H5Handle make_column(const std::string& shown_path, hid_t group, const H5Column& column) {
  const hsize_t none = 0;
  const hsize_t unlimited = H5S_UNLIMITED;
  const H5Handle space(H5Screate_simple(1, &none, &unlimited), H5Sclose);
  const H5Handle type = make_type(column);
  const H5Handle properties = column_properties();
  H5Handle made = checked(
      shown_path, H5Dcreate2(group, column.name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT), H5Dclose);
  if (!column.unit.empty()) write_text_attribute(shown_path, made, "unit", column.unit);
  return made;
}

}  // namespace

/// Closed in reverse order: the datasets before the file, the messages last.
struct H5Columns::Handles {
  QuietErrors quiet;
  H5Handle file;
  std::vector<H5Handle> columns;
};

H5Columns::H5Columns(const std::string& path, std::string shown_path, const std::string& group,
                     std::vector<H5Column> columns)
    : shown_path_(std::move(shown_path)), handles_(std::make_unique<Handles>()) {
  handles_->file = checked(shown_path_, H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  const H5Handle properties(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  H5Pset_obj_track_times(properties, false);
  const H5Handle made = checked(
      shown_path_, H5Gcreate2(handles_->file, group.c_str(), making_groups(), properties, H5P_DEFAULT), H5Gclose);
  for (const H5Column& column : columns) {
    handles_->columns.push_back(make_column(shown_path_, made, column));
    buffers_.emplace_back(kChunkRows * width(column.type));
  }
}

H5Columns::~H5Columns() = default;

void H5Columns::attribute(const std::string& name, const std::string& value) {
  write_text_attribute(shown_path_, handles_->file, name, value);
}

void H5Columns::attribute(const std::string& name, std::uint64_t value) {
  const H5Handle scalar = make_scalar();
  const H5Handle made = checked(
      shown_path_, H5Acreate2(handles_->file, name.c_str(), H5T_STD_U64LE, scalar, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  check(shown_path_, H5Awrite(made, H5T_NATIVE_UINT64, &value));
}

void H5Columns::strings(const std::string& path, const std::vector<std::string>& values) {
  std::size_t longest = 1;
  for (const std::string& value : values) longest = std::max(longest, value.size());
  std::string packed;
  for (const std::string& value : values) packed.append(value).append(longest - value.size(), '\0');

  const hsize_t count = values.size();
  const H5Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  const H5Handle type = make_string_type(longest);
  const H5Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(properties, false);
  const H5Handle made = checked(
      shown_path_, H5Dcreate2(handles_->file, path.c_str(), type, space, making_groups(), properties, H5P_DEFAULT),
      H5Dclose);
  check(shown_path_, H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, packed.data()));
}

/// A chunk goes to the file as it lies in the buffer, past HDF5's selections and conversions. The last one is written
/// whole too, with zeros behind the rows that count.
void H5Columns::write_chunk() {
  const hsize_t offset = rows_written_;
  const hsize_t rows = rows_written_ + row_;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    std::vector<std::byte>& buffer = buffers_[i];
    const std::size_t cell = buffer.size() / kChunkRows;
    std::fill(buffer.begin() + static_cast<std::ptrdiff_t>(row_ * cell), buffer.end(), std::byte{0});
    check(shown_path_, H5Dset_extent(handles_->columns[i], &rows));
    check(shown_path_, H5Dwrite_chunk(handles_->columns[i], H5P_DEFAULT, 0, &offset, buffer.size(), buffer.data()));
  }
  rows_written_ = rows;
  row_ = 0;
}

void H5Columns::close() {
  if (row_ > 0) write_chunk();
  for (H5Handle& column : handles_->columns) check(shown_path_, column.close());
  check(shown_path_, H5Fflush(handles_->file, H5F_SCOPE_GLOBAL));
  check(shown_path_, handles_->file.close());
}

}  // namespace poolcast
