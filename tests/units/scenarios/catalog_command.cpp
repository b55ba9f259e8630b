// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <string>

/// `poolcast catalog`, run as a user runs it.
namespace poolcast {
namespace {

using Catch::Contains;

struct Output {
  int status = -1;
  std::string text;  ///< both streams
};

Output catalog(const std::string& arguments) {
  const std::string command = std::string(POOLCAST_PROGRAM) + " catalog " + arguments + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Output output;
  char part[4096];
  for (std::size_t n = std::fread(part, 1, sizeof part, pipe); n > 0; n = std::fread(part, 1, sizeof part, pipe)) {
    output.text.append(part, n);
  }
  const int status = ::pclose(pipe);
  output.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return output;
}

TEST_CASE("without a name the catalog lists accelerators, models, engines and prices") {
  const Output all = catalog("");
  CHECK(all.status == 0);
  CHECK_THAT(all.text, Contains("h100-sxm                989         1979         80   3.35        450      700\n"));
  CHECK_THAT(all.text, Contains("xeon-6980p          missing      missing    missing  0.845    missing      500\n"));
  CHECK_THAT(all.text, Contains("llama-3.1-70b       70.6 B   70.6 B      80    8192   131072             320 KiB\n"));
  CHECK_THAT(all.text, Contains("  vllm                                             0.19, mainline-2026-08-17\n"));
  CHECK_THAT(all.text, Contains("AWS/p5.48xlarge"));
  CHECK(catalog("prices").text.size() < all.text.size());
}

TEST_CASE("with a name the catalog tells every figure with its source, or that it is missing") {
  const Output v5e = catalog("tpu-v5e");
  CHECK(v5e.status == 0);
  CHECK(v5e.text ==
        "tpu-v5e: Google TPU v5e\n"
        "  vendor, family, kind  google, tpu-v5e, tpu\n"
        "  peak bf16             197 TFLOP/s [1]\n"
        "  peak fp8              missing (no source at hand states it)\n"
        "  peak int8             393 TFLOP/s (394 in another place) [1]\n"
        "  peak fp4              missing\n"
        "  memory                16 GB (HBM2) [1]\n"
        "  addressable memory    missing\n"
        "  memory bandwidth      820 GB/s (printed as 819 GB/s, 800 GiBps and 800 Gbps on different versions\n"
        "                        of the page) [1]\n"
        "  link, one way         200 GB/s (ICI 400 GBps in both directions, halved) [1]\n"
        "  TDP                   missing (no source at hand states it)\n"
        "  price per device      missing\n"
        "sources\n"
        "  [1] docs.cloud.google.com/tpu/docs/v5e\n");
  CHECK_THAT(catalog("mixtral-8x7b").text, Contains("active parameters     12.9 B from the shape, 12.9 B published\n"));
  CHECK_THAT(catalog("AWS/p5e.48xlarge").text, Contains("  on demand             missing\n"));
  CHECK(catalog("aws/P5e.48xlarge").text == catalog("AWS/p5e.48xlarge").text);  // as in a scenario
  CHECK(catalog("P5E.48xlarge").text == catalog("AWS/p5e.48xlarge").text);
}

TEST_CASE("an engine's defaults are shown for the device and use that are asked for") {
  CHECK_THAT(catalog("vllm").text, Contains("max_num_batched_tokens        8192 [1]\n"));
  CHECK_THAT(catalog("vllm --offline").text, Contains("max_num_batched_tokens        16384 [1]\n"));
  CHECK_THAT(catalog("vllm --on l40s").text, Contains("max_num_batched_tokens        2048 [1]\n"));
  CHECK_THAT(catalog("vllm").text, Contains("max_num_seqs                  missing (both logs at hand set it)\n"));
  CHECK_THAT(catalog("sglang").text,
             Contains("chunked_prefill_size                            8192 (-1 is off) [1]\n"));
  CHECK_THAT(catalog("sglang --on b200-sxm").text,
             Contains("chunked_prefill_size                            16384 (-1 is off) [1]\n"));
  CHECK_THAT(catalog("tensorrt-llm").text,
             Contains("max_seq_len                     context limit of the model [1]\n"));
  CHECK_THAT(catalog("bucketed").text, Contains("bucketed neuron-2026-07-28: arguments"));
  CHECK_THAT(catalog("triton").text, Contains("preferred_batch_size          max_batch_size alone"));
  CHECK_THAT(catalog("session").text, Contains("physical_cores                missing"));
}

TEST_CASE("an unknown name is an error that suggests the nearest") {
  const Output h100 = catalog("h100");
  CHECK(h100.status == 2);
  CHECK_THAT(h100.text, Contains("nothing is named \"h100\"; did you mean \"h100-sxm\","));
  const Output slip = catalog("lama-3.1-8b");
  CHECK(slip.status == 2);
  CHECK_THAT(slip.text, Contains("did you mean \"llama-3.1-8b\"?"));
  const Output device = catalog("vllm --on h10");
  CHECK(device.status == 2);
  CHECK_THAT(device.text, Contains("did you mean \"h100-sxm\"?"));
}

TEST_CASE("the help of the catalog shows an example") {
  CHECK_THAT(catalog("--help").text, Contains("poolcast catalog vllm --on mi300x"));
}

}  // namespace
}  // namespace poolcast
