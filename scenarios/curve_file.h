// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/kernel_tables.h"
#include "models/layout.h"
#include "models/precision.h"
#include "models/transformer.h"

/// The part of a calibration file that a simulation needs: whose curve it is, the fitted curve, and its error on shapes
/// that were held out. calibration/ writes it beside its raw measurements (layout in calibration/file.md).
namespace poolcast {

class H5In;
class H5Out;

/// What a curve was measured for.
struct CurveIdentity {
  TransformerShape shape;
  Layout layout;
  Precision weights = Precision::kBf16;
  Precision kv = Precision::kBf16;
  std::string device;          ///< "AMD EPYC (2 CPUs)"
  std::string implementation;  ///< "auto", "portable", or the software that others measured
  std::string origin;          ///< "measured" or "imported"
  std::string clock;           ///< "cpu", "wall" or "device"
};

/// |predicted / measured - 1| over the held-out shapes of one term in one regime.
struct TermError {
  std::string term;
  std::string regime;
  std::int64_t shapes = 0;
  double median = 0;
  double p95 = 0;
};

struct CurveFile {
  CurveIdentity identity;
  std::string poolcast;               ///< version that wrote it
  std::optional<KernelTables> curve;  ///< nothing: too little is measured
  std::string why_no_curve;           ///< then
  std::vector<TermError> errors;
  std::string digest;  ///< SHA-256 of the whole file
  /// How it came about, as the file states it: driver, runtime, compiler, flags, host, date, ….
  std::vector<std::pair<std::string, std::string>> provenance{};
};

inline constexpr const char* kCalibrationSchema = "poolcast.calibration";
inline constexpr std::int64_t kCalibrationVersion = 1;

/// Throws ConfigError when the file is no calibration, of another schema version, damaged or inconsistent.
CurveFile read_curve_file(const std::string& path);
CurveFile read_curve_part(const H5In& in, const std::string& path);  ///< without the digest
void write_curve_part(H5Out& out, const CurveFile& file);

/// What of `wanted` the file was not measured for, as "layers 24 instead of 32; tp 1 instead of 2"; empty if nothing.
/// Names are not compared: a model is its figures.
std::string what_differs(const CurveIdentity& file, const TransformerShape& wanted, const Layout& layout,
                         Precision weights, Precision kv);

/// "median 2 %, p95 9 % (linear layers), …": each term over its regimes, from the worst to the best.
std::string error_band(const std::vector<TermError>& errors);

}  // namespace poolcast
