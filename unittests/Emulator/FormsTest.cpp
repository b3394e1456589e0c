//===- FormsTest.cpp - the textual forms that compilers write -------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Directives, declarations, operands and constants: each form accepted with its
// meaning, and files that are cut or nested without end refused in time.
//
//===----------------------------------------------------------------------===//
#include "ModuleRun.h"

#include <chrono>

using namespace ptxvm;
using namespace ptxvm::test;

namespace {

//===--- Operands and constants
//--------------------------------------------===//

TEST(Forms, constants) {
  struct {
    const char *text;
    uint32_t value;
  } const kCases[] = {
      {"0x5410U", 0x5410},
      {"017", 15},
      {"0b101", 5},
      {"0F3F800000", 0x3F800000},
      {"-0f3F800000", 0xBF800000},
      {"1065353216", 0x3F800000},
      {"WARP_SZ", 32},
      {"(1 + 2) * 4 - 6 / 4", 11},
      {"(7 % 4) << 3 | 1", 25},
      {"~0 ^ 0xF0", 0xFFFFFF0F},
      {"(!0) + !5", 1},
      {"(3 > 2 && 2 >= 2) ? 40 + 2 : (.s64)7", 42},
      {"-(5)", 0xFFFFFFFB},
      {"+-5", 0xFFFFFFFB},
      {"(1 == 2) || (1 != 2)", 1},
      {"(0xFFFFFFFF00000000 >> 32) + 0", 0xFFFFFFFF},
  };
  for (const auto &c : kCases) {
    ModuleRun r = runEntry(std::string("mov.b32 %v, ") + c.text + ";");
    ASSERT_TRUE(r.report.ok()) << c.text << ": " << r.message();
    EXPECT_EQ(r.out[0], c.value) << c.text;
  }
}

TEST(Forms, refusedConstants) {
  struct {
    const char *text, *message;
  } const kCases[] = {
      {"1 / 0", "a constant is divided by zero"},
      {"99999999999999999999", "has more than 64 bits"},
      {"1.0 + 2", "an operator on a constant that is no integer"},
      {"0f3F8", "malformed number '0f3F8'"},
      {"0x", "malformed number '0x'"},
      {"(1", "expected ')' after a constant"},
  };
  for (const auto &c : kCases) {
    ModuleRun r = runEntry(std::string("mov.b32 %v, ") + c.text + ";");
    EXPECT_EQ(r.report.status, Status::Invalid) << c.text;
    EXPECT_NE(r.message().find(c.message), std::string::npos)
        << c.text << ": " << r.message();
  }
  std::string deep(100000, '(');
  EXPECT_NE(runEntry("mov.b32 %v, " + deep + "1;")
                .message()
                .find("a constant is nested more than 32 deep"),
            std::string::npos);
}

TEST(Forms, floatConstants) {
  expectWords(runEntry(".reg .f32 %f<3>; .reg .f64 %d<2>;"
                       "mov.f32 %f1, 1.5; mov.f64 %d1, 0d3FF8000000000000;"
                       "cvt.rn.f32.f64 %f2, %d1; add.f32 %f1, %f1, %f2;"
                       "mov.f64 %d1, 0.25e+1; cvt.rn.f32.f64 %f2, %d1;"
                       "mul.f32 %f1, %f1, %f2; mov.b32 %v, %f1;"),
              [](uint32_t) { return bits(7.5f); });
}

TEST(Forms, severalStatementsOnALineScopesAndSinks) {
  // The label and the registers of the second scope are other ones.
  expectWords(runEntry(R"(
  mov.u32 %r1, %t; { .reg .pred p; .reg .b32 x; setp.lt.u32 p, %r1, 4;
  @p bra DONE; add.u32 %v, %v, 1; DONE: } {.reg .pred p; .reg .f32 x;
  setp.gt.u32 p,%r1,7;@!p bra DONE;add.u32 %v, %v, 10;DONE:}
  .reg .b16 %h<3>;
  mov.b32 {%h1, _}, %r1; cvt.u32.u16 %r2, %h1; add.u32 %v, %v, %r2;
  mov.b32 {_, %h1}, %r1; cvt.u32.u16 %r2, %h1; add.u32 %v, %v, %r2;
  mov.pred %p1, -1; @!%p1 mov.u32 %v, 0;
  shfl.sync.idx.b32 _|%p2, %r1, 0, 31, -1; @!%p2 mov.u32 %v, 0;
)"),
              [](uint32_t l) { return l + (l >= 4) + (l > 7 ? 10 : 0); });
}

// Labels without '$', blanks in addresses, negative offsets behind '+', and
// modifiers in another order than the ISA's, as compilers write them.
TEST(Forms, asCompilersWriteThem) {
  expectWords(runEntry(R"(
  mov.u32 %r1, 5;
  bra.uni LBB0_2;
  mov.u32 %r1, 6;
LBB0_2:
  st.global.u32 [ %out + 0 ], %r1;
  add.s64 %rd1, %out, 8;
  atom.add.relaxed.gpu.global.u32 %r2, [%rd1+-8], 2;
  ld.global.u32 %r3, [ %rd1 + -8 ];
  mad.lo.u32 %v, %r2, 10, %r3;
)"),
              [](uint32_t) { return 57u; });
}

TEST(Forms, wideRegisters) {
  expectWords(runEntry(R"(
  .reg .b128 %rq<3>;
  cvt.u64.u32 %rd1, %t;
  mov.b64 %rd2, 1000;
  mov.b128 %rq1, {%rd1, %rd2};
  mov.b128 %rq2, %rq1;
  .shared .align 16 .b8 buffer[512];
  .reg .b32 %at;
  shl.b32 %at, %t, 4;
  mov.u32 %r2, buffer;
  add.u32 %at, %at, %r2;
  st.shared.b128 [%at], %rq2;
  bar.warp.sync -1;
  xor.b32 %at, %at, 16;
  ld.shared.b128 %rq1, [%at];
  mov.b128 {%rd3, %rd4}, %rq1;
  add.u64 %rd3, %rd3, %rd4;
  cvt.u32.u64 %v, %rd3;
)"),
              [](uint32_t l) { return (l ^ 1) + 1000; });
}

TEST(Forms, specialRegisters) {
  expectWords(runEntry(R"(
  mov.u64 %rd1, %clock64;
  mov.u64 %rd2, %globaltimer;
  mov.u32 %r1, %clock;
  mov.u32 %r2, %envreg3;
  mov.u32 %r3, %laneid;
  mov.u32 %r4, %lanemask_lt;
  popc.b32 %r4, %r4;
  mov.u32 %r5, %smid;
  add.u32 %v, %r3, %r4;
  add.u32 %v, %v, %r2;
)"),
              [](uint32_t l) { return 2 * l; });
}

TEST(Forms, tableJump) {
  const char *const kBody = R"(
  rem.u32 %r1, %t, 3;
  @%p1 bra L3;
  $L_brx_0: .branchtargets $L1, $L2, L3;
  brx.idx %r1, $L_brx_0;
$L1: mov.u32 %v, 10; bra.uni END;
$L2: mov.u32 %v, 20; bra.uni END;
L3: mov.u32 %v, 30;
END:
)";
  expectWords(runEntry("setp.gt.u32 %p1, %t, 100;" + std::string(kBody)),
              [](uint32_t l) { return 10 * (l % 3 + 1); });
  ModuleRun r = runEntry("brx.idx %t, B; B: .branchtargets L1, L2; L1: L2:");
  EXPECT_NE(r.message().find("brx.idx with index 2, but its table has 2"),
            std::string::npos)
      << r.message();
}

//===--- Module level
//------------------------------------------------------===//

TEST(Forms, initialValues) {
  const char *const kVariables = R"(
.global .align 4 .u32 numbers[2][2] = {{1, 2}, {3, 4 + WARP_SZ}};
.const .align 4 .b8 bytes[16] = {1, 0, 0, 0, 2};
.visible .global .align 8 .u64 pointer[2] = {generic(numbers)+8, numbers};
.global .u8 split[4] = {0xFF(numbers), 0xff00(numbers), 0xff0000(generic(numbers)+4), 0xff000000(numbers)};
.global .f32 floats[] = {1.5, 0f40000000, 3};
.weak .global .b32 zero;
.common .global .align 4 .b32 shared_by_name[4];
.global .attribute(.managed) .align 4 .b32 managed = 5;
.global .u32 one = 1, two = 2, more[2] = {3, 4};
)";
  expectWords(runEntry(R"(
  mov.u64 %rd1, pointer;
  ld.global.u64 %rd2, [pointer];
  ld.u32 %r1, [%rd2];
  ld.global.u64 %rd3, [%rd1+8];
  ld.global.u32 %r2, [%rd3+12];
  ld.const.u32 %r3, [bytes+4];
  ld.const.u32 %r4, [bytes+12];
  ld.global.u8 %r5, [split];
  ld.global.u8 %r6, [split+3];
  cvt.u32.u64 %r7, %rd3;
  and.b32 %r8, %r7, 255; sub.u32 %r5, %r5, %r8;
  shr.u32 %r8, %r7, 24; sub.u32 %r6, %r6, %r8;
  .reg .f32 %f;
  ld.global.f32 %f, [floats+8]; cvt.rzi.u32.f32 %r9, %f;
  add.u32 %v, %r1, %r2; add.u32 %v, %v, %r3; add.u32 %v, %v, %r4;
  add.u32 %v, %v, %r5; add.u32 %v, %v, %r6; add.u32 %v, %v, %r9;
  ld.global.u32 %r1, [zero]; add.u32 %v, %v, %r1;
  ld.global.u32 %r1, [managed]; add.u32 %v, %v, %r1;
  ld.global.u32 %r1, [two]; add.u32 %v, %v, %r1;
  ld.global.u32 %r1, [more+4]; add.u32 %v, %v, %r1;
  ld.global.u32 %r1, [shared_by_name+4]; add.u32 %v, %v, %r1;
)",
                       kVariables),
              [](uint32_t) { return 3u + 36 + 2 + 0 + 3 + 0 + 5 + 2 + 4 + 0; });
}

TEST(Forms, variablesThatNobodyReachesAreNotLookedAt) {
  expectWords(runEntry("mov.u32 %v, 1;",
                       ".extern .global .b32 elsewhere[4];\n"
                       ".global .b32 bad[2] = {nowhere, 1, 2, 3};\n"
                       ".global .texref image;\n"
                       ".extern .func helper(.param .b32 x);\n"),
              [](uint32_t) { return 1u; });
  EXPECT_NE(runEntry("ld.global.b32 %v, [elsewhere];",
                     ".extern .global .b32 elsewhere[4];\n")
                .message()
                .find("test.ptx:4:22: error: unsupported: 'elsewhere' is "
                      "defined in another file"),
            std::string::npos);
  EXPECT_NE(runEntry("ld.global.b32 %v, [bad];",
                     ".global .b32 bad[2] = {nowhere, 1};\n")
                .message()
                .find("names 'nowhere', which is no variable"),
            std::string::npos);
}

TEST(Forms, headers) {
  for (const char *version :
       {"6.0", "6.5", "7.0", "7.8", "8.0", "8.8", "9.0"}) {
    std::string text = std::string("\r\n// a comment\r\n.version ") + version +
                       "\r\n.target sm_70, debug /* x */\r\n" + entry("");
    EXPECT_TRUE(runModule(text).report.ok()) << version;
  }
}

TEST(Forms, directivesAroundAnEntry) {
  ModuleRun r = runModule(std::string(kHead) + R"(
.file 1 "/src/kernel.cu", 1620000000, 1234
.file 2 "/src/inlined.h"
.pragma "nounroll";
.visible .entry k(
  .param .u64 .ptr .global .align 16 k_param_0
)
.maxntid 32, 1, 1
.reqntid 32
.minnctapersm 2
.maxnreg 64
.pragma "used_bytes_mask 0xfff";
{
  .pragma "nounroll";
  .reg .b64 %rd<3>;
  .reg .b32 %r<3>;
  .loc 1 10 3
  ld.param.u64 %rd1, [k_param_0];
  .loc 2 5 1, function_name $L__info_string0, inlined_at 1 11 7
  st.global.u32 [%rd1+128], 1;
  ret;
}
.section .debug_str
{
$L__info_string0:
  .b8 95,90,0 // name }
}
.section .debug_abbrev { .b8 1 }
)");
  // The location of what was inlined, and of where.
  EXPECT_NE(r.message().find("; source /src/inlined.h:5, inlined at "
                             "/src/kernel.cu:11]"),
            std::string::npos)
      << r.message();
}

// As people write it in inline assembly: a word ends where another begins.
TEST(Forms, wordsNeedNoSpaceBetween) {
  expectWords(runModule(R"(
.version 8.0
.target sm_80
.address_size 64
.visible.global.align 4 .b8 table[8]={1,2,3,4};
.visible.func(.param.b32 r)twice(.param.b32 x){.reg.b32%a;ld.param.b32%a,[x];
add.u32%a,%a,%a;st.param.b32[r],%a;ret;}
.visible.entry k(.param.u64.ptr.global.align 16 k_out).maxntid 32 .minnctapersm 1
{
.reg.b32%t,%v,%r<4>;.reg.b64%out;.reg.pred%p;
.shared.align 8 .b8 s[8];
ld.param.u64%out,[k_out];mov.u32%t,%tid.x;setp.lt.u32%p,%t,32;
mad.wide.u32%out,%t,4,%out;
{.reg.b16 hu,hl;mov.b32{hl,hu},%t;mov.b32%v,{hl,hu};}
{.param.b32 a;.param.b32 b;st.param.b32[a],%v;call.uni(b),twice,(a);
ld.param.b32%v,[b];}
@%p st.global.u32[%out],%v;
ret;
}
)"),
              [](uint32_t l) { return 2 * l; });
}

TEST(Forms, structParameters) {
  auto module = Module::parse(std::string(kHead) + R"(
.visible .entry k(
  .param .align 64 .b8 k_param_0[128],
  .param .u8 k_param_1,
  .param .u64 .ptr .align 1 k_param_2
)
.reqntid 1, 1, 1
{
  .reg .b64 %rd<6>;
  .reg .b32 %r<6>;
  mov.b64 %rd1, k_param_0;
  cvta.param.u64 %rd2, %rd1;
  add.s64 %rd3, %rd1, 540;
  ld.param.v2.b32 {%r1, %r2}, [%rd3+-532];
  ld.b32 %r3, [%rd2+124];
  ld.param.u8 %r4, [k_param_1];
  ld.param.u64 %rd4, [k_param_2];
  add.s32 %r1, %r1, %r2;
  add.s32 %r1, %r1, %r3;
  add.s32 %r1, %r1, %r4;
  st.global.b32 [%rd4], %r1;
  ret;
}
)",
                              "test.ptx");
  ASSERT_TRUE(module) << module.error().str();
  const KernelSignature *s = module->findKernel("k");
  ASSERT_EQ(s->parameters.size(), 3u);
  EXPECT_EQ(s->parameters[0].size, 128u);
  EXPECT_EQ(s->parameters[2].offset, 136u);
  Device device;
  uint64_t out = device.alloc(4, "out");
  std::array<uint32_t, 32> tensor{};
  tensor[2] = 5, tensor[3] = 6, tensor[31] = 7;
  Report r = device.launch(
      *module, "k", {},
      {Argument::of(tensor), Argument::of(uint8_t(100)), Argument::of(out)});
  ASSERT_TRUE(r.ok()) << r.diagnostics[0].str();
  uint32_t got = 0;
  device.read(out, &got, 4);
  EXPECT_EQ(got, 118u);
}

TEST(Forms, reqntidIsComparedByDimension) {
  auto module = Module::parse(
      std::string(kHead) + ".entry k() .reqntid 32, 2, 1 { ret; }", "test.ptx");
  Device device;
  EXPECT_TRUE(device.launch(*module, "k", {{1}, {32, 2}, {}, 0}, {}).ok());
  Report r = device.launch(*module, "k", {{1}, {2, 32}, {}, 0}, {});
  ASSERT_EQ(r.status, Status::Invalid);
  EXPECT_NE(r.diagnostics[0].message.find("block 2x32x1 does not fit .reqntid "
                                          "32x2x1"),
            std::string::npos);
}

TEST(Forms, definedTwice) {
  EXPECT_NE(runModule(kHead + entry("") + entry(""))
                .message()
                .find("'k' is defined twice"),
            std::string::npos);
  EXPECT_NE(runEntry("L: L:").message().find("label 'L' is defined twice"),
            std::string::npos);
  EXPECT_NE(runEntry("", ".global .b32 a;\n.global .b32 a;\n")
                .message()
                .find("test.ptx:5:14: error: 'a' is defined twice"),
            std::string::npos);
}

//===--- Bad input
//---------------------------------------------------------===//

TEST(Forms, everyTruncationIsRefusedOrRuns) {
  std::string text =
      std::string(kHead) + R"(
.global .align 8 .u64 table[2] = {generic(table)+8, 0xFF(table)};
.func (.param .b32 r) f(.param .b32 x)
{
  .reg .b32 %r<2>;
  ld.param.b32 %r1, [x];
  st.param.b32 [r], %r1;
  ret;
}
/* a comment */ .pragma "nounroll";
)" +
      entry("{ .reg .f32 %f<2>; mov.f32 %f1, 0f3F800000; call (%v), f, (%t);"
            "setp.eq.u32 %p1, %t, 0; cvt.u64.u32 %rd1, %t; @%p1 bra L; B: "
            ".branchtargets L; L: mov.b64 {%r1, _}, %rd1; }");
  // Uninitialised registers are no fault by default.
  ASSERT_TRUE(runModule(text).report.ok()) << runModule(text).message();
  size_t end = text.rfind('}');
  for (size_t n = 0; n < end; ++n) {
    ModuleRun r = runModule(text.substr(0, n));
    ASSERT_EQ(r.report.status, Status::Invalid) << n;
    ASSERT_FALSE(r.report.diagnostics[0].message.empty());
  }
}

TEST(Forms, everyByteReplacedNeverEndsTheProcess) {
  std::string text =
      kHead + entry("ld.shared.v2.b32 {%r1, %r2}, [%r1+4]; // x\n"
                    ".shared .align 4 .b8 s[16]; brx.idx %r1, B;"
                    "B: .branchtargets C, D; C: D:");
  for (size_t n = 0; n < text.size(); ++n)
    for (char c : {'{', '}', '"', '(', ';', '\0', '\xff', '9', '.'}) {
      std::string mutant = text;
      mutant[n] = c;
      auto module = Module::parse(mutant, "test.ptx");
      if (module)
        (void)module->prepare("k");
    }
}

TEST(Forms, nestedScopesAreLimitedAndLinear) {
  std::string open, close;
  for (int i = 0; i < 198; ++i)
    open += "{ .reg .b32 x; ", close += "}";
  expectWords(runEntry(open + "mov.u32 x, 3; mov.u32 %v, x;" + close),
              [](uint32_t) { return 3u; });
  std::string deep(100000, '{');
  EXPECT_NE(runEntry(deep + std::string(100000, '}'))
                .message()
                .find("error: scopes are nested more than 200 deep"),
            std::string::npos);
  std::string braces = ".global .b32 x[1] = " + deep + "1";
  EXPECT_EQ(runEntry("ld.global.b32 %v, [x];",
                     braces + std::string(100000, '}') + ";")
                .report.status,
            Status::Invalid);
}

TEST(Forms, largeDeclarationsCostWhatIsUsed) {
  // Sixteen million registers and a table of functions, of which few are used.
  expectWords(runEntry(".reg .b64 %big<16777216>; mov.u64 %big16777215, 5;"
                       "cvt.u32.u64 %v, %big16777215;"),
              [](uint32_t) { return 5u; });
  EXPECT_NE(runEntry(".local .b8 much[600000];")
                .message()
                .find("needs 600000 bytes of local memory a thread; there are "
                      "524288"),
            std::string::npos);
}

} // namespace
