//===- CallTest.cpp - functions, frames, printf and assert ----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 sections 7.1 and 9.7.12, in the forms that nvcc and LLVM write.
//
//===----------------------------------------------------------------------===//
#include "ModuleRun.h"

using namespace ptxvm;
using namespace ptxvm::test;

namespace {

const char *const kTwice = R"(
.func (.param .b32 func_retval0) twice(.param .b32 twice_param_0)
;
.func (.param .b32 func_retval0) twice(.param .b32 twice_param_0)
{
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [twice_param_0];
  shl.b32 %r2, %r1, 1;
  st.param.b32 [func_retval0+0], %r2;
  ret;
}
)";

/// The scope that compilers put around a call of a function of one word.
std::string callOf(const std::string &target, const std::string &tail = "",
                   const std::string &guard = "") {
  return R"(
  { // callseq 0, 0
    .reg .b32 temp_param_reg;
    .param .b32 param0;
    st.param.b32 [param0+0], %r1;
    .param .b32 retval0;
    )" + guard +
         " call.uni (retval0), " + target + ", (param0)" + tail + R"(;
    )" + guard +
         R"( ld.param.b32 %r2, [retval0+0];
  } // callseq 0
)";
}

TEST(Call, passesParametersAndResults) {
  // The caller's %r1 and %r2 are not those of the function.
  expectWords(runEntry("mov.u32 %r1, %t; mov.u32 %r3, 7;" + callOf("twice") +
                           "add.u32 %v, %r2, %r3; add.u32 %v, %v, %r1;",
                       kTwice),
              [](uint32_t l) { return 3 * l + 7; });
}

TEST(Call, underAGuardLeavesTheOthersAlone) {
  expectWords(runEntry("mov.u32 %r1, %t; mov.u32 %r2, 1000;"
                       "setp.lt.u32 %p1, %t, 5;" +
                           callOf("twice", "", "@%p1") + "mov.u32 %v, %r2;",
                       kTwice),
              [](uint32_t l) { return l < 5 ? 2 * l : 1000; });
}

TEST(Call, divergesAndComesTogetherBehindTheCall) {
  // bar.warp.sync and the .aligned barrier would report lanes that are missing.
  expectWords(runEntry("setp.lt.u32 %p1, %t, 5; mov.u32 %r1, %t;"
                       "mov.u32 %r2, 0; @!%p1 bra SKIP;" +
                           callOf("twice") +
                           "SKIP: bar.sync 0; activemask.b32 %r4;"
                           "popc.b32 %r4, %r4; add.u32 %v, %r2, %r4;",
                       kTwice),
              [](uint32_t l) { return (l < 5 ? 2 * l : 0) + 32; });
}

const char *const kFactorial = R"(
.visible .func (.param .b32 func_retval0) factorial(.param .b32 p)
{
  .reg .pred %p<2>;
  .reg .b32 %r<5>;
  .local .align 4 .b8 depot[4];
  ld.param.u32 %r1, [p];
  st.local.u32 [depot], %r1;
  setp.lt.u32 %p1, %r1, 2;
  mov.u32 %r4, 1;
  @%p1 bra DONE;
  sub.u32 %r2, %r1, 1;
  {
    .param .b32 param0;
    st.param.b32 [param0], %r2;
    .param .b32 retval0;
    call.uni (retval0), factorial, (param0);
    ld.param.b32 %r3, [retval0];
  }
  ld.local.u32 %r1, [depot];
  mul.lo.u32 %r4, %r3, %r1;
DONE:
  st.param.b32 [func_retval0], %r4;
  ret;
}
)";

TEST(Call, recursesWithRegistersAndLocalsOfItsOwn) {
  expectWords(
      runEntry("rem.u32 %r1, %t, 9;" + callOf("factorial") + "mov.u32 %v, %r2;",
               kFactorial),
      [](uint32_t l) {
        uint32_t f = 1;
        for (uint32_t k = 2; k <= l % 9; ++k)
          f *= k;
        return f;
      });
}

TEST(Call, pointsIntoTheFrameOfItsCaller) {
  // f(n, p) adds n to *p and gives f(n - 1, &own), whose sum it takes over.
  const char *const kSum = R"(
.func down(.param .b32 n, .param .b64 p)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<4>;
  .local .align 8 .b8 __local_depot1[8];
  ld.param.b32 %r1, [n];
  ld.param.b64 %rd1, [p];
  mov.b64 %rd2, __local_depot1;
  cvta.local.u64 %rd2, %rd2;
  st.b32 [%rd2+4], 0;
  setp.eq.s32 %p1, %r1, 0;
  @%p1 ret;
  sub.s32 %r2, %r1, 1;
  call down, (%r2, %rd2);
  ld.b32 %r3, [%rd2+4];
  ld.b32 %r4, [%rd1+4];
  add.s32 %r4, %r4, %r3;
  add.s32 %r4, %r4, %r1;
  st.b32 [%rd1+4], %r4;
  ret;
}
)";
  expectWords(runEntry(R"(
  .local .align 8 .b8 __local_depot0[8];
  mov.u64 %rd1, __local_depot0;
  cvta.local.u64 %rd1, %rd1;
  st.u32 [%rd1+4], 0;
  and.b32 %r1, %t, 7;
  call down, (%r1, %rd1);
  ld.u32 %v, [%rd1+4];
)",
                       kSum),
              [](uint32_t l) { return (l % 8) * (l % 8 + 1) / 2; });
}

TEST(Call, withoutEndIsAFaultThatNamesTheFunction) {
  const char *const kEndless = R"(
.func endless()
{
  .local .align 16 .b8 depot[64];
  call endless;
  ret;
}
)";
  ModuleRun r = runEntry("call endless;", kEndless);
  EXPECT_EQ(r.report.status, Status::Fault);
  EXPECT_NE(r.message().find("test.ptx:8:3: error: the call of 'endless' at "
                             "depth 257 does not fit: the thread has 16448 "
                             "bytes of local memory for its stack "
                             "[stack-overflow; kernel k"),
            std::string::npos)
      << r.message();
}

TEST(Call, withoutFramesEndsToo) {
  ModuleRun r = runEntry("call a;", ".func b;\n.func a() { call b; ret; }\n"
                                    ".func b() { call a; ret; }\n");
  EXPECT_EQ(r.report.status, Status::Fault);
  EXPECT_NE(r.message().find("at most 1024 calls may be open"),
            std::string::npos)
      << r.message();
}

TEST(Call, takesRegistersAndConstantsAndRegisterParameters) {
  const char *const kAxpy = R"(
.func (.reg .b32 result) axpy(.reg .b32 a, .reg .b64 x, .param .b32 y)
{
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [y];
  cvt.u32.u64 %r2, x;
  mad.lo.u32 result, a, %r2, %r1;
  ret.uni;
}
)";
  expectWords(runEntry("cvt.u64.u32 %rd1, %t;"
                       "call (%v), axpy, (3, %rd1, %t);"
                       "call (_), axpy, (3, %rd1, %t);",
                       kAxpy),
              [](uint32_t l) { return 4 * l; });
}

TEST(Call, passesStructsWhole) {
  const char *const kSwap = R"(
.func (.param .align 8 .b8 r[24]) turn(.param .align 8 .b8 s[24])
{
  .reg .b64 %rd<4>;
  ld.param.b64 %rd1, [s];
  ld.param.v2.b64 {%rd2, %rd3}, [s+8];
  st.param.b64 [r+16], %rd1;
  st.param.b64 [r], %rd2;
  st.param.b64 [r+8], %rd3;
  ret;
}
)";
  expectWords(runEntry(R"(
  cvt.u64.u32 %rd1, %t;
  .param .align 16 .b8 in[24];
  .param .align 16 .b8 back[24];
  st.param.b64 [in], %rd1;
  st.param.b64 [in+8], 100;
  st.param.b64 [in+16], 1000;
  call (back), turn, (in);
  ld.param.b64 %rd2, [back];
  ld.param.b64 %rd3, [back+16];
  add.u64 %rd2, %rd2, %rd3;
  cvt.u32.u64 %v, %rd2;
)",
                       kSwap),
              [](uint32_t l) { return 100 + l; });
}

const char *const kTargets = R"(
.func (.param .b32 r) plus(.param .b32 x)
{
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [x];
  add.u32 %r1, %r1, 100;
  st.param.b32 [r], %r1;
  ret;
}
.global .align 8 .u64 table[2] = {twice, plus};
)";

TEST(Call, throughATableDivergesByTarget) {
  expectWords(
      runEntry(
          "mov.u32 %r1, %t; and.b32 %r3, %t, 1; mov.u64 %rd1, table;"
          "mad.wide.u32 %rd1, %r3, 8, %rd1; ld.global.u64 %rd2, [%rd1];"
          "prototype_0: .callprototype (.param .b32 _) _ (.param .b32 _);" +
              callOf("%rd2", ", prototype_0") + "mov.u32 %v, %r2;",
          std::string(kTwice) + kTargets),
      [](uint32_t l) { return l % 2 ? l + 100 : 2 * l; });
}

TEST(Call, throughCalltargets) {
  expectWords(runEntry("mov.u32 %r1, %t; mov.u64 %rd2, plus;"
                       "targets: .calltargets twice, plus;" +
                           callOf("%rd2", ", targets") + "mov.u32 %v, %r2;",
                       std::string(kTwice) + kTargets),
              [](uint32_t l) { return l + 100; });
}

TEST(Call, ofNoFunctionIsAFault) {
  ModuleRun r = runEntry(
      "mov.u32 %r1, %t; mov.u64 %rd2, 64;"
      "P: .callprototype (.param .b32 _) _ (.param .b32 _) .noreturn;" +
          callOf("%rd2", ", P"),
      kTwice);
  EXPECT_NE(r.message().find("the target 0x40 is the address of no function"),
            std::string::npos)
      << r.message();
}

TEST(Call, ofAFunctionOfOtherParametersIsAFault) {
  ModuleRun r =
      runEntry("mov.u32 %r1, %t; mov.u64 %rd2, wide;"
               "P: .callprototype (.param .b32 _) _ (.param .b32 _);" +
                   callOf("%rd2", ", P"),
               std::string(kTwice) +
                   ".func (.param .b32 r) wide(.param .b64 x) { ret; }\n");
  EXPECT_NE(r.message().find(" is a function with other parameters or results"),
            std::string::npos)
      << r.message();
}

TEST(Call, findsAnAlias) {
  expectWords(runEntry("mov.u32 %r1, %t;" + callOf("two") + "mov.u32 %v, %r2;",
                       std::string(kTwice) +
                           ".weak .func (.param .b32 r) two(.param .b32 x);\n"
                           ".alias two, twice;\n"),
              [](uint32_t l) { return 2 * l; });
}

TEST(Call, refusesWhatDoesNotFit) {
  auto refusal = [](const std::string &body) {
    return runEntry(body, std::string(kTwice) +
                              ".extern .func (.param .b64 r) allocate(.param "
                              ".b64 n);\n")
        .message();
  };
  EXPECT_NE(refusal("call twice, (%t);")
                .find("has 1 results, this call gives "
                      "0"),
            std::string::npos);
  EXPECT_NE(refusal("call (%v), twice, (%t, %t);")
                .find("has 1 parameters, this call gives 2"),
            std::string::npos);
  EXPECT_NE(refusal(".param .b64 wide; call (%v), twice, (wide);")
                .find("'wide' has 8 bytes; the function's has 4"),
            std::string::npos);
  EXPECT_NE(refusal("call (%rd1), allocate, (64);")
                .find("unsupported: a call of 'allocate', which has no body"),
            std::string::npos);
  EXPECT_NE(refusal("call nothing;").find("unknown function 'nothing'"),
            std::string::npos);
}

//===--- printf and assert
//-------------------------------------------------===//

const char *const kRuntime = R"(
.extern .func (.param .b32 func_retval0) vprintf
(
  .param .b64 vprintf_param_0,
  .param .b64 vprintf_param_1
)
;
.extern .func __assertfail
(
  .param .b64 __assertfail_param_0,
  .param .b64 __assertfail_param_1,
  .param .b32 __assertfail_param_2,
  .param .b64 __assertfail_param_3,
  .param .b64 __assertfail_param_4
)
.noreturn;
)";

/// A string as nvcc writes it.
std::string stringVariable(const std::string &name, const std::string &text) {
  std::string s = ".global .align 1 .b8 " + name + "[" +
                  std::to_string(text.size() + 1) + "] = {";
  for (size_t i = 0; i < text.size(); ++i)
    s += (i ? ", " : "") + std::to_string(int(text[i]));
  return s + "};\n";
}

TEST(Printf, formatsByLaneAndReturnsTheCount) {
  ModuleRun r = runEntry(
      R"(
  .local .align 8 .b8 __local_depot0[40];
  .reg .f64 %fd;
  mov.u64 %rd1, __local_depot0;
  cvta.local.u64 %rd2, %rd1;
  setp.gt.u32 %p1, %t, 1;
  @%p1 bra DONE;
  st.local.u32 [__local_depot0], %t;
  cvt.rn.f64.u32 %fd, %t;
  st.local.f64 [__local_depot0+8], %fd;
  mov.u64 %rd3, word;
  cvta.global.u64 %rd3, %rd3;
  st.local.u64 [__local_depot0+16], %rd3;
  st.local.u64 [__local_depot0+24], -5;
  st.local.u32 [__local_depot0+32], 65;
  mov.u64 %rd4, format;
  cvta.global.u64 %rd5, %rd4;
  {
  .param .b64 param0;
  st.param.b64 [param0], %rd5;
  .param .b64 param1;
  st.param.b64 [param1], %rd2;
  .param .b32 retval0;
  call.uni (retval0), vprintf, (param0, param1);
  ld.param.b32 %v, [retval0];
  }
DONE:
)",
      kRuntime + stringVariable("format", "%03d %.2f|%5s|%-4lld|%c 100%%\n") +
          stringVariable("word", "ab"));
  ASSERT_TRUE(r.report.ok()) << r.message();
  EXPECT_EQ(r.printed, "000 0.00|   ab|-5  |A 100%\n"
                       "001 1.00|   ab|-5  |A 100%\n");
  EXPECT_EQ(r.out[1], 5u);
}

TEST(Printf, whatIsNotInMemoryIsAFault) {
  const std::string kFormat = kRuntime + stringVariable("format", "%lld %d\n") +
                              ".global .u64 seven = 7;\n";
  ModuleRun r = runEntry("mov.u64 %rd1, 8;\n"
                         "call (%v), vprintf, (%rd1, %rd1);\n",
                         kFormat);
  EXPECT_NE(r.message().find("the format of printf is not in memory [printf;"),
            std::string::npos)
      << r.message();
  r = runEntry("mov.u64 %rd1, format; mov.u64 %rd2, seven;\n"
               "call (%v), vprintf, (%rd1, %rd2);\n",
               kFormat);
  EXPECT_NE(r.message().find("argument 2 of printf is not in memory [printf;"),
            std::string::npos)
      << r.message();
}

TEST(Assert, isAFaultWithItsWords) {
  ModuleRun r = runEntry(
      R"(
  setp.ne.u32 %p1, %t, 3;
  @%p1 bra DONE;
  mov.u64 %rd1, message; mov.u64 %rd2, file; mov.u64 %rd3, function;
  call __assertfail, (%rd1, %rd2, 42, %rd3, 1);
DONE:
)",
      kRuntime + stringVariable("message", "n < 100") +
          stringVariable("file", "a.cu") + stringVariable("function", "k"));
  EXPECT_EQ(r.report.status, Status::Fault);
  EXPECT_NE(r.message().find("a.cu:42: k: assertion 'n < 100' failed [assert; "
                             "kernel k, CTA (0,0,0), warp 0, lane 3]"),
            std::string::npos)
      << r.message();
}

} // namespace
