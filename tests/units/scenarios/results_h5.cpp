// SPDX-License-Identifier: Apache-2.0
#include "scenarios/results_h5.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hdf5.h>

#include <catch2/catch.hpp>

#include "scenarios/error.h"
#include "tests/support/temporary_folder.h"

using namespace poolcast;
using poolcast::testing::read_file;
using poolcast::testing::TemporaryFolder;
using poolcast::testing::write_file;

namespace {

constexpr auto kChunk = static_cast<std::int64_t>(H5Columns::kChunkRows);

ResultsHeader example_header() {
  return {"0.1.0", 18446744073709551615u, "sha256:abc", {"chat", "batch"}, {"llama"}, {"h100", "größer"}, {2, 1}};
}

/// A record whose every field depends on `n`, so that a swapped column or a lost row shows.
RequestRecord example_record(std::int64_t n) {
  RequestRecord record;
  record.at.intended = 10 * n;
  record.at.sent = 10 * n + 1;
  record.at.routed = 10 * n + 2;
  record.at.queued = 10 * n + 3;
  record.at.first_scheduled = 10 * n + 4;
  record.at.first_token = 10 * n + 5;
  record.at.last_token = 10 * n + 6;
  record.ended = 10 * n + 7;
  record.source = SourceId(static_cast<std::uint32_t>(n % 3));
  record.row = static_cast<std::uint64_t>(n);
  record.session = static_cast<std::uint64_t>(n / 2);
  record.cls = ClassId(static_cast<std::uint32_t>(n % 2));
  record.model = ModelId(0u);
  record.pool = PoolId(static_cast<std::uint32_t>(n % 2));
  record.replica = ReplicaId(static_cast<std::uint32_t>(n % 3));
  record.prompt_tokens = 1000 + n;
  record.output_tokens = 2000 + n;
  record.output_target = 3000 + n;
  record.recomputed_tokens = 4000 + n;
  record.preemptions = static_cast<std::int32_t>(n % 5);
  record.priority = static_cast<std::int32_t>(n % 7) - 3;
  record.accepted = n % 3 == 0;
  record.measured = n % 4 != 0;
  return record;
}

/// One that was turned away before it met a replica.
RequestRecord rejected_record() {
  RequestRecord record;
  record.at.intended = record.at.sent = 77;
  record.ended = 78;
  record.source = SourceId(0u);
  record.cls = ClassId(1u);
  record.model = ModelId(0u);
  record.outcome = Outcome::kRejected;
  record.reason = Reason::kQueueFull;
  return record;
}

/// Reads a results file with the C interface alone.
class Reader {
 public:
  explicit Reader(const std::string& path) : file_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)) {
    REQUIRE(file_ >= 0);
  }
  ~Reader() { H5Fclose(file_); }

  std::vector<std::int64_t> column(const std::string& name) const {
    const hid_t set = H5Dopen2(file_, ("requests/" + name).c_str(), H5P_DEFAULT);
    REQUIRE(set >= 0);
    const hid_t space = H5Dget_space(set);
    std::vector<std::int64_t> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
    const hid_t type = H5Dget_type(set);
    if (H5Tget_class(type) == H5T_ENUM) {
      std::vector<std::uint8_t> bytes(values.size());
      REQUIRE(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) >= 0);
      values.assign(bytes.begin(), bytes.end());
    } else {
      REQUIRE(H5Dread(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
    }
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(set);
    return values;
  }

  bool has(const std::string& column) const {
    return H5Lexists(file_, ("requests/" + column).c_str(), H5P_DEFAULT) > 0;
  }

  std::string enum_name(const std::string& column, std::uint8_t value) const {
    const hid_t set = H5Dopen2(file_, ("requests/" + column).c_str(), H5P_DEFAULT);
    const hid_t type = H5Dget_type(set);
    char name[64] = "";
    H5Tenum_nameof(type, &value, name, sizeof name);
    H5Tclose(type);
    H5Dclose(set);
    return name;
  }

  std::vector<std::string> strings(const std::string& path) const {
    const hid_t set = H5Dopen2(file_, path.c_str(), H5P_DEFAULT);
    REQUIRE(set >= 0);
    const hid_t type = H5Dget_type(set);
    const hid_t space = H5Dget_space(set);
    const std::size_t width = H5Tget_size(type);
    std::string packed(width * static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)), '\0');
    H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, packed.data());
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(set);
    std::vector<std::string> values;
    for (std::size_t at = 0; at < packed.size(); at += width) values.emplace_back(packed.substr(at, width).c_str());
    return values;
  }

  std::string text_attribute(const std::string& name) const {
    const hid_t attribute = H5Aopen(file_, name.c_str(), H5P_DEFAULT);
    REQUIRE(attribute >= 0);
    const hid_t type = H5Aget_type(attribute);
    char* value = nullptr;
    REQUIRE(H5Aread(attribute, type, &value) >= 0);
    const std::string text = value;
    H5free_memory(value);
    H5Tclose(type);
    H5Aclose(attribute);
    return text;
  }

  std::uint64_t number_attribute(const std::string& name) const {
    const hid_t attribute = H5Aopen(file_, name.c_str(), H5P_DEFAULT);
    REQUIRE(attribute >= 0);
    std::uint64_t value = 0;
    H5Aread(attribute, H5T_NATIVE_UINT64, &value);
    H5Aclose(attribute);
    return value;
  }

 private:
  hid_t file_;
};

void write_example(const std::string& path, std::int64_t rows) {
  ResultsFile results(path, example_header());
  for (std::int64_t n = 0; n < rows; ++n) results.request_ended(example_record(n));
  results.request_ended(rejected_record());
  results.finish();
}

}  // namespace

TEST_CASE("Every row comes back from results.h5 as it was, over the border of a chunk too") {
  const std::int64_t rows = GENERATE(0, 1, kChunk - 2, kChunk - 1, kChunk, 5 * kChunk);
  const TemporaryFolder folder;
  write_example(folder.file("results.h5"), rows);
  const Reader reader(folder.file("results.h5"));
  const auto expect = [&](const std::string& column, auto value_of) {
    INFO(column << ", " << rows << " rows");
    const std::vector<std::int64_t> found = reader.column(column);
    REQUIRE(found.size() == static_cast<std::size_t>(rows + 1));
    std::vector<std::int64_t> wanted;
    for (std::int64_t n = 0; n < rows; ++n) wanted.push_back(static_cast<std::int64_t>(value_of(example_record(n))));
    wanted.push_back(found.back());
    CHECK(found == wanted);
  };
  using R = RequestRecord;
  expect("intended_ns", [](const R& r) { return r.at.intended; });
  expect("sent_ns", [](const R& r) { return r.at.sent; });
  expect("routed_ns", [](const R& r) { return r.at.routed; });
  expect("queued_ns", [](const R& r) { return r.at.queued; });
  expect("first_scheduled_ns", [](const R& r) { return r.at.first_scheduled; });
  expect("first_token_ns", [](const R& r) { return r.at.first_token; });
  expect("last_token_ns", [](const R& r) { return r.at.last_token; });
  expect("ended_ns", [](const R& r) { return r.ended; });
  expect("source", [](const R& r) { return r.source.value; });
  expect("row", [](const R& r) { return r.row; });
  expect("session", [](const R& r) { return r.session; });
  expect("class", [](const R& r) { return r.cls.value; });
  expect("model", [](const R& r) { return r.model.value; });
  expect("pool", [](const R& r) { return r.pool.value; });
  expect("replica", [](const R& r) { return r.replica.value; });
  expect("prompt_tokens", [](const R& r) { return r.prompt_tokens; });
  expect("output_tokens", [](const R& r) { return r.output_tokens; });
  expect("output_target_tokens", [](const R& r) { return r.output_target; });
  expect("recomputed_tokens", [](const R& r) { return r.recomputed_tokens; });
  expect("preemptions", [](const R& r) { return r.preemptions; });
  expect("priority", [](const R& r) { return r.priority; });
  expect("outcome", [](const R& r) { return r.outcome; });
  expect("reason", [](const R& r) { return r.reason; });
  expect("accepted", [](const R& r) { return r.accepted; });
  expect("measured", [](const R& r) { return r.measured; });
}

TEST_CASE("What a request never reached is stored as -1, and why it ended has a name") {
  const TemporaryFolder folder;
  write_example(folder.file("results.h5"), 3);
  const Reader reader(folder.file("results.h5"));
  CHECK(reader.column("intended_ns").back() == 77);
  for (const char* name : {"routed_ns", "queued_ns", "first_scheduled_ns", "first_token_ns", "last_token_ns", "session",
                           "pool", "replica"}) {
    INFO(name);
    CHECK(reader.column(name).back() == -1);
  }
  CHECK(reader.enum_name("outcome", static_cast<std::uint8_t>(reader.column("outcome").back())) == "rejected");
  CHECK(reader.enum_name("reason", static_cast<std::uint8_t>(reader.column("reason").back())) == "queue_full");
  CHECK(reader.enum_name("accepted", 1) == "TRUE");
}

TEST_CASE("results.h5 says which run it is of, and what its ids mean") {
  const TemporaryFolder folder;
  write_example(folder.file("results.h5"), 1);
  const Reader reader(folder.file("results.h5"));
  CHECK(reader.text_attribute("poolcast") == "0.1.0");
  CHECK(reader.number_attribute("schema") == 1);
  CHECK(reader.number_attribute("seed") == 18446744073709551615u);
  CHECK(reader.text_attribute("scenario_digest") == "sha256:abc");
  CHECK(reader.strings("names/classes") == std::vector<std::string>{"chat", "batch"});
  CHECK(reader.strings("names/models") == std::vector<std::string>{"llama"});
  CHECK(reader.strings("names/pools") == std::vector<std::string>{"h100", "größer"});
  CHECK(reader.strings("names/replicas") == std::vector<std::string>{"h100", "h100", "größer"});
}

TEST_CASE("How often a request was sent again is told where some class retries") {
  const TemporaryFolder folder;
  ResultsHeader header = example_header();
  header.retries = true;
  ResultsFile results(folder.file("retried.h5"), header);
  for (std::int32_t n = 0; n < 3; ++n) {
    RequestRecord record = example_record(n);
    record.retries = 2 * n;
    results.request_ended(record);
  }
  results.finish();
  CHECK(Reader(folder.file("retried.h5")).column("retries") == std::vector<std::int64_t>{0, 2, 4});
  CHECK(Reader(folder.file("retried.h5")).column("measured") == std::vector<std::int64_t>{0, 1, 1});
  write_example(folder.file("plain.h5"), 1);
  CHECK_FALSE(Reader(folder.file("plain.h5")).has("retries"));
}

TEST_CASE("Equal runs write equal bytes") {
  const TemporaryFolder folder;
  write_example(folder.file("one.h5"), 70'000);
  ::usleep(1'100'000);  // a stored time of day, which has a resolution of one second, would differ
  write_example(folder.file("two.h5"), 70'000);
  CHECK((read_file(folder.file("one.h5")) == read_file(folder.file("two.h5"))));
}

TEST_CASE("Without finish no results.h5 appears and the old one stays") {
  const TemporaryFolder folder;
  write_file(folder.file("results.h5"), "old");
  {
    ResultsFile results(folder.file("results.h5"), example_header());
    for (std::int64_t n = 0; n < 100'000; ++n) results.request_ended(example_record(n));
  }
  CHECK(read_file(folder.file("results.h5")) == "old");
  CHECK(folder.names() == std::vector<std::string>{"results.h5"});
}

TEST_CASE("A disk that fills up while results.h5 is written is one clear error and leaves nothing behind") {
  const TemporaryFolder folder;
  const std::string messages = folder.file("stderr.txt");
  const pid_t child = ::fork();
  if (child == 0) {
    if (std::freopen(messages.c_str(), "w", stderr) == nullptr) ::_exit(98);
    const rlimit limit{3'000'000, 3'000'000};  // stands for the full disk
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGXFSZ, SIG_IGN);
    int status = 0;
    try {
      write_example(folder.file("results.h5"), 200'000);
    } catch (const FileError& error) {
      if (std::string(error.what()) == folder.file("results.h5") + ": cannot write: File too large") status = 7;
    }
    std::fflush(stderr);
    ::_exit(status);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
  CHECK(read_file(messages).empty());
  CHECK(folder.names() == std::vector<std::string>{"stderr.txt"});
}

TEST_CASE("h5py reads results.h5 in the way that scenarios/results.md shows") {
  std::string python;
  for (const char* candidate : {"python3", "/usr/bin/python3"}) {
    const std::string probe = std::string(candidate) + " -c 'import h5py' 2>/dev/null";
    if (python.empty() && std::system(probe.c_str()) == 0) python = candidate;
  }
  if (python.empty()) {
    WARN("skipped: no python3 with h5py (Debian package python3-h5py)");
    return;
  }
  const TemporaryFolder folder;
  write_example(folder.file("results.h5"), 70'000);
  write_file(folder.file("read.py"), R"(import h5py, sys
with h5py.File(sys.argv[1]) as f:
    assert f.attrs["poolcast"] == "0.1.0" and f.attrs["schema"] == 1, dict(f.attrs)
    assert f.attrs["seed"] == 2**64 - 1
    requests = {name: column[:] for name, column in f["requests"].items()}
    pools = f["names/pools"].asstr()[:]
    outcomes = {value: name for name, value in h5py.check_enum_dtype(f["requests/outcome"].dtype).items()}
    assert f["requests/ended_ns"].attrs["unit"] == "ns"
assert {len(column) for column in requests.values()} == {70001}
assert list(pools) == ["h100", "größer"], pools
assert requests["accepted"].dtype == bool
assert int(requests["accepted"].sum()) == len(range(0, 70000, 3))
assert requests["session"][-1] == -1 and requests["pool"][-1] == -1
assert outcomes[requests["outcome"][0]] == "completed" and outcomes[requests["outcome"][-1]] == "rejected"
ttft = (requests["first_token_ns"] - requests["intended_ns"])[requests["first_token_ns"] >= 0] / 1e9
assert len(ttft) == 70000 and abs(ttft.max() - 5e-9) < 1e-15
)");
  CHECK(std::system((python + " " + folder.file("read.py") + " " + folder.file("results.h5")).c_str()) == 0);
}

TEST_CASE("Writing keeps ahead of the simulator", "[.][bench]") {
  const TemporaryFolder folder;
  constexpr std::int64_t kRows = 10'000'000;
  const RequestRecord record = example_record(5);
  ResultsFile results(folder.file("results.h5"), example_header());
  const std::clock_t begin = std::clock();
  for (std::int64_t n = 0; n < kRows; ++n) results.request_ended(record);
  results.finish();
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  WARN(kRows / seconds << " rows per CPU second");
  CHECK(kRows / seconds > 1'500'000);
}
