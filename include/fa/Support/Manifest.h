//===- Manifest.h - what a compiled kernel needs to be launched -*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler writes it beside the PTX, the runner reads it: neither knows
// the other. Geometry is text over the extents (ExtentExpression.h), so one
// kernel serves all lengths; numbers are the text of the number.
//
//===----------------------------------------------------------------------===//
#ifndef FA_SUPPORT_MANIFEST_H
#define FA_SUPPORT_MANIFEST_H

#include "fa/Support/RegionProgram.h"
#include "fa/Support/Schedule.h"
#include "fa/Support/TensorMap.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace farun {

/// The target where nobody names one.
inline constexpr const char *kDefaultTarget = "sm_80";

/// An extent known only at launch, in a shape.
inline constexpr int64_t kDynamic = -1;

/// Queries and keys at most: their positions, and one a tile behind the last,
/// are i32 in the kernels.
inline constexpr int64_t kMaxPositions = (int64_t(1) << 31) - 65536;

/// Is the factor of the exponent, |scale| log2 e, a finite f32?
bool isScaleInRange(double scale);

enum class OperandKind { Input, Output, Scalar };

/// What an argument is to the op.
struct OperandUse {
  std::string role;
  std::vector<std::string> dims;
};

/// One argument of the function, inputs first, then the results.
struct Operand {
  /// query key value mask bias q_segments kv_lengths scale out lse ...
  std::string role;
  OperandKind kind = OperandKind::Input;
  ElementType type = ElementType::F16;
  std::vector<int64_t> shape; ///< kDynamic where open; empty for a scalar
  /// The role of each dimension in the operand's own order: layout "bshd"
  /// gives B Sq Hq D; a broadcast dimension of a mask is "1".
  std::vector<std::string> dims;
  /// Further roles, when one argument is, say, key and value. Each names the
  /// same dimensions anew, so that Sq = Sk where a tensor attends to itself.
  std::vector<OperandUse> also = {};

  /// All of its uses, the first one first.
  std::vector<OperandUse> uses() const;
  bool hasRole(std::string_view wanted) const;
  /// "key", or "query, key, value".
  std::string roleText() const;
};

/// One structural mask. Masks are conjunctive.
struct StructuralMask {
  enum class Kind { Causal, Window, Chunk };
  Kind kind = Kind::Causal;
  bool isBottomRight = false;
  int64_t prefix = 0;            ///< causal: keys below it are visible
  int64_t left = -1, right = -1; ///< window: inclusive; -1 is unbounded
  int64_t size = 0;              ///< chunk
};

/// The meaning of the op: all that the oracle and a report need beyond the
/// operands.
struct Attention {
  /// The number, with the default already resolved and rounded to f32; NaN
  /// when a scalar operand of role "scale" carries it.
  double scale = 0.0;
  std::optional<double> softcap;
  std::optional<RegionProgram> score, visible;
  std::vector<StructuralMask> masks;
  /// The probability; a scalar operand of role "seed" comes with it.
  std::optional<double> dropout;
  std::string layout = "bhsd";
  std::string emptyRow = "zero";
  Schedule schedule;
};

enum class ParameterKind {
  Pointer,
  Extent,
  Stride,
  Scalar,
  Workspace,
  TensorMap,
  Trace,
};

/// One value that launches pass on, in the kernels' words.
struct Parameter {
  ParameterKind kind = ParameterKind::Pointer;
  int operand = -1; ///< index into operands; -1 for none
  /// Stride and extent: the operand's dimension by index.
  int dim = -1;
  /// Extent: by name (B, Hq, ..., pages) when `dim` is -1.
  std::string extent;
  /// "ptr", "i32", "i64", "f32", "tensormap", ...: a trace of type "ptr" is
  /// the buffer, of an integer type the row to trace (-1 for none).
  std::string type;
  /// A tensor map of the operand: elements of a box in each of its dimensions,
  /// in the operand's own order, so the innermost is the last. The kernel gets
  /// 128 bytes by value; what a box has outside of the operand is 0.
  ///
  /// A tensor map of zeros is no tensor map. That is what a kernel gets where
  /// the operand, as it lies in memory, can have none: a stride that is no
  /// positive multiple of 16 bytes below 2^40, an innermost stride other than
  /// 1, an address off 16 bytes, an extent of 0 or above 2^32. The stride of a
  /// dimension of extent 1 says nothing. Such a kernel has another way.
  std::vector<int64_t> box = {};
  TensorSwizzle swizzle = TensorSwizzle::None;

  bool operator==(const Parameter &) const = default;
};

struct Launch {
  std::string kernel;
  std::vector<int> arguments; ///< indices into the entry's parameters
  std::string sharedBytes = "0";
  std::array<std::string, 3> grid = {"1", "1", "1"};
  std::array<std::string, 3> block = {"1", "1", "1"};
  std::array<std::string, 3> cluster = {"1", "1", "1"};
};

struct Entry {
  std::string name;
  std::vector<Operand> operands;
  Attention attention;
  std::vector<Parameter> parameters;
  std::vector<Launch> launches;
  std::string sharedBytes = "0"; ///< the largest of its launches
  std::string workspaceBytes = "0";
};

struct Manifest {
  static constexpr int kFormat = 1;
  std::string target; ///< "sm_80"
  std::string ptx;    ///< the PTX file's name, in the manifest's folder
  std::string source; ///< the op as text
  std::vector<Entry> entries;
};

/// As JSON text, keys in a fixed order, so that equal manifests are equal
/// bytes.
std::string manifestToJson(const Manifest &manifest);

/// Checks types, keys, indices, names, ranges, the syntax of every expression
/// and that all of it fits together; `path` only names the file in messages.
Expected<Manifest> parseManifest(const std::string &text,
                                 const std::string &path);

/// The entry of that name; without a name the only one.
Expected<const Entry *> findEntry(const Manifest &manifest,
                                  const std::string &name);

std::string_view name(OperandKind kind);
std::string_view name(ParameterKind kind);

} // namespace farun

#endif // FA_SUPPORT_MANIFEST_H
