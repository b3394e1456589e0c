//===- TargetInfo.h - what a chip promises ----------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A target is a list of promises. Passes and schedules ask these, never an
// architecture number, so that a chip is added by one row of the table in
// TargetInfo.cpp. Bytes and counts are those of the "Technical Specifications
// per Compute Capability" table of NVIDIA's CUDA C++ Programming Guide.
//
// Needs LLVM's ADT alone: any layer may include it.
//
//===----------------------------------------------------------------------===//
#ifndef FA_TARGET_TARGETINFO_H
#define FA_TARGET_TARGETINFO_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace mlir::fa {

/// Threads of a warp.
inline constexpr int64_t kWarpSize = 32;
/// Warps whose products are one instruction, from a multiple of four on.
inline constexpr int64_t kWarpsPerWarpgroup = 4;
/// Rows of such a product: 16 for each warp.
inline constexpr int64_t kWarpgroupRows = 64;
/// Bytes of a chunk: what a `cp.async` copies at most, and what a lane names of
/// a matrix in `ldmatrix` and `stmatrix`, one of its eight rows. Tiles in
/// workgroup memory are put together from chunks.
inline constexpr int64_t kChunkBytes = 16;
/// Buffers in workgroup memory begin at multiples of a row of all banks, and
/// their sizes count as such.
inline constexpr int64_t kBufferAlignment = 128;
/// A row of a tile as wgmma and tensor maps take it, in bytes: with the
/// 128-byte swizzle. Wider tiles are several panels of such rows. Eight rows
/// are the pattern, which begins at a multiple of its size.
inline constexpr int64_t kPanelBytes = 128, kPanelAlignment = 1024;

/// 32-bit registers of a multiprocessor, on every chip served so far.
inline constexpr int64_t kRegistersPerMultiprocessor = 64 * 1024;
/// Those that each thread is launched with in a block of so many that has a
/// multiprocessor alone: they are given in eights.
inline constexpr int64_t getLaunchRegisters(int64_t threads) {
  return kRegistersPerMultiprocessor / threads / 8 * 8;
}

/// Registers of a thread: as the block is launched, and then in each role. What
/// the producer's warpgroup gives back, the consumers get.
struct RegisterShares {
  int64_t launched, producer, consumer;
};
/// For so many warpgroups of consumers, 1 to 3, beside one of producers.
RegisterShares getRegisterShares(int64_t consumers);

/// Rows and columns of one tensor-core product of a warp, and its depth for
/// 16-bit elements.
inline constexpr int64_t kProductRows = 16, kProductColumns = 8,
                         kProductDepth = 16;
/// How many lanes hold one row of an accumulator: a row's sum is complete after
/// adding up so many parts.
inline constexpr int64_t kLanesPerRow = 4;

/// Element types of the left and right operand of a matrix product; it
/// accumulates in f32.
enum class MmaElement { F16, BF16, TF32, F8 };

/// One matrix product of a warp: m x k by k x n.
struct MmaShape {
  int64_t m, n, k;
  MmaElement element;
};

struct TargetInfo {
  llvm::StringRef name; ///< "sm_80", as in `.target`
  /// LLVM's feature for the PTX version: "+ptx80". Stated on purpose: without
  /// it LLVM picks the oldest version that knows the chip.
  llvm::StringRef features;

  llvm::ArrayRef<MmaShape> mmaShapes; ///< by `mma.sync`
  bool hasMatrixLoad;                 ///< `ldmatrix`
  bool hasAsyncCopy;                  ///< `cp.async`
  /// Clusters of blocks of threads (`barrier.cluster`, multicast),
  /// `cp.async.bulk.tensor` with mbarriers, and `stmatrix`: they came together.
  bool hasClusters;
  /// `wgmma` (products of a warpgroup) and `setmaxnreg`: they came together.
  bool hasWarpgroupProducts;

  /// Multiply-adds of 16-bit floats, summed in f32, a clock, by the tensor core
  /// of a quarter of a multiprocessor.
  int64_t multiplyAdds;

  int64_t cacheBytes; ///< L2, of the whole chip

  int64_t maxDynamicSharedBytes; ///< of one block, after opting in
  int64_t sharedBytesPerMultiprocessor;

  // The same on every chip served so far.
  int64_t staticSharedBytes = 48 * 1024; ///< without opting in
  int64_t reservedSharedBytes = 1024;    ///< by the system, in each block
  int64_t maxRegistersPerThread = 255;
  int64_t maxThreadsPerBlock = 1024;

  /// Whether `mma.sync` multiplies m x k by k x n of these elements.
  bool hasMma(MmaElement element, int64_t m, int64_t n, int64_t k) const;
};

/// The target of that name; null when it is unknown or not served yet, and
/// then `error` is one sentence that names what was found and is accepted.
const TargetInfo *lookupTarget(llvm::StringRef name, std::string &error);

/// Every target that is served, in ascending order.
llvm::ArrayRef<TargetInfo> supportedTargets();

} // namespace mlir::fa

#endif // FA_TARGET_TARGETINFO_H
