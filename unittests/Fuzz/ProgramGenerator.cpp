//===- ProgramGenerator.cpp - a whole program from bytes ------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declarations, control flow, calls, and the sequences that only mean something
// together (a copy and its wait, a product and its fence). In between stands
// whatever the instruction table has.
//
//===----------------------------------------------------------------------===//
#include "ProgramGenerator.h"

using namespace fafuzz;

static std::string number(uint64_t n) { return std::to_string(n); }

namespace {
class Generator {
public:
  explicit Generator(ByteSource &bytes) : bytes(bytes), one(bytes) {}
  std::string run();

private:
  void line(const std::string &text) { out += text + "\n"; }
  void declarations();
  void function(const std::string &head, unsigned statements, bool isEntry);
  void registers();
  void prologue();
  void body(unsigned statements);
  void statement();
  void sequence();
  void loop();
  void call();
  void copies();
  void bulkCopy();
  void product();
  void clusterBarrier();
  std::string label() { return labels + number(bytes.below(kLabels)); }

  static constexpr unsigned kLabels = 6;
  ByteSource &bytes;
  InstructionGenerator one;
  std::string out, labels;
  bool isHopper = false, isEntry = false;
  unsigned depth = 0, scopes = 0;
};
} // namespace

std::string Generator::run() {
  static constexpr const char *kTargets[] = {"sm_90a", "sm_80",  "sm_90a",
                                             "sm_89",  "sm_90a", "sm_100a"};
  std::string target = bytes.pick(kTargets);
  isHopper = target.size() > 5;
  line(".version 9.0");
  line(".target " + target);
  line(".address_size 64");
  declarations();
  if (bytes.oneIn(2))
    function(".func helper()", bytes.below(8), false);
  else
    line(".func helper() { ret; }");
  function(".func (.param .b32 result) deeper(.param .b32 n, .param .b64 at)",
           bytes.below(8), false);
  function(".visible .entry k(.param .u64 input, .param .u64 output, "
           ".param .align 64 .b8 map[128], .param .u32 n)",
           8 + bytes.below(112), true);
  return std::move(out);
}

void Generator::declarations() {
  line(".global .align 16 .b8 table[256] = {1, 2, 3, 0xFF};");
  line(".global .align 8 .u64 pointers[2] = {generic(table)+8, helper};");
  line(".const .align 16 .b32 constants[32] = {1, 0x3F800000, -1, 7};");
  line(".global .align 1 .b8 format[16] = {37, 100, 32, 37, 102, 32, 37, 115, "
       "10, 0};");
  line(".extern .shared .align 128 .b8 dynamic[];");
  line(".shared .align 1024 .b8 buffer[4096];");
  line(".shared .align 8 .b64 barrier[4];");
  line(".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);");
  line(".func helper();");
}

void Generator::registers() {
  line(".reg .pred %p<8>;");
  line(".reg .b16 %h<8>;");
  line(".reg .b32 %r<34>, %acc<64>;");
  line(".reg .b64 %rd<30>;");
  line(".reg .b128 %q<2>;");
  line(".local .align 16 .b8 frame[128];");
}

/// Registers that addresses start from; nothing else writes them.
void Generator::prologue() {
  line("mov.u32 %r28, barrier;");
  line("mov.u32 %r29, buffer;");
  if (isHopper) {
    line("mapa.shared::cluster.u32 %r29, %r29, " + number(bytes.below(3)) +
         ";");
    line("mapa.shared::cluster.u32 %r28, %r28, " + number(bytes.below(3)) +
         ";");
  }
  line("mov.u64 %rd23, buffer;");
  line("cvta.shared.u64 %rd23, %rd23;");
  line("mov.u64 %rd24, frame;");
  line("cvta.local.u64 %rd24, %rd24;");
  // Descriptors: start, leading and stride offsets in 16 bytes, swizzle.
  for (const char *descriptor : {"%rd25", "%rd26"})
    line("mov.b64 " + std::string(descriptor) + ", " +
         number(bytes.below(4) * 64u | uint64_t(1 + bytes.below(16)) << 16 |
                uint64_t(8 * (1 + bytes.below(8))) << 32 |
                uint64_t(bytes.below(4)) << 62) +
         ";");
  line("mov.u32 %r31, %tid.x;");
  line("setp.eq.u32 %p7, %r31, 0;");
  line("mov.b16 %h1, " + number(1 + bytes.below(3)) + ";");
  if (!isEntry) {
    line("mov.u64 %rd20, table;");
    line("mov.u64 %rd21, table;");
    line("mov.u64 %rd22, table;");
    line("mov.u64 %rd27, table;");
    line("mov.u64 %rd28, table;");
    return;
  }
  line("ld.param.u64 %rd20, [input];");
  line("ld.param.u64 %rd21, [output];");
  line("mad.wide.u32 %rd22, %r31, 16, %rd21;");
  line("add.u64 %rd27, %rd21, 2048;");
  line("mov.b64 %rd28, map;");
  line("cvta.param.u64 %rd28, %rd28;");
  for (unsigned r = 0; r < 8; ++r)
    line("mad.lo.u32 %r" + number(r) + ", %r31, " + number(bytes.below(8)) +
         ", " + number(bytes.byte()) + ";");
  if (!bytes.oneIn(4)) {
    for (unsigned n = 0; n < 4; ++n)
      line("@%p7 mbarrier.init.shared.b64 [barrier+" + number(8 * n) + "], " +
           number(n == 3 ? 32 : 1) + ";");
    line("bar.sync 0;");
  }
}

void Generator::function(const std::string &head, unsigned statements,
                         bool entry) {
  isEntry = entry;
  labels = entry ? "L" : head[6] == '(' ? "D" : "H";
  line(head);
  line("{");
  registers();
  prologue();
  body(statements);
  line("ret;");
  line("}");
}

void Generator::body(unsigned statements) {
  for (unsigned n = 0; n < kLabels; ++n) {
    line(labels + number(n) + ":");
    for (unsigned k = 0; k < statements / kLabels + 1; ++k)
      statement();
  }
}

void Generator::statement() {
  uint32_t kind = bytes.empty() ? 255 : bytes.below(64);
  if (kind == 255)
    return;
  if (kind < 40)
    out += one.instruction();
  else if (kind < 44)
    line("@" + one.predicate() + " bra " + label() + ";");
  else if (kind == 44)
    line("bra.uni " + label() + ";");
  else if (kind == 45)
    line("@" + one.predicate() + " exit;");
  else if (kind == 46) {
    std::string table = "T" + number(scopes++);
    line(table + ": .branchtargets " + label() + ", " + label() + ";");
    line("and.b32 %r30, " + one.reg32() + ", 1;");
    line("brx.idx %r30, " + table + ";");
  } else if (kind < 50)
    out += one.instructionOf("ld");
  else if (kind < 54)
    out += one.instructionOf("st");
  else
    sequence();
}

void Generator::sequence() {
  // Sequences in sequences are few: every level may hold several.
  if (depth > 2)
    return;
  ++depth;
  switch (bytes.below(8)) {
  case 0:
    loop();
    break;
  case 1:
    call();
    break;
  case 2:
    copies();
    break;
  case 3:
  case 4:
    bulkCopy();
    break;
  case 5:
    product();
    break;
  case 6:
    clusterBarrier();
    break;
  default:
    line("bar.sync 0;");
  }
  --depth;
}

void Generator::loop() {
  std::string at = labels + "loop" + number(scopes++);
  line("mov.u32 %r32, 0;");
  line(at + ":");
  for (unsigned n = 1 + bytes.below(5); n-- > 0;)
    statement();
  line("add.u32 %r32, %r32, 1;");
  line("setp.lt.u32 %p6, %r32, " + number(1 + bytes.below(8)) + ";");
  line("@%p6 bra " + at + ";");
}

void Generator::call() {
  switch (bytes.below(4)) {
  case 0:
    line(bytes.oneIn(2) ? "@%p1 call helper;" : "call.uni helper;");
    return;
  case 1:
    line("call (" + std::string(bytes.oneIn(2) ? "%r1" : "_") + "), deeper, (" +
         one.reg32() + ", " + one.reg64() + ");");
    return;
  case 2: {
    std::string prototype = "P" + number(scopes++);
    line(prototype + ": .callprototype _ ();");
    line("mov.u64 %rd29, " + std::string(bytes.oneIn(4) ? "deeper" : "helper") +
         ";");
    line("call %rd29, " + prototype + ";");
    return;
  }
  default:
    line("{ .param .b64 f; .param .b64 a; .param .b32 r;");
    line("mov.u64 %rd29, format;");
    line("st.param.b64 [f], %rd29;");
    line("st.param.b64 [a], %rd24;");
    line("call (r), vprintf, (f, a);");
    line("ld.param.b32 %r2, [r];");
    line("}");
  }
}

void Generator::copies() {
  for (unsigned n = 1 + bytes.below(3); n-- > 0;)
    out += one.instructionOf("cp");
  line("cp.async.commit_group;");
  for (unsigned n = bytes.below(3); n-- > 0;)
    statement();
  line("cp.async.wait_group " + number(bytes.below(2)) + ";");
  if (bytes.oneIn(2))
    line("bar.sync 0;");
}

void Generator::bulkCopy() {
  std::string barrier = "[barrier+" + number(8 * bytes.below(2)) + "]";
  std::string size = number(16 * (1 + bytes.below(8)));
  std::string at = "[buffer+" + number(128 * bytes.below(16)) + "]";
  if (bytes.oneIn(3)) {
    line("fence.proxy.async;");
    line(bytes.oneIn(2)
             ? "@%p7 cp.async.bulk.global.shared::cta.bulk_group [%rd21+" +
                   number(16 * bytes.below(32)) + "], " + at + ", " + size + ";"
             : "@%p7 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group "
               "[%rd28, {0, " +
                   number(bytes.below(9)) + "}], " + at + ";");
    line("cp.async.bulk.commit_group;");
    line("cp.async.bulk.wait_group" +
         std::string(bytes.oneIn(2) ? ".read " : " ") + number(bytes.below(2)) +
         ";");
    return;
  }
  bool isTensor = bytes.oneIn(2);
  line("@%p7 mbarrier.arrive.expect_tx.shared::cta.b64 _, " + barrier + ", " +
       (isTensor && !bytes.oneIn(4) ? "256" : size) + ";");
  line(isTensor ? "@%p7 cp.async.bulk.tensor.2d.shared::cluster.global"
                  ".mbarrier::complete_tx::bytes " +
                      at + ", [%rd28, {" + number(bytes.below(9)) + ", " +
                      number(bytes.below(9)) + "}], " + barrier + ";"
                : "@%p7 cp.async.bulk.shared::cluster.global"
                  ".mbarrier::complete_tx::bytes " +
                      at + ", [%rd20+" + number(16 * bytes.below(32)) + "], " +
                      size + ", " + barrier + ";");
  std::string wait = labels + "wait" + number(scopes++);
  line(wait + ":");
  line("mbarrier.try_wait.parity.shared::cta.b64 %p5, " + barrier + ", " +
       number(bytes.below(2)) + ";");
  line("@!%p5 bra " + wait + ";");
}

void Generator::product() {
  if (!isHopper) {
    for (unsigned n = 1 + bytes.below(3); n-- > 0;)
      out += one.instructionOf(bytes.oneIn(3) ? "ldmatrix" : "mma");
    return;
  }
  if (!bytes.oneIn(4))
    line("wgmma.fence.sync.aligned;");
  for (unsigned n = 1 + bytes.below(3); n-- > 0;)
    out += one.instructionOf("wgmma");
  line("wgmma.commit_group.sync.aligned;");
  for (unsigned n = bytes.below(2); n-- > 0;)
    statement();
  line("wgmma.wait_group.sync.aligned " + number(bytes.below(2)) + ";");
  line("add.f32 %r1, %acc0, %acc1;");
}

void Generator::clusterBarrier() {
  line("barrier.cluster.arrive" +
       std::string(bytes.oneIn(3) ? ".relaxed" : "") + ";");
  for (unsigned n = bytes.below(2); n-- > 0;)
    statement();
  line("barrier.cluster.wait;");
}

std::string fafuzz::generateProgram(ByteSource &bytes) {
  return Generator(bytes).run();
}
