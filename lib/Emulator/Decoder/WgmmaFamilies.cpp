//===- WgmmaFamilies.cpp - operands of wgmma.mma_async --------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 section 9.7.15.5. Operands, in order:
//
//   d, a-desc | {a}, b-desc, scale-d           all types
//   imm-scale-a, imm-scale-b                   floating point
//   imm-trans-a (not with {a}), imm-trans-b    f16 and bf16
//
// Instruction: a = a-desc, b = b-desc, c = scale-d (a predicate), aux the
// WgmmaForm, list the registers of D and then those of A.
//
//===----------------------------------------------------------------------===//
#include "../Parser/Parser.h"
#include "Families.h"
#include "WgmmaForm.h"

#include <algorithm>
#include <optional>

using namespace ptxvm;
using ast::Operand;
using Form = WgmmaForm;

namespace {
struct TypeName {
  const char *name;
  Form::Element element;
};
constexpr TypeName kTypes[] = {{"f16", Form::F16},   {"bf16", Form::BF16},
                               {"tf32", Form::TF32}, {"e4m3", Form::E4M3},
                               {"e5m2", Form::E5M2}, {"s8", Form::S8},
                               {"u8", Form::U8},     {"b1", Form::B1}};

/// The words that are types, in order: D, A, B.
std::vector<std::string_view> typeWords(const OpcodeMatch &m) {
  std::vector<std::string_view> types;
  for (std::string_view word : m.words) {
    bool isType = word == "f32" || word == "s32";
    for (const TypeName &t : kTypes)
      isType |= word == t.name;
    if (isType)
      types.push_back(word);
  }
  return types;
}

std::optional<Form::Element> elementOf(std::string_view word) {
  for (const TypeName &t : kTypes)
    if (word == t.name)
      return t.element;
  return std::nullopt;
}

bool isByteFloat(Form::Element e) { return e == Form::E4M3 || e == Form::E5M2; }
bool isByteInt(Form::Element e) { return e == Form::S8 || e == Form::U8; }

/// Whether the three types go together.
bool typesFit(const Form &f) {
  switch (f.accumulator) {
  case Form::Float:
    return f.a == f.b ? f.a <= Form::E5M2
                      : isByteFloat(f.a) && isByteFloat(f.b);
  case Form::Half:
    return (f.a == Form::F16 && f.b == Form::F16) ||
           (isByteFloat(f.a) && isByteFloat(f.b));
  case Form::Int:
    return (isByteInt(f.a) && isByteInt(f.b)) ||
           (f.a == Form::B1 && f.b == Form::B1);
  }
  return false;
}

/// N of "m64nNkK" when M and K are right, or 0.
uint32_t columnsOf(std::string_view shape, uint32_t k) {
  std::string tail = "k" + std::to_string(k);
  if (!shape.starts_with("m64n") || !shape.ends_with(tail))
    return 0;
  shape = shape.substr(4, shape.size() - 4 - tail.size());
  uint32_t n = 0;
  for (char c : shape)
    n = c >= '0' && c <= '9' && n < 1000 ? n * 10 + uint32_t(c - '0') : 1000;
  return n;
}

bool columnsFit(const Form &f) {
  if (!f.n || f.n > 256 || f.n % 8)
    return false;
  return f.accumulator != Form::Int || f.n <= 32 || f.n % 16 == 0;
}
} // namespace

void FamilyDecoders::wgmmaForm(WgmmaForm &form) {
  auto refuse = [&](const std::string &why) {
    f.fail(s.at, "'" + d.info.opcode + "': " + why);
  };
  auto types = typeWords(m);
  auto a = types.size() == 3 ? elementOf(types[1]) : std::nullopt;
  auto b = types.size() == 3 ? elementOf(types[2]) : std::nullopt;
  if (!a || !b)
    refuse("needs the types of D, A and B");
  form.a = *a;
  form.b = *b;
  form.accumulator = types[0] == "f32"   ? Form::Float
                     : types[0] == "f16" ? Form::Half
                                         : Form::Int;
  if ((form.accumulator == Form::Int && types[0] != "s32") || !typesFit(form))
    refuse("no such combination of types");
  for (std::string_view word : m.words)
    if (word.starts_with("m64"))
      form.n = columnsOf(word, form.k());
  if (!columnsFit(form))
    refuse(
        "the shape must be m64nNk" + std::to_string(form.k()) +
        " with N = 8, 16, ... 256" +
        (form.accumulator == Form::Int ? ", in steps of 16 from 32 on" : ""));
  form.satfinite = m.has("satfinite");
  if (form.satfinite && !isByteInt(form.a))
    refuse(".satfinite is for s8 and u8");
  if ((form.a == Form::B1) != (m.has("and") && m.has("popc")))
    refuse(form.a == Form::B1 ? "b1 needs .and.popc" : ".popc is for b1");
}

void FamilyDecoders::wgmma() {
  Form form;
  wgmmaForm(form);
  bool isFloat = form.accumulator != Form::Int, is16 = form.a <= Form::BF16;
  if (s.operands.size() < 2)
    f.needOperands(s, 4, 8);
  form.aInRegisters = s.operands[1].kind == Operand::Vector;
  size_t count = 4 + (isFloat ? 2 : 0) + (is16 ? 2 - form.aInRegisters : 0);
  f.needOperands(s, count, count);
  for (const Operand &o : wgmmaRegisters(0, form.accumulators(), "D")) {
    d.list.push_back(f.destination(o, false, d));
    d.keeps.push_back(d.list.back());
  }
  if (form.aInRegisters) {
    for (const Operand &o : wgmmaRegisters(1, 4, "A"))
      d.list.push_back(f.source(o, false, d));
  } else {
    data(&Instruction::a, kFieldA, s.operands[1], true);
  }
  data(&Instruction::b, kFieldB, s.operands[2], true);
  d.inst.c = f.predicateSource(s.operands[3], d, &form.isScaleNegated);
  if (isFloat) {
    form.negateA = wgmmaImmediate(4, "imm-scale-a", 1, -1) == -1;
    form.negateB = wgmmaImmediate(5, "imm-scale-b", 1, -1) == -1;
  }
  if (is16 && !form.aInRegisters)
    form.transA = wgmmaImmediate(6, "imm-trans-a", 0, 1) == 1;
  if (is16)
    form.transB = wgmmaImmediate(count - 1, "imm-trans-b", 0, 1) == 1;
  d.inst.aux = form.pack();
  // A warp's share; the four of a warpgroup make 64 rows.
  d.info.m = 16;
  d.info.n = uint16_t(form.n);
  d.info.k = uint16_t(form.k());
  d.info.mmaType = typeWords(m)[1];
}

std::vector<Operand> FamilyDecoders::wgmmaRegisters(size_t at, size_t want,
                                                    const char *name) {
  auto parts = elements(s.operands[at]);
  if (parts.size() != want)
    f.fail(s.operands[at].at, std::string(name) + " of '" + d.info.opcode +
                                  "' has " + std::to_string(want) +
                                  " registers, found " +
                                  std::to_string(parts.size()));
  return parts;
}

void FamilyDecoders::wgmmawait() {
  f.needOperands(s, 1, 1);
  int64_t pending = f.immediate(s.operands[0]);
  if (pending < 0 || pending > INT32_MAX)
    f.fail(s.operands[0].at, "'" + d.info.opcode +
                                 "' needs a number of groups, found " +
                                 std::to_string(pending));
  d.inst.imm = int32_t(pending);
}

int64_t FamilyDecoders::wgmmaImmediate(size_t at, const char *name,
                                       int64_t first, int64_t second) {
  int64_t value = f.immediate(s.operands[at]);
  if (value != first && value != second)
    f.fail(s.operands[at].at, std::string(name) + " of '" + d.info.opcode +
                                  "' must be " + std::to_string(first) +
                                  " or " + std::to_string(second) + ", found " +
                                  std::to_string(value));
  return value;
}

// The registers of a wgmma are in use until a wait retires it, long after the
// instruction: every wait keeps those of the whole kernel from being reused.
void ptxvm::keepWgmmaRegisters(std::vector<Draft> &code) {
  std::vector<uint32_t> all;
  for (const Draft &d : code)
    if (d.info.mnemonic == "wgmma")
      for (uint32_t r : d.list)
        if (r != kNone && !(r & kReadOnlyBit))
          all.push_back(r);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  // Registers times waits: real kernels have some hundred thousand.
  constexpr uint64_t kMostKept = uint64_t(1) << 26;
  uint64_t kept = 0;
  for (Draft &d : code) {
    if (!d.info.opcode.starts_with("wgmma.wait_group"))
      continue;
    kept += all.size();
    if (kept > kMostKept)
      throw SyntaxError{{d.info.line, d.info.column},
                        "too many wgmma.wait_group for a kernel with " +
                            std::to_string(all.size()) +
                            " registers of products"};
    d.keeps = all;
  }
}
