// SPDX-License-Identifier: Apache-2.0
// The section pools.
#include <catch2/catch.hpp>

#include "tests/support/scenario_text.h"
#include "tests/support/temporary_folder.h"

using poolcast::testing::fault;
using poolcast::testing::TemporaryFolder;
using poolcast::testing::write_file;

TEST_CASE("an unknown accelerator is an error") {
  CHECK(fault("accelerator: mi300x", "accelerator: mi30x") ==
        R"(s.yaml:31:18: pools[1].accelerator: the catalog has no accelerator "mi30x"
    accelerator: mi30x
                 ^ did you mean "mi300x"?)");
}

TEST_CASE("an accelerator that is only begun is an error") {
  CHECK(fault("accelerator: h100-sxm", "accelerator: h100") ==
        R"(s.yaml:24:18: pools[0].accelerator: the catalog has no accelerator "h100"
    accelerator: h100
                 ^ did you mean "h100-sxm"?)");
}

TEST_CASE("an inline accelerator without a name is an error") {
  CHECK(fault("accelerator: mi300x", "accelerator: {memory: 192 GB}") ==
        R"(s.yaml:31:18: pools[1].accelerator: missing key "name"
    accelerator: {memory: 192 GB}
                 ^)");
}

TEST_CASE("an unknown key of an accelerator is an error") {
  CHECK(fault("accelerator: mi300x", "accelerator: {base: mi300x, link: 900 GB/s}") ==
        R"(s.yaml:31:33: pools[1].accelerator.link: unknown key
    accelerator: {base: mi300x, link: 900 GB/s}
                                ^ did you mean "link_bandwidth"?)");
}

TEST_CASE("more memory that can be addressed than there is is an error") {
  CHECK(fault("accelerator: mi300x", "accelerator: {base: mi300x, addressable_memory: 300 GB}") ==
        R"(s.yaml:31:53: pools[1].accelerator.addressable_memory: 300 GB can be addressed, but the device has 192 GB
    accelerator: {base: mi300x, addressable_memory: 300 GB}
                                                    ^)");
}

TEST_CASE("a memory that nobody stated is an error") {
  CHECK(
      fault("accelerator: mi300x", "accelerator: {name: toy, bf16: 100 TFLOP/s, memory_bandwidth: 1 TB/s}") ==
      R"(s.yaml:31:18: pools[1].accelerator: memory of toy is missing: no source states it; a scenario may state it itself
    accelerator: {name: toy, bf16: 100 TFLOP/s, memory_bandwidth: 1 TB/s}
                 ^)");
}

TEST_CASE("a peak rate that nobody stated is an error") {
  CHECK(
      fault("accelerator: h100-sxm", "accelerator: a100-sxm-80gb") ==
      R"(s.yaml:24:18: pools[0].accelerator: peak fp8 rate of a100-sxm-80gb is missing: no source states it; a scenario may state it itself (the chip has no fp8 matrix unit)
    accelerator: a100-sxm-80gb
                 ^)");
}

TEST_CASE("two pools of one name is an error") {
  CHECK(fault(R"(- name: b
    acc)",
              R"(- name: a
    acc)") ==
        R"(s.yaml:30:11: pools[1].name: the name "a" is taken in line 23
  - name: a
          ^)");
}

TEST_CASE("a tensor-parallel degree that does not divide the heads is an error") {
  CHECK(fault("layout: {tp: 1}", "layout: {tp: 3}") ==
        R"(s.yaml:25:18: pools[0].layout.tp: tp 3 does not divide the 32 attention heads of llama-3.1-8b
    layout: {tp: 3}
                 ^)");
}

TEST_CASE("a model that does not fit into the memory is an error") {
  CHECK(
      fault("shape: llama-3.1-8b", "shape: llama-3.1-405b") ==
      R"(s.yaml:25:13: pools[0].layout: chat does not fit on h100-sxm: no room for a KV cache: 72.0 GiB usable per device, 381.9 GiB weights, 4.2 GiB activations and runtime; 337312874496 bytes per device are missing
    layout: {tp: 1}
            ^)");
}

TEST_CASE("an engine without a version is an error") {
  CHECK(fault(R"(kind: vllm, version: "0.19", args: {max_num_seqs: 64, max_num_batched_tokens: 8192}}
    curves)",
              R"(kind: vllm, args: {max_num_seqs: 64, max_num_batched_tokens: 8192}}
    curves)") ==
        R"(s.yaml:27:13: pools[0].engine: missing key "version"
    engine: {kind: vllm, args: {max_num_seqs: 64, max_num_batched_tokens: 8192}}
            ^)");
}

TEST_CASE("an engine version that the catalog does not have is an error") {
  CHECK(fault(R"(version: "0.19", args: {max_num_seqs: 64, max_num_batched_tokens: 8192}}
    curves)",
              R"(version: 0.190, args: {max_num_seqs: 64, max_num_batched_tokens: 8192}}
    curves)") ==
        R"(s.yaml:27:35: pools[0].engine.version: the catalog has no vllm "0.190"
    engine: {kind: vllm, version: 0.190, args: {max_num_seqs: 64, max_num_batched_tokens: 8192}}
                                  ^ did you mean "0.19"?)");
}

TEST_CASE("an unknown engine kind is an error") {
  CHECK(fault(R"({kind: vllm, version: "0.19", args: {max_num_seqs: 64, max_num_batched_tokens: 8192}}
    curves)",
              R"({kind: vlm, version: "0.5"}
    curves)") ==
        R"(s.yaml:27:20: pools[0].engine.kind: unknown value "vlm"
    engine: {kind: vlm, version: "0.5"}
                   ^ did you mean "vllm"?)");
}

TEST_CASE("an engine argument that this version does not have is an error") {
  CHECK(fault(R"(max_num_seqs: 64, max_num_batched_tokens: 8192}}
    curves)",
              R"(max_num_seq: 64, max_num_batched_tokens: 8192}}
    curves)") ==
        R"(s.yaml:27:50: pools[0].engine.args.max_num_seq: vllm 0.19 has no such argument
    engine: {kind: vllm, version: "0.19", args: {max_num_seq: 64, max_num_batched_tokens: 8192}}
                                                 ^ did you mean "max_num_seqs"?)");
}

TEST_CASE("an engine argument whose default no source tells is an error") {
  CHECK(
      fault(R"(max_num_seqs: 64, max_num_batched_tokens: 8192}}
    curves)",
            R"(max_num_batched_tokens: 8192}}
    curves)") ==
      R"(s.yaml:27:49: pools[0].engine.args: no source tells the default of max_num_seqs in vllm 0.19 on this device: state it
    engine: {kind: vllm, version: "0.19", args: {max_num_batched_tokens: 8192}}
                                                ^)");
}

TEST_CASE("an engine argument in both spellings is an error") {
  CHECK(fault(R"(max_num_seqs: 64, max_num_batched_tokens: 8192}}
    curves)",
              R"(max_num_seqs: 64, max-num-seqs: 64, max_num_batched_tokens: 8192}}
    curves)") ==
        R"(s.yaml:27:68: pools[0].engine.args.max-num-seqs: the argument "max_num_seqs" stands twice
    engine: {kind: vllm, version: "0.19", args: {max_num_seqs: 64, max-num-seqs: 64, max_num_batched_tokens: 8192}}
                                                                   ^)");
}

TEST_CASE("speculative decoding is not modelled yet") {
  CHECK(
      fault(R"(max_num_seqs: 64, max_num_batched_tokens: 8192}}
    curves)",
            R"(max_num_seqs: 64, max_num_batched_tokens: 8192, num_speculative_tokens: 3}}
    curves)") ==
      R"(s.yaml:27:122: pools[0].engine.args.num_speculative_tokens: num_speculative_tokens is known but not modelled yet; leave it out or turn it off
: 64, max_num_batched_tokens: 8192, num_speculative_tokens: 3}}
                                                            ^)");
}

TEST_CASE("a tensor-parallel size that contradicts the layout is an error") {
  CHECK(
      fault(R"(max_num_seqs: 64, max_num_batched_tokens: 8192}}
    curves)",
            R"(max_num_seqs: 64, max_num_batched_tokens: 8192, tensor-parallel-size: 8}}
    curves)") ==
      R"(s.yaml:27:120: pools[0].engine.args.tensor-parallel-size: contradicts the pool's layout, which has tp 1; leave it out
qs: 64, max_num_batched_tokens: 8192, tensor-parallel-size: 8}}
                                                            ^)");
}

TEST_CASE("a token budget below the number of sequences is an error") {
  CHECK(fault(R"(max_num_seqs: 64, max_num_batched_tokens: 8192}}
    curves)",
              R"(max_num_seqs: 64, max_num_batched_tokens: 32}}
    curves)") ==
        R"(s.yaml:27:49: pools[0].engine.args: max_num_batched_tokens (32) must be at least max_num_seqs (64)
    engine: {kind: vllm, version: "0.19", args: {max_num_seqs: 64, max_num_batched_tokens: 32}}
                                                ^)");
}

TEST_CASE("a token budget below the longest prompt, without chunked prefill is an error") {
  CHECK(
      fault(R"(max_num_seqs: 64, max_num_batched_tokens: 8192}}
    curves)",
            R"(max_num_seqs: 64, max_num_batched_tokens: 4096, enable_chunked_prefill: false}}
    curves)") ==
      R"(s.yaml:27:49: pools[0].engine.args: without chunked prefill max_num_batched_tokens (4096) must be at least max_model_len (8192)
    engine: {kind: vllm, version: "0.19", args: {max_num_seqs: 64, max_num_batched_tokens: 4096, enable_chunked_prefill:
                                                ^)");
}

TEST_CASE("an unknown scheduling policy is an error") {
  CHECK(fault(R"(max_num_seqs: 64, max_num_batched_tokens: 8192}}
    curves)",
              R"(max_num_seqs: 64, max_num_batched_tokens: 8192, scheduling-policy: lifo}}
    curves)") ==
        R"(s.yaml:27:117: pools[0].engine.args.scheduling-policy: unknown value "lifo"
_seqs: 64, max_num_batched_tokens: 8192, scheduling-policy: lifo}}
                                                            ^ one of fcfs, priority)");
}

TEST_CASE("one KV block, which is the null block is an error") {
  CHECK(
      fault(R"(max_num_seqs: 64, max_num_batched_tokens: 8192}}
    curves)",
            R"(max_num_seqs: 64, max_num_batched_tokens: 8192, num_gpu_blocks_override: 1}}
    curves)") ==
      R"(s.yaml:27:123: pools[0].engine.args.num_gpu_blocks_override: must be a whole number from 2 to 1000000000, got "1"
 64, max_num_batched_tokens: 8192, num_gpu_blocks_override: 1}}
                                                            ^)");
}

TEST_CASE("a calibration file that is not there is an error") {
  CHECK(
      fault("curves: roofline", "curves: calibration/h100.h5") ==
      R"(s.yaml:28:13: pools[0].curves: no such file; looked for "calibration/h100.h5"; `poolcast calibrate --model MODEL -o calibration/h100.h5` measures one on a device at hand
    curves: calibration/h100.h5
            ^)");
}

TEST_CASE("a file that is no calibration is an error") {
  const TemporaryFolder folder;
  write_file(folder.file("x.h5"), "no HDF5");
  CHECK(fault("curves: roofline", "curves: {file: " + folder.file("x.h5") + "}") ==
        "s.yaml:28:20: pools[0].curves.file: " + folder.file("x.h5") +
            ": is no HDF5 file\n    curves: {file: " + folder.file("x.h5") + "}\n                   ^");
}

TEST_CASE("unknown curves is an error") {
  CHECK(fault("curves: roofline", "curves: rooflin") ==
        R"(s.yaml:28:13: pools[0].curves: unknown value "rooflin"
    curves: rooflin
            ^ did you mean "roofline"?)");
}

TEST_CASE("two kinds of curves is an error") {
  CHECK(fault("curves: roofline", "curves: {roofline: {}, step_fit: {base: 8 ms}}") ==
        R"(s.yaml:28:28: pools[0].curves.step_fit: stands beside "roofline", and only one of them can hold
    curves: {roofline: {}, step_fit: {base: 8 ms}}
                           ^)");
}

TEST_CASE("a step fit without its base is an error") {
  CHECK(fault("curves: roofline", "curves: {step_fit: {per_token: 20 us}}") ==
        R"(s.yaml:28:24: pools[0].curves.step_fit: missing key "base"
    curves: {step_fit: {per_token: 20 us}}
                       ^)");
}

TEST_CASE("a step fit of nothing is an error") {
  CHECK(fault("curves: roofline", "curves: {step_fit: {base: 0 s}}") ==
        R"(s.yaml:28:13: pools[0].curves: a step-fit needs a coefficient above zero
    curves: {step_fit: {base: 0 s}}
            ^)");
}

TEST_CASE("a missing price is an error, never a guess") {
  CHECK(fault("    price: none\n", "") ==
        R"(s.yaml:30:5: pools[1]: missing key "price": write {reserved: $2.10/h per device}, {list: NAME} or none
  - name: b
    ^)");
}

TEST_CASE("a price in a word is an error") {
  CHECK(fault("price: none", "price: free") ==
        R"(s.yaml:33:12: pools[1].price: expected none, or a mapping such as {reserved: $2.10/h per device}
    price: free
           ^)");
}

TEST_CASE("a spot price is not modelled yet") {
  CHECK(fault("price: none", "price: {spot: $1/h}") ==
        R"(s.yaml:33:13: pools[1].price.spot: this key is known but not modelled yet
    price: {spot: $1/h}
            ^)");
}

TEST_CASE("a price that no list has is an error") {
  CHECK(fault("price: none", "price: {list: oci/BM.GPU.MI300}") ==
        R"(s.yaml:33:19: pools[1].price.list: the catalog has no price "oci/BM.GPU.MI300"
    price: {list: oci/BM.GPU.MI300}
                  ^ did you mean "OCI/BM.GPU.MI300X.8"?)");
}

TEST_CASE("a listed price of another accelerator is an error") {
  CHECK(fault("price: none", "price: {list: aws/p5.48xlarge}") ==
        R"(s.yaml:33:19: pools[1].price.list: aws/p5.48xlarge is listed for h100-sxm, and this pool has mi300x
    price: {list: aws/p5.48xlarge}
                  ^)");
}

TEST_CASE("an unknown key of a pool is an error") {
  CHECK(fault("replicas: 2", "replica: 2") ==
        R"(s.yaml:26:5: pools[0].replica: unknown key
    replica: 2
    ^ did you mean "replicas"?)");
}

TEST_CASE("failures are not modelled yet") {
  CHECK(fault("replicas: 2", "failures: {mtbf: 30 d}") ==
        R"(s.yaml:26:5: pools[0].failures: this key is known but not modelled yet
    failures: {mtbf: 30 d}
    ^)");
}
