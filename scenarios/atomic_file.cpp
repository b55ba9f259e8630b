// SPDX-License-Identifier: Apache-2.0
#include "scenarios/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "scenarios/error.h"

namespace poolcast {
namespace {

// A signal handler can reach neither objects nor the heap, so the names of unfinished files stand in this table. It is
// the one global of the program: signals belong to the process, not to a run.
constexpr int kSlots = 64;
std::array<std::atomic<const char*>, kSlots> unfinished_files{};

void remember(const char* path) {
  for (auto& slot : unfinished_files) {
    const char* empty = nullptr;
    if (slot.compare_exchange_strong(empty, path)) return;
  }
  std::fputs("poolcast: more than 64 output files open at once\n", stderr);
  std::abort();
}

void forget(const char* path) {
  for (auto& slot : unfinished_files) {
    const char* expected = path;
    if (slot.compare_exchange_strong(expected, nullptr)) return;
  }
}

[[noreturn]] void fail(const std::string& path, std::string_view doing, int error) {
  throw FileError(Location{path, 0, 0}, {}, fmt::format("cannot {}: {}", doing, std::strerror(error)));
}

/// An open file descriptor. `close` reports what the destructor would hide: some file systems tell of a full disk late.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags, mode_t mode = 0)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  bool open() const { return fd_ >= 0; }
  int get() const { return fd_; }
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

std::string folder_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// The process in a temporary name ".NAME.PID-N.part" of `name`; 0 when it is none.
pid_t process_of(std::string_view temporary, std::string_view name) {
  constexpr std::string_view kEnd = ".part";
  const std::string start = fmt::format(".{}.", name);
  if (temporary.size() < start.size() + kEnd.size() || temporary.substr(0, start.size()) != start) return 0;
  if (temporary.substr(temporary.size() - kEnd.size()) != kEnd) return 0;
  temporary = temporary.substr(start.size(), temporary.size() - start.size() - kEnd.size());
  pid_t process = 0;
  unsigned ordinal = 0;
  const char* const end = temporary.data() + temporary.size();
  const auto dash = std::from_chars(temporary.data(), end, process);
  if (dash.ec != std::errc() || dash.ptr == end || *dash.ptr != '-') return 0;
  const auto last = std::from_chars(dash.ptr + 1, end, ordinal);
  return last.ec == std::errc() && last.ptr == end && process > 0 ? process : 0;
}

/// Removes what killed processes left of `name` in `folder`. One that cannot be removed does no harm.
void remove_leftovers(const std::string& folder, std::string_view name) {
  std::error_code ignored;
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator at(folder, ignored); at != end; at.increment(ignored)) {
    const pid_t process = process_of(at->path().filename().native(), name);
    const bool dead = process > 0 && ::kill(process, 0) != 0 && errno == ESRCH;
    if (dead) ::unlink(at->path().c_str());
  }
}

/// The plain file that `path` leads to, or that will be made there.
std::string real_target(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) fail(path, "write", EISDIR);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw FileError(Location{path, 0, 0}, {}, "cannot write: not a plain file");
  }
  if (!std::filesystem::is_symlink(std::filesystem::symlink_status(path, error))) return path;
  const auto resolved = std::filesystem::weakly_canonical(path, error);
  return error ? path : resolved.string();
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(real_target(path)) {
  try {
    create();
  } catch (...) {
    forget(temporary_.c_str());
    throw;
  }
}

/// Creates the temporary file, empty. It is remembered before it exists, so that no signal can come in between.
void AtomicFile::create() {
  static std::atomic<unsigned> ordinal{0};
  const auto slash = path_.find_last_of('/');
  const std::size_t name_at = slash == std::string::npos ? 0 : slash + 1;
  remove_leftovers(folder_of(path_), std::string_view(path_).substr(name_at));
  temporary_ = fmt::format("{}.{}.{}-{}.part", path_.substr(0, name_at), path_.substr(name_at), ::getpid(), ordinal++);
  ::unlink(temporary_.c_str());  // left by a killed process that had the same number
  remember(temporary_.c_str());

  struct stat old {};
  const bool replaces = ::stat(path_.c_str(), &old) == 0;
  Descriptor file(temporary_, O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (!file.open()) fail(path_, "write", errno);
  if (replaces && ::fchmod(file.get(), old.st_mode & 07777) != 0) fail(path_, "set permissions", errno);
}

AtomicFile::~AtomicFile() {
  if (committed_) return;
  ::unlink(temporary_.c_str());
  forget(temporary_.c_str());
}

void AtomicFile::write(std::string_view content) {
  put(content);
  commit();
}

bool AtomicFile::write_new(std::string_view content) {
  put(content);
  return commit_new();
}

void AtomicFile::put(std::string_view content) {
  Descriptor file(temporary_, O_WRONLY | O_TRUNC);
  if (!file.open()) fail(path_, "write", errno);
  while (!content.empty()) {
    const ssize_t written = ::write(file.get(), content.data(), std::min<std::size_t>(content.size(), 1 << 30));
    if (written < 0 && errno != EINTR) fail(path_, "write", errno);
    if (written > 0) content.remove_prefix(static_cast<std::size_t>(written));
  }
  if (!file.close()) fail(path_, "write", errno);
}

void AtomicFile::commit() {
  flush();
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail(path_, "put in place", errno);
  settled();
}

bool AtomicFile::commit_new() {
  flush();
  // A second name for the file, which fails where the name is taken; rename would replace what is there.
  if (::link(temporary_.c_str(), path_.c_str()) != 0) {
    if (errno == EEXIST) return false;
    fail(path_, "put in place", errno);
  }
  ::unlink(temporary_.c_str());
  settled();
  return true;
}

void AtomicFile::flush() {
  Descriptor file(temporary_, O_RDONLY);
  if (!file.open() || ::fsync(file.get()) != 0) fail(path_, "flush to disk", errno);
}

void AtomicFile::settled() {
  committed_ = true;
  forget(temporary_.c_str());
  // The name itself lives in the folder. Not every file system can flush one, so a failure here is not an error.
  const Descriptor folder(folder_of(path_), O_RDONLY | O_DIRECTORY);
  if (folder.open()) ::fsync(folder.get());
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error && !std::filesystem::is_directory(path, error)) error = std::make_error_code(std::errc::not_a_directory);
  if (error) throw FileError(Location{path, 0, 0}, {}, fmt::format("cannot make the folder: {}", error.message()));
}

void remove_unfinished_files() noexcept {
  for (auto& slot : unfinished_files) {
    if (const char* path = slot.exchange(nullptr)) ::unlink(path);
  }
}

}  // namespace poolcast
