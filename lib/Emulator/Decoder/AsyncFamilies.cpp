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
