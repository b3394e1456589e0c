//===- MemoryFamilies.cpp - operands of memory and warp-wide families -----===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ld, st, atom, cp.async, ldmatrix, shfl and the like, barriers.
//
//===----------------------------------------------------------------------===//
#include "../Parser/Parser.h"
#include "Families.h"
#include "Modifiers.h"

using namespace ptxvm;
using ast::Operand;
using ast::Statement;

std::vector<Operand> FamilyDecoders::elements(const Operand &o) {
  if (o.kind == Operand::Vector)
    return o.elements;
  return {o};
}

uint8_t FamilyDecoders::spaceWord() {
  if (m.has("shared") || m.has("shared::cluster"))
    return uint8_t(Space::Shared);
  if (m.has("global") || m.has("const"))
    return uint8_t(Space::Global);
  if (m.has("local"))
    return uint8_t(Space::Local);
  if (m.has("param"))
    return uint8_t(Space::Param);
  return MemoryAux::kGeneric;
}

// ld and st. PTX ISA 9.1 sections 9.7.9.8 and 9.7.9.11. Registers may be wider
// than the type; ld.s8 and ld.s16 extend the sign.
void FamilyDecoders::access(const Operand &where, const Operand &what,
                            bool isLoad) {
  accessWords(false);
  std::string_view type = m.types.back();
  MemoryAux aux{uint8_t(typeBytes(type)), 1, 0, spaceWord()};
  uint8_t word = aux.space;
  auto parts = elements(what);
  aux.count = uint8_t(parts.size());
  size_t want = m.has("v4") ? 4 : m.has("v2") ? 2 : 1;
  if (parts.size() != want)
    f.fail(what.at, "'" + d.info.opcode + "' moves " + std::to_string(want) +
                        " elements, found " + std::to_string(parts.size()));
  bool isWhole = type == "b128";
  if (isWhole) {
    // Two words of 64 bits, with the alignment of 16 that two have.
    if (want != 1)
      f.fail(s.at, "unsupported instruction '" + d.info.opcode + "'");
    uint32_t r = f.wholeRegister(parts[0]);
    auto &used = isLoad ? d.info.writes : d.info.reads;
    d.list = {r, r + 1};
    used.insert(used.end(), {r, r + 1});
    parts.clear();
    aux.bytes = 8;
    aux.count = 2;
  }
  // Strong ones are one access of 16 bytes.
  bool isStrong = isWhole && (m.mods & (mod::relaxed_ | mod::acquire_ |
                                        mod::release_ | mod::volatile_));
  if (isStrong)
    d.inst.row = rowOfHandler(isLoad ? "ld_b128" : "st_b128");
  bool anyWide = aux.bytes == 8;
  for (size_t i = 0; i < parts.size(); ++i) {
    bool wide = aux.bytes == 8;
    d.list.push_back(isLoad ? f.anyDestination(parts[i], d, wide)
                            : f.anySource(parts[i], aux.bytes == 8, d, wide));
    if (aux.bytes == 8 && !wide)
      f.fail(parts[i].at, "'" + d.info.opcode + "' needs 64-bit registers");
    if (i && wide != anyWide && parts[i].kind != Operand::Sink)
      f.fail(parts[i].at, "registers of two widths in one vector");
    if (parts[i].kind != Operand::Sink)
      anyWide = wide;
  }
  if (anyWide)
    aux.flags |= MemoryAux::kWideRegister;
  if (m.has("shared::cluster"))
    aux.flags |= MemoryAux::kCluster;
  if (type == "s8" || type == "s16" || type == "s32")
    aux.flags |= MemoryAux::kSigned;
  f.address(where, d, aux);
  bool isParamWord = word == uint8_t(Space::Param);
  if (word != MemoryAux::kGeneric && !isParamWord && aux.space != word)
    f.fail(where.at, "'" + std::string(where.elements[0].name) +
                         "' is not in the space of '" + d.info.opcode + "'");
  if (!isLoad && aux.space == uint8_t(Space::Param))
    f.fail(where.at, "a kernel's parameters are read-only");
  d.inst.aux = aux.pack();
}

void FamilyDecoders::ld() {
  accessOperands(2, 2);
  access(s.operands[1], s.operands[0], true);
}

void FamilyDecoders::st() {
  accessOperands(2, 2);
  access(s.operands[0], s.operands[1], false);
}

static AtomicOp atomicOperation(const OpcodeMatch &m) {
  static constexpr const char *kNames[] = {"add", "min", "max", "inc", "dec",
                                           "and", "or",  "xor", "exch"};
  for (uint32_t op = 0; op < std::size(kNames); ++op)
    if (m.has(kNames[op]))
      return AtomicOp(op);
  return AtomicOp::Cas;
}

// atom.op d, [a], b{, c} and red.op [a], b. PTX ISA 9.1 section 9.7.13.5-7. The
// rows say which operation has which types.
void FamilyDecoders::atom() {
  AtomicOp op = atomicOperation(m);
  bool isRed = m.row->mnemonic[0] == 'r', isCas = op == AtomicOp::Cas;
  size_t count = m.has("v8") ? 8 : m.has("v4") ? 4 : m.has("v2") ? 2 : 1;
  size_t least = (isRed ? 2 : 3) + isCas;
  accessOperands(least, least);
  accessWords(true);
  uint32_t bytes = typeBytes(m.types.back());
  bool wide = bytes == 8;
  MemoryAux aux{uint8_t(bytes), uint8_t(count), 0, spaceWord()};
  uint8_t word = aux.space;
  d.inst.dst = kNone;
  d.inst.d = uint32_t(op);
  // Without a word atomics are relaxed.
  if (!(m.mods & (mod::acquire_ | mod::release_ | mod::acq_rel_)))
    d.inst.mods |= mod::relaxed_;
  size_t at = 0;
  if (bytes == 16) {
    atomWhole(isCas);
    at = 1;
  } else if (count > 1) {
    atomVectors(count, isRed);
    at = isRed ? 0 : 1;
  } else if (!isRed) {
    d.inst.dst = f.destination(s.operands[at++], wide, d);
  }
  d.fields |= kFieldDst;
  f.address(s.operands[at++], d, aux);
  if (word != MemoryAux::kGeneric && aux.space != word)
    f.fail(s.at, "this address is not in the space of '" + d.info.opcode + "'");
  if (count == 1 && bytes < 16)
    data(&Instruction::b, kFieldB, s.operands[at], wide);
  if (isCas && bytes < 16)
    data(&Instruction::c, kFieldC, s.operands[at + 1], wide);
  if (isRed)
    aux.flags |= MemoryAux::kRed;
  if (m.has("shared::cluster"))
    aux.flags |= MemoryAux::kCluster;
  if (wide)
    aux.flags |= MemoryAux::kWideRegister;
  d.inst.aux = aux.pack();
}

// Registers of 128 bits, lower half first: d, b and for cas c.
void FamilyDecoders::atomWhole(bool isCas) {
  for (size_t n = 0; n < 3 + size_t(isCas); ++n) {
    if (n == 1)
      continue;
    const Operand &o = s.operands[n];
    uint32_t r = n == 0 && o.kind == Operand::Sink ? kNone : f.wholeRegister(o);
    uint32_t high = r == kNone ? kNone : r + 1;
    d.list.insert(d.list.end(), {r, high});
    if (r != kNone) {
      auto &used = n == 0 ? d.info.writes : d.info.reads;
      used.insert(used.end(), {r, high});
    }
  }
}

// The list of a vector form: destinations (kNone for red), then sources.
void FamilyDecoders::atomVectors(size_t count, bool isRed) {
  auto check = [&](const std::vector<Operand> &parts, const Operand &o) {
    if (parts.size() != count)
      f.fail(o.at, "'" + d.info.opcode + "' moves " + std::to_string(count) +
                       " elements, found " + std::to_string(parts.size()));
  };
  if (isRed) {
    d.list.assign(count, kNone);
  } else {
    auto to = elements(s.operands[0]);
    check(to, s.operands[0]);
    for (const Operand &o : to)
      d.list.push_back(f.destination(o, false, d));
  }
  const Operand &last = s.operands[isRed ? 1 : 2];
  auto from = elements(last);
  check(from, last);
  for (const Operand &o : from)
    d.list.push_back(f.source(o, false, d));
}

// cp.async.{ca,cg}.shared.global [dst], [src], cp-size{, src-size | ignore}
// {, policy}. PTX ISA 9.1 section 9.7.9.25.3.1. The source's offset is in dst,
// src-size in c, ignore-src in d; aux bits 8..11: what there is.
void FamilyDecoders::cpasync() {
  accessOperands(3, 4);
  if (m.has("ca") == m.has("cg"))
    f.fail(s.at, "'" + d.info.opcode + "' needs .ca or .cg");
  MemoryAux to{}, from{};
  to.space = uint8_t(Space::Shared);
  from.space = uint8_t(Space::Global);
  f.address(s.operands[1], d, from, &Instruction::b);
  d.inst.dst = uint32_t(d.inst.imm);
  f.address(s.operands[0], d, to);
  int64_t bytes = f.immediate(s.operands[2]);
  bool fits = bytes == 16 || (m.has("ca") && (bytes == 4 || bytes == 8));
  if (!fits)
    f.fail(s.operands[2].at, "cp-size " + std::to_string(bytes) +
                                 " is not allowed for '" + d.info.opcode +
                                 "'; " + (m.has("cg") ? "16" : "4, 8 or 16") +
                                 " is");
  d.inst.aux = uint32_t(bytes);
  if (to.flags & MemoryAux::kWideAddress)
    d.inst.aux |= 0x100;
  if (!(from.flags & MemoryAux::kWideAddress))
    f.fail(s.operands[1].at, "a global address needs a 64-bit register");
  if (s.operands.size() < 4 + size_t(m.has("L2::cache_hint")))
    return;
  const Operand &o = s.operands[3];
  uint32_t r = o.kind == Operand::Name ? f.findRegister(o) : ~0u;
  if (r != ~0u && f.draft.registers[r].isPredicate) {
    d.inst.d = f.predicateSource(o, d);
    d.inst.aux |= 0x400;
  } else {
    data(&Instruction::c, kFieldC, o, false);
    d.inst.aux |= 0x200;
  }
}

void FamilyDecoders::ldmatrix() {
  f.needOperands(s, 2, 2);
  bool isStore = m.row->mnemonic[0] == 's';
  auto parts = elements(s.operands[isStore]);
  size_t want = m.has("x4") ? 4 : m.has("x2") ? 2 : m.has("x1") ? 1 : 0;
  if (!want)
    f.fail(s.at, "'" + d.info.opcode + "' needs .x1, .x2 or .x4");
  if (parts.size() != want)
    f.fail(s.operands[isStore].at,
           "'" + d.info.opcode + "' moves " + std::to_string(want) +
               " registers, found " + std::to_string(parts.size()));
  for (const Operand &o : parts)
    d.list.push_back(isStore ? f.source(o, false, d)
                             : f.destination(o, false, d));
  MemoryAux aux{16, uint8_t(want), 0, uint8_t(Space::Shared)};
  if (!m.has("shared"))
    aux.space = MemoryAux::kGeneric;
  f.address(s.operands[!isStore], d, aux);
  d.inst.aux = aux.pack();
}

// shfl.sync.mode d{|p}, a, b, c, membermask. The mask is list[0].
void FamilyDecoders::shfl() {
  f.needOperands(s, 5, 5);
  d.inst.imm = m.has("up") ? 0 : m.has("down") ? 1 : m.has("bfly") ? 2 : 3;
  pair(s.operands[0], false);
  data(&Instruction::a, kFieldA, s.operands[1], false);
  data(&Instruction::b, kFieldB, s.operands[2], false);
  data(&Instruction::c, kFieldC, s.operands[3], false);
  d.list.push_back(f.source(s.operands[4], false, d));
}

void FamilyDecoders::vote() {
  f.needOperands(s, 3, 3);
  d.inst.imm = m.has("all") ? 0 : m.has("any") ? 1 : m.has("uni") ? 2 : 3;
  if (d.inst.imm == 3)
    destination(s.operands[0], false);
  else
    d.inst.dst = f.predicateDestination(s.operands[0], d);
  bool negated = false;
  d.inst.a = f.predicateSource(s.operands[1], d, &negated);
  d.inst.aux = negated;
  d.list.push_back(f.source(s.operands[2], false, d));
}

void FamilyDecoders::match() {
  f.needOperands(s, 3, 3);
  d.inst.imm = m.has("all");
  if (!d.inst.imm && s.operands[0].kind == Operand::Pair)
    f.fail(s.operands[0].at, "'" + d.info.opcode + "' writes no predicate");
  d.inst.aux = typeBytes(m.types[0]);
  pair(s.operands[0], false);
  data(&Instruction::a, kFieldA, s.operands[1], d.inst.aux == 8);
  d.list.push_back(f.source(s.operands[2], false, d));
}

void FamilyDecoders::redux() {
  static constexpr const char *kOps[] = {"add", "min", "max",
                                         "and", "or",  "xor"};
  f.needOperands(s, 3, 3);
  for (int i = 0; i < 6; ++i)
    if (m.has(kOps[i]))
      d.inst.imm = i;
  d.inst.aux = m.types[0] == "s32";
  destination(s.operands[0], false);
  data(&Instruction::a, kFieldA, s.operands[1], false);
  d.list.push_back(f.source(s.operands[2], false, d));
}

void FamilyDecoders::elect() {
  f.needOperands(s, 2, 2);
  pair(s.operands[0], false);
  d.list.push_back(f.source(s.operands[1], false, d));
}

void FamilyDecoders::barrierOperands(size_t first, size_t last) {
  data(&Instruction::a, kFieldA, s.operands[first], false);
  d.inst.aux = last > first;
  if (last > first)
    data(&Instruction::b, kFieldB, s.operands[last], false);
}

void FamilyDecoders::bar() {
  bool isArrive = m.has("arrive");
  f.needOperands(s, isArrive ? 2 : 1, 2);
  barrierOperands(0, s.operands.size() - 1);
}

void FamilyDecoders::barwarp() {
  f.needOperands(s, 1, 1);
  d.list.push_back(f.source(s.operands[0], false, d));
}

// bar.red.op d, a{, b}, {!}c: imm 0 popc, 1 and, 2 or; c in Instruction::c.
void FamilyDecoders::barred() {
  f.needOperands(s, 3, 4);
  d.inst.imm = m.has("popc") ? 0 : m.has("and") ? 1 : 2;
  if (d.inst.imm == 0)
    destination(s.operands[0], false);
  else
    d.inst.dst = f.predicateDestination(s.operands[0], d);
  size_t last = s.operands.size() - 1;
  barrierOperands(1, last - 1);
  bool negated = false;
  d.inst.c = f.predicateSource(s.operands[last], d, &negated);
  if (negated)
    d.inst.aux |= 2;
}
