//===- InstructionTable.cpp - opcode word to row --------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matching by sets of words; see the head of Instructions.def.
//
//===----------------------------------------------------------------------===//
#include "InstructionTable.h"
#include "../Parser/Parser.h"
#include "Modifiers.h"

#include <algorithm>

using namespace ptxvm;

const std::vector<InstructionRow> &ptxvm::instructionRows() {
  static const std::vector<InstructionRow> rows = {
#define INST(mnemonic, types, required, optional, operands, handler, category) \
  {mnemonic, types, required, optional, operands, handler, Category::category},
#include "Instructions.def"
  };
  return rows;
}

uint16_t ptxvm::rowOfHandler(std::string_view handler) {
  const auto &rows = instructionRows();
  for (size_t i = 0; i < rows.size(); ++i)
    if (handler == rows[i].handler)
      return uint16_t(i);
  return 0;
}

static std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    size_t n = text.find(at);
    // "L2::128B" is one word, whatever the separator.
    parts.push_back(text.substr(0, n));
    if (n == std::string_view::npos)
      break;
    text.remove_prefix(n + 1);
  }
  return parts;
}

/// Types of variables, and those that only elements have.
static bool isType(std::string_view word) {
  for (const char *element :
       {"e4m3", "e5m2", "u2", "s2", "u4", "s4", "b1", "u16x2", "s16x2"})
    if (word == element)
      return true;
  return typeBytes(word) != 0;
}

static bool contains(const std::vector<std::string_view> &list,
                     std::string_view word) {
  for (std::string_view w : list)
    if (w == word)
      return true;
  return false;
}

static bool typesFit(std::string_view pattern,
                     const std::vector<std::string_view> &types) {
  if (pattern == "*")
    return true;
  auto positions = split(pattern, '.');
  if (positions.size() != types.size())
    return false;
  for (size_t i = 0; i < types.size(); ++i)
    if (!contains(split(positions[i], '|'), types[i]))
      return false;
  return true;
}

static bool wordsFit(const InstructionRow &row, const OpcodeMatch &m) {
  auto required = split(row.required, ',');
  std::vector<std::string_view> wanted, optional;
  for (std::string_view entry : required) {
    int found = 0;
    for (std::string_view word : split(entry, '|')) {
      found += m.has(word);
      wanted.push_back(word);
    }
    if (found != 1)
      return false;
  }
  for (std::string_view entry : split(row.optional, ',')) {
    auto alternatives = split(entry, '|');
    auto isOne = [&](std::string_view w) { return contains(alternatives, w); };
    if (alternatives.size() > 1 &&
        std::count_if(m.words.begin(), m.words.end(), isOne) > 1)
      return false;
    optional.insert(optional.end(), alternatives.begin(), alternatives.end());
  }
  for (std::string_view word : m.words) {
    if (isType(word) || contains(wanted, word) || contains(optional, word))
      continue;
    // What reaches the own window by address reaches the cluster's.
    bool movesData = row.category == Category::Load ||
                     row.category == Category::Store ||
                     row.category == Category::Atomic;
    if (word == "shared::cluster" && movesData && contains(optional, "shared"))
      continue;
    // "m64*" takes every word that begins so.
    if (contains(optional, "m64*") && word.starts_with("m64"))
      continue;
    return false;
  }
  return true;
}

const OpcodeMatch *OpcodeTable::find(std::string_view opcode, size_t operands) {
  std::pair key(opcode, operands);
  auto known = cache.find(key);
  if (known != cache.end())
    return known->second.row ? &known->second : nullptr;
  OpcodeMatch m;
  m.words = split(opcode, '.');
  std::string_view mnemonic = m.words.empty() ? opcode : m.words.front();
  if (!m.words.empty())
    m.words.erase(m.words.begin());
  for (std::string_view &word : m.words) {
    // ".shared::cta" is ".shared" for one CTA's window.
    if (word == "shared::cta")
      word = "shared";
    if (word == "param::entry" || word == "param::func")
      word = "param";
    if (isType(word))
      m.types.push_back(word);
    m.mods |= modifierBit(word);
  }
  const auto &rows = instructionRows();
  bool isExact = false;
  for (size_t i = 0; i < rows.size() && !isExact; ++i) {
    if (mnemonic != rows[i].mnemonic || !typesFit(rows[i].types, m.types) ||
        !wordsFit(rows[i], m))
      continue;
    std::string_view pattern = rows[i].operands;
    isExact = pattern.starts_with("@") || pattern.size() == operands;
    if (m.row && !isExact)
      continue;
    m.row = &rows[i];
    m.index = uint16_t(i);
  }
  auto &entry = cache.emplace(key, std::move(m)).first->second;
  return entry.row ? &entry : nullptr;
}
