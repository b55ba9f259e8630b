// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/support/program.h"

using namespace poolcast::testing;

namespace {

const std::string kScenario = "scenarios/examples/quickstart.yaml";

/// A process that keeps a core busy until it is destroyed.
class BusyLoop {
 public:
  BusyLoop() : child_(::fork()) {
    if (child_ == 0) {
      volatile bool forever = true;
      while (forever) {
      }
      ::_exit(0);
    }
  }
  ~BusyLoop() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  BusyLoop(const BusyLoop&) = delete;
  BusyLoop& operator=(const BusyLoop&) = delete;

 private:
  pid_t child_;
};

std::vector<std::string> command(const std::string& out) {
  return poolcast_command({"run", kScenario, "--out", out, "--format", "json"});
}

}  // namespace

TEST_CASE("Two runs at once on a loaded machine give the bytes of a quiet run, in every file") {
  const TemporaryFolder quiet, first, second;
  const Ran alone = Process(command(quiet.path().string())).wait();
  INFO(alone.err);
  REQUIRE(alone.status == 0);

  const BusyLoop one, two;
  Process left(command(first.path().string()));
  Process right(command(second.path().string()));
  CHECK(left.wait().out == alone.out);
  CHECK(right.wait().out == alone.out);
  for (const char* name : {"summary.json", "results.h5"}) {
    const std::string expected = read_file(quiet.file(name));
    REQUIRE_FALSE(expected.empty());
    CHECK((read_file(first.file(name)) == expected));
    CHECK((read_file(second.file(name)) == expected));
  }
  CHECK(read_file(quiet.file("summary.json")) == alone.out);
}

TEST_CASE("Another seed gives another result") {
  const Ran seven = run_program({"run", kScenario, "--format", "json", "--seed", "7"});
  const Ran eight = run_program({"run", kScenario, "--format", "json", "--seed", "8"});
  REQUIRE(seven.status == 0);
  REQUIRE(eight.status == 0);
  CHECK(seven.out != eight.out);
}
