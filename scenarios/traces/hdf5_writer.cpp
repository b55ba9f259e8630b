// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <vector>

#include "scenarios/atomic_file.h"
#include "scenarios/error.h"
#include "scenarios/traces/hdf5_format.h"
#include "scenarios/traces/writers.h"

namespace poolcast {
namespace {

/// Throws when HDF5 says that something went wrong.
class Check {
 public:
  explicit Check(const std::string& path) : path_(path) {}
  template <class T>
  T operator()(T result) const {
    if (result < 0) throw FileError(Location{path_}, "", "cannot be written: HDF5 reports an error");
    return result;
  }

 private:
  std::string path_;
};

hid_t file_type(double) { return H5T_IEEE_F64LE; }
hid_t file_type(std::int64_t) { return H5T_STD_I64LE; }
hid_t file_type(std::uint64_t) { return H5T_STD_U64LE; }
hid_t file_type(std::int32_t) { return H5T_STD_I32LE; }
hid_t file_type(std::uint32_t) { return H5T_STD_U32LE; }
hid_t memory_type(double) { return H5T_NATIVE_DOUBLE; }
hid_t memory_type(std::int64_t) { return H5T_NATIVE_INT64; }
hid_t memory_type(std::uint64_t) { return H5T_NATIVE_UINT64; }
hid_t memory_type(std::int32_t) { return H5T_NATIVE_INT32; }
hid_t memory_type(std::uint32_t) { return H5T_NATIVE_UINT32; }

/// A dataset of one dimension that grows, written a chunk at a time. It is made when it is first needed: rows before
/// that, and those without a value, hold the fill value.
template <class T>
class Column {
 public:
  Column(const Check& check, const char* name, const char* unit, T fill)
      : check_(check), name_(name), unit_(unit), fill_(fill) {}

  /// Sets the value of row `row`; rows come in rising order.
  void put(hid_t file, hsize_t row, T value) {
    if (!data_) create(file);
    if (!buffer_.empty() && row - begin_ >= trace_h5::kChunkRows) flush();  // a long stretch without a value
    if (buffer_.empty()) begin_ = row;
    buffer_.resize(static_cast<std::size_t>(row - begin_), fill_);
    buffer_.push_back(value);
    if (buffer_.size() >= trace_h5::kChunkRows) flush();
  }

  /// Writes what is left and gives the dataset its final length.
  void finish(hid_t file, hsize_t rows, bool needed) {
    if (!data_ && needed) create(file);
    if (!data_) return;
    flush();
    check_(H5Dset_extent(data_, &rows));
    data_ = H5Handle();
  }

 private:
  void create(hid_t file) {
    const hsize_t none = 0, unlimited = H5S_UNLIMITED, chunk = trace_h5::kChunkRows;
    const H5Handle space(check_(H5Screate_simple(1, &none, &unlimited)), H5Sclose);
    const H5Handle properties(check_(H5Pcreate(H5P_DATASET_CREATE)), H5Pclose);
    check_(H5Pset_chunk(properties, 1, &chunk));
    check_(H5Pset_shuffle(properties));
    check_(H5Pset_deflate(properties, 1));
    check_(H5Pset_fill_value(properties, memory_type(T{}), &fill_));
    check_(H5Pset_obj_track_times(properties, false));  // the same rows give the same bytes
    data_ = H5Handle(check_(H5Dcreate2(file, name_, file_type(T{}), space, H5P_DEFAULT, properties, H5P_DEFAULT)),
                     H5Dclose);
    if (unit_ == nullptr) return;
    const H5Handle text(check_(H5Tcopy(H5T_C_S1)), H5Tclose);
    check_(H5Tset_size(text, std::char_traits<char>::length(unit_) + 1));
    const H5Handle scalar(check_(H5Screate(H5S_SCALAR)), H5Sclose);
    const H5Handle attribute(check_(H5Acreate2(data_, "unit", text, scalar, H5P_DEFAULT, H5P_DEFAULT)), H5Aclose);
    check_(H5Awrite(attribute, text, unit_));
  }

  void flush() {
    if (buffer_.empty()) return;
    const hsize_t count = buffer_.size(), end = begin_ + count;
    check_(H5Dset_extent(data_, &end));
    const H5Handle space(check_(H5Dget_space(data_)), H5Sclose);
    const H5Handle memory(check_(H5Screate_simple(1, &count, nullptr)), H5Sclose);
    check_(H5Sselect_hyperslab(space, H5S_SELECT_SET, &begin_, nullptr, &count, nullptr));
    check_(H5Dwrite(data_, memory_type(T{}), memory, space, H5P_DEFAULT, buffer_.data()));
    buffer_.clear();
  }

  const Check& check_;
  const char* name_;
  const char* unit_;
  T fill_;
  H5Handle data_;
  std::vector<T> buffer_;
  hsize_t begin_ = 0;
};

class Hdf5Writer final : public TraceWriter {
 public:
  Hdf5Writer(const std::string& path, std::int64_t block_tokens)
      : check_(path), file_(path), block_tokens_(block_tokens) {
    quiet_hdf5();
    h5_ =
        H5Handle(check_(H5Fcreate(file_.temporary_path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)), H5Fclose);
  }

  void write(const TraceRow& row) override {
    const hid_t h5 = h5_;
    time_.put(h5, rows_, row.timestamp.value);
    prompt_.put(h5, rows_, row.prompt_tokens);
    output_.put(h5, rows_, row.output_tokens);
    if (row.has_priority) priority_.put(h5, rows_, row.priority);
    if (row.session != UINT64_MAX) session_.put(h5, rows_, row.session);
    if (row.after_session != UINT64_MAX) after_.put(h5, rows_, row.after_session);
    if (row.think_time.value >= 0) think_.put(h5, rows_, row.think_time.value);
    if (!row.model.empty()) model_.put(h5, rows_, model_number(row.model));
    if (!row.hash_ids.empty()) hash_count_.put(h5, rows_, static_cast<std::uint32_t>(row.hash_ids.size()));
    for (const std::uint64_t id : row.hash_ids) hash_ids_.put(h5, ids_++, id);
    ++rows_;
  }

  void close() override {
    const hid_t h5 = h5_;
    time_.finish(h5, rows_, true);
    prompt_.finish(h5, rows_, true);
    output_.finish(h5, rows_, true);
    priority_.finish(h5, rows_, false);
    session_.finish(h5, rows_, false);
    after_.finish(h5, rows_, false);
    think_.finish(h5, rows_, false);
    model_.finish(h5, rows_, false);
    hash_count_.finish(h5, rows_, false);
    hash_ids_.finish(h5, ids_, false);
    write_models();
    text_attribute("schema", trace_h5::kSchema);
    number_attribute("schema_version", trace_h5::kVersion);
    if (ids_ > 0) number_attribute("block_tokens", block_tokens_);
    h5_ = H5Handle();
    file_.commit();
  }

 private:
  std::int32_t model_number(const std::string& model) {
    for (std::size_t i = 0; i < models_.size(); ++i) {
      if (models_[i] == model) return static_cast<std::int32_t>(i);
    }
    models_.push_back(model);
    return static_cast<std::int32_t>(models_.size() - 1);
  }

  H5Handle text_type() const {
    H5Handle type(check_(H5Tcopy(H5T_C_S1)), H5Tclose);
    check_(H5Tset_size(type, H5T_VARIABLE));
    check_(H5Tset_cset(type, H5T_CSET_UTF8));
    return type;
  }

  void write_models() const {
    if (models_.empty()) return;
    std::vector<const char*> texts;
    for (const std::string& model : models_) texts.push_back(model.c_str());
    const hsize_t count = texts.size();
    const H5Handle type = text_type(), space(check_(H5Screate_simple(1, &count, nullptr)), H5Sclose),
                   properties(check_(H5Pcreate(H5P_DATASET_CREATE)), H5Pclose);
    check_(H5Pset_obj_track_times(properties, false));
    const H5Handle data(check_(H5Dcreate2(h5_, "models", type, space, H5P_DEFAULT, properties, H5P_DEFAULT)), H5Dclose);
    check_(H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data()));
  }

  void text_attribute(const char* name, const char* value) const {
    const H5Handle type = text_type(), scalar(check_(H5Screate(H5S_SCALAR)), H5Sclose);
    const H5Handle attribute(check_(H5Acreate2(h5_, name, type, scalar, H5P_DEFAULT, H5P_DEFAULT)), H5Aclose);
    check_(H5Awrite(attribute, type, &value));
  }

  void number_attribute(const char* name, std::int64_t value) const {
    const H5Handle scalar(check_(H5Screate(H5S_SCALAR)), H5Sclose);
    const H5Handle attribute(check_(H5Acreate2(h5_, name, H5T_STD_I64LE, scalar, H5P_DEFAULT, H5P_DEFAULT)), H5Aclose);
    check_(H5Awrite(attribute, H5T_NATIVE_INT64, &value));
  }

  Check check_;
  AtomicFile file_;
  std::int64_t block_tokens_;
  H5Handle h5_;  // before the columns: they close first
  Column<double> time_{check_, "timestamp_s", "s", 0.0};
  Column<std::int64_t> prompt_{check_, "prompt_tokens", nullptr, 0};
  Column<std::int64_t> output_{check_, "output_tokens", nullptr, 0};
  Column<std::int32_t> priority_{check_, "priority", nullptr, INT32_MIN};
  Column<std::uint64_t> session_{check_, "session", nullptr, UINT64_MAX};
  Column<std::uint64_t> after_{check_, "after_session", nullptr, UINT64_MAX};
  Column<double> think_{check_, "think_time_s", "s", std::numeric_limits<double>::quiet_NaN()};
  Column<std::int32_t> model_{check_, "model", nullptr, -1};
  Column<std::uint32_t> hash_count_{check_, "hash_count", nullptr, 0};
  Column<std::uint64_t> hash_ids_{check_, "hash_ids", nullptr, 0};
  std::vector<std::string> models_;
  hsize_t rows_ = 0, ids_ = 0;
};

}  // namespace

std::unique_ptr<TraceWriter> make_hdf5_writer(const std::string& path, std::int64_t block_tokens) {
  return std::make_unique<Hdf5Writer>(path, block_tokens);
}

}  // namespace poolcast
