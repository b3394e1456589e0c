//===- WmmaFamilies.cpp - operands of wmma --------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 section 9.7.14.4: which shapes a type has, and how many registers
// follow from that.
//
//===----------------------------------------------------------------------===//
#include "../Parser/Parser.h"
#include "Families.h"
#include "WmmaOperands.h"

using namespace ptxvm;
using ast::Operand;

namespace {
struct NamedShape {
  const char *word;
  WmmaShape shape;
};
constexpr NamedShape kShapes[] = {
    {"m16n16k16", {16, 16, 16}}, {"m32n8k16", {32, 8, 16}},
    {"m8n32k16", {8, 32, 16}},   {"m16n16k8", {16, 16, 8}},
    {"m8n8k4", {8, 8, 4}},       {"m8n8k32", {8, 8, 32}},
    {"m8n8k128", {8, 8, 128}}};

WmmaShape findShape(const OpcodeMatch &m) {
  for (const NamedShape &s : kShapes)
    if (m.has(s.word))
      return s.shape;
  return {};
}

/// Does a product of this type of A have this shape?
bool fits(WmmaElement a, const WmmaShape &s) {
  switch (a) {
  case WmmaElement::TF32:
    return s == kShapes[3].shape;
  case WmmaElement::F64:
    return s == kShapes[4].shape;
  case WmmaElement::S4:
  case WmmaElement::U4:
    return s == kShapes[5].shape;
  case WmmaElement::B1:
    return s == kShapes[6].shape;
  default:
    return s == kShapes[0].shape || s == kShapes[1].shape ||
           s == kShapes[2].shape;
  }
}

/// The accumulators of a shape: those that some product has.
bool accumulates(WmmaElement c, const WmmaShape &s) {
  switch (c) {
  case WmmaElement::F16:
    return fits(WmmaElement::F16, s);
  case WmmaElement::F32:
    return fits(WmmaElement::F16, s) || fits(WmmaElement::TF32, s);
  case WmmaElement::F64:
    return fits(WmmaElement::F64, s);
  default:
    return fits(WmmaElement::S8, s) || fits(WmmaElement::S4, s) ||
           fits(WmmaElement::B1, s);
  }
}
} // namespace

void FamilyDecoders::wmmaRegisters(const Operand &o, size_t want, bool wide,
                                   bool isDestination, const char *name) {
  auto parts = elements(o);
  if (parts.size() != want)
    f.fail(o.at, std::string(name) + " of '" + d.info.opcode + "' has " +
                     std::to_string(want) + " registers, found " +
                     std::to_string(parts.size()));
  for (const Operand &r : parts)
    d.list.push_back(isDestination ? f.destination(r, wide, d)
                                   : f.source(r, wide, d));
}

// wmma.load.{a,b,c} d, [a]{, stride} and wmma.store.d [a], d{, stride}. The
// stride is in Instruction::b.
void FamilyDecoders::wmmamove() {
  f.needOperands(s, 2, 3);
  bool isStore = m.has("store");
  WmmaMove move;
  WmmaShape shape = findShape(m);
  WmmaElement element = wmmaElement(m.types[0]);
  auto matrix = m.has("a")   ? WmmaFragment::A
                : m.has("b") ? WmmaFragment::B
                             : WmmaFragment::CD;
  bool isKnown = matrix == WmmaFragment::CD ? accumulates(element, shape)
                                            : fits(element, shape);
  move.fragment = shape.fragment(matrix, element);
  move.isContiguous = m.has(matrix == WmmaFragment::B ? "col" : "row");
  // Elements smaller than a byte lie side by side.
  if (!isKnown || (move.fragment.bits() < 8 && !move.isContiguous))
    f.fail(s.at, "unsupported instruction '" + d.info.opcode + "'");
  wmmaRegisters(s.operands[isStore], move.fragment.registers(),
                move.fragment.isWide(), !isStore, "the fragment");
  MemoryAux aux{4, 1, 0, spaceWord()};
  uint8_t word = aux.space;
  f.address(s.operands[!isStore], d, aux);
  if (word != MemoryAux::kGeneric && aux.space != word)
    f.fail(s.at, "this address is not in the space of '" + d.info.opcode + "'");
  move.space = aux.space & 7;
  move.isWideAddress = aux.flags & MemoryAux::kWideAddress;
  move.hasStride = s.operands.size() == 3;
  if (move.hasStride)
    data(&Instruction::b, kFieldB, s.operands[2], false);
  d.inst.aux = move.pack();
}

// wmma.mma d, a, b, c. Where the layouts are written twice, fragments of this
// machine have but one.
void FamilyDecoders::wmma() {
  f.needOperands(s, 4, 4);
  WmmaProduct p;
  p.shape = findShape(m);
  bool isShort = m.types.size() == 2; // of f16: the types of D and C
  p.d = wmmaElement(m.types[0]);
  p.c = wmmaElement(m.types.back());
  p.a = isShort ? WmmaElement::F16 : wmmaElement(m.types[1]);
  p.b = isShort ? WmmaElement::F16 : wmmaElement(m.types[2]);
  p.saturates = m.has("satfinite");
  p.isAnd = m.has("and");
  if (!fits(p.a, p.shape))
    f.fail(s.at, "unsupported instruction '" + d.info.opcode + "'");
  struct {
    WmmaFragment::Matrix matrix;
    WmmaElement element;
    const char *name;
  } const kOperands[] = {{WmmaFragment::CD, p.d, "D"},
                         {WmmaFragment::A, p.a, "A"},
                         {WmmaFragment::B, p.b, "B"},
                         {WmmaFragment::CD, p.c, "C"}};
  for (size_t i = 0; i < 4; ++i) {
    WmmaFragment fragment =
        p.shape.fragment(kOperands[i].matrix, kOperands[i].element);
    wmmaRegisters(s.operands[i], fragment.registers(), fragment.isWide(),
                  i == 0, kOperands[i].name);
  }
  d.inst.aux = p.pack();
  d.info.m = uint16_t(p.shape.m);
  d.info.n = uint16_t(p.shape.n);
  d.info.k = uint16_t(p.shape.k);
  d.info.mmaType = kWmmaElements[unsigned(p.a)].name;
}
