//===- RuntimeTest.cpp - the heap, 128 bits, video, special registers -----===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What nvcc leaves of malloc and free, of atomics of 128 bits, and of SIMD
// intrinsics; registers that few kernels read.
//
//===----------------------------------------------------------------------===//
#include "ModuleRun.h"

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
const std::string kHeap = ".extern .func (.param .b64 r) malloc\n"
                          "(.param .b64 bytes);\n"
                          ".extern .func free (.param .b64 address);\n";

/// %rd<to> = malloc(%rd<from>), and free(%rd<from>).
std::string mallocCall(const std::string &to, const std::string &from) {
  return "{ .param .b64 p0; .param .b64 r0;\nst.param.b64 [p0], " + from +
         ";\ncall.uni (r0), malloc, (p0);\nld.param.b64 " + to + ", [r0]; }\n";
}
std::string freeCall(const std::string &from) {
  return "{ .param .b64 p0;\nst.param.b64 [p0], " + from +
         ";\ncall.uni free, (p0); }\n";
}

TEST(Heap, eachThreadHasItsBlock) {
  ModuleRun r = runEntry("mov.u64 %rd0, 20;\n" + mallocCall("%rd1", "%rd0") +
                             "st.u32 [%rd1+16], %t;\n"
                             "ld.u32 %v, [%rd1+16];\n"
                             "and.b64 %rd2, %rd1, 15; cvt.u32.u64 %r1, %rd2;\n"
                             "add.u32 %v, %v, %r1;\n" +
                             freeCall("%rd1"),
                         kHeap);
  expectWords(r, [](uint32_t l) { return l; });
}

TEST(Heap, whatIsNotWrittenHasNoValue) {
  ModuleRun r = runEntry("mov.u64 %rd0, 20;\n" + mallocCall("%rd1", "%rd0") +
                             "ld.u32 %v, [%rd1+16];\n",
                         kHeap);
  EXPECT_NE(r.message().find("buffer 'the device heap' at byte 16, which "
                             "nothing has written"),
            std::string::npos)
      << r.message();
}

TEST(Heap, aFreedBlockHasNoValue) {
  ModuleRun r = runEntry("mov.u64 %rd0, 4;\n" + mallocCall("%rd1", "%rd0") +
                             "st.u32 [%rd1], 1;\n" + freeCall("%rd1") +
                             "ld.u32 %v, [%rd1];\n",
                         kHeap);
  EXPECT_NE(r.message().find("which nothing has written"), std::string::npos)
      << r.message();
}

TEST(Heap, isBounded) {
  // Null for too much, and when 8 MiB are in use; blocks come back.
  ModuleRun r =
      runEntry("setp.ne.u32 %p0, %t, 0; @%p0 bra END;\n"
               "mov.u64 %rd0, 8388609;\n" +
                   mallocCall("%rd1", "%rd0") +
                   "setp.eq.u64 %p1, %rd1, 0; selp.u32 %v, 1, 0, %p1;\n"
                   "mov.u64 %rd0, 8388608;\n" +
                   mallocCall("%rd1", "%rd0") +
                   "setp.ne.u64 %p1, %rd1, 0; selp.u32 %r1, 2, 0, %p1;\n"
                   "add.u32 %v, %v, %r1;\n"
                   "mov.u64 %rd0, 1;\n" +
                   mallocCall("%rd2", "%rd0") +
                   "setp.eq.u64 %p1, %rd2, 0; selp.u32 %r1, 4, 0, %p1;\n"
                   "add.u32 %v, %v, %r1;\n" +
                   freeCall("%rd1") + mallocCall("%rd3", "%rd0") +
                   "setp.eq.u64 %p1, %rd3, %rd1; selp.u32 %r1, 8, 0, %p1;\n"
                   "add.u32 %v, %v, %r1;\n"
                   "mov.u64 %rd0, 0;\n" +
                   mallocCall("%rd4", "%rd0") + freeCall("%rd4") +
                   "setp.eq.u64 %p1, %rd4, 0; selp.u32 %r1, 16, 0, %p1;\n"
                   "add.u32 %v, %v, %r1;\n"
                   "END:\n",
               kHeap);
  expectWords(r, [](uint32_t l) { return l ? 0u : 31u; });
}

TEST(Heap, freeOfWhatMallocDidNotGive) {
  for (const char *address : {"mov.u64 %rd1, %out;", "add.u64 %rd1, %rd1, 4;",
                              "mov.u64 %rd1, 4096;"}) {
    ModuleRun r = runEntry("mov.u64 %rd0, 16;\n" + mallocCall("%rd1", "%rd0") +
                               address + "\n" + freeCall("%rd1"),
                           kHeap);
    EXPECT_NE(
        r.message().find(", where no block that malloc gave begins [heap;"),
        std::string::npos)
        << r.message();
  }
  ModuleRun r = runEntry("mov.u64 %rd0, 16;\n" + mallocCall("%rd1", "%rd0") +
                             freeCall("%rd1") + freeCall("%rd1"),
                         kHeap);
  EXPECT_NE(r.message().find("free of 0x"), std::string::npos) << r.message();
}

TEST(Heap, hasCudasDeclarationOnly) {
  ModuleRun r = runEntry("{ .param .b32 p0; .param .b64 r0;\n"
                         "call.uni (r0), malloc, (p0); }\n",
                         ".extern .func (.param .b64 r) malloc\n"
                         "(.param .b32 bytes);\n");
  EXPECT_NE(r.message().find("'malloc' is not declared as CUDA's is"),
            std::string::npos)
      << r.message();
}

/// An entry of one warp on sm_90; `out` is one word of 128 bits, zero at first,
/// then what the lanes have left in %v.
ModuleRun runHopper(const std::string &body, uint32_t ctas = 1,
                    LaunchShape shape = {{1}, {32}, {0, 0, 0}, 0}) {
  ModuleRun result;
  std::string text = kHead + entry("ld.param.u64 %rd10, [k_out];\n"
                                   "add.u64 %out, %out, 16;\n" +
                                   body);
  text.replace(text.find("sm_80"), 5, "sm_90");
  text.replace(text.find(".reg .pred"), 0, ".reg .b128 %q<8>;\n  ");
  auto module = Module::parse(text, "test.ptx");
  if (!module) {
    result.report = {Status::Invalid, {module.error()}, {}};
    return result;
  }
  Device device;
  auto checkers = CheckerSet::parse("");
  checkers->attach(device);
  std::vector<uint8_t> zeros(16 + 128);
  uint64_t out = device.alloc(zeros.size(), "out");
  device.write(out, zeros.data(), zeros.size());
  shape.grid = {ctas};
  result.report = device.launch(*module, "k", shape, {Argument::of(out)});
  device.read(out + 16, result.out.data(), 128);
  uint64_t word[2];
  device.read(out, word, 16);
  result.printed = std::to_string(word[0]) + " " + std::to_string(word[1]);
  return result;
}

TEST(WideAtomic, everyThreadCountsOnceInBothHalves) {
  // nvcc's compare-and-swap of unsigned __int128: 160 threads in five CTAs.
  ModuleRun r = runHopper(R"(
    ld.relaxed.gpu.b128 %q0, [%rd10];
AGAIN:
    mov.b128 {%rd1, %rd2}, %q0;
    add.u64 %rd3, %rd1, 1;
    add.u64 %rd4, %rd2, 3;
    mov.b128 %q1, {%rd3, %rd4};
    atom.cas.relaxed.gpu.b128 %q2, [%rd10], %q0, %q1;
    mov.b128 {%rd5, %rd6}, %q2;
    setp.eq.u64 %p0, %rd5, %rd1;
    setp.eq.and.u64 %p0, %rd6, %rd2, %p0;
    mov.b128 %q0, %q2;
    @!%p0 bra AGAIN;
    setp.eq.u32 %p1, %t, 40;
    @!%p1 ret;)",
                          5);
  ASSERT_RUNS(r);
  EXPECT_EQ(r.printed, "160 480");
}

TEST(WideAtomic, exchangeGivesWhatWasThere) {
  ModuleRun r = runHopper(R"(
    setp.eq.u32 %p0, %t, 3;
    @!%p0 bra END;
    mov.u64 %rd1, 7;
    mov.u64 %rd2, 9;
    mov.b128 %q0, {%rd1, %rd2};
    atom.exch.relaxed.gpu.b128 %q1, [%rd10], %q0;
    st.relaxed.gpu.b128 [%rd10], %q1;
    atom.exch.b128 _, [%rd10], %q0;
    mov.b128 {%rd3, %rd4}, %q1;
    add.u64 %rd3, %rd3, %rd4;
    cvt.u32.u64 %v, %rd3;
END:)");
  ASSERT_RUNS(r);
  EXPECT_EQ(r.printed, "7 9");
  EXPECT_EQ(r.out[3], 0u);
}

TEST(WideAtomic, isAlignedToSixteen) {
  ModuleRun r = runHopper("mov.b128 %q0, {%rd10, %rd10};\n"
                          "atom.exch.b128 %q1, [%rd10 + 8], %q0;");
  EXPECT_NE(r.message().find("is not aligned to 16"), std::string::npos)
      << r.message();
}

/// |x - y| of parts of `bits` bits, in the plainest way.
uint32_t absoluteDifferences(uint32_t x, uint32_t y, unsigned bits,
                             bool isSigned, bool adds, uint32_t c) {
  uint32_t packed = 0, sum = c;
  for (unsigned at = 0; at < 32; at += bits) {
    int64_t a = x >> at & ((1ull << bits) - 1);
    int64_t b = y >> at & ((1ull << bits) - 1);
    if (isSigned) {
      a = a >= 1ll << (bits - 1) ? a - (1ll << bits) : a;
      b = b >= 1ll << (bits - 1) ? b - (1ll << bits) : b;
    }
    uint32_t v = uint32_t(a > b ? a - b : b - a);
    sum += v;
    packed |= (v & ((1u << bits) - 1)) << at;
  }
  return adds ? sum : packed;
}

TEST(Video, absoluteDifferences) {
  auto x = [](uint32_t l) { return l * 0x9E3779B9u; };
  auto y = [](uint32_t l) { return ~l * 0x85EBCA6Bu; };
  for (unsigned parts : {2, 4})
    for (bool isSigned : {false, true})
      for (bool adds : {false, true}) {
        std::string t = isSigned ? ".s32" : ".u32";
        Snippet r = run("vabsdiff" + std::to_string(parts) + t + t + t +
                            (adds ? ".add" : "") + " %out0, %in0, %in1, %in2;",
                        {words(x), words(y), words(x)});
        ASSERT_RUNS(r);
        for (uint32_t l = 0; l < 32; ++l)
          EXPECT_EQ(r.out[0][l], absoluteDifferences(x(l), y(l), 32 / parts,
                                                     isSigned, adds, x(l)))
              << parts << isSigned << adds << l;
      }
  // 127 - (-128) = 255 does not fit a signed byte.
  Snippet r = run("mov.b32 %r0, 0x7F007F01; mov.b32 %r1, 0x80800002;\n"
                  "vabsdiff4.s32.s32.s32.sat %out0, %r0, %r1, 0;\n"
                  "vabsdiff4.u32.s32.s32.sat %out1, %r0, %r1, 0;\n"
                  "vabsdiff2.s32.s32.s32 %out2, %r0, %r1, 0;");
  ASSERT_RUNS(r);
  EXPECT_EQ(r.out[0][0], 0x7F7F7F01u);
  EXPECT_EQ(r.out[1][0], 0xFF807F01u);
  EXPECT_EQ(r.out[2][0], 0xFE807EFFu);
}

TEST(SpecialRegisters, sizesOfSharedMemory) {
  ModuleRun r = runHopper(".shared .b8 some[300];\n"
                          "mov.u32 %v, %total_smem_size;\n"
                          "mov.u32 %r1, %aggr_smem_size;\n"
                          "sub.u32 %r1, %r1, %v;\n"
                          "mov.b32 %r2, %reserved_smem_offset_begin;\n"
                          "mov.b32 %r3, %reserved_smem_offset_end;\n"
                          "mov.b32 %r4, %reserved_smem_offset_cap;\n"
                          "mov.b32 %r5, %reserved_smem_offset_1;\n"
                          "sub.u32 %r3, %r3, %r2;\n"
                          "add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4;\n"
                          "add.u32 %v, %v, %r1;\n");
  ASSERT_RUNS(r);
  // Whole units of 128 bytes, and nothing reserved.
  EXPECT_EQ(r.out[0], 384u);
}

TEST(SpecialRegisters, anExplicitClusterIsAPredicate) {
  const std::string body = "mov.pred %p0, %is_explicit_cluster;\n"
                           "selp.u32 %v, 5, 6, %p0;\n"
                           "@%is_explicit_cluster add.u32 %v, %v, 10;\n";
  ModuleRun r = runHopper(body);
  ASSERT_RUNS(r);
  EXPECT_EQ(r.out[0], 6u);
  r = runHopper(body, 2, {{2}, {32}, {2, 1, 1}, 0});
  ASSERT_RUNS(r);
  EXPECT_EQ(r.out[0], 15u);
  r = runHopper("mov.u32 %v, %is_explicit_cluster;\n");
  EXPECT_NE(r.message().find("unknown name '%is_explicit_cluster'"),
            std::string::npos)
      << r.message();
}
} // namespace
