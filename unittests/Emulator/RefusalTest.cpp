//===- RefusalTest.cpp - what is refused, and in which words --------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One row for each message of the parser and of the decoder that no test of the
// feature itself has: the text, and where and how it is refused.
//
//===----------------------------------------------------------------------===//
#include "ModuleRun.h"

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
struct Refusal {
  std::string text, place, message;
};

std::string verdict(const std::string &text) {
  auto module = Module::parse(text, "test.ptx");
  auto problem = module ? module->prepare("k") : module.error();
  return problem ? problem->str() : "";
}

void expectRefused(const Refusal &c, const std::string &before,
                   const std::string &after) {
  std::string found = verdict(before + c.text + after);
  EXPECT_EQ(found.find("test.ptx:" + c.place + ": error: " + c.message), 0u)
      << c.text << "\nfound: " << found;
}

const std::string kHopper = ".version 8.6\n.target sm_90a\n.address_size 64\n";
/// What is in `text` stands in line 5.
const std::string kEntry =
    kHopper + ".visible .entry k(.param .u64 p) { .reg .b32 %r<9>; .reg .b64 "
              "%rd<9>; .reg .b128 %q<3>; .reg .pred %p<4>; .reg .b16 %h<9>; "
              ".shared .b32 word; "
              ".reg .f32 %f<9>; \n";

std::string repeat(const std::string &text, size_t count) {
  std::string all;
  for (size_t n = 0; n < count; ++n)
    all += text;
  return all;
}
} // namespace

TEST(Refusal, registersAndConstants) {
  const Refusal kCases[] = {
      {".reg .q7 %z;", "5:1", "unsupported register type '.q7'"},
      {".reg .v4 .b32 %z;", "5:6", "unsupported: a vector register"},
      {".reg .b32 ;", "5:11", "expected the name of a register"},
      {".reg .b32 %z<-1>;", "5:14", "register count is out of range"},
      {".reg .b32 %z<5;", "5:15", "expected '>' after a register count"},
      {".reg .b32 %z mov", "5:14", "expected ';' after a register declaration"},
      {"mov.u32 5, %r1;", "5:9", "expected a register"},
      {"add.u32 %nope, %r1, %r2;", "5:9", "unknown register '%nope'"},
      {"add.u32 %r1, %nope, %r2;", "5:14", "unknown name '%nope'"},
      {"add.u32 %r1, {%r2, %r3}, %r4;", "5:14",
       "expected a register or a constant"},
      {"add.u32 %r1, !%r2, %r4;", "5:15", "'!' is not allowed here"},
      {"add.u32 %r1, %p1, %r2;", "5:14",
       "'%p1' is a predicate; expected a data register"},
      {"add.u32 %p1, %r1, %r2;", "5:9",
       "'%p1' is a predicate; expected a data register"},
      {"add.u64 %rd1, %q1, %rd2;", "5:15", "'%q1' has 128 bits"},
      {"add.u64 %q1, %rd1, %rd2;", "5:9", "'%q1' has 128 bits"},
      {"mov.u64 %rd1, k;", "5:15", "unsupported: the address of 'k', an entry"},
      {"selp.b32 %r1, %r2, %r3, %nope;", "5:25", "unknown predicate '%nope'"},
      {"setp.eq.u32 %nope, %r2, %r3;", "5:13", "unknown predicate '%nope'"},
      {"@%nope mov.u32 %r1, 1;", "5:8", "unknown predicate '%nope'"},
      {"@; mov.u32 %r1, 1;", "5:2", "expected a predicate after '@'"},
      {"@%p1;", "5:5", "expected an instruction"},
      {"@%r1 mov.u32 %r1, 1;", "5:6", "'%r1' is not a predicate"},
      {"setp.eq.u32 %r1, %r2, %r3;", "5:13", "'%r1' is not a predicate"},
      {"mov.u64 %rd1, 18446744073709551616;", "5:15",
       "'18446744073709551616' has more than 64 bits"},
      {"wgmma.wait_group.sync.aligned %r1;", "5:31",
       "expected an integer constant"},
      {"wgmma.wait_group.sync.aligned -1;", "5:31",
       "'wgmma.wait_group.sync.aligned' needs a number of groups, found -1"},
      {"mov.u32 %r1, (.f32) 1;", "5:14", "unsupported: a cast to '.f32'"},
      {"mov.u32 %r1, (.s64 1);", "5:20", "expected ')' after a cast"},
      {"mov.u32 %r1, 1 ? 2;", "5:19", "expected ':' in a conditional constant"},
      {"mov.u32 %r1, 1 + ;", "5:18", "expected a number"},
      {"mov.u64 %rd1, word+1.5;", "5:20", "an offset must be an integer"},
  };
  for (const Refusal &c : kCases)
    expectRefused(c, kEntry, "\nret; }");
}

TEST(Refusal, memory) {
  const Refusal kCases[] = {
      {"ld.global.u32 %r1, 5;", "5:20", "expected an address in brackets"},
      {"ld.global.u32 %r1, [%rd1+4294967296];", "5:20",
       "address offset 4294967296 is too large"},
      {"ld.global.u64 %r1, [%rd1];", "5:15",
       "'ld.global.u64' needs 64-bit registers"},
      {"ld.global.v2.u32 {%r1, %rd2}, [%rd1];", "5:24",
       "registers of two widths in one vector"},
      {"ld.global.v2.u32 {%r1, %r2, %r3}, [%rd1];", "5:18",
       "'ld.global.v2.u32' moves 2 elements, found 3"},
      {"ld.global.u32 %r1, [word];", "5:20",
       "'word' is not in the space of 'ld.global.u32'"},
      {"st.param.u64 [p], %rd1;", "5:14",
       "a kernel's parameters are read-only"},
      {"atom.global.add.u32 %r1, [word], 1;", "5:1",
       "this address is not in the space of 'atom.global.add.u32'"},
      {"atom.global.exch.b128 %rd1, [%rd1], %q1;", "5:23",
       "'%rd1' is no register of 128 bits"},
      {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 "
       "{%r1,%r1,%r1,%r1,%r1,%r1,%r1,%r1}, [word];",
       "5:1",
       "this address is not in the space of "
       "'wmma.load.a.sync.aligned.row.m16n16k16.global.f16'"},
      {"wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1,%r2}, [%rd1];", "5:44",
       "the fragment of 'wmma.load.a.sync.aligned.row.m16n16k16.f16' has 8 "
       "registers, found 2"},
      {"cp.async.ca.shared.global [%r1], [%r2], 16;", "5:34",
       "a global address needs a 64-bit register"},
      {"cp.async.bulk.global.shared::cta.bulk_group [%r1], [%r2], 16;", "5:45",
       "a global address needs a 64-bit register"},
      {"cp.async.shared.global [%r1], [%rd2], 16;", "5:1",
       "'cp.async.shared.global' needs .ca or .cg"},
      {"cp.async.ca.cg.shared.global [%r1], [%rd2], 16;", "5:1",
       "'cp.async.ca.cg.shared.global' needs .ca or .cg"},
      {"cp.async.cg.shared.global [%r1], [%rd2], 8;", "5:42",
       "cp-size 8 is not allowed for 'cp.async.cg.shared.global'; 16 is"},
      {"cp.async.ca.shared.global [%r1], [%rd2], 12;", "5:42",
       "cp-size 12 is not allowed for 'cp.async.ca.shared.global'; 4, 8 or "
       "16 is"},
      {"ldmatrix.sync.aligned.m8n8.shared.b16 {%r1}, [%r2];", "5:1",
       "'ldmatrix.sync.aligned.m8n8.shared.b16' needs .x1, .x2 or .x4"},
      {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
       "[p], [%rd1], 16, [%r1];",
       "5:67", "expected an address of shared memory"},
      {"cp.async.bulk.tensor.1d.global.shared::cta.bulk_group "
       "[%r1, {%r2}], [%r3];",
       "5:55", "the address of a tensor map needs a 64-bit register"},
      {"cp.async.bulk.tensor.1d.global.shared::cta.bulk_group "
       "[p, {%r2}], [%r3];",
       "5:55",
       "a tensor map is named by a generic address; take that of the "
       "parameter with cvta.param"},
      {"tensormap.replace.tile.box_dim.global.b1024.b32 [%rd1], 5, %r1;",
       "5:57",
       "dimension 5 is not one of "
       "'tensormap.replace.tile.box_dim.global.b1024.b32'"},
      {"cp.async.bulk.prefetch.L2.global [%rd1], 16, 16;", "5:1",
       "'cp.async.bulk.prefetch.L2.global' takes 2 operands, found 3"},
      {"tensormap.replace.tile.rank.global.b1024.b64 [%rd1], %rd2;", "5:1",
       "'tensormap.replace.tile.rank.global.b1024.b64' needs .b32 for this "
       "field"},
      {"mov.b32 %r1, {%h1, %h2, %h3};", "5:14",
       "unsupported: a vector of 3 elements with 'mov.b32'"},
      {"mov.b128 %q1, {%rd1, %rd2, %rd3};", "5:15",
       "'mov.b128' takes two registers of 64 bits"},
      {".global .b32 inside;", "5:14",
       "unsupported: a 'inside' of global space inside a function"},
      {".local .b8 large[1073741825];", "5:12",
       "'large' has 1073741825 bytes, more than its space can hold"},
      {"ld.global.u32 %r1, [%rd1;", "5:25", "expected ']' after an address"},
      {"ld.global.u32 %r1, ;", "5:20", "expected an operand, found ';'"},
      {"ld.global.v2.u32 {%r1 %r2}, [%rd1];", "5:23",
       "expected '}' after a list of operands, found '%'"},
      {"alloca.u64 %rd1, %rd2;", "5:1", "unsupported instruction 'alloca.u64'"},
      {"stacksave.u64 %rd1;", "5:1", "unsupported instruction 'stacksave.u64'"},
      {"stackrestore.u64 %rd1;", "5:1",
       "unsupported instruction 'stackrestore.u64'"},
      {"st.bulk.weak.shared::cta [%rd1], 64, 0;", "5:1",
       "unsupported instruction 'st.bulk.weak.shared::cta'"},
      {"cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [%r2], 16, "
       "%h1;",
       "5:1",
       "unsupported instruction "
       "'cp.async.bulk.global.shared::cta.bulk_group.cp_mask'"},
      {"cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group "
       "[%rd1, {%r1, %r2, %r3}], [%r4];",
       "5:1",
       "unsupported instruction "
       "'cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_"
       "group'"},
      {"tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%rd1, {%r1}];", "5:1",
       "unsupported instruction 'tex.1d.v4.f32.s32'"},
      {"suld.b.1d.b32.trap %r1, [%rd1, {%r2}];", "5:1",
       "unsupported instruction 'suld.b.1d.b32.trap'"},
      {"multimem.red.relaxed.gpu.global.add.u32 [%rd1], %r2;", "5:1",
       "unsupported instruction 'multimem.red.relaxed.gpu.global.add.u32'"},
      {"vadd.s32.s32.s32 %r1, %r2, %r3;", "5:1",
       "unsupported instruction 'vadd.s32.s32.s32'"},
  };
  for (const Refusal &c : kCases)
    expectRefused(c, kEntry, "\nret; }");
}

TEST(Refusal, wordsOfAccesses) {
  const std::string kPolicy = " %r1, [%rd1], %rd2;", kLoad = " %r1, [%rd1];",
                    kStore = " [%rd1], %r1;";
  const std::pair<std::string, std::string> kCases[] = {
      {"ld.relaxed.global.b32" + kLoad,
       ".relaxed needs a scope: .cta, .cluster, .gpu or .sys"},
      {"st.release.b32" + kStore,
       ".release needs a scope: .cta, .cluster, .gpu or .sys"},
      {"ld.gpu.global.b32" + kLoad,
       ".gpu needs an order: .relaxed, .acquire or .release"},
      {"ld.volatile.sys.global.b32" + kLoad,
       ".sys needs an order: .relaxed, .acquire or .release"},
      {"ld.relaxed.gpu.local.b32" + kLoad,
       ".relaxed and .local do not go together"},
      {"ld.volatile.const.b32" + kLoad,
       ".volatile and .const do not go together"},
      {"ld.acquire.gpu.ca.b32" + kLoad, ".acquire and .ca do not go together"},
      {"st.volatile.global.wt.b32" + kStore,
       ".volatile and .wt do not go together"},
      {"ld.volatile.L1::evict_last.b32" + kLoad,
       ".L1::evict_last and .volatile do not go together"},
      {"ld.global.cg.L1::no_allocate.b32" + kLoad,
       ".L1::no_allocate and .cg do not go together"},
      {"ld.volatile.global.L2::cache_hint.b32" + kPolicy,
       ".volatile and .L2::cache_hint do not go together"},
      {"ld.shared.L2::128B.b32" + kLoad,
       ".L2::128B and .shared do not go together"},
      {"st.local.L1::evict_first.b32" + kStore,
       ".L1::evict_first and .local do not go together"},
      {"ld.const.L2::cache_hint.b32" + kPolicy,
       ".L2::cache_hint and .const do not go together"},
      {"atom.shared.add.L2::cache_hint.u32 %r1, [%r2], 1, %rd2;",
       ".L2::cache_hint and .shared do not go together"},
      {"ld.mmio.global.b32" + kLoad, ".mmio needs .relaxed.sys"},
      {"ld.mmio.relaxed.gpu.b32" + kLoad, ".mmio needs .relaxed.sys"},
      {"ld.mmio.relaxed.sys.shared.b32" + kLoad,
       ".mmio and .shared do not go together"},
      {"ld.mmio.relaxed.sys.v2.b32 {%r1, %r2}, [%rd1];",
       ".mmio and .v2 do not go together"},
      {"ld.nc.b32" + kLoad, ".nc needs .global"},
      {"ld.shared.nc.b32" + kLoad, ".nc needs .global"},
      {"ld.volatile.global.nc.b32" + kLoad,
       ".nc and .volatile do not go together"},
      {"ld.global.cv.nc.b32" + kLoad, ".nc and .cv do not go together"},
      {"ld.global.L2::evict_last.b32" + kLoad,
       ".L2::evict_last needs an access of 32 bytes"},
  };
  for (auto &[text, message] : kCases)
    expectRefused(
        {text, "5:1", "'" + text.substr(0, text.find(' ')) + "': " + message},
        kEntry, "\nret; }");
  // Two words of one kind, and words that there are not.
  for (const char *opcode :
       {"ld.global.shared.b32", "ld.global.global.b32", "ld.global.ca.cg.b32",
        "ld.weak.volatile.global.b32", "ld.relaxed.cta.gpu.global.b32",
        "ld.global.L1::evict_last.L1::no_allocate.b32",
        "ld.global.L2::64B.L2::128B.b32", "ld.global.L2::banana.b32",
        "ld.global.wb.b32", "ldu.global.ca.b32"})
    expectRefused({opcode + kLoad, "5:1",
                   "unsupported instruction '" + std::string(opcode) + "'"},
                  kEntry, "\nret; }");
  for (const char *opcode :
       {"st.global.ca.b32", "st.global.L2::128B.b32", "st.global.nc.b32"})
    expectRefused({opcode + kStore, "5:1",
                   "unsupported instruction '" + std::string(opcode) + "'"},
                  kEntry, "\nret; }");
  for (const char *opcode :
       {"atom.global.ca.add.u32", "atom.relaxed.acquire.gpu.global.add.u32",
        "atom.global.L1::evict_last.add.u32"})
    expectRefused({std::string(opcode) + " %r1, [%rd1], 1;", "5:1",
                   "unsupported instruction '" + std::string(opcode) + "'"},
                  kEntry, "\nret; }");
  // The policy is there with the hint, and only then, and has 64 bits.
  const Refusal kPolicies[] = {
      {"ld.global.L2::cache_hint.b32 %r1, [%rd1];", "5:1",
       "'ld.global.L2::cache_hint.b32' takes 3 operands, found 2"},
      {"st.global.b32 [%rd1], %r1, %rd2;", "5:1",
       "'st.global.b32' takes 2 operands, found 3"},
      {"atom.global.add.L2::cache_hint.u32 %r1, [%rd1], 1;", "5:1",
       "'atom.global.add.L2::cache_hint.u32' takes 4 operands, found 3"},
      {"cp.async.cg.shared.global.L2::cache_hint [%r1], [%rd1], 16;", "5:1",
       "'cp.async.cg.shared.global.L2::cache_hint' takes 4 to 5 operands"},
      {"ld.global.L2::cache_hint.b32 %r1, [%rd1], %r2;", "5:43", "'%r2' has"},
      {"red.global.add.L2::cache_hint.u32 [%rd1], 1, %nope;", "5:46",
       "unknown name '%nope'"},
      {"createpolicy.fractional.b64 %rd1, %f1;", "5:1",
       "'createpolicy.fractional.b64' takes one priority, and a second one for "
       "the rest"},
      {"createpolicy.fractional.L2::evict_last.L2::evict_normal.b64 %rd1;",
       "5:1", "unsupported instruction 'createpolicy.fractional."},
      {"createpolicy.range.L2::evict_last.b64 %rd1, [%rd2], 16;", "5:1",
       "'createpolicy.range.L2::evict_last.b64' takes 4 operands, found 3"},
      {"createpolicy.fractional.L2::evict_last.b64 %r1;", "5:44", "'%r1' has"},
  };
  for (const Refusal &c : kPolicies)
    expectRefused(c, kEntry, "\nret; }");
}

TEST(Refusal, formsOfInstructions) {
  const std::string kBits = "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1";
  const std::string kBytes = "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8";
  const std::string kForty = "wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8";
  const std::string kOperands = " {%r1,%r2,%r3,%r4}, %rd1, %rd2, 1;";
  const Refusal kCases[] = {
      {"setp.u32 %p1, %r1, %r2;", "5:1", "'setp.u32' has no comparison"},
      {"lop3.or.b32 %r1, %r2, %r3, %r4, 1, %p1;", "5:13",
       "'lop3.or.b32' writes d|p"},
      {"setp.lt.b32 %p1, %r1, %r2;", "5:1",
       "'setp.lt.b32' orders untyped bits; .eq and .ne are allowed"},
      {"setp.lt.and.s32 %p1, %r1, %r2;", "5:1",
       "'setp.lt.and.s32' needs .and, .or or .xor with a third source, and "
       "only then"},
      {"setp.lt.f16 %p1|%p2, %h1, %h2;", "5:13",
       "'setp.lt.f16' writes one predicate"},
      {"cvt.u64.u32 %r1, %r2;", "5:13", "'cvt.u64.u32' writes 64 bits"},
      {"cvt.u32.u64 %r1, %r2;", "5:18", "'cvt.u32.u64' reads 64 bits"},
      {"match.any.sync.b32 %r1|%p1, %r2, %r3;", "5:20",
       "'match.any.sync.b32' writes no predicate"},
      {kForty + kOperands, "5:1",
       "'" + kForty +
           "': the shape must be m64nNk32 with N = 8, 16, ... 256, in steps of "
           "16 from 32 on"},
      {kBits + kOperands, "5:1", "'" + kBits + "': b1 needs .and.popc"},
      {kBytes + ".and.popc" + kOperands, "5:1",
       "'" + kBytes + ".and.popc': .popc is for b1"},
      {"brx.idx %r1, nowhere;", "5:14", "unknown branch table 'nowhere'"},
      {"call %rd1;", "5:1",
       "a call through a register needs a .callprototype or .calltargets"},
      {"call %rd1, nowhere;", "5:12", "unknown prototype 'nowhere'"},
      {"call nobody;", "5:6", "unknown function 'nobody'"},
      {"call (%r1);", "5:1", "this call names no function"},
      {"call k, nowhere, nowhere;", "5:18",
       "this operand has no place in a call"},
      {"call k;", "5:6", "unsupported: a call of the entry 'k'"},
      {".branchtargets a;", "5:1", "expected a label before .branchtargets"},
      {"t: .branchtargets ;", "5:19", "expected a name in this list"},
      {"t: .branchtargets a b;", "5:21",
       "expected ';' after .branchtargets, found 'b'"},
      {"}}", "5:2", "expected a directive at module level"},
      {"ret 1;", "5:1", "'ret' takes 0 operands, found 1"},
      {".maxntid 1;", "5:1", "unsupported directive '.maxntid'"},
      {"{ .pragma } ;", "5:11", "expected ';' after a directive, found '}'"},
      {".loc 1 2;", "5:9", "expected a number"},
      {".loc 1.5 2 3;", "5:6", "a file number must be an integer"},
      {".loc 1 2 3, color 4;", "5:13", "expected function_name or inlined_at"},
      {"ret 1 2;", "5:7", "expected ';' after an instruction, found '2'"},
  };
  for (const Refusal &c : kCases)
    expectRefused(c, kEntry, "\nret; }");
}

TEST(Refusal, atModuleLevel) {
  const Refusal kCases[] = {
      {".address_size 32", "4:1", "only .address_size 64 is supported"},
      {".address_size 128", "4:15",
       "the address size of 128 is out of range; at most 64"},
      {".tex .u64 t;", "4:1", "unsupported directive '.tex'"},
      {".file x \"a.cu\"", "4:7", "expected a number"},
      {".file 1 \"a.cu", "4:14", "this string is not closed"},
      {".pragma \"nounroll\"", "4:19",
       "expected ';' after a directive, found the end of the text"},
      {".global .b32 a[] = " + repeat("{", 17) + "1" + repeat("}", 17) + ";",
       "4:37", "an initialiser list is nested more than 16 deep"},
      {".entry k(.param .b8 a[32764], .param .b8 b) {}", "4:42",
       "the parameters of 'k' have more than 32764 bytes"},
      {".file 1 a.cu", "4:9", "expected '\"' before a string, found 'a'"},
      {".section .debug_info .b8 1", "4:22",
       "expected '{' after .section, found '.'"},
      {".alias a b;", "4:10",
       "expected ',' between the names of .alias, found 'b'"},
      {".alias a, b", "4:12",
       "expected ';' after .alias, found the end of the text"},
      {".global .q7 a;", "4:9", "unknown type '.q7'"},
      {".global a;", "4:9", "expected a type in this declaration"},
      {".global .b32;", "4:13", "expected a name in this declaration"},
      {".global .align 3 .b32 a;", "4:23", "alignment 3 is not a power of two"},
      {".global .align 1.5 .b32 a;", "4:16", "an alignment must be an integer"},
      {".global .align 2097152 .b32 a;", "4:16",
       "an alignment of 2097152 is out of range; at most 1048576"},
      {".global .attribute .managed .b32 a;", "4:20",
       "expected '(' after .attribute, found '.'"},
      {".global .attribute(.managed;", "4:28",
       "expected ')' after an attribute"},
      {".global .attribute(.unified(1;", "4:30",
       "expected ')' after an attribute, found ';'"},
      {".global .b32 a[4;", "4:17",
       "expected ']' after an array bound, found ';'"},
      {".global .b32 a[2199023255552];", "4:16",
       "an array bound of 2199023255552 is out of range; at most "
       "1099511627776"},
      {".global .b32 a, ;", "4:17", "expected a name after ','"},
      {".global .b32 a b;", "4:16",
       "expected ';' after a declaration, found 'b'"},
      {".global .b32 a[] = {1, {2};", "4:27",
       "expected '}' after an initialiser list, found ';'"},
      {".global .b64 a[] = {generic(b};", "4:30",
       "expected ')' after generic(symbol, found '}'"},
      {".global .b64 a[] = {0xFF(b};", "4:27",
       "expected ')' after a masked symbol, found '}'"},
      {".global .b64 a[] = {,};", "4:21",
       "expected a number or a symbol as an initial value"},
      {".func f(.reg .b32 a, .b32 b) {}", "4:22", "expected .param"},
      {".func f(.param .b32 a .param .b32 b) {}", "4:23",
       "expected ')' after the parameters, found '.'"},
      {".func () {}", "4:10", "expected the name of a function"},
      {".func f() .shiny {}", "4:11", "unsupported directive '.shiny'"},
      {".func .shiny f() {}", "4:7", "unsupported directive '.shiny'"},
      {".func f() }", "4:11",
       "expected '{' before the body of a function, found '}'"},
      {".entry k() .maxntid x {}", "4:21", "expected a number"},
      {".local .b32 a;", "4:1", "unsupported directive '.local'"},
  };
  for (const Refusal &c : kCases)
    expectRefused(c, kHopper, "");
}

// What is found where a kernel needs it.
TEST(Refusal, throughTheEntry) {
  const std::string kUse = "\n.entry k() { .reg .b64 %rd<3>; "
                           "mov.u64 %rd1, a; }";
  const Refusal kCases[] = {
      {".global .b64 a = nobody;" + kUse, "4:24",
       "the initial value of 'a' names 'nobody', which is no variable and no "
       "function with a body in this file"},
      {".global .b32 a[1] = {1, 2};" + kUse, "4:14",
       "'a' has 4 bytes but 8 initial ones"},
      {".extern .func a;" + kUse, "5:46",
       "unsupported: the address of 'a', which has no body here"},
      {".extern .global .b32 a;" + kUse, "4:22",
       "unsupported: 'a' is defined in another file"},
      {".entry k() { .reg .b64 %rd<3>; p: .callprototype _ (.param .b8 "
       "a[1048577]);\ncall %rd1, p; }",
       "4:64", "'a' has 1048577 bytes, too many for a parameter"},
  };
  for (const Refusal &c : kCases)
    expectRefused(c, kHopper, "");
  EXPECT_EQ(verdict(".target sm_80\n.entry k() {}"),
            "test.ptx:1:1: error: this is not a PTX file: no .version "
            "[parser]");
  EXPECT_EQ(verdict(".version 9.9\n.target sm_80\n.entry k() {}")
                .find("test.ptx:2:9: error: PTX version '9.9' is not known; "
                      "the newest is 9."),
            0u);
  EXPECT_EQ(verdict(".version 8.6\n.address_size 64\n.entry k() {}"),
            "test.ptx:1:1: error: this file has no .target [decoder]");
}

TEST(Refusal, calls) {
  const std::string kFunctions = kHopper +
                                 ".func f(.param .b32 a, .param .b8 b[16]) {}\n"
                                 ".extern .func outside;\n"
                                 ".entry k() { .reg .b32 %r<3>; .shared .b32 "
                                 "word; .param .b8 c[16];\n";
  const Refusal kCases[] = {
      {"call f, (%r1);", "7:1",
       "this function has 2 parameters, this call gives 1"},
      {"call (%r1), f, (%r1, c);", "7:1",
       "this function has 0 results, this call gives 1"},
      {"call f, (word, c);", "7:10", "'word' is not a .param variable"},
      {"call f, (c, c);", "7:10", "'c' has 16 bytes; the function's has 4"},
      {"call f, (%r1, %r2);", "7:15",
       "this argument must be a .param variable of 16 bytes"},
      {"call outside;", "7:6",
       "unsupported: a call of 'outside', which has no body in this file"},
  };
  for (const Refusal &c : kCases)
    expectRefused(c, kFunctions, "\nret; }");
}

//===--- Limits -----------------------------------------------------------===//

TEST(Refusal, argumentsOfCallsAreBounded) {
  // An aligned argument takes its alignment.
  std::string wide = "p: .callprototype _ (.param .align 1048576 .b32 _";
  wide += repeat(",.param .align 1048576 .b32 _", 128) + ");\n";
  std::string call = "call %rd1, (%r1" + repeat(",%r1", 128) + "), p;\n";
  std::string found = verdict(kEntry + wide + call + call + "ret; }");
  EXPECT_NE(found.find("test.ptx:7:"), std::string::npos) << found;
  EXPECT_NE(found.find("the arguments of calls have more than 268435456 bytes"),
            std::string::npos)
      << found;
}

TEST(Refusal, parametersOfFunctionsAreBounded) {
  std::string text = kHopper + ".func f(.param .b8 a[1048576]" +
                     repeat(",\n.param .b8 a[1048576]", 256) +
                     ") { ret; }\n.entry k() { .reg .b64 %a; mov.b64 %a, f; }";
  EXPECT_EQ(verdict(text),
            "test.ptx:260:12: error: parameters of more than 268435456 bytes "
            "[decoder]");
}

TEST(Refusal, targetsByListsAreBounded) {
  // Each of 4096 branches names 4097 targets: one more than 2^24 in all.
  std::string text =
      kEntry + "A: T: .branchtargets A" + repeat(",A", 4096) + ";\n";
  std::string branches = repeat("brx.idx %r1, T;\n", 4096);
  EXPECT_EQ(verdict(text + branches + "ret; }"),
            "test.ptx:4101:1: error: the branches and calls of this kernel "
            "name more than 16777216 targets by lists [decoder]");
}

TEST(Refusal, scopesOfAFunctionAreBounded) {
  constexpr size_t kMost = 1 << 20;
  EXPECT_EQ(verdict(kEntry + repeat("{}", kMost) + "\n{} ret; }"),
            "test.ptx:6:1: error: this function has more than 1048576 scopes "
            "[decoder]");
}

TEST(Refusal, waitsTimesRegistersOfProductsAreBounded) {
  std::string text = kHopper + ".entry k() { .reg .f32 %f<65536>; .reg .b64 "
                               "%d<3>;\n";
  size_t r = 0;
  for (unsigned n = 0; n < 512; ++n) {
    text += "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {";
    for (unsigned k = 0; k < 128; ++k)
      text += (k ? ",%f" : "%f") + std::to_string(r++);
    text += "}, %d1, %d2, 1, 1, 1, 0, 0;\n";
  }
  std::string wait = "wgmma.wait_group.sync.aligned 0;\n";
  EXPECT_EQ(verdict(text + repeat(wait, 1024) + "}"), "");
  EXPECT_EQ(verdict(text + repeat(wait, 1025) + "}")
                .find("test.ptx:1541:1: error: too many wgmma.wait_group for a "
                      "kernel with 65536 registers of products"),
            0u);
}

TEST(Refusal, registersThatOpenCallsSaveAreBounded) {
  // Each call keeps 40000 registers of the caller's: 53 open ones are too many.
  constexpr unsigned kRegisters = 40000;
  std::string deep = ".func deep() { .reg .b32 %a<40000>;\n";
  for (unsigned n = 0; n < kRegisters; ++n)
    deep += "mov.u32 %a" + std::to_string(n) + ", %tid.x;\n";
  deep += "call deep;\n";
  for (unsigned n = 1; n < kRegisters; ++n)
    deep += "add.u32 %a0, %a0, %a" + std::to_string(n) + ";\n";
  ModuleRun r = runEntry("call deep;", deep + "ret; }\n");
  EXPECT_EQ(r.report.status, Status::Fault);
  EXPECT_NE(r.message().find("the open calls of this warp save more than "
                             "67108864 words of registers at the call of "
                             "'deep' [stack-overflow; kernel k"),
            std::string::npos)
      << r.message();
}

//===--- Launches ---------------------------------------------------------===//

TEST(Refusal, launches) {
  auto message = [](const std::string &head, const LaunchShape &shape,
                    const std::vector<Argument> &arguments) {
    auto module = Module::parse(kHopper + head + " { ret; }", "test.ptx");
    if (!module)
      return module.error().str();
    Device device;
    Report r = device.launch(*module, "k", shape, arguments);
    EXPECT_EQ(r.status, Status::Invalid);
    return r.diagnostics.empty() ? "" : r.diagnostics[0].str();
  };
  EXPECT_EQ(message(".entry k() .maxntid 32, 2", {{1}, {65}}, {}),
            "test.ptx:4:1: error: block 65x1x1 is larger than .maxntid 32x2x1 "
            "[launch]");
  EXPECT_EQ(message(".entry k(.param .u64 n)", {{1}, {32}},
                    {Argument::of(uint32_t(1))}),
            "test.ptx:4:1: error: argument 0 ('n') has 8 bytes, found 4 "
            "[launch]");
  EXPECT_EQ(message(".entry k()", {{1}, {1025}}, {}),
            "test.ptx:4:1: error: block 1025x1x1 is not allowed; at most 1024 "
            "threads, and 64 in z [launch]");
  EXPECT_EQ(message(".entry k()", {{1, 65536}, {1}}, {}),
            "test.ptx:4:1: error: grid 1x65536x1 is not allowed; at most "
            "2147483647 in x and 65535 in y and z [launch]");
}
