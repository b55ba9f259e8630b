// SPDX-License-Identifier: Apache-2.0
// Runs recorded cases of real schedulers through poolcast's and compares every step.
//
//   oracle_check CASE.json…     prints `ok NAME`, `skipped NAME: why` or `differs NAME step K: expected … got …`
//                               for each, then `N passed, M failed`; exit 1 on a difference.
//
// A case's arguments tell which engine it is of.
#include <fmt/format.h>

#include <fstream>
#include <stdexcept>

#include "tests/oracle/replica_case.h"
#include "tests/oracle/sglang_case.h"
#include "tests/oracle/triton_case.h"
#include "tests/oracle/trtllm_case.h"
#include "tests/oracle/vllm_case.h"

using nlohmann::json;
using namespace poolcast::oracle;

namespace {

/// Cases of Triton have a log of batches, those of schedulers a scenario with steps, TensorRT-LLM's speak of a config;
/// those of whole replicas name their engine.
Result check_document(const json& document) {
  if (document.contains("bucketed") || document.contains("session")) return check_replica(document);
  if (document.contains("log")) return check_triton(document);
  if (document.at("scenario").contains("config")) return check_trtllm(document);
  return is_sglang(document) ? check_sglang(document) : check_vllm(document);
}

std::string name_of(const json& document) {
  return document.contains("scenario") ? document.at("scenario").at("name") : document.at("name");
}

Verdict check_file(const char* path) {
  std::string name = path;
  Result result;
  try {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot be opened");
    const json document = json::parse(file);
    name = name_of(document);
    result = check_document(document);
  } catch (const std::exception& error) {
    result = {Verdict::kDiffers, fmt::format("step 0: expected a recorded case, got {}", error.what())};
  }
  if (result.verdict == Verdict::kOk) fmt::print("ok {}\n", name);
  if (result.verdict == Verdict::kSkipped) fmt::print("skipped {}: {}\n", name, result.why);
  if (result.verdict == Verdict::kDiffers) fmt::print("differs {} {}\n", name, result.why);
  return result.verdict;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: oracle_check CASE.json…\n");
    return 2;
  }
  int passed = 0, failed = 0;
  for (int i = 1; i < argc; ++i) {
    const Verdict verdict = check_file(argv[i]);
    passed += verdict == Verdict::kOk;
    failed += verdict == Verdict::kDiffers;
  }
  fmt::print("{} passed, {} failed\n", passed, failed);
  return failed > 0 ? 1 : 0;
}
