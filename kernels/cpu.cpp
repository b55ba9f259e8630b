// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace poolcast::kernels {
namespace {

struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

/// All zero where the processor does not have the leaf.
Registers cpuid(unsigned leaf, unsigned subleaf = 0) {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d);
  return r;
}

bool bit(unsigned word, int index) { return (word >> index & 1u) != 0; }

/// State that the system saves at a switch (XCR0).
std::uint64_t saved_state() {
  unsigned low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

/// Linux grants tiles on request only: their state is 8 KiB a thread.
bool ask_for_tiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

CpuFeatures features() {
  CpuFeatures f;
  if (!bit(cpuid(1).c, 27)) return f;  // no OSXSAVE
  const std::uint64_t saved = saved_state();
  const Registers seven = cpuid(7), seven_one = cpuid(7, 1);
  const bool ymm = (saved & 0x6) == 0x6, zmm = (saved & 0xe6) == 0xe6, tiles = (saved & 0x60000) == 0x60000;
  f.avx2_fma = ymm && bit(seven.b, 5) && bit(cpuid(1).c, 12);
  f.avx512 = zmm && f.avx2_fma && bit(seven.b, 16) && bit(seven.b, 17) && bit(seven.b, 30) && bit(seven.b, 31);
  f.avx512_bf16 = f.avx512 && bit(seven_one.a, 5);
  f.avx512_vnni = f.avx512 && bit(seven.c, 11);
  if (tiles && bit(seven.d, 24) && ask_for_tiles()) {
    f.amx_bf16 = f.avx512_bf16 && bit(seven.d, 22);
    f.amx_int8 = f.avx512_vnni && bit(seven.d, 25);
  }
  return f;
}

std::string vendor() {
  const Registers r = cpuid(0);
  std::array<char, 12> text{};
  std::memcpy(text.data(), &r.b, 4);
  std::memcpy(text.data() + 4, &r.d, 4);
  std::memcpy(text.data() + 8, &r.c, 4);
  return std::string(text.data(), text.size());
}

std::string model_name() {
  if (cpuid(0x80000000).a < 0x80000004) return "unknown";
  std::array<char, 49> text{};
  for (unsigned i = 0; i < 3; ++i) {
    const Registers r = cpuid(0x80000002 + i);
    std::memcpy(text.data() + 16 * i, &r, 16);
  }
  const std::string name(text.data());
  const std::size_t begin = name.find_first_not_of(' ');
  return begin == std::string::npos ? "unknown" : name.substr(begin, name.find_last_not_of(' ') - begin + 1);
}

Bytes cache(int sysconf_name) {
  const long size = sysconf(sysconf_name);
  return Bytes(size > 0 ? static_cast<double>(size) : 0);
}

CpuInfo ask() {
  CpuInfo info;
  info.vendor = vendor();
  info.model = model_name();
  const unsigned signature = cpuid(1).a;
  const int family = static_cast<int>(signature >> 8 & 15), model = static_cast<int>(signature >> 4 & 15);
  info.family = family == 15 ? family + static_cast<int>(signature >> 20 & 255) : family;
  info.model_number = family >= 6 ? model + static_cast<int>(signature >> 16 & 15) * 16 : model;
  info.stepping = static_cast<int>(signature & 15);
  info.features = features();
  info.l1d = cache(_SC_LEVEL1_DCACHE_SIZE);
  info.l2 = cache(_SC_LEVEL2_CACHE_SIZE);
  info.l3 = cache(_SC_LEVEL3_CACHE_SIZE);
  return info;
}

std::string lacking(bool there, const char* what) {
  if (there) return "";
  return std::string("this CPU has no ") + what + " (" + cpu().vendor + ", family " + std::to_string(cpu().family) +
         ", model " + std::to_string(cpu().model_number) + ")";
}

}  // namespace

const CpuInfo& cpu() {
  static const CpuInfo info = ask();
  return info;
}

std::string why_no_avx512() { return lacking(cpu().features.avx512, "AVX-512"); }
std::string why_no_avx512_bf16() { return lacking(cpu().features.avx512_bf16, "AVX512-BF16"); }
std::string why_no_avx512_vnni() { return lacking(cpu().features.avx512_vnni, "AVX512-VNNI"); }
std::string why_no_amx_bf16() {
  return lacking(cpu().features.amx_bf16, "AMX bf16 tiles, or Linux does not grant them");
}
std::string why_no_amx_int8() {
  return lacking(cpu().features.amx_int8, "AMX int8 tiles, or Linux does not grant them");
}

}  // namespace poolcast::kernels
