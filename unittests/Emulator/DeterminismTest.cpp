//===- DeterminismTest.cpp - the same bits in every order -----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch with random:FIRST..LAST runs with every seed on the same memory.
//
//===----------------------------------------------------------------------===//
#include "CheckerHarness.h"

#include "fa/Emulator/Counters.h"

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
const char *const kSeeds = "random:1..20";

TEST(Determinism, whoComesLastWins) {
  Report r = check("setp.eq.u32 %p0, %l, 0; @%p0 st.global.u32 [%out+8], %w;",
                   "none", kSeeds);
  EXPECT_EQ(r.status, Status::Fault);
  ASSERT_EQ(r.diagnostics.size(), 1u) << allText(r);
  EXPECT_EQ(r.diagnostics[0].origin, "determinism");
  std::string text = allText(r);
  EXPECT_NE(text.find("the result depends on the order of warps and CTAs: "
                      "buffer 'out' has 0x0000000"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(" at byte 8 with --order=random:1 and 0x0000000"),
            std::string::npos)
      << text;
  // Who wrote it.
  EXPECT_NE(text.find("test.ptx:23:30: error"), std::string::npos) << text;
  EXPECT_NE(text.find("kernel k, CTA (0,0,0), warp "), std::string::npos);
}

TEST(Determinism, countsTheBytesThatDiffer) {
  const std::string kFirst = "setp.eq.u32 %p0, %l, 0; ";
  std::string one = allText(
      check(kFirst + "@%p0 st.global.u8 [%out+8], %w;", "none", kSeeds));
  EXPECT_NE(one.find("; 1 byte of it differs"), std::string::npos) << one;
  std::string two = allText(check(kFirst + "mad.lo.u32 %r0, %w, 257, 1; "
                                           "@%p0 st.global.u16 [%out+8], %r0;",
                                  "none", kSeeds));
  EXPECT_NE(two.find("; 2 bytes of it differ"), std::string::npos) << two;
}

TEST(Determinism, orderOfAtomics) {
  // The ticket that a warp draws depends on the order, the sum does not.
  const char *const kDraw = "setp.eq.u32 %p0, %l, 0; "
                            "@%p0 atom.global.add.u32 %r0, [counter], 1; "
                            "@%p0 st.global.u32 [%o], ";
  EXPECT_FALSE(check(kDraw + std::string("%r0;"), "all", kSeeds).ok());
  Report r = check(kDraw + std::string("%tid;"), "all", kSeeds);
  EXPECT_TRUE(r.ok()) << allText(r);
}

TEST(Determinism, eachSeedStartsFromTheSameMemory) {
  Report r = check("setp.eq.u32 %p0, %tid, 0; @!%p0 ret; "
                   "ld.global.u32 %r0, [counter]; add.u32 %r0, %r0, 1; "
                   "st.global.u32 [counter], %r0; st.global.u32 [%o], %r0;",
                   "all", kSeeds);
  EXPECT_TRUE(r.ok()) << allText(r);
}

TEST(Determinism, checkersSeeEverySeedAndCountersOne) {
  auto module = Module::parse(kernelText("bar.sync 0;"), "test.ptx");
  ASSERT_TRUE(module);
  DeviceOptions options;
  options.order = *OrderPolicy::parse(kSeeds);
  Device device(options);
  Counters counters;
  device.addObserver(counters);
  Report r =
      device.launch(*module, "k", {{3}, {64}, {1}, 0},
                    {Argument::of(uint64_t(0)), Argument::of(uint64_t(0))});
  EXPECT_TRUE(r.ok()) << allText(r);
  EXPECT_EQ(counters.instructions("bar.sync"), 3u * 2);
}

TEST(Determinism, forms) {
  EXPECT_EQ(OrderPolicy::parse("random:3..7")->lastSeed, 7u);
  EXPECT_EQ(OrderPolicy::parse("random:3")->lastSeed, 3u);
  for (const char *wrong : {"random:7..3", "random:3..", "random:..3",
                            "random:1..2..3", "random", "reverse:1"})
    EXPECT_FALSE(bool(OrderPolicy::parse(wrong))) << wrong;
  EXPECT_TRUE(bool(OrderPolicy::parse("random:1..1000000")));
  auto many = OrderPolicy::parse("random:0..1000000");
  ASSERT_FALSE(bool(many));
  EXPECT_EQ(many.error().message, "'random:0..1000000' has too many seeds; "
                                  "accepted are at most 1000000");
}
} // namespace
