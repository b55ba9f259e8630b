// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace poolcast {

/// A file that appears whole or not at all: written beside its final place under a temporary name, renamed by
/// `commit`. Without a commit the temporary file is removed and whatever stood there before is untouched. What a killed
/// process left, the next AtomicFile of the same path removes: the name holds the process, which must be of this
/// machine.
///
/// A path that is a symbolic link is followed: the file it leads to is replaced, the link stays. A replaced file keeps
/// its permissions. Something other than a plain file (a folder, a device, a pipe) is refused.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);  ///< throws FileError when the folder cannot be written
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Where to write meanwhile (for libraries that want a name, such as HDF5).
  const std::string& temporary_path() const { return temporary_; }
  /// Writes the whole content and commits. Throws FileError, for example on a full disk.
  void write(std::string_view content);
  /// `write` by way of commit_new.
  bool write_new(std::string_view content);
  /// Flushes to disk and renames. Throws FileError.
  void commit();
  /// The same where nothing may be replaced: false, and nothing is changed, when something has that name by now. Of
  /// several processes that do it at once for one name, one gets true.
  bool commit_new();

 private:
  void create();
  void put(std::string_view content);
  void flush();
  void settled();

  std::string path_;
  std::string temporary_;
  bool committed_ = false;
};

/// Makes a folder and those above it, as `mkdir -p` does. Throws FileError.
void make_folder(const std::string& path);

/// Removes the temporary file of every AtomicFile that is not committed. Safe to call in a signal handler, just before
/// the process ends; the objects themselves must not be used afterwards.
void remove_unfinished_files() noexcept;

}  // namespace poolcast
