//===- Families.cpp - operands of one family each -------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The decoder functions that rows of Instructions.def name with '@', for moves,
// comparisons, conversions and control flow. Memory and warp-wide families are
// in MemoryFamilies.cpp.
//
//===----------------------------------------------------------------------===//
#include "Families.h"
#include "../Memory/GlobalMemory.h"
#include "../Parser/Parser.h"
#include "TypeCode.h"

using namespace ptxvm;
using ast::Operand;
using ast::Statement;

static bool isWideType(std::string_view type) { return typeBytes(type) == 8; }

// setp.CMP{.BOOL}.type p{|q}, a, b{, {!}c}. PTX ISA 9.1 section 9.7.6.2.
// imm = the comparison; aux = !c | BOOL << 8; q in d, 2 is the sink.
void FamilyDecoders::setp() {
  static constexpr const char *kNames[] = {
      "eq", "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi",
      "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
  f.needOperands(s, 3, 4);
  int compare = -1;
  for (int i = 0; i < 18; ++i)
    if (m.has(kNames[i]))
      compare = i;
  if (compare < 0)
    f.fail(s.at, "this setp has no comparison");
  // lo ls hi hs are lt le gt ge of unsigned numbers.
  d.inst.imm = compare >= 6 && compare <= 9 ? compare - 4 : compare;
  bool wide = isWideType(m.types[0]);
  pair(s.operands[0], true);
  data(&Instruction::a, kFieldA, s.operands[1], wide);
  data(&Instruction::b, kFieldB, s.operands[2], wide);
  uint32_t combine = m.has("and") ? 1 : m.has("or") ? 2 : m.has("xor") ? 3 : 0;
  if ((combine != 0) != (s.operands.size() == 4))
    f.fail(s.at, "'" + d.info.opcode +
                     "' needs .and, .or or .xor with a third "
                     "source, and only then");
  d.inst.aux = combine << 8;
  if (combine) {
    bool negated = false;
    d.inst.c = f.predicateSource(s.operands[3], d, &negated);
    d.inst.aux |= negated;
  }
}

void FamilyDecoders::testp() {
  static constexpr const char *kNames[] = {
      "finite", "infinite", "number", "notanumber", "normal", "subnormal"};
  f.needOperands(s, 2, 2);
  for (int i = 0; i < 6; ++i)
    if (m.has(kNames[i]))
      d.inst.imm = i;
  d.inst.dst = f.predicateDestination(s.operands[0], d);
  data(&Instruction::a, kFieldA, s.operands[1], isWideType(m.types[0]));
}

void FamilyDecoders::prmt() {
  static constexpr const char *kModes[] = {"f4e", "b4e", "rc8",
                                           "ecl", "ecr", "rc16"};
  f.needOperands(s, 4, 4);
  for (int i = 0; i < 6; ++i)
    if (m.has(kModes[i]))
      d.inst.imm = i + 1;
  destination(s.operands[0], false);
  data(&Instruction::a, kFieldA, s.operands[1], false);
  data(&Instruction::b, kFieldB, s.operands[2], false);
  data(&Instruction::c, kFieldC, s.operands[3], false);
}

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
  bool wide = isWideType(m.types[0]);
  bool unpacks = to.kind == Operand::Vector;
  if (!unpacks && from.kind != Operand::Vector) {
    destination(to, wide);
    data(&Instruction::a, kFieldA, from, wide);
    if (wide)
      d.inst.row = rowOfHandler("mov_b64");
    if (from.kind == Operand::Name && from.name.starts_with("%clock"))
      d.inst.row = rowOfHandler("mov_clock");
    if (from.name == "%globaltimer")
      d.inst.row = rowOfHandler("mov_clock");
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

/// A handler made for one common pair of types, or empty.
static const char *fastConvert(TypeCode to, TypeCode from, bool wideTo,
                               bool wideFrom, uint64_t mods) {
  using enum TypeCode;
  constexpr uint64_t kPlain = mod::rn_ | mod::approx_;
  if (mods & ~kPlain)
    return nullptr;
  bool isInteger = to <= S64 && from <= S64;
  if (isInteger && wideTo && !wideFrom && from == U32)
    return "cvt_zext64";
  if (isInteger && wideTo && !wideFrom && from == S32)
    return "cvt_sext64";
  if (isInteger && !wideTo && wideFrom && (to == U32 || to == S32))
    return "cvt_trunc64";
  if (isInteger && !wideTo && !wideFrom && to == U16)
    return from == U32 || from == S32 || from == U16 ? "cvt_zext16" : nullptr;
  if (to == F32 && from == F16)
    return "cvt_f32_f16";
  if (to == F32 && from == BF16)
    return "cvt_f32_bf16";
  if (to == F16 && from == F32)
    return "cvt_f16_f32";
  if (to == BF16 && from == F32)
    return "cvt_bf16_f32";
  if (to == F32 && from == S32)
    return "cvt_f32_s32";
  if (to == F32 && from == U32)
    return "cvt_f32_u32";
  return nullptr;
}

// cvt.to.from d, a and cvt.rn.{f16x2,bf16x2}.f32 d, a, b (a goes to the upper
// half). PTX ISA 9.1 section 9.7.9.21.
void FamilyDecoders::cvt() {
  if (m.types.size() != 2)
    f.fail(s.at, "unsupported instruction '" + d.info.opcode + "'");
  bool isPacked = m.types[0] == "f16x2" || m.types[0] == "bf16x2";
  if (isPacked) {
    if (m.types[1] != "f32")
      f.fail(s.at, "unsupported instruction '" + d.info.opcode + "'");
    f.needOperands(s, 3, 3);
    destination(s.operands[0], false);
    data(&Instruction::a, kFieldA, s.operands[1], false);
    data(&Instruction::b, kFieldB, s.operands[2], false);
    bool isHalf = m.types[0] == "f16x2";
    d.inst.aux = !isHalf;
    d.inst.row = rowOfHandler(m.mods & ~mod::rn_ ? "cvt_x2_slow"
                              : isHalf           ? "cvt_f16x2_f32"
                                                 : "cvt_bf16x2_f32");
    return;
  }
  f.needOperands(s, 2, 2);
  ConvertAux aux{typeCode(m.types[0]), typeCode(m.types[1]), false, false};
  if (aux.to == TypeCode::None || aux.from == TypeCode::None)
    f.fail(s.at, "unsupported instruction '" + d.info.opcode + "'");
  d.inst.dst = f.anyDestination(s.operands[0], d, aux.wideTo);
  d.inst.a =
      f.anySource(s.operands[1], isWideType(m.types[1]), d, aux.wideFrom);
  d.fields |= kFieldDst | kFieldA;
  if (isWideType(m.types[0]) > aux.wideTo &&
      s.operands[0].kind != Operand::Sink)
    f.fail(s.operands[0].at, "'" + d.info.opcode + "' writes 64 bits");
  if (isWideType(m.types[1]) > aux.wideFrom)
    f.fail(s.operands[1].at, "'" + d.info.opcode + "' reads 64 bits");
  d.inst.aux = aux.pack();
  if (const char *fast =
          fastConvert(aux.to, aux.from, aux.wideTo, aux.wideFrom, m.mods))
    d.inst.row = rowOfHandler(fast);
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
  const std::vector<std::string_view> *table = nullptr;
  for (size_t i = f.scopes.size(); i-- > f.functionBase && !table;) {
    auto found = f.scopes[i].tables.find(s.operands[1].name);
    if (found != f.scopes[i].tables.end())
      table = &found->second;
  }
  if (!table)
    f.fail(s.operands[1].at,
           "unknown branch table '" + std::string(s.operands[1].name) + "'");
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
  if (f.returnLabels.back() == kNone)
    return;
  d.inst.row = rowOfHandler("bra");
  d.targets.push_back(f.returnLabels.back());
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
      F(cpasync), F(ldmatrix), F(mma),
      // AsyncFamilies.cpp
      F(mapa), F(getctarank), F(mbarrier), F(mbarrierpending), F(fence)
#undef F
  };
  auto found = functions.find(name);
  if (found == functions.end())
    return false;
  FamilyDecoders families{decoder, s, m, d};
  (families.*found->second)();
  return true;
}
