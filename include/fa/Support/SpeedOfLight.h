//===- SpeedOfLight.h - the least time that counts allow --------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the counters of a kernel (fa/Emulator/Counters.h, by name) and the peak
// rates of a chip: how long each resource is busy at least. These are bounds,
// not times: every resource is taken at its peak, alone, and PTX instructions
// stand for machine instructions.
//
//===----------------------------------------------------------------------===//
#ifndef FA_SUPPORT_SPEEDOFLIGHT_H
#define FA_SUPPORT_SPEEDOFLIGHT_H

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace farun {

/// Peak rates. A rate that no source gives, or that the chip lacks, is 0.
struct Chip {
  std::string_view name;
  unsigned sms;
  double clock; ///< highest, Hz
  /// Operations per second of the whole chip, dense, by type of A.
  double f16, tf32, f64, fp8, int8, int4;
  double l2, memory; ///< bytes per second
  std::string_view source;

  // Of one SM and clock, the same for all of them (CUDA C++ Programming Guide,
  // throughput of native arithmetic instructions, compute capabilities 8.0,
  // 8.9 and 9.0; shared memory: 32 banks of 4 bytes).
  static constexpr double kSpecial = 16;   ///< ex2, rcp, ... of one lane
  static constexpr double kIssue = 4;      ///< warp instructions
  static constexpr double kWavefronts = 1; ///< of 128 bytes
};

const std::vector<Chip> &allChips();
/// By name, whatever the case; null when there is none.
const Chip *findChip(std::string_view name);
/// "A100, H100, H200, L40S"
std::string chipNames();

struct Bound {
  std::string resource; ///< "tensor", "special", "issue", "shared", ...
  std::string asked;    ///< "1.07e+09 flops"
  double seconds;       ///< 0 = no rate is known
};

/// In the order in which they are printed.
std::vector<Bound>
computeBounds(const Chip &chip,
              const std::vector<std::pair<std::string, double>> &counters);
/// The table, with the resource that binds and the caveat; ends with a newline.
std::string
speedOfLightTable(const Chip &chip,
                  const std::vector<std::pair<std::string, double>> &counters);

} // namespace farun

#endif // FA_SUPPORT_SPEEDOFLIGHT_H
