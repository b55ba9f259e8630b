// SPDX-License-Identifier: Apache-2.0
// A qualification record of a pool whose curve was measured.
#include <algorithm>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "calibration/file.h"
#include "calibration/fit.h"
#include "scenarios/digest.h"
#include "scenarios/qualification.h"
#include "scenarios/qualification_record.h"
#include "scenarios/qualification_verify.h"
#include "tests/support/temporary_folder.h"
#include "tests/units/calibration/small.h"

using namespace poolcast;
using namespace poolcast::calibration;
using namespace poolcast::testing;

namespace {

void write_calibration(const std::string& path, const std::string& driver) {
  Calibration c = small_calibration();
  c.provenance["driver"] = driver;
  c.provenance["runtime"] = "12.8";
  fit(c);
  save(c, path);
}

constexpr const char* kScenario = R"(version: 1
workload: {synth: {requests: 50, arrivals: {process: poisson, rate: 20/s}, prompt_tokens: 100, output_tokens: 20}}
models: {name: m, shape: {layers: 2, hidden: 64, heads: 4, kv_heads: 2, head_dim: 16, intermediate: 128, vocab: 1000, context_limit: 4096}}
pools: {name: p, accelerator: h100-sxm, engine: {kind: vllm, version: mainline-2026-08-17, args: {max_num_batched_tokens: 512, max_num_seqs: 32, max_model_len: 1024}}, price: none, curves: c.h5}
)";

}  // namespace

TEST_CASE("a changed driver makes a record stale by its name, with the calibration that was measured on it") {
  const Catalog catalog = Catalog::load(POOLCAST_SOURCE_DIR "/scenarios/catalog");
  const TemporaryFolder folder;
  const std::string path = folder.file("c.h5");
  write_calibration(path, "570.1");
  write_file(folder.file("s.yaml"), kScenario);
  QualifyOptions options;
  options.scenario = folder.file("s.yaml");
  options.date = "2026-11-30";
  options.replications = 2;
  const nlohmann::ordered_json record = qualify(options, catalog);
  const auto& binding = record["predicate"]["bindings"][0];
  CHECK(binding["software"]["driver"] == "570.1");
  CHECK(binding["curve"]["digest"] == "sha256:" + sha256_of_file(path));
  CHECK(record["subject"].size() == 2);
  write_record(record, folder.file("r.json"));
  const auto verified = [&] { return verify_record(folder.file("r.json"), {"", true, 0, {}}, catalog); };
  CHECK(verified().verdict() == Verification::Verdict::kValid);

  write_calibration(path, "580.2");
  const Verification v = verified();
  CHECK(v.verdict() == Verification::Verdict::kStale);
  const auto has = [&](const std::string& start) {
    return std::any_of(v.stale.begin(), v.stale.end(),
                       [&](const Change& c) { return stale_text(c).substr(0, start.size()) == start; });
  };
  CHECK(has("driver: software[p].driver: 570.1 -> 580.2"));
  CHECK(has("calibration: scenario.pools[p].curves.digest: sha256:"));
  CHECK(has("file: inputs[calibration/c.h5].sha256: "));
}
