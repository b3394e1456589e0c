//===- ScalarFamilies.cpp - operands of scalar families -------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The decoder functions of comparisons, conversions, carry chains and the few
// other scalar instructions whose operands a pattern cannot describe.
//
//===----------------------------------------------------------------------===//
#include "../Parser/Parser.h"
#include "Families.h"
#include "Modifiers.h"
#include "TypeCode.h"

using namespace ptxvm;
using ast::Operand;
using ast::Statement;

static bool isWideType(std::string_view type) { return typeBytes(type) == 8; }

/// b8 to b64.
static bool isBits(std::string_view type) {
  return type[0] == 'b' && type[1] != 'f';
}

/// The comparison and BOOL words of setp and set, and the sources; the third is
/// at operand 3. imm = the comparison; aux = !c | BOOL << 8.
void FamilyDecoders::comparison() {
  static constexpr const char *kNames[] = {
      "eq", "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi",
      "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
  f.needOperands(s, 3, 4);
  int compare = -1;
  for (int i = 0; i < 18; ++i)
    if (m.has(kNames[i]))
      compare = i;
  if (compare < 0)
    f.fail(s.at, "'" + d.info.opcode + "' has no comparison");
  if (isBits(m.types.back()) && compare > 1)
    f.fail(s.at, "'" + d.info.opcode +
                     "' orders untyped bits; .eq and .ne are allowed");
  // lo ls hi hs are lt le gt ge of unsigned numbers.
  d.inst.imm = compare >= 6 && compare <= 9 ? compare - 4 : compare;
  bool wide = isWideType(m.types.back());
  f.operandType = m.types.back();
  data(&Instruction::a, kFieldA, s.operands[1], wide);
  data(&Instruction::b, kFieldB, s.operands[2], wide);
  f.operandType = {};
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

// setp.CMP{.BOOL}.type p{|q}, a, b{, {!}c}. PTX ISA 9.1 section 9.7.6.2.
// q in d, 2 is the sink.
void FamilyDecoders::setp() {
  comparison();
  bool isHalf = m.types[0] == "f16" || m.types[0] == "bf16";
  if (isHalf && s.operands[0].kind == Operand::Pair)
    f.fail(s.operands[0].at, "'" + d.info.opcode + "' writes one predicate");
  pair(s.operands[0], true);
}

// set.CMP{.BOOL}.dtype.type d, a, b{, {!}c}. PTX ISA 9.1 section 9.7.6.1.
// d: what a true lane (of a pair: a true half) gets.
void FamilyDecoders::set() {
  comparison();
  destination(s.operands[0], false);
  std::string_view type = m.types[0];
  d.inst.d = type == "f32"                        ? 0x3F800000
             : type == "f16" || type == "f16x2"   ? 0x3C00
             : type == "bf16" || type == "bf16x2" ? 0x3F80
             : type == "u16" || type == "s16"     ? 0xFFFF
                                                  : ~0u;
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

// add.cc, addc{.cc} d, a, b and their kin. PTX ISA 9.1 section 9.7.2. The carry
// CC.CF is a predicate like any other, in d; aux bit 0: it is read, bit 1: it
// is written.
void FamilyDecoders::carry() {
  bool isMad = m.row->mnemonic[0] == 'm';
  f.needOperands(s, isMad ? 4 : 3, isMad ? 4 : 3);
  bool wide = isWideType(m.types[0]);
  destination(s.operands[0], wide);
  data(&Instruction::a, kFieldA, s.operands[1], wide);
  data(&Instruction::b, kFieldB, s.operands[2], wide);
  if (isMad)
    data(&Instruction::c, kFieldC, s.operands[3], wide);
  if (f.carryRegister == kNone)
    f.carryRegister = f.newRegister("CC.CF", "pred");
  d.inst.d = f.draft.registers[f.carryRegister].predicate;
  if (std::string_view(m.row->mnemonic).ends_with("c")) {
    d.inst.aux |= 1;
    d.info.reads.push_back(f.carryRegister);
  }
  if (m.has("cc")) {
    d.inst.aux |= 2;
    d.info.writes.push_back(f.carryRegister);
  }
}

// vabsdiff{2,4}.dtype.atype.btype d, a, b, c. PTX ISA 9.1 section 9.7.18.
void FamilyDecoders::vabsdiff() {
  f.needOperands(s, 4, 4);
  destination(s.operands[0], false);
  data(&Instruction::a, kFieldA, s.operands[1], false);
  data(&Instruction::b, kFieldB, s.operands[2], false);
  data(&Instruction::c, kFieldC, s.operands[3], false);
  d.inst.aux = uint32_t(m.types[1] == "s32") | (m.types[2] == "s32") << 1 |
               (m.types[0] == "s32") << 2 | m.has("add") << 3 |
               m.has("sat") << 4;
}

// dp2a.{lo,hi}.atype.btype d, a, b, c. PTX ISA 9.1 section 9.7.1.25.
void FamilyDecoders::dp2a() {
  f.needOperands(s, 4, 4);
  d.inst.imm = m.has("hi");
  destination(s.operands[0], false);
  data(&Instruction::a, kFieldA, s.operands[1], false);
  data(&Instruction::b, kFieldB, s.operands[2], false);
  data(&Instruction::c, kFieldC, s.operands[3], false);
}

// lop3.BOOL.b32 d|p, a, b, c, table, {!}q. PTX ISA 9.1 section 9.7.8.6.
void FamilyDecoders::lop3() {
  f.needOperands(s, 6, 6);
  if (s.operands[0].kind != Operand::Pair)
    f.fail(s.operands[0].at, "'" + d.info.opcode + "' writes d|p");
  pair(s.operands[0], false);
  data(&Instruction::a, kFieldA, s.operands[1], false);
  data(&Instruction::b, kFieldB, s.operands[2], false);
  data(&Instruction::c, kFieldC, s.operands[3], false);
  d.inst.imm = int32_t(f.immediate(s.operands[4]));
  bool negated = false;
  uint32_t q = f.predicateSource(s.operands[5], d, &negated);
  d.inst.aux = q << 2 | uint32_t(negated) << 1 | m.has("or");
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

namespace {
/// The words of a cvt, by groups.
struct ConvertWords {
  uint64_t mods;
  bool has(uint64_t mask) const { return mods & mask; }
  bool isRounded() const {
    return has(mod::rn_ | mod::rz_ | mod::rm_ | mod::rp_);
  }
  bool isIntegral() const {
    return has(mod::rni_ | mod::rzi_ | mod::rmi_ | mod::rpi_);
  }
  bool isClamped() const { return has(mod::relu_ | mod::satfinite_); }
};
} // namespace

static bool isInteger(TypeCode t) { return t <= TypeCode::S64; }
static unsigned bitsOf(TypeCode t) {
  return t == TypeCode::F16 || t == TypeCode::BF16   ? 16
         : t == TypeCode::F32 || t == TypeCode::TF32 ? 32
         : t == TypeCode::F64                        ? 64
                                                     : 8u << unsigned(t) / 2;
}

/// Between integers: .sat where the destination cannot hold every source.
static bool integersFit(TypeCode to, TypeCode from, const ConvertWords &w) {
  bool toSigned = unsigned(to) & 1, fromSigned = unsigned(from) & 1;
  bool holds = toSigned == fromSigned ? bitsOf(to) >= bitsOf(from)
                                      : toSigned && bitsOf(to) > bitsOf(from);
  return !(w.mods & ~mod::sat_) && !(w.has(mod::sat_) && holds);
}

static bool floatsFit(TypeCode to, TypeCode from, const ConvertWords &w) {
  using enum TypeCode;
  bool hasBfloat = to == BF16 || from == BF16;
  if (to == TF32)
    return from == F32 && !w.has(mod::sat_ | mod::ftz_ | mod::rm_ | mod::rp_) &&
           w.has(mod::rn_ | mod::rz_ | mod::rna_) &&
           !(w.has(mod::relu_) && w.has(mod::rna_));
  if (from == TF32 || w.has(mod::rna_))
    return false;
  if (w.has(mod::ftz_) && to != F32 && from != F32)
    return false;
  if (w.has(mod::sat_) && hasBfloat)
    return false;
  if (w.isClamped())
    return from == F32 && bitsOf(to) == 16 && w.has(mod::rn_ | mod::rz_) &&
           !w.has(mod::ftz_ | mod::sat_);
  if (to == from)
    return !w.isRounded();
  if (w.isIntegral())
    return false;
  bool isExact = bitsOf(to) > bitsOf(from);
  return isExact ? hasBfloat || !w.isRounded()
                 : w.isRounded() || bitsOf(to) == bitsOf(from);
}

/// What rounding, saturation and flushing a pair of types takes. PTX ISA 9.1
/// section 9.7.9.21.
static bool convertFits(TypeCode to, TypeCode from, uint64_t mods) {
  using enum TypeCode;
  ConvertWords w{mods};
  if (isInteger(to) && isInteger(from))
    return integersFit(to, from, w);
  if (!isInteger(to) && !isInteger(from))
    return floatsFit(to, from, w);
  TypeCode real = isInteger(to) ? from : to, whole = isInteger(to) ? to : from;
  if (real == TF32 || w.isClamped() || w.has(mod::rna_))
    return false;
  if ((w.has(mod::ftz_) && real != F32) ||
      (real == BF16 && (w.has(mod::sat_) || bitsOf(whole) == 8)))
    return false;
  return isInteger(to) ? w.isIntegral() && !w.isRounded()
                       : w.isRounded() && !w.isIntegral();
}

/// The pairs: cvt.rn.{f16x2,bf16x2}.f32 d, a, b (a goes to the upper half), and
/// those of fp8. False when this is none.
bool FamilyDecoders::convertPair() {
  std::string_view to = m.types[0], from = m.types[1];
  bool isHalves = to == "f16x2" || to == "bf16x2";
  bool isSmall = to == "e4m3x2" || to == "e5m2x2";
  if (!isHalves && !isSmall)
    return false;
  constexpr uint64_t kClamps = mod::relu_ | mod::satfinite_;
  uint64_t rounding = m.mods & ~kClamps;
  bool fits = rounding == mod::rn_;
  if (isSmall)
    fits &=
        bool(m.mods & mod::satfinite_) && (from == "f32" || from == "f16x2");
  else if (from == "f32")
    fits |= rounding == mod::rz_;
  else
    fits &= to == "f16x2" && !(m.mods & mod::satfinite_) &&
            (from == "e4m3x2" || from == "e5m2x2");
  if (!fits)
    f.fail(s.at, "unsupported instruction '" + d.info.opcode + "'");
  size_t sources = from == "f32" ? 2 : 1;
  f.needOperands(s, sources + 1, sources + 1);
  destination(s.operands[0], false);
  data(&Instruction::a, kFieldA, s.operands[1], false);
  if (sources == 2)
    data(&Instruction::b, kFieldB, s.operands[2], false);
  d.inst.aux = to == "bf16x2";
  bool isSlow = isHalves && from == "f32" && (m.mods & ~mod::rn_);
  d.inst.row =
      rowOfHandler(isSlow ? "cvt_x2_slow"
                          : "cvt_" + std::string(to) + "_" + std::string(from));
  return true;
}

// cvt.to.from d, a. PTX ISA 9.1 section 9.7.9.21.
void FamilyDecoders::cvt() {
  if (m.types.size() != 2)
    f.fail(s.at, "unsupported instruction '" + d.info.opcode + "'");
  if (convertPair())
    return;
  f.needOperands(s, 2, 2);
  ConvertAux aux{typeCode(m.types[0]), typeCode(m.types[1]), false, false};
  bool hasBits = isBits(m.types[0]) || isBits(m.types[1]);
  if (hasBits || aux.to == TypeCode::None || aux.from == TypeCode::None ||
      !convertFits(aux.to, aux.from, m.mods))
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

// cvt.pack.sat.type.s32{.b32} d, a, b{, c}. PTX ISA 9.1 section 9.7.9.22.
// imm = bits << 1 | signed; aux: whether there is a c.
void FamilyDecoders::cvtpack() {
  bool hasThird = m.types.size() == 3;
  std::string_view type = m.types.empty() ? "b32" : m.types[0];
  int bits = 0;
  for (char c : type.substr(1))
    bits = c >= '0' && c <= '9' ? bits * 10 + c - '0' : 100;
  bool fits = m.types.size() >= 2 && m.types[1] == "s32" &&
              (type[0] == 's' || type[0] == 'u') &&
              (hasThird ? m.types[2] == "b32" && bits <= 8
                        : m.types.size() == 2 && bits == 16);
  if (!fits)
    f.fail(s.at, "unsupported instruction '" + d.info.opcode + "'");
  f.needOperands(s, hasThird ? 4 : 3, hasThird ? 4 : 3);
  destination(s.operands[0], false);
  data(&Instruction::a, kFieldA, s.operands[1], false);
  data(&Instruction::b, kFieldB, s.operands[2], false);
  if (hasThird)
    data(&Instruction::c, kFieldC, s.operands[3], false);
  d.inst.imm = bits << 1 | (type[0] == 's');
  d.inst.aux = hasThird;
}
