// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace poolcast {

/// How a column is stored; all little-endian. kBool is the enum FALSE = 0, TRUE = 1 that h5py reads as booleans, kEnum
/// an unsigned byte with named values.
enum class H5Type : std::uint8_t { kInt64, kUint64, kInt32, kBool, kEnum };

struct H5Column {
  std::string name;
  H5Type type = H5Type::kInt64;
  std::string unit{};                     ///< stored as the attribute `unit`, unless empty
  std::vector<std::string> enum_names{};  ///< of kEnum, by value
};

/// An HDF5 file that holds one table as a group of columns, each a chunked dataset of one dimension, with strings and
/// numbers beside it. Rows are buffered and written a chunk at a time. The same calls give the same bytes: no time
/// stamps are stored.
///
/// Every function throws FileError, naming `shown_path`, when the file cannot be written. A destructor without `close`
/// leaves a file that is not whole: the caller removes it (see AtomicFile). After a FileError the process should end by
/// `std::_Exit`: HDF5 1.10 crashes in its own exit handler once a file could not be closed.
class H5Columns {
 public:
  /// Small enough that a short table makes a small file and that the buffers stay in the cache of a core.
  static constexpr std::size_t kChunkRows = 4'096;

  /// Creates or replaces the file at `path`, with the columns in the group `group`.
  H5Columns(const std::string& path, std::string shown_path, const std::string& group, std::vector<H5Column> columns);
  ~H5Columns();

  void attribute(const std::string& name, const std::string& value);
  void attribute(const std::string& name, std::uint64_t value);
  /// A dataset of UTF-8 strings, `path` from the root; missing groups are made.
  void strings(const std::string& path, const std::vector<std::string>& values);

  /// Sets a cell of the current row. `T` must be as wide as the column's type.
  template <class T>
  void put(std::size_t column, T value) {
    std::memcpy(buffers_[column].data() + row_ * sizeof(T), &value, sizeof(T));
  }
  /// Goes on to the next row.
  void end_row() {
    if (++row_ == kChunkRows) write_chunk();
  }
  /// Writes what is buffered and closes the file.
  void close();

 private:
  struct Handles;

  void write_chunk();

  std::string shown_path_;
  std::unique_ptr<Handles> handles_;
  std::vector<std::vector<std::byte>> buffers_;  // by column, kChunkRows cells each
  std::size_t row_ = 0;                          // of the buffers
  std::uint64_t rows_written_ = 0;
};

}  // namespace poolcast
