// SPDX-License-Identifier: Apache-2.0
#include "calibration/import.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "calibration/fit.h"
#include "models/kernel_tables.h"
#include "scenarios/error.h"
#include "tests/support/data.h"
#include "tests/support/temporary_folder.h"
#include "tests/units/calibration/small.h"

using namespace poolcast;
using namespace poolcast::calibration;
using namespace poolcast::testing;

namespace {

CurveIdentity of(const TransformerShape& shape, std::int64_t tp = 1) {
  CurveIdentity id;
  id.shape = shape;
  id.layout.tp = tp;
  return id;
}

TransformerShape llama_8b() {
  TransformerShape s;
  s.name = "llama-3.1-8b";
  s.layers = 32;
  s.hidden = 4096;
  s.heads = 32;
  s.kv_heads = 8;
  s.head_dim = 128;
  s.intermediate = 14336;
  s.vocab = 128256;
  s.context_limit = 131072;
  return s;
}

const Part& part(const Calibration& c, const std::string& name) {
  const auto found = std::find_if(c.parts.begin(), c.parts.end(), [&](const Part& p) { return p.name == name; });
  REQUIRE(found != c.parts.end());
  return *found;
}

std::string fault(Calibration (*read)(const std::string&, const CurveIdentity&), const std::string& source,
                  const CurveIdentity& id) {
  try {
    read(source, id);
  } catch (const ConfigError& error) {
    return std::string(error.what()).substr(source.size());
  }
  return "none";
}

}  // namespace

TEST_CASE("every fourth value of an axis is held out, never the last") {
  Calibration c;
  c.parts = {{"line", Term::kLinear, 1}, {"short", Term::kHead, 1}};
  for (std::int64_t x = 1; x <= 7; ++x) add_point(c, 0, {x}, 1e-3, "");
  for (std::int64_t x = 1; x <= 4; ++x) add_point(c, 1, {x}, 1e-3, "");
  hold_out(c);
  std::vector<std::int64_t> held;
  for (const Point& p : c.points) {
    if (p.held_out) held.push_back(p.shape[0]);
  }
  CHECK(held == std::vector<std::int64_t>{3});  // of 3, 7: 7 is the last; four values are too few
}

TEST_CASE("aiter: a table of GEMMs becomes parts, and there is no curve without attention") {
  const TemporaryFolder folder;
  const std::string path = folder.file("t.csv");
  write_file(
      path,
      "gfx,cu_num,M,N,K,libtype,us,kernelName\r\ngfx942,304,16,128,64,ck,12.5,k1\ngfx942,304,32,128,64,ck,13,k2\n"
      "gfx942,304,16,999,64,ck,1,k3\n");
  Calibration c = import_aiter(path, of(small_shape()));
  CHECK(part(c, "gemm n=128 k=64").times == 2);
  CHECK(part(c, "gemm n=999 k=64").times == 1);  // not of the model, kept
  CHECK(c.points.at(0).wall_s.at(0) == Approx(12.5e-6));
  CHECK(c.points.at(0).implementation == "k1");
  CHECK(c.head.identity.device == "gfx942");
  fit(c);
  CHECK_FALSE(c.head.curve);
}

TEST_CASE("a source with a broken row, without a column or of another model is refused") {
  const TemporaryFolder folder;
  const std::string path = folder.file("t.csv");
  write_file(path, "gfx,M,N,K,us,kernelName\ngfx942,16,128,x,1,k\n");
  CHECK(fault(import_aiter, path, of(small_shape())) ==
        ":2:15: \"x\" is no number (column K)\ngfx942,16,128,x,1,k\n              ^");
  write_file(path, "gfx,M,N,K,us,kernelName\ngfx942,16\n");
  CHECK(fault(import_aiter, path, of(small_shape())) == ":2:1: the row has fewer cells than the header");
  write_file(path, "gfx,M,N\n");
  CHECK(fault(import_aiter, path, of(small_shape())) == R"(:1:1: has no column "K")");
  write_file(path, "");
  CHECK(fault(import_aiter, path, of(small_shape())) == ": is empty: a header was expected");
  CHECK(fault(import_vidur, path + ".none", of(small_shape())).find("cannot be opened") != std::string::npos);
  CHECK(fault(import_opdb, folder.file("none"), of(small_shape())) == ": cannot be opened as a folder");
}

TEST_CASE("a size or a time that cannot be is refused where it stands") {
  const TemporaryFolder folder;
  const std::string path = folder.file("t.csv");
  const auto told = [&](const std::string& row) {
    write_file(path, "gfx,M,N,K,us,kernelName\ng,16,128,64,2,k\n" + row + "\n");
    const std::string message = fault(import_aiter, path, of(small_shape()));
    return message.substr(0, message.find('\n'));
  };
  CHECK(told("g,32,128,64,3,k") == "none");
  CHECK(told("g,32,128,64,0,k") == "none");  // not measured
  CHECK(told("g,-3,128,64,3,k") == R"(:3:3: "-3" is not from 1 to 2^40 (column M))");
  CHECK(told("g,0,128,64,3,k") == R"(:3:3: "0" is not from 1 to 2^40 (column M))");
  CHECK(told("g,32,99999999999999,64,3,k") == R"(:3:6: "99999999999999" is not from 1 to 2^40 (column N))");
  CHECK(told("g,32,128,64,-3,k") == R"(:3:13: "-3" is no time (column us))");
  CHECK(told("g,32,128,64,1e300,k") == R"(:3:13: "1e300" is no time (column us))");
  write_file(path,
             "model,hardware,prompt_size,batch_size,token_size,prompt_time,token_time,tensor_parallel\n"
             "small,a100,5,2000000000,1,1,1,1\n");
  CHECK(fault(import_splitwise, path, of(small_shape())) == ":2:1: a batch of more than 100000 requests");
}

TEST_CASE("a table of another model or of other weights is refused") {
  const TemporaryFolder folder;
  const std::string path = folder.file("t.csv");
  write_file(path, "gfx,M,N,K,q_dtype_w,us,kernelName\ng,16,128,64,torch.int8,2,k\n");
  CHECK(fault(import_aiter, path, of(small_shape())) == ": has no rows of bf16 weights, but of int8");
  CurveIdentity int8 = of(small_shape());
  int8.weights = Precision::kInt8;
  CHECK(fault(import_aiter, path, int8) == "none");
  write_file(path, "gfx,M,N,K,us,kernelName\ng,16,128,64,2,a8w8_blockscale_1x128\n");
  CHECK(fault(import_aiter, path, of(small_shape())) == ": has no rows of bf16 weights, but of fp8");
  CurveIdentity other = of(llama_8b());
  other.shape.layers = 80;
  other.weights = Precision::kFp8;
  CHECK(fault(import_tpu_v6e, folder.path().string(), other) ==
        ": was measured for Llama-3.1-8B: layers 32 instead of 80, weights bf16 instead of fp8");
  const std::string profile = folder.file("profile_RTX_meta-llama_Llama-3.1-8B_bf16_tp1_attention.csv");
  CHECK(fault(import_vllm_kernels, profile, of(small_shape())) ==
        ": is of something else: \"small\" is not in its name");
  other.shape.name = "llama-3.1-8b";
  CHECK(fault(import_vllm_kernels, profile, other) == ": is of something else: \"_fp8_\" is not in its name");
}

TEST_CASE("splitwise: prompts and tokens are whole steps, and a regression makes a curve of them") {
  const TemporaryFolder folder;
  const std::string path = folder.file("p.csv");
  std::string text = "model,hardware,prompt_size,batch_size,token_size,prompt_time,token_time,tensor_parallel\n";
  for (const int n : {1, 2, 4, 8, 16}) {
    for (const int p : {128, 512, 2048}) {
      text += "small,a100," + std::to_string(p) + "," + std::to_string(n) + ",100," + std::to_string(5 + 0.05 * n * p) +
              "," + std::to_string(5 + 0.5 * n + 1e-4 * n * (p + 50)) + ",2\n";
    }
  }
  write_file(path, text + "other,a100,1,1,1,1,1,2\n");
  Calibration c = import_splitwise(path, of(small_shape(), 2));
  CHECK(c.steps.size() == 30);
  fit(c);
  REQUIRE(c.head.curve);
  const auto curve = make_kernel_table_curve(*c.head.curve);
  const std::vector<PrefillChunk> chunks(3, {700, 0});
  CHECK(curve->step({2100, 3, 0, 0, chunks}).value == Approx((5 + 0.05 * 2100) * 1e-3).epsilon(0.02));
  CHECK(curve->step({5, 5, 5, 5000, {}}).value == Approx((5 + 0.5 * 5 + 1e-4 * 5000) * 1e-3).epsilon(0.02));
  CHECK(fault(import_splitwise, path, of(small_shape(), 4)) == ": has no rows of small at tp=4");
}

TEST_CASE("vllm bench: lone requests give steps, several at once do not") {
  const TemporaryFolder folder;
  const std::string path = folder.file("b.json");
  write_file(path, R"({"max_concurrency": 1, "input_lens": [100, 200], "ttfts": [0.01, 0.02],
                      "itls": [[0.005, 0.006], [0.007]], "date": "20260817"})");
  const Calibration c = import_vllm_bench(path, of(small_shape()));
  REQUIRE(c.steps.size() == 5);
  CHECK(c.steps[0].prefill.at(0).query == 100);
  CHECK(c.steps[2].decode_context == 102);
  CHECK(c.steps[2].seconds == 0.006);
  write_file(path, R"({"max_concurrency": 8, "input_lens": []})");
  CHECK(fault(import_vllm_bench, path, of(small_shape())) ==
        ": max_concurrency is not 1: which requests shared a step is not in the file, so steps cannot be told apart");
  const auto told = [&](const std::string& lens, const std::string& ttfts) {
    write_file(path,
               R"({"max_concurrency": 1, "input_lens": )" + lens + R"(, "ttfts": )" + ttfts + R"(, "itls": [[]]})");
    return fault(import_vllm_bench, path, of(small_shape()));
  };
  CHECK(told("[5]", "[0.1]") == "none");
  CHECK(told("[5]", "[0]") == ": has no requests");  // it failed
  CHECK(told("[5, 6]", "[0.1]") == ": has 2 input_lens, 1 ttfts and 1 itls");
  CHECK(told("[-5]", "[0.1]") == R"(: input_lens[0]: must be a whole number from 1 to 2^40, got "-5")");
  CHECK(told("[5.5]", "[0.1]") == R"(: input_lens[0]: must be a whole number from 1 to 2^40, got "5.5")");
  CHECK(told("[5]", "[-0.1]") == R"(: request 0: must take a time of at least 0, got "-0.1")");
  write_file(path, R"({"max_concurrency": 1})");
  CHECK(fault(import_vllm_bench, path, of(small_shape())) ==
        ": has no input_lens, ttfts and itls: run vllm bench serve with --save-detailed");
  write_file(path, "[");
  CHECK(fault(import_vllm_bench, path, of(small_shape())) ==
        ": is no JSON object, as vllm bench serve --save-result writes it");
}

TEST_CASE("opdb: products between measured sizes, attention by heads, units of milliseconds") {
  const TemporaryFolder folder;
  std::string gemm = "framework,version,device,op_name,kernel_source,gemm_dtype,m,n,k,latency\n";
  for (const int m : {1, 16, 256}) {
    for (const int n : {32, 64, 256, 2048}) {
      for (const int k : {32, 64, 256}) {
        gemm += "VLLM,1,Dev,gemm,x,bfloat16," + std::to_string(m) + "," + std::to_string(n) + "," + std::to_string(k) +
                "," + std::to_string(0.001 + 1e-6 * n * k) + "\n";
      }
    }
  }
  write_file(folder.file("gemm_perf.v.csv"), gemm);
  const std::string head =
      "kernel_source,batch_size,isl,num_heads,num_key_value_heads,head_dim,attn_dtype,kv_cache_dtype,step,latency\n";
  std::string context = head, generation = head;
  for (const int n : {1, 4, 16}) {
    context += "fa,1," + std::to_string(16 * n) + ",4,2,16,bfloat16,bfloat16,0," + std::to_string(0.01 * n) + "\n";
    for (const int k : {15, 63}) {
      generation += "fa," + std::to_string(n) + ",1,4,2,16,bfloat16,bfloat16," + std::to_string(k) + "," +
                    std::to_string(0.01 + 1e-4 * n * k) + "\n";
    }
  }
  write_file(folder.file("context_attention_perf.v.csv"), context + "fa,1,16,9,9,16,bfloat16,bfloat16,0,99\n");
  write_file(folder.file("generation_attention_perf.v.csv"), generation);
  Calibration c = import_opdb(folder.path().string(), of(small_shape()));
  CHECK(c.head.identity.device == "Dev");
  CHECK(part(c, "gemm n=128 k=64").times == 2);
  const auto index = static_cast<std::size_t>(&part(c, "gemm n=128 k=64") - c.parts.data());
  const auto point = std::find_if(c.points.begin(), c.points.end(),
                                  [&](const Point& p) { return p.part == index && p.shape[0] == 16; });
  REQUIRE(point != c.points.end());
  CHECK(point->wall_s[0] == Approx((0.001 + 1e-6 * 128 * 64) * 1e-3));  // straight between n = 64 and 256
  CHECK(point->implementation == "between sizes");
  fit(c);
  REQUIRE(c.head.curve);
  const auto curve = make_kernel_table_curve(*c.head.curve);
  const std::vector<PrefillChunk> fresh = {{64, 0}}, after = {{64, 16}};
  CHECK(curve->in_range({64, 1, 0, 0, fresh}));
  CHECK_FALSE(curve->in_range({64, 1, 0, 0, after}));  // the tables have no chunk after a context
  CHECK(fault(import_opdb, folder.path().string(), of(llama_8b())).find("has no attention of 32 heads, 8 KV heads") !=
        std::string::npos);
}

TEST_CASE("published tables give curves, and their held-out errors stay where they were seen", "[data]") {
  POOLCAST_NEED_DATA(folder, "measured");
  struct Case {
    Calibration (*read)(const std::string&, const CurveIdentity&);
    const char* source;
  };
  for (const Case& one :
       {Case{import_opdb, "opdb/h100_sxm"}, Case{import_opdb, "opdb/a100_sxm"}, Case{import_opdb, "opdb/l40s"},
        Case{import_tpu_v6e, "tpu_v6e"},
        Case{import_vllm_kernels,
             "vllm_bench/kernel_tables/profile_RTX4090_meta-llama_Llama-3.1-8B_bf16_tp1_attention.csv"}}) {
    INFO(one.source);
    Calibration c = one.read(*folder + "/" + one.source, of(llama_8b()));
    fit(c);
    INFO(c.head.why_no_curve);
    REQUIRE(c.head.curve);
    const auto curve = make_kernel_table_curve(*c.head.curve);
    const double one_token = curve->step({1, 1, 1, 100, {}}).value;
    CHECK(one_token > 2e-3);   // 16 GB of weights at no more than 8 TB/s
    CHECK(one_token < 40e-3);  // and at no less than 0.4 TB/s
    REQUIRE(c.head.errors.size() >= 4);
    for (const TermError& e : c.head.errors) {
      INFO(e.term << ", " << e.regime);
      CHECK(e.median < 0.25);
    }
  }
}
