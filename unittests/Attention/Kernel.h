//===- Kernel.h - attention from text to a checked run ----------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the end-to-end tables stand on. A Form is one kernel: it is compiled
// once in a process, with all extents open unless it says otherwise. A Trial is
// one run of it: extents, arrays, strides. A Trial runs the PTX on the emulator
// and expects each result to lie within its bound of the oracle, every element
// to be written and every guard zone to be whole.
//
//===----------------------------------------------------------------------===//
#ifndef FA_UNITTESTS_ATTENTION_KERNEL_H
#define FA_UNITTESTS_ATTENTION_KERNEL_H

#include "fa/Runner/Runner.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

namespace farun::test {

using Values = std::vector<double>;
using Shape = std::vector<int64_t>;

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The fill of the case list: element n is ((31 n + 17 seed) mod 23 - 11) / 8,
/// exact in every type.
Values fill(int64_t count, int64_t seed);

struct Extent5 {
  int64_t B = 1, Hq = 1, Hkv = 1, Sq = 1, Sk = 1;

  std::string str() const;
};

/// The target that the tables are compiled for: a program of tests is made for
/// each (CMakeLists.txt).
#ifndef FA_TEST_TARGET
#define FA_TEST_TARGET "sm_80"
#endif
inline constexpr std::string_view kTarget = FA_TEST_TARGET;
/// Whether its products are those of warpgroups, 64 rows each.
inline constexpr bool hasWarpgroups = kTarget == "sm_90a";

/// A schedule in small tiles, so that short sequences have several blocks.
inline constexpr const char *kSmallTiles =
    hasWarpgroups ? "tile_q=64,tile_kv=32" : "tile_q=64,tile_kv=32,warps=2";
/// The smallest tiles there are.
inline constexpr const char *kLeastTiles =
    hasWarpgroups ? "tile_q=64,tile_kv=16" : "tile_q=16,tile_kv=16,warps=1";
/// The query rows of those.
inline constexpr int64_t kLeastRows = hasWarpgroups ? 64 : 16;

struct Form {
  std::string type = "f16";
  std::string outType = ""; ///< empty: as type
  int64_t headDim = 16, valueDim = 16;
  /// "scale(0.5) masks [#fa.causal<top_left>]"
  std::string clauses = "";
  /// "empty_row = ..."
  std::string attributes = "";
  /// Extents of the dense mask, "?x1x?x?"; empty: none.
  std::string mask = "";
  /// Extents of the bias; empty: none.
  std::string bias = "", biasType = "f32";
  bool hasAlibi = false, hasSink = false;
  bool hasSegments = false;
  bool hasScaleOperand = false, hasQLengths = false, hasKVLengths = false;
  std::optional<double> dropout = std::nullopt;
  /// Further arguments, ", %table: tensor<?xf32>", for regions.
  std::string captured = "";
  bool hasLSE = true, isBSHD = false, isTraced = false;
  /// Arguments that Q, K and V are: of 2 the second is K and V, of 1 it is all.
  int tensors = 3;
  std::string schedule = kSmallTiles;
  /// -1 leaves an extent open.
  Extent5 extents = {-1, -1, -1, -1, -1};

  std::string text() const;
};

/// The compiled form. A compiler error fails the test and gives an empty
/// program.
const Program &compileForm(const Form &form);

/// The compiler's error for a form that it must refuse.
std::string compileError(const Form &form);

/// The emulator that tests share, and the oracle as a device.
Device &emulator();
Device &reference();
/// An emulator of its own.
std::unique_ptr<Device> openEmulator(const DeviceOptions &options);

class Trial {
public:
  Trial(const Form &form, const Extent5 &extents);

  /// B = Hq = Hkv = 1 and one number a row, which stands in column 0 of Q and
  /// K; the columns of V are v, -v, v, ...
  static Trial ofRows(const Form &form, const Values &q, const Values &k,
                      const Values &v);

  /// The index of the operand of this role.
  int operand(const std::string &role) const;
  Shape shapeOf(const std::string &role) const;

  Trial &set(const std::string &role, const Values &values);
  Trial &setAll(const std::string &role, double value);
  /// Strides in elements; see RunSpec::strides.
  Trial &strides(const std::string &role, const Shape &values);
  /// An extent of what a region reads, "region0.1".
  Trial &dim(const std::string &name, int64_t value) {
    spec.dims[name] = value;
    return *this;
  }
  Trial &seed(uint64_t value) {
    spec.seed = value;
    return *this;
  }
  Trial &trace(int64_t row) {
    spec.traceRow = row;
    return *this;
  }
  /// The array that a run will use: the one that was set, else the seeded one.
  Array input(const std::string &role) const;

  /// Runs and expects success; where the environment's FA_TEST_ORDERS is a
  /// number, also what expectNothingFound does with as many orders.
  RunResult run() const;
  RunResult run(Device &device) const;
  /// Runs without a look at the oracle, for equality with a checked run.
  RunResult runUnchecked(Device &device = emulator()) const;
  /// Runs `ptx` in the place of the kernel's text. Whatever comes of it is the
  /// result; only a run that does not begin fails the test.
  RunResult runInstead(const std::string &ptx, Device &device) const;
  /// Runs the first blocks of the grid alone, without a look at the oracle:
  /// what others would have written stays NaN.
  RunResult runBlocks(int64_t count) const;
  /// The message of a run that must not begin.
  std::string refusal() const;

  /// The oracle's results, rounded to the types of the results.
  RunResult oracle() const;

  /// Runs, and expects the oracle to give these numbers: `out` for each
  /// (b, h, i) in column 0, and the natural `lse` when there is one.
  RunResult expect(const Values &out, const Values &lse = {}) const;

  const Program &kernel() const { return *program; }
  const Entry &entry() const { return program->manifest.entries[0]; }

private:
  const Program *program;
  Form form;
  RunSpec spec;
};

/// The random orders that a table goes through which is about orders: the
/// number in the environment's FA_TEST_ORDERS, else four.
int numTableOrders();

/// All checkers on: nothing found, the answers within their bounds, and the
/// same bits in each of these orders and two more: those of `first`, or else of
/// the first order.
void expectNothingFound(const Trial &trial, int numRandomOrders,
                        const DeviceOptions &options = {},
                        std::vector<std::byte> first = {});

/// A counter of the run by its name.
double counter(const RunResult &result, const std::string &name);

/// The bytes of all results, one after another.
std::vector<std::byte> bits(const RunResult &result);

/// Column 0 of O for each (b, h, i), and LSE.
Values outColumn(const RunResult &result);
Values lseOf(const RunResult &result);

/// Values that agree to `tolerance`, relative above 1, NaN and infinities in
/// place.
void expectNear(const Values &found, const Values &expected,
                double tolerance = 1e-6);

} // namespace farun::test

#endif // FA_UNITTESTS_ATTENTION_KERNEL_H
