//===- Figures.h - what the benchmark reports -------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows of the JSON that utils/bench.py reads (see there).
//
//===----------------------------------------------------------------------===//
#ifndef FA_BENCHMARKS_EMULATOR_FIGURES_H
#define FA_BENCHMARKS_EMULATOR_FIGURES_H

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace bench {

struct Limit {
  std::optional<double> atMost = {}, atLeast = {};
};

class Figures {
public:
  /// The seconds of one fused multiply-add that ratios refer to.
  double unit = 1;

  /// A time in seconds per something, shown in `scale` parts of a second; a
  /// second row has it in fused multiply-adds.
  void addTime(const std::string &figure, double seconds, double scale,
               const std::string &name, Limit limit, const std::string &note) {
    add("time", figure, seconds * scale, name, limit, note);
    add("in scalar FMAs", figure, seconds / unit, "", {}, "");
  }
  void add(const std::string &column, const std::string &figure, double value,
           const std::string &name, Limit limit, const std::string &note) {
    nlohmann::ordered_json row = head(column, figure, name);
    row["value"] = value;
    if (limit.atMost)
      row["at_most"] = *limit.atMost;
    if (limit.atLeast)
      row["at_least"] = *limit.atLeast;
    if (!note.empty())
      row["note"] = note;
    rows.push_back(row);
  }
  void addMissing(const std::string &column, const std::string &figure,
                  const std::string &why) {
    nlohmann::ordered_json row = head(column, figure, "");
    row["value"] = nullptr;
    row["note"] = "not measured: " + why;
    rows.push_back(row);
  }

  nlohmann::ordered_json rows = nlohmann::ordered_json::array();

private:
  static nlohmann::ordered_json head(const std::string &column,
                                     const std::string &figure,
                                     const std::string &unitName) {
    bool isTime = column == "time";
    return {{"name", "emulator " + figure + (isTime ? "" : ", " + column)},
            {"unit", unitName},
            {"case", column},
            {"figure", figure}};
  }
};

// Memory.cpp
/// How much more memory a large grid takes than a small one; before all else.
bool measureMemory(Figures &figures);

// Loops.cpp
/// Loops of one or a few instructions, and the mix of the attention loop.
bool measureLoops(Figures &figures);
/// How fast the text of functions that are not asked for is passed over.
bool measureParsing(Figures &figures);

// AttentionHead.cpp
/// One head, S = 1024, D = 64: alone, with all checkers, on two threads.
/// `compiler` makes the kernel.
bool measureHead(Figures &figures, const std::string &compiler);

// RolesHead.cpp
/// The same extents on sm_90a, by nvcc: alone and with all checkers.
bool measureRolesHead(Figures &figures);

} // namespace bench

#endif // FA_BENCHMARKS_EMULATOR_FIGURES_H
