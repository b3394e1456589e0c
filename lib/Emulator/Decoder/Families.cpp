//===- Families.cpp - operands of one family each -------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The decoder functions that rows of Instructions.def name with '@', for moves
// and control flow. Comparisons and conversions are in ScalarFamilies.cpp,
// memory and warp-wide families in MemoryFamilies.cpp.
//
//===----------------------------------------------------------------------===//
#include "Families.h"
#include "../Memory/GlobalMemory.h"
#include "../Parser/Parser.h"

using namespace ptxvm;
using ast::Operand;
using ast::Statement;

static bool isWideType(std::string_view type) { return typeBytes(type) == 8; }

void FamilyDecoders::movpred() {
  f.needOperands(s, 2, 2);
  d.inst.dst = f.predicateDestination(s.operands[0], d);
  bool negated = false;
  d.inst.a = f.predicateSource(s.operands[1], d, &negated);
  d.inst.aux = negated;
}

// mov, with the vector forms that pack and unpack. PTX ISA 9.1 section 9.7.9.4.
void FamilyDecoders::mov() {
  f.needOperands(s, 2, 2);
  const Operand &to = s.operands[0], &from = s.operands[1];
  if (m.types[0] == "b128")
    return movWhole();
  bool wide = isWideType(m.types[0]);
  bool unpacks = to.kind == Operand::Vector;
  if (!unpacks && from.kind != Operand::Vector) {
    f.operandType = m.types[0];
    destination(to, wide);
    data(&Instruction::a, kFieldA, from, wide);
    f.operandType = {};
    if (wide)
      d.inst.row = rowOfHandler("mov_b64");
    bool isClock = from.name.starts_with("%clock") ||
                   from.name.starts_with("%globaltimer");
    if (isClock) {
      d.inst.row = rowOfHandler("mov_clock");
      d.inst.imm = from.name.ends_with("_hi");
    }
    d.inst.aux = wide;
    return;
  }
  const Operand &vector = unpacks ? to : from;
  size_t n = vector.elements.size();
  uint32_t bytes = typeBytes(m.types[0]);
  std::string form = n == 2 && bytes == 8   ? "2x32"
                     : n == 2 && bytes == 4 ? "2x16"
                     : n == 4 && bytes == 8 ? "4x16"
                                            : "";
  if (form.empty())
    f.fail(vector.at, "unsupported: a vector of " + std::to_string(n) +
                          " elements with '" + d.info.opcode + "'");
  for (const Operand &e : vector.elements)
    d.list.push_back(unpacks ? f.destination(e, false, d)
                             : f.source(e, false, d));
  if (unpacks)
    data(&Instruction::a, kFieldA, from, wide);
  else
    destination(to, wide);
  d.inst.row = rowOfHandler((unpacks ? "unpack_" : "pack_") + form);
}

// mov.b128 between a register of 128 bits and another or {low, high}: two
// moves of 64 bits.
void FamilyDecoders::movWhole() {
  const Operand &to = s.operands[0], &from = s.operands[1];
  for (const Operand *o : {&to, &from})
    if (o->kind == Operand::Vector && o->elements.size() != 2)
      f.fail(o->at, "'" + d.info.opcode + "' takes two registers of 64 bits");
  Draft high = d;
  uint32_t target = to.kind == Operand::Vector ? 0 : f.wholeRegister(to);
  uint32_t source = from.kind == Operand::Vector ? 0 : f.wholeRegister(from);
  for (unsigned part : {0, 1}) {
    Draft &half = part ? high : d;
    half.inst.row = rowOfHandler("mov_b64");
    half.fields = kFieldDst | kFieldA;
    if (to.kind == Operand::Vector) {
      half.inst.dst = f.destination(to.elements[part], true, half);
    } else {
      half.inst.dst = target + part;
      half.info.writes.push_back(target + part);
    }
    if (from.kind == Operand::Vector) {
      half.inst.a = f.source(from.elements[part], true, half);
    } else {
      half.inst.a = source + part;
      half.info.reads.push_back(source + part);
    }
  }
  f.emit(std::move(d));
  d = std::move(high);
}

// cvta{.to}.space. PTX ISA 9.1 section 9.7.9.20: adds or takes away the base of
// the window; global and const addresses are generic ones already.
void FamilyDecoders::cvta() {
  f.needOperands(s, 2, 2);
  if (!isWideType(m.types[0]))
    f.fail(s.at, "unsupported instruction '" + d.info.opcode + "'");
  bool isShared = m.has("shared") || m.has("shared::cluster");
  uint64_t window = isShared         ? kSharedWindow
                    : m.has("local") ? kLocalWindow
                    : m.has("param") ? kParamWindow
                                     : 0;
  destination(s.operands[0], true);
  data(&Instruction::a, kFieldA, s.operands[1], true);
  d.inst.row = rowOfHandler("mov_b64");
  if (!window)
    return;
  d.inst.row = rowOfHandler("add_b64");
  d.inst.b = f.constant(m.has("to") ? 0 - window : window, true);
  d.fields |= kFieldB;
}

void FamilyDecoders::isspacep() {
  f.needOperands(s, 2, 2);
  d.inst.dst = f.predicateDestination(s.operands[0], d);
  data(&Instruction::a, kFieldA, s.operands[1], true);
  if (m.has("shared") || m.has("shared::cluster")) {
    d.inst.row = rowOfHandler("isspacep_shared");
    d.inst.aux = m.has("shared::cluster");
    return;
  }
  d.inst.imm = int32_t(m.has("local")   ? Space::Local
                       : m.has("param") ? Space::Param
                                        : Space::Global);
}

void FamilyDecoders::bra() {
  f.needOperands(s, 1, 1);
  d.targets.push_back(f.findLabel(s.operands[0]));
  d.endsPath = true;
}

// brx.idx index, table. PTX ISA 9.1 section 9.7.12.3.
void FamilyDecoders::brx() {
  f.needOperands(s, 2, 2);
  data(&Instruction::a, kFieldA, s.operands[0], false);
  const auto *table =
      f.findIn(&FunctionDecoder::Scope::tables, s.operands[1].name);
  if (!table)
    f.fail(s.operands[1].at,
           "unknown branch table '" + std::string(s.operands[1].name) + "'");
  f.countTargets(s.at, table->size());
  for (std::string_view name : *table) {
    Operand label;
    label.at = s.at;
    label.name = name;
    d.targets.push_back(f.findLabel(label));
  }
  d.inst.aux = uint32_t(table->size());
  // One target would look like bra, which keeps it in imm.
  if (d.targets.size() == 1)
    d.targets.push_back(d.targets[0]);
  d.endsPath = true;
}

void FamilyDecoders::exit() {
  f.needOperands(s, 0, 0);
  d.endsPath = true;
}

void FamilyDecoders::ret() {
  f.needOperands(s, 0, 0);
  d.endsPath = true;
  if (f.current == 0)
    return;
  d.inst.row = rowOfHandler("return");
  f.leaveFunction(s);
}

void FamilyDecoders::data(uint32_t Instruction::*field, uint8_t bit,
                          const Operand &o, bool wide) {
  d.inst.*field = f.source(o, wide, d);
  d.fields |= bit;
}

void FamilyDecoders::destination(const Operand &o, bool wide) {
  d.inst.dst = f.destination(o, wide, d);
  d.fields |= kFieldDst;
}

void FamilyDecoders::pair(const Operand &o, bool isPredicateFirst) {
  const Operand &first = o.kind == Operand::Pair ? o.elements[0] : o;
  if (isPredicateFirst)
    d.inst.dst = f.predicateDestination(first, d);
  else
    destination(first, false);
  d.inst.d = 2;
  if (o.kind == Operand::Pair)
    d.inst.d = f.predicateDestination(o.elements[1], d);
}

bool ptxvm::decodeFamily(const std::string &name, FunctionDecoder &decoder,
                         const Statement &s, const OpcodeMatch &m, Draft &d) {
  using Function = void (FamilyDecoders::*)();
  static const std::unordered_map<std::string, Function> functions = {
#define F(name) {#name, &FamilyDecoders::name}
      // WgmmaFamilies.cpp
      F(wgmma), F(wgmmawait),
      // Families.cpp, MemoryFamilies.cpp
      F(setp), F(testp), F(prmt), F(movpred), F(mov), F(cvta), F(isspacep),
      F(cvt), F(bra), F(brx), F(exit), F(ret), F(ld), F(st), F(atom), F(shfl),
      F(vote), F(match), F(redux), F(elect), F(bar), F(barwarp), F(barred),
      F(cpasync), F(ldmatrix), F(mma), F(wmmamove), F(wmma),
      // AccessWords.cpp
      F(createpolicy),
      // ScalarFamilies.cpp
      F(set), F(carry), F(dp2a), F(vabsdiff), F(lop3), F(cvtpack),
      // AsyncFamilies.cpp
      F(mapa), F(getctarank), F(mbarrier), F(mbarrierpending), F(fence),
      F(setmaxnreg), F(bulk), F(tensormap), F(tensormapcopy), F(storeasync)
#undef F
  };
  auto found = functions.find(name);
  if (found == functions.end())
    return false;
  FamilyDecoders families{decoder, s, m, d};
  (families.*found->second)();
  return true;
}
