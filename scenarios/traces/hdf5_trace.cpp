// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "scenarios/error.h"
#include "scenarios/traces/hash_blocks.h"
#include "scenarios/traces/hdf5_format.h"
#include "scenarios/traces/input_file.h"
#include "scenarios/traces/readers.h"
#include "scenarios/traces/text_trace.h"
#include "scenarios/traces/trace_row.h"

namespace poolcast {
namespace {

/// A dataset of one dimension that is read piece by piece.
class Column {
 public:
  Column() = default;
  Column(hid_t file, const std::string& path, const char* name, bool needed, H5T_class_t kind) {
    if (H5Lexists(file, name, H5P_DEFAULT) <= 0) {
      if (needed) throw ConfigError(Location{path}, "", fmt::format("the file has no dataset \"{}\"", name));
      return;
    }
    data_ = H5Handle(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose);
    const H5Handle type(data_ ? H5Dget_type(data_) : -1, H5Tclose);
    const H5Handle space(data_ ? H5Dget_space(data_) : -1, H5Sclose);
    if (!space || H5Sget_simple_extent_ndims(space) != 1 || H5Tget_class(type) != kind)
      throw ConfigError(Location{path}, name,
                        fmt::format("is no column of {}", kind == H5T_INTEGER ? "integers" : "real numbers"));
    H5Sget_simple_extent_dims(space, &size_, nullptr);
  }

  explicit operator bool() const { return static_cast<bool>(data_); }
  hsize_t size() const { return size_; }

  /// False when the file is damaged.
  bool read(hsize_t begin, hsize_t count, hid_t memory_type, void* out) const {
    if (count == 0) return true;
    const H5Handle space(H5Dget_space(data_), H5Sclose);
    const H5Handle memory(H5Screate_simple(1, &count, nullptr), H5Sclose);
    return H5Sselect_hyperslab(space, H5S_SELECT_SET, &begin, nullptr, &count, nullptr) >= 0 &&
           H5Dread(data_, memory_type, memory, space, H5P_DEFAULT, out) >= 0;
  }

 private:
  H5Handle data_;
  hsize_t size_ = 0;
};

std::string string_attribute(hid_t file, const char* name) {
  char buffer[64] = {};
  if (H5Aexists(file, name) <= 0) return {};
  const H5Handle attribute(H5Aopen(file, name, H5P_DEFAULT), H5Aclose);
  const H5Handle type(H5Aget_type(attribute), H5Tclose);
  if (H5Tget_class(type) != H5T_STRING) return {};
  if (H5Tis_variable_str(type) > 0) {
    char* text = nullptr;
    if (H5Aread(attribute, type, &text) < 0 || text == nullptr) return {};
    const std::string value = text;
    H5free_memory(text);
    return value;
  }
  if (H5Tget_size(type) >= sizeof buffer || H5Aread(attribute, type, buffer) < 0) return {};
  return buffer;
}

std::int64_t integer_attribute(hid_t file, const char* name) {
  std::int64_t value = 0;
  if (H5Aexists(file, name) <= 0) return 0;
  const H5Handle attribute(H5Aopen(file, name, H5P_DEFAULT), H5Aclose);
  return H5Aread(attribute, H5T_NATIVE_INT64, &value) < 0 ? 0 : value;
}

std::vector<std::string> read_strings(hid_t file, const char* name) {
  std::vector<std::string> strings;
  if (H5Lexists(file, name, H5P_DEFAULT) <= 0) return strings;
  const H5Handle data(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose);
  const H5Handle space(H5Dget_space(data), H5Sclose), type(H5Dget_type(data), H5Tclose);
  if (!space || H5Tis_variable_str(type) <= 0) return strings;
  std::vector<char*> texts(static_cast<std::size_t>(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(space))));
  if (texts.empty() || H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data()) < 0) return strings;
  for (char* text : texts) strings.emplace_back(text == nullptr ? "" : text);
  H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts.data());
  return strings;
}

/// poolcast's own HDF5: a dataset per column, read a chunk at a time. See scenarios/traces.md.
class Hdf5Reader final : public TraceReader {
 public:
  Hdf5Reader(const TraceSpec& spec, TraceLog& log) : path_(spec.file), log_(log) {
    InputFile{path_};  // says plainly why a file cannot be opened
    quiet_hdf5();
    file_ = H5Handle(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (!file_) throw FileError(Location{path_}, "", "is no HDF5 file, or a damaged one");
    if (const std::string schema = string_attribute(file_, "schema"); schema != trace_h5::kSchema)
      throw ConfigError(
          Location{path_}, "",
          fmt::format("is no trace: the attribute schema is {}, not \"{}\"", quote(schema), trace_h5::kSchema));
    const auto column = [&](const char* name, bool needed, H5T_class_t kind) {
      Column found(file_, path_, name, needed, kind);
      if (found && time_ && found.size() != rows_)
        throw ConfigError(Location{path_}, name, fmt::format("has {} rows, other columns {}", found.size(), rows_));
      if (found) rows_ = found.size();
      return found;
    };
    time_ = column("timestamp_s", true, H5T_FLOAT);
    prompt_ = column("prompt_tokens", true, H5T_INTEGER);
    output_ = column("output_tokens", true, H5T_INTEGER);
    priority_ = column("priority", false, H5T_INTEGER);
    session_ = column("session", false, H5T_INTEGER);
    after_ = column("after_session", false, H5T_INTEGER);
    think_ = column("think_time_s", false, H5T_FLOAT);
    model_ = column("model", false, H5T_INTEGER);
    hash_count_ = column("hash_count", false, H5T_INTEGER);
    if (hash_count_) hash_ids_ = Column(file_, path_, "hash_ids", true, H5T_INTEGER);
    models_ = read_strings(file_, "models");
    const std::int64_t stated = integer_attribute(file_, "block_tokens");
    blocks_ = std::make_unique<HashBlocks>(hash_count_ ? spec.block_tokens.value_or(stated) : 0, log);
  }

  bool next(TraceRow& row) override {
    while (true) {
      if (at_ == loaded_ && !load()) return false;
      reset_row(row, first_ + at_ + 1);
      if (parse(row, at_++)) return true;
    }
  }

  std::int64_t block_tokens() const override { return blocks_->block_tokens(); }
  double progress() const override {
    return rows_ == 0 ? 1 : static_cast<double>(first_ + at_) / static_cast<double>(rows_);
  }

 private:
  template <class T>
  void read(const Column& column, hid_t type, std::vector<T>& out, T missing) {
    out.assign(loaded_, missing);
    if (column && !column.read(first_, loaded_, type, out.data())) damaged();
  }
  [[noreturn]] void damaged() const {
    throw FileError(Location{path_}, "", fmt::format("is damaged: rows {} and later cannot be read", first_ + 1));
  }

  bool load() {
    first_ += loaded_;
    loaded_ = static_cast<std::size_t>(std::min<hsize_t>(trace_h5::kChunkRows, rows_ - first_));
    at_ = 0;
    if (loaded_ == 0) return false;
    read(time_, H5T_NATIVE_DOUBLE, times_, 0.0);
    read(prompt_, H5T_NATIVE_INT64, prompts_, std::int64_t{0});
    read(output_, H5T_NATIVE_INT64, outputs_, std::int64_t{0});
    read(priority_, H5T_NATIVE_INT32, priorities_, INT32_MIN);
    read(session_, H5T_NATIVE_UINT64, sessions_, UINT64_MAX);
    read(after_, H5T_NATIVE_UINT64, afters_, UINT64_MAX);
    read(think_, H5T_NATIVE_DOUBLE, thinks_, -1.0);
    read(model_, H5T_NATIVE_INT32, model_numbers_, -1);
    read(hash_count_, H5T_NATIVE_UINT32, hash_counts_, 0u);
    return true;
  }

  void take_hash_ids(TraceRow& row, std::uint32_t count) {
    while (row.hash_ids.size() < count) {
      if (id_at_ == ids_.size()) load_ids();
      const std::size_t some = std::min<std::size_t>(count - row.hash_ids.size(), ids_.size() - id_at_);
      const auto from = ids_.begin() + static_cast<std::ptrdiff_t>(id_at_);
      row.hash_ids.insert(row.hash_ids.end(), from, from + static_cast<std::ptrdiff_t>(some));
      id_at_ += some;
    }
  }

  void load_ids() {
    const hsize_t count = std::min<hsize_t>(trace_h5::kChunkRows, hash_ids_.size() - ids_read_);
    ids_.resize(static_cast<std::size_t>(count));
    id_at_ = 0;
    if (count == 0 || !hash_ids_.read(ids_read_, count, H5T_NATIVE_UINT64, ids_.data())) damaged();
    ids_read_ += count;
  }

  bool parse(TraceRow& row, std::size_t i) {
    take_hash_ids(row, hash_counts_[i]);
    if (!std::isfinite(times_[i])) {
      log_.bad_row(Oddity::kBadValue, Place{row.line}, "timestamp_s is no finite number");
      return false;
    }
    row.timestamp = Seconds(times_[i]);
    row.prompt_tokens = prompts_[i];
    row.output_tokens = outputs_[i];
    row.has_priority = priorities_[i] != INT32_MIN;
    row.priority = row.has_priority ? priorities_[i] : 0;
    row.session = sessions_[i];
    row.after_session = afters_[i];
    row.think_time = Seconds(thinks_[i] >= 0 ? thinks_[i] : -1);
    if (model_numbers_[i] >= 0 && static_cast<std::size_t>(model_numbers_[i]) < models_.size())
      row.model = models_[static_cast<std::size_t>(model_numbers_[i])];
    blocks_->check(row, Place{row.line});
    return check_lengths(row, Place{row.line}, log_);
  }

  std::string path_;
  TraceLog& log_;
  H5Handle file_;
  Column time_, prompt_, output_, priority_, session_, after_, think_, model_, hash_count_, hash_ids_;
  std::vector<std::string> models_;
  std::unique_ptr<HashBlocks> blocks_;
  hsize_t rows_ = 0, first_ = 0;
  std::vector<std::uint64_t> ids_;  // the next ones; those before id_at_ are used up
  std::size_t id_at_ = 0;
  hsize_t ids_read_ = 0;
  std::size_t loaded_ = 0, at_ = 0;
  std::vector<double> times_, thinks_;
  std::vector<std::int64_t> prompts_, outputs_;
  std::vector<std::int32_t> priorities_, model_numbers_;
  std::vector<std::uint64_t> sessions_, afters_;
  std::vector<std::uint32_t> hash_counts_;
};

}  // namespace

std::unique_ptr<TraceReader> open_hdf5(const TraceSpec& spec, TraceLog& log) {
  return std::make_unique<Hdf5Reader>(spec, log);
}

}  // namespace poolcast
