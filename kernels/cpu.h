// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "models/units.h"

namespace poolcast::kernels {

/// What the processor and the operating system offer to this process: cpuid, xgetbv, and for tiles the permission that
/// Linux grants on request (arch_prctl).
struct CpuFeatures {
  bool avx2_fma = false;
  bool avx512 = false;       // F, BW, DQ, VL, and the state is saved by the system
  bool avx512_bf16 = false;  // vdpbf16ps
  bool avx512_vnni = false;  // vpdpbusd
  bool amx_bf16 = false;     // tdpbf16ps
  bool amx_int8 = false;     // tdpbssd
};

struct CpuInfo {
  std::string model;   // "AMD EPYC"; "unknown" where the processor does not say
  std::string vendor;  // "AuthenticAMD"
  int family = 0;
  int model_number = 0;
  int stepping = 0;
  CpuFeatures features;
  Bytes l1d, l2, l3;  // of the first CPU; 0 where the system does not say
};

/// Asked once, then remembered. The first call asks Linux for tiles where the processor has them.
const CpuInfo& cpu();

/// Empty if tiles can be used; otherwise what is missing ("this CPU has no AMX tiles (AuthenticAMD, family 25)").
std::string why_no_amx_bf16();
std::string why_no_amx_int8();
std::string why_no_avx512();
std::string why_no_avx512_bf16();
std::string why_no_avx512_vnni();

}  // namespace poolcast::kernels
