// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/input_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "scenarios/error.h"

namespace poolcast {

struct InputFile::Handle {
  explicit Handle(gzFile opened) : file(opened) {}
  ~Handle() { gzclose(file); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  gzFile file;  // zlib hands plain bytes through when the magic bytes are absent
};

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0)
    throw FileError(Location{path_}, "", fmt::format("cannot be opened: {}", std::strerror(errno)));
  if (S_ISDIR(status.st_mode)) throw FileError(Location{path_}, "", "is a folder, not a file");
  size_ = S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
  const gzFile file = gzopen(path_.c_str(), "rbe");
  if (file == nullptr) throw FileError(Location{path_}, "", fmt::format("cannot be opened: {}", std::strerror(errno)));
  gzbuffer(file, 1u << 18);
  handle_ = std::make_unique<Handle>(file);
}

InputFile::~InputFile() = default;

std::size_t InputFile::read(char* buffer, std::size_t size) {
  const int got = gzread(handle_->file, buffer, static_cast<unsigned>(std::min<std::size_t>(size, 1u << 30)));
  if (got > 0) return static_cast<std::size_t>(got);
  int error = Z_OK;
  const char* text = gzerror(handle_->file, &error);
  if (error == Z_OK || error == Z_STREAM_END) return 0;
  if (error == Z_BUF_ERROR) throw FileError(Location{path_}, "", "gzip data end in the middle");
  if (error == Z_ERRNO) text = std::strerror(errno);
  throw FileError(Location{path_}, "", fmt::format("cannot be read: {}", text));
}

double InputFile::progress() const {
  if (size_ == 0) return -1;
  return std::min(1.0, static_cast<double>(gzoffset(handle_->file)) / static_cast<double>(size_));
}

WholeFile read_whole(const std::string& path, std::size_t limit) {
  InputFile input(path);
  WholeFile whole;
  while (true) {
    whole.bytes.resize(std::max<std::size_t>(whole.size * 2, 1u << 16) + WholeFile::kPadding);
    const std::size_t room = whole.bytes.size() - WholeFile::kPadding - whole.size;
    const std::size_t got = input.read(whole.bytes.data() + whole.size, room);
    if (got == 0) break;
    whole.size += got;
    if (whole.size > limit)
      throw FileError(Location{path}, "", fmt::format("is larger than {} MiB unpacked", limit >> 20));
  }
  std::fill(whole.bytes.begin() + static_cast<std::ptrdiff_t>(whole.size), whole.bytes.end(), '\0');
  return whole;
}

}  // namespace poolcast
