// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace poolcast {

/// The bytes of a file, unpacked when it begins with the magic bytes of gzip, whatever its name.
class InputFile {
 public:
  /// Throws FileError when the file cannot be opened, or is a folder.
  explicit InputFile(std::string path);
  ~InputFile();

  /// Reads up to `size` bytes; 0 at the end. Throws FileError when the file cannot be read, when its gzip data are
  /// damaged, and when they end in the middle.
  std::size_t read(char* buffer, std::size_t size);
  /// Share of the (packed) bytes that were read, in [0, 1]; negative when unknown.
  double progress() const;
  const std::string& path() const { return path_; }

 private:
  struct Handle;

  std::string path_;
  std::unique_ptr<Handle> handle_;
  std::uint64_t size_ = 0;
};

/// The whole content, followed by `padding` zero bytes that are not counted in `size`. Throws FileError, also above
/// `limit` bytes unpacked.
struct WholeFile {
  static constexpr std::size_t kPadding = 64;

  std::string bytes;
  std::size_t size = 0;
};
WholeFile read_whole(const std::string& path, std::size_t limit = std::size_t{1} << 30);

}  // namespace poolcast
