//===- MmaFamilies.cpp - operands of mma.sync -----------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows of MmaInstructions.def say which shapes and types there are; here
// the numbers of registers follow from them.
//
//===----------------------------------------------------------------------===//
#include "../Parser/Parser.h"
#include "Families.h"
#include "MmaOperands.h"

using namespace ptxvm;
using ast::Operand;

/// "m16n8k32" to its numbers; false when the word is no shape.
static bool readShape(std::string_view word, unsigned (&shape)[3]) {
  static constexpr char kLetters[] = {'m', 'n', 'k'};
  for (unsigned part = 0; part < 3; ++part) {
    if (word.empty() || word[0] != kLetters[part])
      return false;
    word.remove_prefix(1);
    shape[part] = 0;
    while (!word.empty() && word[0] >= '0' && word[0] <= '9') {
      shape[part] = shape[part] * 10 + unsigned(word[0] - '0');
      word.remove_prefix(1);
    }
  }
  return word.empty();
}

// mma.sync d, a, b, c: the list holds the registers in this order.
void FamilyDecoders::mma() {
  f.needOperands(s, 4, 4);
  unsigned shape[3] = {};
  for (std::string_view word : m.words)
    if (readShape(word, shape))
      break;
  MmaOperands o;
  o.a = mmaElement(m.types[1]);
  o.b = mmaElement(m.types[2]);
  o.rows = shape[0];
  o.depth = shape[2];
  o.isHalfResult = m.types[0] == "f16";
  o.saturates = m.has("satfinite");
  o.isAnd = m.has("and");
  if (m.types[0] != m.types[3])
    f.fail(s.at, "unsupported instruction '" + d.info.opcode + "'");
  const unsigned counts[] = {o.registersOfC(), o.registersOfA(),
                             o.registersOfB(), o.registersOfC()};
  static constexpr const char *kNames[] = {"D", "A", "B", "C"};
  bool wide = o.a == MmaElement::F64;
  for (size_t i = 0; i < 4; ++i) {
    auto parts = elements(s.operands[i]);
    if (parts.size() != counts[i])
      f.fail(s.operands[i].at,
             std::string(kNames[i]) + " of '" + d.info.opcode + "' has " +
                 std::to_string(counts[i]) + " registers, found " +
                 std::to_string(parts.size()));
    for (const Operand &r : parts)
      d.list.push_back(i ? f.source(r, wide, d) : f.destination(r, wide, d));
  }
  d.inst.aux = o.pack();
  d.info.m = uint16_t(shape[0]);
  d.info.n = uint16_t(shape[1]);
  d.info.k = uint16_t(shape[2]);
  d.info.mmaType = m.types[1];
}
