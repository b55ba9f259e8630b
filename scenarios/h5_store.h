// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace poolcast {

/// Writes small HDF5 files whole: groups with attributes, and columns (datasets of one dimension, little-endian,
/// without time stamps). Paths go from the root ("/points/x"); missing groups are made; "" is the root itself. Every
/// function throws FileError naming `shown_path` when the file cannot be written. The file begins with a user block of
/// 512 bytes that states the SHA-256 of the rest.
class H5Out {
 public:
  H5Out(const std::string& path, std::string shown_path);  ///< creates or replaces `path`
  ~H5Out();

  // Attributes of a group.
  void put(const std::string& group, const std::string& name, const std::string& value);
  void put(const std::string& group, const std::string& name, std::int64_t value);
  void put(const std::string& group, const std::string& name, double value);
  // Columns; strings are UTF-8.
  void column(const std::string& path, const std::vector<std::int64_t>& values);
  void column(const std::string& path, const std::vector<double>& values);
  void column(const std::string& path, const std::vector<std::string>& values);
  /// Throws when something could not be written, for example on a full disk.
  void close();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Reads such files. Opening throws FileError when the file cannot be opened, is none of them or was changed; every
/// other function throws ConfigError when what it asks for is missing, of another type or damaged.
class H5In {
 public:
  explicit H5In(const std::string& path);
  ~H5In();

  bool has(const std::string& path) const;  ///< a group or a column
  bool has(const std::string& group, const std::string& name) const;
  std::vector<std::string> groups(const std::string& group) const;  ///< names of those inside, in alphabetical order
  std::vector<std::string> attributes(const std::string& group) const;

  std::string text(const std::string& group, const std::string& name) const;
  std::int64_t integer(const std::string& group, const std::string& name) const;
  double real(const std::string& group, const std::string& name) const;
  std::vector<std::int64_t> integers(const std::string& path) const;
  std::vector<double> reals(const std::string& path) const;
  std::vector<std::string> texts(const std::string& path) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace poolcast
