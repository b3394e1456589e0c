//===- InstructionGenerator.cpp - one instruction from a row --------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Opcodes and the operands of each family. The names are those that
// ProgramGenerator.cpp declares in every function.
//
//===----------------------------------------------------------------------===//
#include "ProgramGenerator.h"

#include <algorithm>

using namespace fafuzz;

static std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    size_t n = std::min(text.find(at), text.size());
    parts.emplace_back(text.substr(0, n));
    text.remove_prefix(std::min(n + 1, text.size()));
  }
  return parts;
}

static std::string number(uint64_t n) { return std::to_string(n); }

bool InstructionGenerator::has(std::string_view word) const {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Numbers at which arithmetic changes.
static constexpr const char *kConstants[] = {"0",
                                             "1",
                                             "-1",
                                             "2",
                                             "31",
                                             "32",
                                             "33",
                                             "63",
                                             "64",
                                             "127",
                                             "128",
                                             "255",
                                             "256",
                                             "0x7FFF",
                                             "0x8000",
                                             "0xFFFF",
                                             "0x7FFFFFFF",
                                             "0x80000000",
                                             "0xFFFFFFFF",
                                             "0f3F800000",
                                             "0fFF800000",
                                             "0f7FC00000",
                                             "0f00000001",
                                             "0f7F7FFFFF",
                                             "0d3FF0000000000000",
                                             "1.5",
                                             "-0.0",
                                             "0x7F7F7F7F",
                                             "0x8000000000000000"};

std::string InstructionGenerator::reg32() {
  static constexpr const char *kSpecial[] = {
      "%tid.x",    "%laneid",   "%ctaid.x",     "%ntid.x",
      "%warpid",   "%smid",     "%lanemask_lt", "%cluster_ctarank",
      "%nctaid.x", "%clock",    "WARP_SZ",      "%dynamic_smem_size",
      "buffer",    "constants", "dynamic",      "%total_smem_size"};
  uint32_t kind = bytes.below(16);
  if (kind == 15)
    return bytes.pick(kSpecial);
  if (kind >= 13)
    return bytes.pick(kConstants);
  return "%r" + number(bytes.below(16));
}

std::string InstructionGenerator::reg64() {
  uint32_t kind = bytes.below(16);
  if (kind == 15)
    return bytes.oneIn(4) ? bytes.oneIn(2) ? "table" : "helper" : "buffer";
  if (kind >= 13)
    return bytes.pick(kConstants);
  return "%rd" + number(bytes.below(12));
}

std::string InstructionGenerator::predicate() {
  return "%p" + number(bytes.below(6));
}

std::string InstructionGenerator::value(std::string_view type,
                                        bool isDestination) {
  size_t digits = std::min(type.find_first_of("0123456789"), type.size());
  std::string_view width = type.substr(digits);
  if (type == "pred")
    return predicate();
  if (type == "b128")
    return "%q" + number(bytes.below(2));
  if (width == "64" || width == "32x2")
    return isDestination ? "%rd" + number(bytes.below(12)) : reg64();
  bool isShort = width == "16" || width == "8";
  if (isShort && !bytes.oneIn(8))
    return "%h" + number(bytes.below(8));
  return isDestination ? "%r" + number(bytes.below(16)) : reg32();
}

std::string InstructionGenerator::vectorOf(unsigned count,
                                           std::string_view type,
                                           bool isDestination) {
  std::string text = "{";
  for (unsigned n = 0; n < count; ++n)
    text += (n ? ", " : "") + value(type, isDestination);
  return text + "}";
}

std::string InstructionGenerator::mask() {
  static constexpr const char *kMasks[] = {
      "-1", "-1", "-1", "0xFFFF", "0xFFFF0000", "1", "0", "%r3", "0x55555555"};
  return bytes.pick(kMasks);
}

std::string InstructionGenerator::address(std::string_view space) {
  std::string offset = "+" + number(bytes.below(64) * 16);
  if (bytes.oneIn(8))
    offset = "+" + number(bytes.below(1200));
  uint32_t kind = bytes.below(16);
  if (kind == 15) // anywhere
    return bytes.oneIn(2) ? "[" + reg64() + "]" : "[" + reg32() + "+4]";
  if (space == "shared") {
    if (kind < 6)
      return "[buffer" + offset + "]";
    if (kind == 14)
      return "[dynamic" + offset + "]";
    if (kind == 13)
      return "[%r29" + offset + "]"; // of another CTA of the cluster
    before += "and.b32 %r30, " + reg32() + ", 0xFF0;\n";
    before += "add.s32 %r30, %r30, buffer;\n";
    return "[%r30]";
  }
  if (space == "local")
    return kind < 12 ? "[frame+" + number(bytes.below(8) * 8) + "]" : "[%rd24]";
  if (space == "param")
    return kind < 12 ? "[n]" : "[map+" + number(bytes.below(16) * 8) + "]";
  if (space == "const")
    return "[constants+" + number(bytes.below(16) * 4) + "]";
  if (space == "global") {
    static constexpr const char *kBases[] = {"%rd20", "%rd21", "%rd21", "%rd22",
                                             "%rd22", "%rd22", "table"};
    const char *base = bytes.pick(kBases);
    return "[" + std::string(base) + (base[0] == 't' ? "+16" : offset) + "]";
  }
  static constexpr const char *kGeneric[] = {"%rd20", "%rd21", "%rd22",
                                             "%rd23", "%rd23", "%rd24"};
  const char *base = bytes.pick(kGeneric);
  return "[" + std::string(base) + (base[4] == '4' ? "+8" : offset) + "]";
}

std::string InstructionGenerator::opcode(const Row &row) {
  words.clear();
  types.clear();
  isReduction = std::string_view(row.mnemonic) == "red";
  auto choose = [&](const std::string &entry) {
    auto alternatives = split(entry, '|');
    return alternatives[bytes.below(uint32_t(alternatives.size()))];
  };
  for (const std::string &entry : split(row.required, ','))
    words.push_back(choose(entry));
  auto optional = split(row.optional, ',');
  // A few of many; spaces and vectors are what most of them are about.
  uint32_t odds = optional.size() > 6 ? 6 : 3;
  for (const std::string &entry : optional)
    if (entry != "m64*" && bytes.oneIn(odds))
      words.push_back(choose(entry));
  static constexpr const char *kPacked[] = {"u16", "s16", "u8", "s8", "u4"};
  if (std::string_view(row.operands) == "@cvtpack" && !bytes.oneIn(8)) {
    types = {bytes.pick(kPacked), "s32"};
    if (types[0].size() == 2)
      types.push_back("b32");
  } else if (std::string_view(row.types) != "*")
    for (const std::string &position : split(row.types, '.'))
      types.push_back(choose(position));
  std::string text = row.mnemonic;
  for (const auto *list : {&words, &types})
    for (const std::string &word : *list)
      text += "." + word;
  return text;
}

std::string InstructionGenerator::operands(const Row &row) {
  std::string_view pattern = row.operands;
  bool isBareFence =
      pattern == "@fence" && !(has("tensormap::generic") && has("acquire"));
  if (isBareFence)
    return "";
  if (pattern.starts_with("@"))
    return family(row);
  std::string text;
  std::string type = lastType();
  bool isShort = type.ends_with("16") || type == "b8";
  auto narrow = [&](bool isDestination) {
    // A count or a wide result has 32 bits whatever the type.
    return value(isShort && !bytes.oneIn(8) ? "b16" : "b32", isDestination);
  };
  for (char p : pattern) {
    if (!text.empty())
      text += ", ";
    if (p == 'W')
      text += bytes.oneIn(32) ? "_" : narrow(true);
    else if (p == 'L')
      text += value("b64", true);
    else if (p == 'P')
      text += predicate();
    else if (p == 'w')
      text += narrow(false);
    else if (p == 'l')
      text += reg64();
    else if (p == 'p')
      text += (bytes.oneIn(4) ? "!" : "") + predicate();
    else if (p == 'i')
      text += number(bytes.below(bytes.oneIn(2) ? 4 : 256));
    else
      text += address("global");
  }
  return text;
}

std::string InstructionGenerator::write(const Row &row) {
  before.clear();
  std::string_view pattern = row.operands;
  std::string guard;
  if (bytes.oneIn(5))
    guard = std::string("@") + (bytes.oneIn(2) ? "!" : "") + predicate() + " ";
  std::string text;
  if (pattern == "@cvt")
    text = convert();
  else if (pattern == "@wgmma")
    text = wgmma();
  else {
    text = opcode(row);
    std::string list = operands(row);
    text += list.empty() ? "" : " " + list;
  }
  return before + guard + text + ";\n";
}

std::string InstructionGenerator::instruction() {
  const auto &rows = ptxvm::instructionRows();
  for (unsigned tries = 0; tries < 64; ++tries) {
    const Row &row = rows[(bytes.below(65536)) % rows.size()];
    std::string_view pattern = row.operands;
    // Branches and calls need labels; ends would end most programs early.
    bool isControl = pattern == "@bra" || pattern == "@brx" ||
                     pattern == "@call" || pattern == "@ret" ||
                     pattern == "@exit" ||
                     std::string_view(row.handler) == "trap";
    if (row.mnemonic[0] == '-' || (isControl && !bytes.oneIn(8)))
      continue;
    // Most rows are arithmetic that is alike.
    if (pattern[0] != '@' && !pattern.empty() && bytes.oneIn(2))
      continue;
    return write(row);
  }
  return "";
}

std::string InstructionGenerator::instructionOf(std::string_view mnemonic) {
  std::vector<const Row *> fitting;
  for (const Row &row : ptxvm::instructionRows())
    if (mnemonic == row.mnemonic)
      fitting.push_back(&row);
  if (fitting.empty())
    return "";
  return write(*fitting[bytes.below(uint32_t(fitting.size()))]);
}

std::string InstructionGenerator::family(const Row &row) {
  std::string_view name = std::string_view(row.operands).substr(1);
  for (auto part :
       {&InstructionGenerator::memoryFamily, &InstructionGenerator::warpFamily,
        &InstructionGenerator::asyncFamily}) {
    std::string text = (this->*part)(name);
    if (!text.empty())
      return text;
  }
  std::string type = lastType();
  if (name == "movpred")
    return predicate() + ", " + predicate();
  if (name == "mov") {
    if (type == "b64" && bytes.oneIn(3))
      return bytes.oneIn(2)
                 ? value("b64", true) + ", " + vectorOf(2, "b32", false)
                 : vectorOf(2, "b32", true) + ", " + reg64();
    if (type == "b32" && bytes.oneIn(3))
      return bytes.oneIn(2)
                 ? value("b32", true) + ", " + vectorOf(2, "b16", false)
                 : vectorOf(2, "b16", true) + ", " + reg32();
    if (type == "b128")
      return bytes.oneIn(2) ? "%q0, {%rd1, %rd2}" : "{%rd3, %rd4}, %q1";
    return value(type, true) + ", " + value(type);
  }
  if (name == "setp") {
    bool combines = has("and") || has("or") || has("xor");
    return predicate() + (bytes.oneIn(4) ? "|" + predicate() : "") + ", " +
           value(type) + ", " + value(type) +
           (combines ? ", " + predicate() : "");
  }
  if (name == "set") {
    bool combines = has("and") || has("or") || has("xor");
    return value(types[0], true) + ", " + value(type) + ", " + value(type) +
           (combines ? ", " + predicate() : "");
  }
  if (name == "testp" || name == "isspacep")
    return predicate() + ", " + (name == "testp" ? value(type) : reg64());
  if (name == "cvta")
    return value("b64", true) + ", " + reg64();
  if (name == "lop3")
    return value("b32", true) + "|" + predicate() + ", " + reg32() + ", " +
           reg32() + ", " + reg32() + ", " + number(bytes.below(256)) + ", " +
           predicate();
  if (name == "carry") {
    std::string text =
        value(type, true) + ", " + value(type) + ", " + value(type);
    return row.mnemonic[0] == 'm' ? text + ", " + value(type) : text;
  }
  if (name == "cvtpack")
    return value("b32", true) + ", " + reg32() + ", " + reg32() +
           (types.size() == 3 ? ", " + reg32() : "");
  // prmt, dp2a and whatever comes later.
  return value("b32", true) + ", " + reg32() + ", " + reg32() + ", " + reg32();
}

std::string InstructionGenerator::memoryFamily(std::string_view name) {
  static constexpr const char *kSpaces[] = {"global", "shared", "local",
                                            "param", "const"};
  std::string space;
  for (const char *s : kSpaces)
    if (has(s))
      space = s;
  if (has("shared::cluster"))
    space = "shared";
  std::string type = lastType();
  unsigned count = has("v8") ? 8 : has("v4") ? 4 : has("v2") ? 2 : 1;
  auto data = [&](bool isDestination) {
    return count > 1 ? vectorOf(count, type, isDestination)
                     : value(type, isDestination);
  };
  std::string policy = has("L2::cache_hint") ? ", " + value("b64") : "";
  if (name == "ld")
    return data(true) + ", " + address(space) + policy;
  if (name == "st")
    return address(space) + ", " + data(false) + policy;
  if (name == "atom") {
    std::string text = !isReduction ? data(true) + ", " : "";
    text += address(space) + ", " + data(false);
    return (has("cas") ? text + ", " + data(false) : text) + policy;
  }
  if (name == "createpolicy")
    return value("b64", true) + (has("range") ? ", " + address(space) + ", " +
                                                    reg32() + ", " + reg32()
                                              : "");
  if (name == "cpasync") {
    static constexpr const char *kBytes[] = {"4", "8", "16", "16"};
    std::string text = address("shared");
    text += ", " + address("global") + ", ";
    text += bytes.pick(kBytes);
    return (bytes.oneIn(4) ? text + ", " + reg32() : text) + policy;
  }
  if (name == "ldmatrix") {
    count = has("x4") ? 4 : has("x2") ? 2 : 1;
    std::string registers = vectorOf(count, "b32", true);
    std::string place = address(has("shared") ? "shared" : "");
    return bytes.oneIn(2) ? registers + ", " + place : place + ", " + registers;
  }
  return "";
}

std::string InstructionGenerator::warpFamily(std::string_view name) {
  std::string type = lastType();
  if (name == "shfl")
    return value("b32", true) + (bytes.oneIn(2) ? "|" + predicate() : "") +
           ", " + reg32() + ", " + reg32() + ", " + reg32() + ", " + mask();
  if (name == "vote")
    return (has("ballot") ? value("b32", true) : predicate()) + ", " +
           predicate() + ", " + mask();
  if (name == "match")
    return value("b32", true) +
           (has("all") && bytes.oneIn(2) ? "|" + predicate() : "") + ", " +
           value(type) + ", " + mask();
  if (name == "redux")
    return value("b32", true) + ", " + reg32() + ", " + mask();
  if (name == "elect")
    return (bytes.oneIn(2) ? "_|" : value("b32", true) + "|") + predicate() +
           ", " + mask();
  if (name == "barwarp")
    return mask();
  static constexpr const char *kCounts[] = {"64", "32", "128", "%r2", "96"};
  std::string barrier =
      bytes.oneIn(6) ? reg32() : number(bytes.below(bytes.oneIn(2) ? 17 : 2));
  if (name == "bar") {
    bool counts = has("arrive") || bytes.oneIn(3);
    return barrier + (counts ? ", " + std::string(bytes.pick(kCounts)) : "");
  }
  if (name == "barred")
    return (has("popc") ? value("b32", true) : predicate()) + ", " + barrier +
           ", " + predicate();
  return name == "mma" ? mma() : "";
}

std::string InstructionGenerator::mma() {
  unsigned shape[3] = {16, 8, 16};
  for (const std::string &word : words)
    std::sscanf(word.c_str(), "m%un%uk%u", &shape[0], &shape[1], &shape[2]);
  auto bitsOf = [](const std::string &type) {
    return type == "b1"                      ? 1u
           : type == "s4" || type == "u4"    ? 4u
           : type == "f64"                   ? 64u
           : type == "tf32"                  ? 32u
           : type == "f16" || type == "bf16" ? 16u
                                             : 8u;
  };
  unsigned bits = bitsOf(types[1]);
  std::string reg = bits == 64 ? "b64" : "b32";
  unsigned perRegister = bits == 64 ? 1 : 32 / bits;
  unsigned a = std::max(1u, shape[0] * shape[2] / 32 / perRegister);
  unsigned b = std::max(1u, 8 * shape[2] / 32 / perRegister);
  unsigned c = shape[0] / (types[0] == "f16" ? 8 : 4);
  return vectorOf(c, reg, true) + ", " + vectorOf(a, reg, false) + ", " +
         vectorOf(b, reg, false) + ", " + vectorOf(c, reg, false);
}

std::string InstructionGenerator::wgmma() {
  static constexpr const char *kTypes[] = {
      "f32.f16.f16",   "f16.f16.f16",   "f32.bf16.bf16", "f32.tf32.tf32",
      "f32.e4m3.e5m2", "f16.e4m3.e4m3", "s32.s8.u8",     "s32.b1.b1"};
  uint32_t kind = bytes.below(8);
  unsigned n = 8 * (1 + bytes.below(kind < 6 ? 4 : 2));
  unsigned k = kind < 3 ? 16 : kind == 3 ? 8 : kind == 7 ? 256 : 32;
  unsigned count = kind == 1 || kind == 5 ? n / 4 : n / 2;
  std::string text = "wgmma.mma_async.sync.aligned.m64n" + number(n) + "k" +
                     number(k) + "." + kTypes[kind];
  text += kind == 7 ? ".and.popc " : " ";
  // Accumulators that nothing else touches, mostly.
  text += "{";
  for (unsigned r = 0; r < count; ++r)
    text += (r ? ", %acc" : "%acc") + number(r);
  bool inRegisters = bytes.oneIn(4);
  text += inRegisters ? "}, {%r1, %r2, %r3, %r4}, " : "}, %rd25, ";
  text += bytes.oneIn(8) ? reg64() : "%rd26";
  text += ", " + predicate();
  if (kind < 6)
    text += bytes.oneIn(4) ? ", -1, 1" : ", 1, 1";
  if (kind < 3)
    text += inRegisters ? ", 1" : bytes.oneIn(2) ? ", 0, 1" : ", 1, 0";
  return text;
}

std::string InstructionGenerator::convert() {
  static constexpr const char *kTypes[] = {
      "u8",     "s8",     "u16", "s16",  "u32",  "s32",   "u64",
      "s64",    "f16",    "f32", "bf16", "f64",  "f16x2", "bf16x2",
      "e4m3x2", "e5m2x2", "f32", "f16",  "tf32", "u32"};
  static constexpr const char *kWords[] = {"",
                                           ".rn",
                                           ".rz",
                                           ".rni",
                                           ".rzi",
                                           ".rmi",
                                           ".rm",
                                           ".rpi",
                                           ".sat",
                                           ".ftz",
                                           ".rna",
                                           ".rn.relu",
                                           ".rn.satfinite",
                                           ".rz.sat",
                                           ".rzi",
                                           ".rn",
                                           ".rni.sat",
                                           "",
                                           ".rn.satfinite.relu",
                                           ".rp.ftz"};
  std::string to = bytes.pick(kTypes), from = bytes.pick(kTypes);
  bool isPair = to.ends_with("x2") && from == "f32";
  std::string text =
      "cvt" + std::string(bytes.pick(kWords)) + "." + to + "." + from + " ";
  auto reg = [](const std::string &type) {
    return type.starts_with("e") ? std::string("b16") : type;
  };
  text += value(reg(to), true) + ", " + value(reg(from));
  return isPair ? text + ", " + value("f32") : text;
}

std::string InstructionGenerator::asyncFamily(std::string_view name) {
  if (name == "wgmmawait")
    return number(bytes.below(3));
  std::string barrier = "[barrier+" + number(bytes.below(4) * 8) + "]";
  if (bytes.oneIn(16))
    barrier = address("shared");
  if (name == "mapa")
    return lastType() == "u64" ? value("b64", true) + ", %rd23, " + reg32()
                               : value("b32", true) + ", buffer, " + reg32();
  if (name == "getctarank")
    return value("b32", true) + ", " + value(lastType());
  if (name == "mbarrierpending")
    return value("b32", true) + ", " + reg64();
  if (name == "setmaxnreg")
    return number(24 + 8 * bytes.below(30));
  if (name == "fence")
    return "[%rd27], 128";
  if (name == "mbarrier") {
    if (has("test_wait") || has("try_wait"))
      return predicate() + ", " + barrier + ", " +
             (has("parity") ? number(bytes.below(2)) : reg64());
    if (has("init"))
      return barrier + ", " + number(bytes.below(4) ? 1 : bytes.below(256));
    if (has("inval") || has("mbarrier"))
      return barrier;
    std::string count = bytes.oneIn(4) ? reg32() : number(16 * bytes.below(9));
    if (!has("arrive") && !has("arrive_drop"))
      return barrier + ", " + count;
    std::string state = has("shared::cluster") ? "_" : value("b64", true);
    bool counts = has("expect_tx") || has("noComplete") || bytes.oneIn(4);
    return state + ", " + barrier + (counts ? ", " + count : "");
  }
  if (name == "tensormap") {
    bool hasDimension = has("box_dim") || has("global_dim") ||
                        has("global_stride") || has("element_stride");
    std::string place = has("shared") ? "[buffer+128]" : "[%rd27]";
    return place + (hasDimension ? ", " + number(bytes.below(5)) : "") + ", " +
           (bytes.oneIn(2) ? number(bytes.below(8)) : value(lastType()));
  }
  if (name == "tensormapcopy")
    return "[%rd27], [buffer+128], 128";
  if (name == "storeasync") {
    unsigned count = has("v4") ? 4 : has("v2") ? 2 : 1;
    return "[%r29+" + number(bytes.below(16) * 16) + "], " +
           (count > 1 ? vectorOf(count, lastType(), false)
                      : value(lastType())) +
           ", [%r28]";
  }
  return name == "bulk" ? bulk() : "";
}

std::string InstructionGenerator::bulk() {
  std::string barrier = "[barrier+" + number(bytes.below(4) * 8) + "]";
  std::string size =
      bytes.oneIn(8) ? reg32() : number(16 * (1 + bytes.below(16)));
  std::string shared = address("shared");
  std::string tail = has("multicast::cluster") ? ", %h1" : "";
  if (has("L2::cache_hint"))
    tail += ", %rd5";
  if (has("tensor")) {
    unsigned rank = 1;
    for (unsigned r = 1; r <= 5; ++r)
      if (has(number(r) + "d"))
        rank = r;
    if (has("tile::gather4") || has("tile::scatter4"))
      rank = 5;
    std::string at = "{";
    for (unsigned r = 0; r < rank; ++r)
      at += (r ? ", " : "") +
            (bytes.oneIn(3) ? reg32() : number(bytes.below(16)));
    std::string tensor = "[%rd28, " + at + "}]";
    if (has("prefetch"))
      return tensor + tail;
    if (has("bulk_group"))
      return tensor + ", " + shared + tail;
    return shared + ", " + tensor + ", " + barrier + tail;
  }
  if (has("prefetch"))
    return address("global") + ", " + size + tail;
  if (has("bulk_group"))
    return address("global") + ", " + shared + ", " + size + tail;
  std::string from = has("global") ? address("global") : "[buffer+256]";
  return shared + ", " + from + ", " + size + ", " + barrier + tail;
}
