//===- AmpereMutationTest.cpp - a compiled kernel, made wrong -------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inputs/attention-sm_80.ptx is what fa-compile makes of attention over 64
// queries and 128 keys of 32 f16 numbers, with the schedule tile_q=32,
// tile_kv=32, warps=2, stages=2: cp.async in groups, ldmatrix, mma.sync.
//
//===----------------------------------------------------------------------===//
#include "Mutations.h"

#include <gtest/gtest.h>

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
/// Rows of 32 small f16 numbers.
uint64_t makeInput(Device &device, const char *name, uint32_t rows) {
  std::vector<uint16_t> values(rows * 32);
  uint32_t state = rows + uint32_t(name[0]);
  for (uint16_t &v : values) {
    state = state * 1664525 + 1013904223;
    v = uint16_t(0x3000 + (state >> 20) % 0x0C00) | uint16_t(state >> 31 << 15);
  }
  uint64_t at = device.alloc(values.size() * 2, name, true);
  device.write(at, values.data(), values.size() * 2);
  return at;
}

Subject attention() {
  Subject s;
  s.ptx = readInput("attention-sm_80.ptx");
  s.kernel = "attention_kernel";
  s.shape = {{2}, {64}, {1}, 10240};
  s.arguments = [](Device &device) {
    std::vector<Argument> arguments;
    auto add = [&](uint64_t buffer) {
      arguments.push_back(Argument::of(buffer));
      arguments.push_back(Argument::of(uint64_t(32)));
      arguments.push_back(Argument::of(uint64_t(1)));
    };
    add(makeInput(device, "query", 64));
    add(makeInput(device, "key", 128));
    add(makeInput(device, "value", 128));
    add(device.alloc(64 * 32 * 2, "out"));
    return arguments;
  };
  return s;
}

class AmpereMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(AmpereMutation, isCaught) { expectCaught(attention(), GetParam()); }
TEST(AmpereMutationSubject, isClean) { expectClean(attention()); }

const MutationCase kCases[] = {
    {"noWaitForTheFirstBlocks", drop("cp.async.wait_group"), "async-wait"},
    {"waitsForOneGroupLess",
     replace("cp.async.wait_group   0", "cp.async.wait_group   1"),
     "async-wait"},
    {"noCommit", drop("cp.async.commit_group"), "async-wait"},
    {"noBarrierAfterTheWait", drop("bar.sync"), "race"},
    {"barrierBeforeTheWait", moveUp("bar.sync", "cp.async.wait_group"), "race"},
    {"copyIntoTheBlockInUse",
     replace("[%rd192+2048], [%rd190]", "[%rd192+0], [%rd190]"), "race"},
    {"copyNeverIssued", drop("cp.async.cg.shared.global [%rd192+2048]"),
     "initialisation"},
    {"copyShortened",
     replace("cp.async.cg.shared.global [%rd192+2048], [%rd190], 16",
             "cp.async.ca.shared.global [%rd192+2048], [%rd190], 8"),
     "initialisation"},
    {"sourceTooFar",
     replace("[%rd192+2048], [%rd190]", "[%rd192+2048], [%rd190+1048576]"),
     "bounds"},
    {"sourceMisaligned",
     replace("[%rd192+2048], [%rd190]", "[%rd192+2048], [%rd190+4]"),
     "alignment"},
    {"matrixOutOfTheArena", replace("[%rd200+3072]", "[%rd200+130048]"),
     "bounds"},
    {"shuffleLeavesLanesOut",
     replace("shfl.sync.bfly.b32  %r93, %r92, 1, 31, -1",
             "shfl.sync.bfly.b32  %r93, %r92, 1, 31, 255"),
     "warp-sync"},
    {"barrierWithAnotherCount", replace("bar.sync  0;", "bar.sync  0, 32;"),
     "barriers"},
    {"lastCopiesNotWaitedFor", drop("cp.async.wait_group", kAll), "leaks"},
    {"matrixBetweenThePieces", replace("[%rd200+3072]", "[%rd200+3080]"),
     "alignment"},
    {"matrixOfGlobalMemory", replace("[%rd200+3072]", "[%rd190]"), "space"},
    {"copyIntoGlobalMemory",
     replace("[%rd192+2048], [%rd190]", "[%rd190], [%rd190]"), "space"},
    {"copyFromSharedMemory",
     replace("[%rd192+2048], [%rd190]", "[%rd192+2048], [%rd192]"), "space"},
    {"keysInTheWrongPlace",
     both(replace("[%rd192+2048]", "[%rd192+999999]"),
          both(replace("[%rd192+3072]", "[%rd192+2048]"),
               replace("[%rd192+999999]", "[%rd192+3072]"))),
     "numbers"},
    {"keysForValues",
     replace("[%rd192+6144], [%rd194]", "[%rd192+6144], [%rd190]"), "numbers"},
    {"valuesNotTransposed", replace(".x4.trans.", ".x4."), "numbers"},
    {"maximumNotShuffled", drop("shfl.sync.bfly.b32  %r93"), "registers"},
    {"keysNotLoaded", drop("ldmatrix", 2), "registers"},
};
INSTANTIATE_TEST_SUITE_P(Attention, AmpereMutation, testing::ValuesIn(kCases),
                         [](const auto &i) { return i.param.name; });
} // namespace
