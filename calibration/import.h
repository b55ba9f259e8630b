// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "calibration/records.h"

namespace poolcast::calibration {

/// Turns measurements that others published into a calibration of `identity` (shape, layout, precisions). Device,
/// software and origin are filled in from the source, and so is the provenance. Every fourth value of each axis is held
/// out (`hold_out`).
///
/// Throws ConfigError when the source cannot be read, or does not hold what the identity needs; the message says what
/// it holds instead.
struct ImportFormat {
  std::string_view name;
  std::string_view source;  ///< what SOURCE must be
  std::string_view what;    ///< one line
  Calibration (*read)(const std::string& source, const CurveIdentity& identity);
};
std::span<const ImportFormat> import_formats();

/// Of every axis of a part with five or more values, the third, seventh, …, but not the last: points that have such a
/// value are held out, so that what remains is a grid as before.
void hold_out(Calibration& calibration);

// The readers, one source file each.
Calibration import_opdb(const std::string& source, const CurveIdentity& identity);
Calibration import_tpu_v6e(const std::string& source, const CurveIdentity& identity);
Calibration import_aiter(const std::string& source, const CurveIdentity& identity);
Calibration import_vidur(const std::string& source, const CurveIdentity& identity);
Calibration import_splitwise(const std::string& source, const CurveIdentity& identity);
Calibration import_vllm_kernels(const std::string& source, const CurveIdentity& identity);
Calibration import_vllm_bench(const std::string& source, const CurveIdentity& identity);

// What they share.

/// A calibration without parts, of an imported origin by the device's clock.
Calibration imported(const CurveIdentity& identity, const std::string& source);
/// Adds a part and returns its index; the same name and term again is the same part.
std::size_t add_part(Calibration& calibration, const std::string& name, Term term, double times);
void add_point(Calibration& calibration, std::size_t part, const Shape& shape, double seconds,
               std::string_view implementation);

}  // namespace poolcast::calibration
