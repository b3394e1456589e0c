//===- TargetTest.cpp - chips, versions and types of registers ------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What ptxas refuses for its target or its types is refused here too, by name
// and place. test/Emulator/Inputs/wrong has more, judged by both.
//
//===----------------------------------------------------------------------===//
#include "ModuleRun.h"

using namespace ptxvm;
using namespace ptxvm::test;

namespace {

/// What decoding says of one instruction, in line 9, for a target.
std::string verdict(const std::string &version, const std::string &target,
                    const std::string &instruction) {
  std::string text = ".version " + version + "\n.target " + target +
                     "\n.address_size 64\n.visible .entry k()\n{\n"
                     ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<4>;\n"
                     ".reg .f32 %f<9>; .reg .f64 %fd<9>; .reg .b16 %h<9>;\n"
                     ".reg .u32 %u<9>; .reg .u16 %s<9>;\n" +
                     instruction + "\nret;\n}\n";
  auto module = Module::parse(text, "test.ptx");
  if (!module)
    return module.error().str();
  auto problem = module->prepare("k");
  return problem ? problem->str() : "";
}

TEST(Target, instructionsOfLaterChips) {
  EXPECT_EQ(verdict("8.0", "sm_80",
                    "mbarrier.try_wait.shared.b64 %p1, [%r1], "
                    "%rd1;"),
            "test.ptx:9:1: error: 'mbarrier.try_wait.shared.b64' needs sm_90; "
            "this file is for sm_80 [decoder]");
  EXPECT_EQ(verdict("8.0", "sm_90", "wgmma.fence.sync.aligned;"),
            "test.ptx:9:1: error: 'wgmma.fence.sync.aligned' needs sm_90a "
            "alone; this file is for sm_90 [decoder]");
  EXPECT_EQ(verdict("8.6", "sm_100a", "wgmma.fence.sync.aligned;"),
            "test.ptx:9:1: error: 'wgmma.fence.sync.aligned' needs sm_90a "
            "alone; this file is for sm_100a [decoder]");
  EXPECT_EQ(verdict("8.0", "sm_90a", "wgmma.fence.sync.aligned;"), "");
  EXPECT_EQ(verdict("6.3", "sm_75", "  tanh.approx.f32 %f1, %f2;"),
            "test.ptx:9:3: error: 'tanh.approx.f32' needs PTX 7.0; this file "
            "is PTX 6.3 [decoder]");
  EXPECT_EQ(verdict("7.0", "sm_80", "mov.u32 %r1, %clusterid.x;"),
            "test.ptx:9:14: error: '%clusterid.x' needs sm_90; this file is "
            "for sm_80 [decoder]");
}

TEST(Target, whatBlackwellAddsIsRefusedByName) {
  for (const char *opcode :
       {"tcgen05.wait::ld.sync.aligned", "tcgen05.fence::before_thread_sync",
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128",
        "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1."
        "e2m1.f32.ue8m0"}) {
    std::string text = verdict("8.8", "sm_100a", std::string(opcode) + ";");
    EXPECT_EQ(text, std::string("test.ptx:9:1: error: unsupported instruction "
                                "'") +
                        opcode + "' [decoder]");
  }
}

TEST(Target, mixedPrecisionIsOfTheTenthGeneration) {
  for (const char *type : {"f16", "bf16"})
    for (const char *form :
         {"add.rn.f32.%", "sub.sat.f32.%", "add.f32.%", "fma.rp.sat.f32.%"}) {
      std::string opcode = form;
      opcode.replace(opcode.find('%'), 1, type);
      std::string text = opcode + " %f1, %h1, ";
      text += opcode[0] == 'f' ? "%h2, %f2;" : "%f2;";
      for (const char *target : {"sm_80", "sm_90", "sm_90a"})
        EXPECT_EQ(verdict("8.7", target, text),
                  "test.ptx:9:1: error: '" + opcode +
                      "' needs sm_100; this file is for " + target +
                      " [decoder]");
      for (const char *target : {"sm_100", "sm_103f", "sm_120"})
        EXPECT_EQ(verdict("8.8", target, text), "") << text;
    }
}

TEST(Target, extremesOfThreeAreOfTheTenthGeneration) {
  for (const char *opcode : {"min.f32", "max.NaN.f32", "max.ftz.abs.f32"}) {
    std::string text = opcode + std::string(" %f1, %f2, %f3, %f4;");
    EXPECT_EQ(verdict("8.8", "sm_100", text), "");
    EXPECT_EQ(verdict("8.8", "sm_90a", text),
              "test.ptx:9:1: error: '" + std::string(opcode) +
                  "' needs sm_100; this file is for sm_90a [decoder]");
    EXPECT_EQ(verdict("8.7", "sm_120", text),
              "test.ptx:9:1: error: '" + std::string(opcode) +
                  "' needs PTX 8.8; this file is PTX 8.7 [decoder]");
  }
  // Two have no such needs, and there is no other number.
  EXPECT_EQ(verdict("8.0", "sm_80", "max.NaN.f32 %f1, %f2, %f3;"), "");
  EXPECT_EQ(verdict("8.8", "sm_100", "max.f32 %f1, %f2, %f3, %f4, %f5;"),
            "test.ptx:9:1: error: 'max.f32' takes 3 operands, found 5 "
            "[decoder]");
  EXPECT_EQ(verdict("8.8", "sm_100", "max.abs.f32 %f1, %f2, %f3;"),
            "test.ptx:9:1: error: 'max.abs.f32' takes 4 operands, found 3 "
            "[decoder]");
  EXPECT_EQ(verdict("8.8", "sm_100", "max.f16 %h1, %h2, %h3, %h4;"),
            "test.ptx:9:1: error: 'max.f16' takes 3 operands, found 4 "
            "[decoder]");
}

TEST(Target, chipsAndVersionsThatDoNotGoTogether) {
  EXPECT_EQ(verdict("7.0", "sm_90", ""), "test.ptx:2:9: error: PTX 7.0 does "
                                         "not know sm_90; 7.8 does [decoder]");
  EXPECT_EQ(verdict("8.0", "sm_81", ""),
            "test.ptx:2:9: error: unknown target 'sm_81' [decoder]");
  EXPECT_EQ(verdict("8.0", "compute_80", ""),
            "test.ptx:2:9: error: unknown target 'compute_80' [decoder]");
  EXPECT_NE(verdict("17.0", "sm_80", "")
                .find("PTX version '17.0' is not "
                      "known"),
            std::string::npos);
  for (const char *target : {"sm_75", "sm_80", "sm_89", "sm_90", "sm_90a",
                             "sm_100a", "sm_103f", "sm_120a", "sm_121"})
    EXPECT_EQ(verdict("9.0", target, "mov.u32 %r1, 1;"), "") << target;
}

TEST(Types, registersThatAnOperandCannotName) {
  struct {
    const char *text, *message;
  } const kCases[] = {
      {"add.u32 %r1, %f1, %r2;",
       "'%f1' is a register of .f32; this operand is .u32"},
      {"add.f32 %f1, %u1, %f2;",
       "'%u1' is a register of .u32; this operand is .f32"},
      {"add.u32 %r1, %r2, %h1;",
       "'%h1' is a register of .b16; this operand is .u32"},
      {"shl.b64 %rd1, %rd2, %rd3;",
       "'%rd3' is a register of .b64; this operand is .u32"},
      {"mul.wide.u16 %h1, %h2, %h3;",
       "'%h1' is a register of .b16; this operand is .b32"},
      {"setp.lt.f32 %p1, %r1, %u1;",
       "'%u1' is a register of .u32; this operand is .f32"},
      {"mov.f32 %f1, %u1;",
       "'%u1' is a register of .u32; this operand is .f32"},
      {"add.f32 %f1, %fd1, %f2;", "'%fd1'"},
      {"add.rn.f32.f16 %f1, %f2, %h1;",
       "'%f2' is a register of .f32; this operand is .f16"},
      {"sub.rn.f32.bf16 %f1, %h1, %h2;",
       "'%h2' is a register of .b16; this operand is .f32"},
      {"fma.rn.f32.bf16 %f1, %h1, %f1, %f2;",
       "'%f1' is a register of .f32; this operand is .bf16"},
      {"add.rn.f32.f16 %f1, 0f3F800000, %f2;", "a .f16 operand is a register"},
      {"fma.rn.f16x2 %r1, %r2, %r3, 0x3C003C00;",
       "a .f16x2 operand is a register"},
      {"setp.lt.bf16 %p1, %h1, 0;", "a .bf16 operand is a register"},
  };
  for (const auto &c : kCases)
    EXPECT_NE(verdict("8.6", "sm_100", c.text).find(c.message),
              std::string::npos)
        << c.text << ": " << verdict("8.6", "sm_100", c.text);
}

TEST(Types, registersThatItMayName) {
  for (const char *text :
       {"add.u32 %r1, %u1, %r2;", "add.f32 %r1, %f1, %r2;",
        "add.s32 %u1, %u1, 1;", "mul.wide.s32 %rd1, %u1, %r2;",
        "mad.wide.u16 %r1, %h1, %s2, %u1;", "shl.b64 %rd1, %rd2, %u1;",
        "popc.b64 %r1, %rd1;", "selp.f32 %f1, %r1, %f2, %p1;",
        "slct.f32.s32 %f1, %f2, %f3, %r1;", "mov.b32 %f1, %u1;",
        "mov.u32 %u1, %tid.x;", "setp.eq.b32 %p1, %f1, %r1;",
        "fma.rn.f16 %h1, %h2, %h3, %h4;", "bfe.u64 %rd1, %rd2, %r1, %u1;"})
    EXPECT_EQ(verdict("8.0", "sm_80", text), "") << text;
}

} // namespace
