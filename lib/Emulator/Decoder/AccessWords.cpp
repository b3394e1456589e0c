//===- AccessWords.cpp - what goes together in an access ------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The words of ld and st, and the cache hints of atom and red, where one needs
// or forbids another. PTX ISA 9.1 sections 9.7.9.8, 9.7.9.11 and 9.7.13.5 to 7,
// and what ptxas makes of them. Of words of one kind the table takes one.
//
//===----------------------------------------------------------------------===//
#include "../Parser/Parser.h"
#include "Families.h"

using namespace ptxvm;

namespace {
class AccessWords {
public:
  explicit AccessWords(const OpcodeMatch &m)
      : m(m), strong(any({"relaxed", "acquire", "release"})),
        scope(any({"cta", "cluster", "gpu", "sys"})),
        cached(any({"ca", "cg", "cs", "lu", "cv", "wb", "wt"})),
        first(begins("L1::")), second(begins("L2::")),
        elsewhere(
            any({"shared", "shared::cluster", "local", "param", "const"})),
        isVolatile(m.has("volatile")) {}

  /// What is wrong, or nothing. `isAtomic`: without a word it is relaxed.
  std::string problem(bool isAtomic) const {
    std::string hint = first.empty() ? second : first;
    if (!hint.empty() && !elsewhere.empty())
      return both(hint, elsewhere);
    if (isAtomic)
      return {};
    if (!strong.empty() && scope.empty())
      return needs(strong, "a scope: .cta, .cluster, .gpu or .sys");
    if (strong.empty() && !scope.empty())
      return needs(scope, "an order: .relaxed, .acquire or .release");
    if (m.has("mmio"))
      return ofDevice();
    std::string order = isVolatile ? "volatile" : strong;
    for (const char *space : {"local", "param", "const"})
      if (!order.empty() && m.has(space))
        return both(order, space);
    if (!order.empty() && !cached.empty())
      return both(order, cached);
    if (!first.empty() && (isVolatile || !cached.empty()))
      return both(first, isVolatile ? "volatile" : cached);
    if (isVolatile && m.has("L2::cache_hint"))
      return both("volatile", "L2::cache_hint");
    return m.has("nc") ? ofConstants() : ofWideOnes();
  }

private:
  using Words = std::initializer_list<const char *>;
  std::string any(Words words) const {
    for (const char *word : words)
      if (m.has(word))
        return word;
    return {};
  }
  std::string begins(std::string_view start) const {
    for (std::string_view word : m.words)
      if (word.starts_with(start))
        return std::string(word);
    return {};
  }
  static std::string both(const std::string &a, const std::string &b) {
    return "." + a + " and ." + b + " do not go together";
  }
  static std::string needs(const std::string &a, const std::string &what) {
    return "." + a + " needs " + what;
  }

  std::string ofDevice() const {
    if (strong != "relaxed" || scope != "sys")
      return needs("mmio", ".relaxed.sys");
    std::string other = elsewhere.empty() ? any({"v2", "v4"}) : elsewhere;
    return other.empty() ? "" : both("mmio", other);
  }
  std::string ofConstants() const {
    std::string other =
        any({"weak", "volatile", "relaxed", "acquire", "lu", "cv"});
    if (!other.empty())
      return both("nc", other);
    return m.has("global") ? ofWideOnes() : needs("nc", ".global");
  }
  /// Priorities in the second cache are for accesses of 32 bytes (sm_100).
  std::string ofWideOnes() const {
    std::string priority =
        any({"L2::evict_normal", "L2::evict_first", "L2::evict_last"});
    bool isWide = m.has("v4") && typeBytes(m.types.back()) == 8;
    return priority.empty() || isWide
               ? ""
               : needs(priority, "an access of 32 bytes");
  }

  const OpcodeMatch &m;
  std::string strong, scope, cached, first, second, elsewhere;
  bool isVolatile;
};
} // namespace

void FamilyDecoders::accessWords(bool isAtomic) {
  std::string problem = AccessWords(m).problem(isAtomic);
  if (!problem.empty())
    f.fail(s.at, "'" + d.info.opcode + "': " + problem);
}

void FamilyDecoders::accessOperands(size_t least, size_t most) {
  size_t policies = m.has("L2::cache_hint");
  f.needOperands(s, least + policies, most + policies);
  if (policies)
    f.source(s.operands.back(), true, d);
}

// createpolicy.fractional d{, fraction} and .range d, [a], size, size.
void FamilyDecoders::createpolicy() {
  bool isRange = m.has("range");
  f.needOperands(s, isRange ? 4 : 1, isRange ? 4 : 2);
  size_t priorities = 0;
  for (std::string_view word : m.words)
    priorities += word.starts_with("L2::");
  if (!priorities || priorities > 2)
    f.fail(s.at, "'" + d.info.opcode +
                     "' takes one priority, and a second one "
                     "for the rest");
  destination(s.operands[0], true);
  if (isRange) {
    MemoryAux aux{1, 1, 0, MemoryAux::kGeneric};
    f.address(s.operands[1], d, aux, &Instruction::b);
  }
  f.operandType = isRange ? "b32" : "f32";
  for (size_t n = isRange ? 2 : 1; n < s.operands.size(); ++n)
    f.source(s.operands[n], false, d);
  f.operandType = {};
  ast::Operand none;
  none.kind = ast::Operand::Integer;
  data(&Instruction::a, kFieldA, none, true);
}
