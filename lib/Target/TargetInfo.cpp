//===- TargetInfo.cpp - the table of chips --------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sources of the figures:
//  - shared memory, registers: CUDA C++ Programming Guide 13.0, table
//    "Technical Specifications per Compute Capability", rows "Maximum amount
//    of shared memory per thread block" and "... per SM", "Number of 32-bit
//    registers per SM", "Maximum number of 32-bit registers per thread". The
//    static limit and the KiB kept back in every block stand in its sections
//    "Shared Memory" of the compute capabilities.
//  - PTX versions: PTX ISA 9.0, "Release Notes" (which version introduced a
//    target). 8.0 suffices up to sm_90; sm_120 came with 8.7.
//  - mma.sync, ldmatrix, cp.async, barrier.cluster, cp.async.bulk.tensor,
//    mbarrier.try_wait, stmatrix, wgmma, setmaxnreg: PTX ISA 9.0, "Target ISA
//    Notes" of each.
//  - multiply-adds: fa/Support/SpeedOfLight.h has the rates of a whole chip and
//    their sources. Chips of the same generation are taken to be alike.
//  - L2 cache: the tuning guides of Ampere (A100 40 MB, GA102 6 MB), Ada (AD102
//    98304 KB) and Hopper (H100 50 MB), the technical brief of Jetson AGX Orin
//    (4 MB), and for sm_120 public tables of RTX 5090 (98304 KB). Smaller chips
//    of a name have less; these figures are of the largest ones.
//
//===----------------------------------------------------------------------===//
#include "fa/Target/TargetInfo.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace mlir::fa {

namespace {

constexpr int64_t operator""_KiB(unsigned long long n) { return n * 1024; }
constexpr int64_t operator""_MiB(unsigned long long n) { return n << 20; }

// mma.sync.m16n8k16 of 16-bit floats, m16n8k8 of tf32: since sm_80.
constexpr MmaShape kMmaSm80[] = {
    {16, 8, 16, MmaElement::F16},
    {16, 8, 16, MmaElement::BF16},
    {16, 8, 8, MmaElement::TF32},
};
// mma.sync.m16n8k32 of 8-bit floats: since sm_89.
constexpr MmaShape kMmaSm89[] = {
    {16, 8, 16, MmaElement::F16},
    {16, 8, 16, MmaElement::BF16},
    {16, 8, 8, MmaElement::TF32},
    {16, 8, 32, MmaElement::F8},
};

// name, features, mma, ldmatrix, cp.async, clusters and TMA, wgmma,
// multiply-adds, L2, shared of a block, of an SM.
const TargetInfo kTargets[] = {
    {"sm_80", "+ptx80", kMmaSm80, true, true, false, false, 256, 40_MiB,
     163_KiB, 164_KiB},
    {"sm_86", "+ptx80", kMmaSm80, true, true, false, false, 128, 6_MiB, 99_KiB,
     100_KiB},
    {"sm_87", "+ptx80", kMmaSm80, true, true, false, false, 256, 4_MiB, 163_KiB,
     164_KiB},
    {"sm_89", "+ptx80", kMmaSm89, true, true, false, false, 128, 96_MiB, 99_KiB,
     100_KiB},
    {"sm_90", "+ptx80", kMmaSm89, true, true, true, false, 512, 50_MiB, 227_KiB,
     228_KiB},
    {"sm_90a", "+ptx80", kMmaSm89, true, true, true, true, 512, 50_MiB, 227_KiB,
     228_KiB},
    {"sm_120", "+ptx87", kMmaSm89, true, true, true, false, 128, 96_MiB, 99_KiB,
     100_KiB},
};

// Chips whose own matrix instructions have no stages yet. Their portable
// subset is served under the name without the letter.
constexpr llvm::StringLiteral kNotServed[] = {"sm_100", "sm_100a", "sm_100f",
                                              "sm_120a", "sm_120f"};

} // namespace

bool TargetInfo::hasMma(MmaElement element, int64_t m, int64_t n,
                        int64_t k) const {
  return llvm::any_of(mmaShapes, [&](const MmaShape &shape) {
    return shape.element == element && shape.m == m && shape.n == n &&
           shape.k == k;
  });
}

// Multiples of 8 as setmaxnreg takes them, for 1, 2 and 3 warpgroups of
// consumers. With one of them a block could be launched with 256 registers a
// thread, of which consumers would give some back: ptxas spilled at head dim
// 256 then, and does not where they get more.
static constexpr RegisterShares kRegisterShares[] = {
    {168, 40, 248}, {168, 40, 232}, {128, 32, 160}};

/// Together at most what the block is launched with.
static constexpr bool areShares(int64_t consumers) {
  const RegisterShares &shares = kRegisterShares[consumers - 1];
  int64_t groups = consumers + 1, threads = kWarpsPerWarpgroup * kWarpSize;
  return shares.launched <= getLaunchRegisters(groups * threads) &&
         shares.producer + consumers * shares.consumer <=
             groups * shares.launched;
}
static_assert(areShares(1) && areShares(2) && areShares(3));

RegisterShares getRegisterShares(int64_t consumers) {
  return kRegisterShares[std::clamp<int64_t>(consumers, 1, 3) - 1];
}

llvm::ArrayRef<TargetInfo> supportedTargets() { return kTargets; }

const TargetInfo *lookupTarget(llvm::StringRef name, std::string &error) {
  for (const TargetInfo &target : kTargets)
    if (target.name == name)
      return &target;
  error = "target '" + name.str() + "' is ";
  error +=
      llvm::is_contained(kNotServed, name) ? "not supported yet" : "unknown";
  error += "; supported: ";
  llvm::ListSeparator comma;
  for (const TargetInfo &target : kTargets) {
    error += llvm::StringRef(comma);
    error += target.name;
  }
  return nullptr;
}

} // namespace mlir::fa
