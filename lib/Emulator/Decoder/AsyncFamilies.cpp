//===- AsyncFamilies.cpp - operands of clusters and async work -----------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The decoder functions of AsyncInstructions.def.
//
//===----------------------------------------------------------------------===//
#include "Families.h"
#include "MbarrierAux.h"

using namespace ptxvm;
using ast::Operand;

// mapa{.shared::cluster}.type d, a, b: the type is that of the addresses.
// Without the space they are generic, which changes nothing here: the bits that
// name the CTA are the same. PTX ISA 9.1 section 9.7.9.23.
void FamilyDecoders::mapa() {
  f.needOperands(s, 3, 3);
  bool wide = m.types[0] == "u64";
  if (!wide && !m.has("shared::cluster"))
    f.fail(s.at, "'" + d.info.opcode +
                     "' needs .u64: generic addresses have "
                     "64 bits");
  destination(s.operands[0], wide);
  data(&Instruction::a, kFieldA, s.operands[1], wide);
  data(&Instruction::b, kFieldB, s.operands[2], false);
}

// getctarank{.shared::cluster}.type d, a: the type is that of the address.
void FamilyDecoders::getctarank() {
  f.needOperands(s, 2, 2);
  bool wide = m.types[0] == "u64";
  if (!wide && !m.has("shared::cluster"))
    f.fail(s.at, "'" + d.info.opcode +
                     "' needs .u64: generic addresses have "
                     "64 bits");
  destination(s.operands[0], false);
  data(&Instruction::a, kFieldA, s.operands[1], wide);
}

/// The address goes to a and imm; aux is a MemoryAux. Without a space it is
/// generic.
void FamilyDecoders::mbarrierAddress(const Operand &o) {
  MemoryAux aux{8, 1, 0, spaceWord()};
  f.address(o, d, aux);
  if (aux.space != MemoryAux::kGeneric && aux.space != uint8_t(Space::Shared))
    f.fail(o.at, "an mbarrier must lie in shared memory");
  if (m.has("shared::cluster"))
    aux.flags |= MemoryAux::kCluster;
  d.inst.aux = aux.pack();
}

// Each form of mbarrier but pending_count, and cp.async.mbarrier.arrive. PTX
// ISA 9.1 section 9.7.13.15. d holds MbarrierAux bits.
//
//   init, expect_tx, complete_tx      [a], b
//   inval, cp.async.mbarrier.arrive   [a]
//   arrive{_drop}{.expect_tx}         state | _, [a]{, b}
//   test_wait, try_wait               p, [a], state | parity {, hint}
void FamilyDecoders::mbarrier() {
  uint32_t flags = 0;
  bool isWait = m.has("test_wait") || m.has("try_wait");
  bool isArrive = m.has("arrive") || m.has("arrive_drop");
  bool isCopy = m.row->mnemonic[0] == 'c';
  size_t at = 0;
  if (isWait) {
    f.needOperands(s, 3, m.has("try_wait") ? 4 : 3);
    d.inst.dst = f.predicateDestination(s.operands[at++], d);
    flags = (m.has("parity") ? MbarrierAux::kParity : 0) |
            (m.has("try_wait") ? MbarrierAux::kTry : 0);
  } else if (isArrive && !isCopy) {
    bool needsCount = m.has("expect_tx") || m.has("noComplete");
    f.needOperands(s, needsCount ? 3 : 2, 3);
    const Operand &state = s.operands[at++];
    if (m.has("shared::cluster") && state.kind != Operand::Sink)
      f.fail(state.at, "'" + d.info.opcode + "' returns no state; write _");
    destination(state, true);
    flags = (m.has("expect_tx") ? MbarrierAux::kExpectTx : 0) |
            (m.has("noComplete") ? MbarrierAux::kNoComplete : 0) |
            (m.has("arrive_drop") ? MbarrierAux::kDrop : 0) |
            (state.kind == Operand::Sink ? MbarrierAux::kSink : 0);
    if (s.operands.size() == 3 && !m.has("expect_tx"))
      flags |= MbarrierAux::kCount;
  } else {
    bool isAlone = m.has("inval") || isCopy;
    f.needOperands(s, isAlone ? 1 : 2, isAlone ? 1 : 2);
    flags = m.has("noinc") ? MbarrierAux::kNoIncrement : 0;
  }
  mbarrierAddress(s.operands[at++]);
  if (at < s.operands.size())
    data(&Instruction::b, kFieldB, s.operands[at++],
         isWait && !m.has("parity"));
  // The hint may only shorten a wait.
  if (at < s.operands.size())
    f.source(s.operands[at], false, d);
  d.inst.d = flags;
}

void FamilyDecoders::mbarrierpending() {
  f.needOperands(s, 2, 2);
  destination(s.operands[0], false);
  data(&Instruction::a, kFieldA, s.operands[1], true);
}

// fence.proxy and fence.mbarrier_init: aux is a FenceEvent::Kind. The acquiring
// fence of tensor maps names one: [a], 128. PTX ISA 9.1 section 9.7.13.4.
void FamilyDecoders::fence() {
  bool isTensormap = m.has("tensormap::generic");
  size_t n = isTensormap && m.has("acquire") ? 2 : 0;
  f.needOperands(s, n, n);
  d.inst.aux = m.has("mbarrier_init")    ? FenceEvent::MbarrierInit
               : isTensormap             ? FenceEvent::Tensormap
               : m.has("alias")          ? FenceEvent::Alias
               : m.has("async::generic") ? FenceEvent::Async
               : !m.has("proxy")         ? FenceEvent::Memory
               : m.has("global")         ? FenceEvent::AsyncGlobal
               : m.has("shared") || m.has("shared::cluster")
                   ? FenceEvent::AsyncShared
                   : FenceEvent::Async;
  if (!n)
    return;
  if (f.immediate(s.operands[1]) != 128)
    f.fail(s.operands[1].at, "the size of a tensor map is 128");
  MemoryAux aux{1, 1, 0, MemoryAux::kGeneric};
  f.address(s.operands[0], d, aux);
}

// setmaxnreg.{inc,dec} n: imm = n, aux = inc. PTX ISA 9.1 section 9.7.19.5.
void FamilyDecoders::setmaxnreg() {
  f.needOperands(s, 1, 1);
  int64_t n = f.immediate(s.operands[0]);
  if (n < 24 || n > 256 || n % 8)
    f.fail(s.operands[0].at, "'" + d.info.opcode + "' of " + std::to_string(n) +
                                 "; a multiple of 8 from 24 to 256 is allowed");
  d.inst.imm = int32_t(n);
  d.inst.aux = m.has("inc");
}
