// SPDX-License-Identifier: Apache-2.0
#include "calibration/file.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "calibration/fit.h"
#include "scenarios/error.h"
#include "scenarios/h5_store.h"
#include "tests/support/temporary_folder.h"
#include "tests/units/calibration/small.h"

using namespace poolcast;
using namespace poolcast::calibration;
using namespace poolcast::testing;

namespace {

std::string fault_of(const std::string& path) {
  try {
    load(path);
  } catch (const ConfigError& error) {
    return std::string(error.what()).substr(path.size());
  }
  return "none";
}

}  // namespace

TEST_CASE("a calibration is read back as it was written, with its curve") {
  const TemporaryFolder folder;
  Calibration c = small_calibration();
  c.points[3].failure = "out of memory";
  c.points[3].wall_s.clear();
  c.points[3].cpu_s.clear();
  c.points[4].cpu_s.clear();
  c.points[5].noisy = true;
  c.steps = {{5, 1, 2, 30, {{3, 7}}, 1e-3, true}, {1, 1, 1, 9, {}, 2e-3, false}};
  fit(c);
  save(c, folder.file("c.h5"));
  const Calibration r = load(folder.file("c.h5"));
  CHECK(r.provenance == c.provenance);
  REQUIRE(r.points.size() == c.points.size());
  for (std::size_t i = 0; i < c.points.size(); ++i) {
    INFO(i);
    CHECK(r.points[i].shape == c.points[i].shape);
    CHECK(r.points[i].wall_s == c.points[i].wall_s);
    CHECK(r.points[i].cpu_s == c.points[i].cpu_s);
    CHECK(r.points[i].failure == c.points[i].failure);
    CHECK(r.points[i].held_out == c.points[i].held_out);
    CHECK(r.points[i].noisy == c.points[i].noisy);
    CHECK(r.points[i].problem == c.points[i].problem);
  }
  REQUIRE(r.steps.size() == 2);
  CHECK(r.steps[0].prefill[0].context == 7);
  CHECK(r.steps[1].prefill.empty());
  REQUIRE(r.head.curve);
  CHECK(r.head.curve->layer.seconds == c.head.curve->layer.seconds);
  CHECK(r.head.curve->range.decode_context == c.head.curve->range.decode_context);
  CHECK(r.head.errors.size() == c.head.errors.size());
  CHECK(what_differs(r.head.identity, small_shape(), {}, Precision::kBf16, Precision::kBf16).empty());
}

TEST_CASE("equal calibrations are equal bytes, and nothing but the file is left") {
  const TemporaryFolder folder;
  Calibration c = small_calibration();
  fit(c);
  save(c, folder.file("a.h5"));
  save(c, folder.file("b.h5"));
  CHECK(read_file(folder.file("a.h5")) == read_file(folder.file("b.h5")));
  CHECK(folder.names() == std::vector<std::string>{"a.h5", "b.h5"});
}

TEST_CASE("a file that is no calibration, or not a whole one, is refused with the reason") {
  const TemporaryFolder folder;
  const std::string path = folder.file("c.h5");
  CHECK(fault_of(path) == ": cannot open: No such file or directory");
  write_file(path, "not HDF5 at all");
  CHECK(fault_of(path) == ": is no HDF5 file");
  write_file(path, std::string("\x89HDF\r\n\x1a\n", 8) + std::string(100, '\0'));
  CHECK(fault_of(path) == ": is an HDF5 file, but none of poolcast's");
  {
    H5Out out(path, path);
    out.put("", "schema", std::string("poolcast.trace"));
    out.close();
  }
  CHECK(fault_of(path) ==
        R"(: is no calibration file: the attribute schema is "poolcast.trace", not "poolcast.calibration")");
  {
    H5Out out(path, path);
    out.column("/x", std::vector<double>{1});
    out.close();
  }
  CHECK(fault_of(path) == R"(: is no calibration file: it has no attribute schema, not "poolcast.calibration")");
  {
    H5Out out(path, path);
    out.put("", "schema", std::string(kCalibrationSchema));
    out.put("", "schema_version", std::int64_t{99});
    out.close();
  }
  CHECK(fault_of(path) == ": has schema version 99, and this poolcast reads version 1");
}

TEST_CASE("a calibration cut short at any length is refused and never crashes") {
  const TemporaryFolder folder;
  Calibration c = small_calibration();
  fit(c);
  save(c, folder.file("whole.h5"));
  const std::string bytes = read_file(folder.file("whole.h5"));
  const std::string path = folder.file("cut.h5");
  for (std::size_t part = 0; part < 20; ++part) {
    write_file(path, bytes.substr(0, bytes.size() * part / 20));
    INFO(part);
    CHECK(fault_of(path) != "none");
  }
}

TEST_CASE("a changed byte anywhere is seen before HDF5 reads the file") {
  const TemporaryFolder folder;
  Calibration c = small_calibration();
  fit(c);
  save(c, folder.file("whole.h5"));
  const std::string bytes = read_file(folder.file("whole.h5"));
  const std::string path = folder.file("flipped.h5");
  for (std::size_t at = 512; at < bytes.size(); at += bytes.size() / 100) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x5a);
    write_file(path, changed);
    CHECK(fault_of(path) == ": is damaged, cut short or was changed: its digest is not the one it states");
  }
}

TEST_CASE("another model, layout or precision is told by what differs") {
  const CurveIdentity id = small_calibration().head.identity;
  TransformerShape other = small_shape();
  other.name = "of another name";  // names do not matter
  CHECK(what_differs(id, other, {}, Precision::kBf16, Precision::kBf16).empty());
  other.layers = 4;
  other.moe = MoeShape{8, 2, 32, 0, 0};
  CHECK(what_differs(id, other, Layout{2, 1, 1, 1}, Precision::kFp8, Precision::kBf16) ==
        "layers 2 instead of 4, moe_experts none instead of 8, moe_experts_per_token none instead of 2, "
        "moe_intermediate none instead of 32, moe_shared_experts none instead of 0, moe_first_dense_layers none "
        "instead of 0, tp 1 instead of 2, weights bf16 instead of fp8");
}

TEST_CASE("a device is measured by one process at a time") {
  const auto lock = [](const std::string& hardware) { return Lock::of_hardware(hardware, "test device 4711"); };
  const Lock first = lock("test device 4711");
  CHECK_THROWS_WITH(lock("test device 4711"),
                    Catch::StartsWith("test device 4711 is being measured by another process"));
  lock("another test device 4711");
  const Lock file = Lock::of_file("/tmp/a.h5");
  CHECK_THROWS_WITH(Lock::of_file("/tmp/../tmp/a.h5"),
                    Catch::StartsWith("/tmp/../tmp/a.h5 is being written by another process"));
  Lock::of_file("/tmp/b.h5");
}
