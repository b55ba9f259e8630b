// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace poolcast {

/// A file that appears whole or not at all: written beside its final place under a temporary name, renamed by
/// `commit`. Without a commit the temporary file is removed and whatever stood there before is untouched.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);  ///< throws FileError when the folder cannot be written
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Where to write meanwhile (for libraries that want a name, such as HDF5).
  const std::string& temporary_path() const { return temporary_; }
  /// Writes the whole content and commits.
  void write(std::string_view content);
  /// Flushes to disk and renames.
  void commit();

 private:
  std::string path_;
  std::string temporary_;
  bool committed_ = false;
};

}  // namespace poolcast
