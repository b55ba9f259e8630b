// SPDX-License-Identifier: Apache-2.0
#include "scenarios/atomic_file.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "scenarios/error.h"
#include "tests/support/temporary_folder.h"

namespace fs = std::filesystem;
using namespace poolcast;
using poolcast::testing::read_file;
using poolcast::testing::TemporaryFolder;
using poolcast::testing::write_file;
using Names = std::vector<std::string>;

TEST_CASE("A written file appears whole, with nothing beside it") {
  const TemporaryFolder folder;
  AtomicFile(folder.file("out.txt")).write("hello\n");
  CHECK(read_file(folder.file("out.txt")) == "hello\n");
  CHECK(folder.names() == Names{"out.txt"});
}

TEST_CASE("Until the commit the old file stands untouched") {
  const TemporaryFolder folder;
  write_file(folder.file("out.txt"), "old");
  AtomicFile file(folder.file("out.txt"));
  write_file(file.temporary_path(), "new");
  CHECK(read_file(folder.file("out.txt")) == "old");
  CHECK(fs::path(file.temporary_path()).parent_path() == folder.path());
  file.commit();
  CHECK(read_file(folder.file("out.txt")) == "new");
  CHECK(folder.names() == Names{"out.txt"});
}

TEST_CASE("An exception before the commit removes the temporary file and keeps the old one") {
  const TemporaryFolder folder;
  write_file(folder.file("out.txt"), "old");
  try {
    AtomicFile file(folder.file("out.txt"));
    write_file(file.temporary_path(), "half");
    throw std::runtime_error("stop");
  } catch (const std::runtime_error&) {
  }
  CHECK(read_file(folder.file("out.txt")) == "old");
  CHECK(folder.names() == Names{"out.txt"});
}

TEST_CASE("A replaced file keeps its permissions, and a link stays a link") {
  const TemporaryFolder folder;
  write_file(folder.file("real.txt"), "old");
  fs::permissions(folder.file("real.txt"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("real.txt", folder.file("link.txt"));
  AtomicFile(folder.file("link.txt")).write("new");
  CHECK(fs::is_symlink(folder.file("link.txt")));
  CHECK(read_file(folder.file("real.txt")) == "new");
  CHECK(fs::status(folder.file("real.txt")).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("A place that cannot be written is named in the message") {
  const TemporaryFolder folder;
  const std::string missing = folder.file("no/such/out.txt");
  CHECK_THROWS_AS(AtomicFile(missing), FileError);
  CHECK_THROWS_WITH(AtomicFile(missing), missing + ": cannot write: No such file or directory");
  CHECK_THROWS_WITH(AtomicFile(folder.path().string()), Catch::Contains("Is a directory"));
  CHECK_THROWS_WITH(AtomicFile("/dev/null"), "/dev/null: cannot write: not a plain file");
}

TEST_CASE("A missing folder is made with those above it, and a file in its place is an error") {
  const TemporaryFolder folder;
  make_folder(folder.file("a/b/c"));
  CHECK(fs::is_directory(folder.file("a/b/c")));
  make_folder(folder.file("a/b/c"));
  make_folder(folder.file("a/d/"));
  CHECK(fs::is_directory(folder.file("a/d")));
  write_file(folder.file("plain"), "");
  CHECK_THROWS_AS(make_folder(folder.file("plain")), FileError);
  CHECK_THROWS_AS(make_folder(folder.file("plain/below")), FileError);
}

namespace {

/// Runs `body` in a child process and returns its wait status.
template <class Body>
int in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      body();
    } catch (...) {
      ::_exit(99);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

void clean_up_and_leave(int signal) {
  remove_unfinished_files();
  ::_exit(128 + signal);
}

}  // namespace

TEST_CASE("A full disk is an error, leaves no half file and keeps the old one") {
  const TemporaryFolder folder;
  write_file(folder.file("out.txt"), "old");
  const int status = in_child([&] {
    // A limit on the size of files stands for the full disk: write(2) stores a part and then fails.
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGXFSZ, SIG_IGN);
    try {
      AtomicFile(folder.file("out.txt")).write(std::string(100'000, 'x'));
    } catch (const FileError& error) {
      if (std::string(error.what()).find("File too large") != std::string::npos) ::_exit(7);
    }
  });
  CHECK(WEXITSTATUS(status) == 7);
  CHECK(read_file(folder.file("out.txt")) == "old");
  CHECK(folder.names() == Names{"out.txt"});
}

TEST_CASE("A signal handler can remove every unfinished file") {
  const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP);
  const TemporaryFolder folder;
  write_file(folder.file("one.txt"), "old");
  const int status = in_child([&] {
    ::signal(signal, clean_up_and_leave);
    AtomicFile one(folder.file("one.txt"));
    AtomicFile two(folder.file("two.txt"));
    write_file(one.temporary_path(), "half");
    AtomicFile(folder.file("done.txt")).write("done");
    ::raise(signal);
  });
  CHECK(WEXITSTATUS(status) == 128 + signal);
  CHECK(read_file(folder.file("one.txt")) == "old");
  CHECK(folder.names() == Names{"done.txt", "one.txt"});
}

TEST_CASE("What a killed process left beside a file is removed by the next writer of the same file") {
  const TemporaryFolder folder;
  const int status = in_child([&] {
    AtomicFile one(folder.file("one.txt"));
    AtomicFile two(folder.file("two.txt"));
    ::raise(SIGKILL);
  });
  CHECK(WTERMSIG(status) == SIGKILL);
  REQUIRE(folder.names().size() == 2);
  const std::string left_of_two = folder.names().back();
  const std::string of_living = fmt::format(".one.txt.{}-0.part", ::getppid());
  for (const std::string& name : {of_living, std::string(".one.txt.9x-0.part"), std::string(".one.txt.part")}) {
    write_file(folder.file(name), "");
  }
  AtomicFile(folder.file("one.txt")).write("new");
  Names kept = {of_living, ".one.txt.9x-0.part", ".one.txt.part", left_of_two, "one.txt"};
  std::sort(kept.begin(), kept.end());
  CHECK(folder.names() == kept);
}
