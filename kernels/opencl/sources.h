// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace poolcast::kernels {

// The .cl files beside this one, put into a source by CMake.
extern const char* const kOpenClElement;
extern const char* const kOpenClGemm;
extern const char* const kOpenClDecode;
extern const char* const kOpenClPrefill;
extern const char* const kOpenClRows;
extern const char* const kOpenClMoves;
extern const char* const kOpenClPeaks;

}  // namespace poolcast::kernels
