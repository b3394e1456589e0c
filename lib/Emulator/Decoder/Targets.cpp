//===- Targets.cpp - what needs which chip and which PTX ------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table is read from the "PTX ISA notes" and "target ISA notes" of each
// instruction and was compared with what ptxas of CUDA 13.0 accepts. That
// assembler begins at sm_75; older chips have no rows of their own.
//
//===----------------------------------------------------------------------===//
#include "Targets.h"

using namespace ptxvm;

namespace {
/// Chips, by suffix: a number means that one and all later ones.
struct Requirement {
  const char *mnemonic; ///< or the handler of a form; null: of any
  const char *words;    ///< all of them, types included
  unsigned sm;
  /// 0; 'a': only chips with the suffix; 'h': sm_90a alone.
  char kind;
  unsigned version;
};

constexpr Requirement kRequirements[] = {
    // Matrices.
    {"mma", "m16n8k8,f16", 75, 0, 65},
    {"mma", "m16n8k16", 80, 0, 70},
    {"mma", "bf16", 80, 0, 70},
    {"mma", "tf32", 80, 0, 70},
    {"mma", "f64", 80, 0, 70},
    {"mma", "f64,m16n8k4", 90, 0, 78},
    {"mma", "f64,m16n8k8", 90, 0, 78},
    {"mma", "f64,m16n8k16", 90, 0, 78},
    {"mma", "m8n8k16", 75, 0, 65},
    {"mma", "m8n8k32", 75, 0, 65},
    {"mma", "m8n8k128", 75, 0, 70},
    {"mma", "m16n8k32", 80, 0, 70},
    {"mma", "m16n8k64", 80, 0, 70},
    {"mma", "m16n8k128", 80, 0, 70},
    {"mma", "m16n8k256", 80, 0, 70},
    {"mma", "b1,and", 80, 0, 71},
    {"mma", "e4m3", 89, 0, 84},
    {"mma", "e5m2", 89, 0, 84},
    {"mma", "e4m3,m16n8k16", 89, 0, 87},
    {"mma", "e5m2,m16n8k16", 89, 0, 87},
    {"mma", "e4m3,f16", 89, 0, 87},
    {"mma", "e5m2,f16", 89, 0, 87},
    {"ldmatrix", "", 75, 0, 65},
    {"stmatrix", "", 90, 0, 78},
    {"movmatrix", "", 75, 0, 78},
    {"wgmma", "", 90, 'h', 80},
    {"wmma", "", 75, 0, 63},
    {"wmma", "bf16", 80, 0, 70},
    {"wmma", "tf32", 80, 0, 70},
    {"wmma", "f64", 80, 0, 70},
    {"wmma", "b1,and", 80, 0, 71},
    // Asynchronous copies and barriers.
    {"cp", "async", 80, 0, 70},
    {"cp", "bulk", 90, 0, 80},
    {"cp", "bulk,prefetch", 90, 0, 80},
    {"mbarrier", "", 80, 0, 70},
    {"mbarrier", "parity", 80, 0, 71},
    {"mbarrier", "try_wait", 90, 0, 78},
    {"mbarrier", "relaxed", 90, 0, 80},
    {"mbarrier", "arrive,relaxed", 90, 0, 86},
    {"mbarrier", "arrive_drop,relaxed", 90, 0, 86},
    {"mbarrier", "test_wait,relaxed", 90, 0, 86},
    {"mbarrier", "try_wait,relaxed", 90, 0, 86},
    {"mbarrier", "expect_tx", 90, 0, 80},
    {"mbarrier", "complete_tx", 90, 0, 80},
    {"mbarrier", "cluster", 90, 0, 80},
    {"barrier", "cluster", 90, 0, 78},
    {"fence", "proxy", 75, 0, 75},
    {"fence", "proxy,alias", 75, 0, 75},
    {"fence", "proxy,async", 90, 0, 80},
    {"fence", "proxy,tensormap::generic", 90, 0, 83},
    {"fence", "mbarrier_init", 90, 0, 80},
    {"fence", "cluster", 90, 0, 78},
    {"griddepcontrol", "", 90, 0, 78},
    {"elect", "", 90, 0, 80},
    {"setmaxnreg", "", 90, 'a', 80},
    {"mapa", "", 90, 0, 78},
    {"getctarank", "", 90, 0, 78},
    {"st", "async", 90, 0, 81},
    {"red", "async", 90, 0, 81},
    {"tensormap", "", 90, 'a', 83},
    {"multimem", "", 90, 0, 81},
    {"tcgen05", "", 100, 'a', 86},
    {"clusterlaunchcontrol", "", 100, 0, 86},
    {nullptr, "shared::cluster", 90, 0, 78},
    // Memory.
    {"ld", "cluster", 90, 0, 78},
    {"st", "cluster", 90, 0, 78},
    {"atom", "cluster", 90, 0, 78},
    {"red", "cluster", 90, 0, 78},
    {"ld", "mmio", 75, 0, 82},
    {"st", "mmio", 75, 0, 82},
    {nullptr, "L1::no_allocate", 75, 0, 74},
    {nullptr, "L1::evict_first", 75, 0, 74},
    {nullptr, "L1::evict_last", 75, 0, 74},
    {nullptr, "L1::evict_normal", 75, 0, 74},
    {nullptr, "L2::64B", 75, 0, 74},
    {nullptr, "L2::128B", 75, 0, 74},
    {nullptr, "L2::256B", 80, 0, 74},
    {nullptr, "L2::cache_hint", 80, 0, 74},
    {"ld", "b128", 75, 0, 83},
    {"st", "b128", 75, 0, 83},
    {"mov", "b128", 75, 0, 83},
    {"atom", "b128", 90, 0, 83},
    {"ld", "v8", 100, 0, 88},
    {"st", "v8", 100, 0, 88},
    {"ld", "v4,b64", 100, 0, 88},
    {"ld", "v4,u64", 100, 0, 88},
    {"ld", "v4,s64", 100, 0, 88},
    {"ld", "v4,f64", 100, 0, 88},
    {"st", "v4,b64", 100, 0, 88},
    {"st", "v4,u64", 100, 0, 88},
    {"st", "v4,s64", 100, 0, 88},
    {"st", "v4,f64", 100, 0, 88},
    {"atom", "bf16", 90, 0, 78},
    {"atom", "bf16x2", 90, 0, 78},
    {"red", "bf16", 90, 0, 78},
    {"red", "bf16x2", 90, 0, 78},
    {"atom", "v2", 90, 0, 81},
    {"atom", "v4", 90, 0, 81},
    {"atom", "v8", 90, 0, 81},
    {"red", "v2", 90, 0, 81},
    {"red", "v4", 90, 0, 81},
    {"red", "v8", 90, 0, 81},
    {"createpolicy", "", 80, 0, 74},
    {"applypriority", "", 80, 0, 74},
    {"discard", "", 80, 0, 74},
    {"prefetch", "tensormap", 90, 0, 80},
    {"prefetch", "L2::evict_last", 80, 0, 74},
    {"prefetch", "L2::evict_normal", 80, 0, 74},
    {"isspacep", "param", 75, 0, 78},
    {"cvta", "param", 75, 0, 78},
    // Warps.
    {"redux", "", 80, 0, 70},
    {"redux", "f32", 100, 'a', 86},
    // Arithmetic.
    {"tanh", "f32", 75, 0, 70},
    {"tanh", "f16", 75, 0, 70},
    {"tanh", "f16x2", 75, 0, 70},
    {"tanh", "bf16", 90, 0, 78},
    {"tanh", "bf16x2", 90, 0, 78},
    {"ex2", "f16", 75, 0, 70},
    {"ex2", "f16x2", 75, 0, 70},
    {"ex2", "bf16", 90, 0, 78},
    {"ex2", "bf16x2", 90, 0, 78},
    {"add", "f32,f16", 100, 0, 86},
    {"add", "f32,bf16", 100, 0, 86},
    {"sub", "f32,f16", 100, 0, 86},
    {"sub", "f32,bf16", 100, 0, 86},
    {"fma", "f32,f16", 100, 0, 86},
    {"fma", "f32,bf16", 100, 0, 86},
    {"add", "bf16", 90, 0, 78},
    {"add", "bf16x2", 90, 0, 78},
    {"sub", "bf16", 90, 0, 78},
    {"sub", "bf16x2", 90, 0, 78},
    {"mul", "bf16", 90, 0, 78},
    {"mul", "bf16x2", 90, 0, 78},
    {"fma", "bf16", 80, 0, 70},
    {"fma", "bf16x2", 80, 0, 70},
    {"fma", "relu", 80, 0, 70},
    {"fma", "oob", 90, 0, 81},
    {"neg", "bf16", 80, 0, 70},
    {"neg", "bf16x2", 80, 0, 70},
    {"abs", "bf16", 80, 0, 70},
    {"abs", "bf16x2", 80, 0, 70},
    {"abs", "f16", 75, 0, 65},
    {"abs", "f16x2", 75, 0, 65},
    {nullptr, "f32x2", 100, 0, 86},
    {"min3_f32", "", 100, 0, 88},
    {"min3_abs_f32", "", 100, 0, 88},
    {"max3_f32", "", 100, 0, 88},
    {"max3_abs_f32", "", 100, 0, 88},
    {"min", "f16", 80, 0, 70},
    {"min", "f16x2", 80, 0, 70},
    {"min", "bf16", 80, 0, 70},
    {"min", "bf16x2", 80, 0, 70},
    {"min", "NaN", 80, 0, 70},
    {"min", "xorsign", 86, 0, 72},
    {"min", "relu,s32", 90, 0, 80},
    {"max", "f16", 80, 0, 70},
    {"max", "f16x2", 80, 0, 70},
    {"max", "bf16", 80, 0, 70},
    {"max", "bf16x2", 80, 0, 70},
    {"max", "NaN", 80, 0, 70},
    {"max", "xorsign", 86, 0, 72},
    {"max", "relu,s32", 90, 0, 80},
    {nullptr, "u16x2", 90, 0, 80},
    {nullptr, "s16x2", 90, 0, 80},
    {"setp", "bf16", 90, 0, 78},
    {"setp", "bf16x2", 90, 0, 78},
    {"set", "bf16", 90, 0, 78},
    {"set", "bf16x2", 90, 0, 78},
    {"szext", "", 75, 0, 76},
    {"bmsk", "", 75, 0, 76},
    {"lop3", "pred", 75, 0, 82},
    {"alloca", "", 75, 0, 73},
    {"stacksave", "", 75, 0, 73},
    {"stackrestore", "", 75, 0, 73},
    // Conversions.
    {"cvt", "bf16", 80, 0, 70},
    {"cvt", "f16x2", 80, 0, 70},
    {"cvt", "bf16x2", 80, 0, 70},
    {"cvt", "relu", 80, 0, 70},
    {"cvt", "tf32", 80, 0, 70},
    {"cvt", "tf32,rn", 90, 0, 78},
    {"cvt", "tf32,rz", 90, 0, 78},
    {"cvt", "tf32,rna,satfinite", 80, 0, 81},
    {"cvt", "tf32,rn,satfinite", 100, 0, 86},
    {"cvt", "tf32,rz,satfinite", 100, 0, 86},
    {"cvt", "e4m3x2", 89, 0, 81},
    {"cvt", "e5m2x2", 89, 0, 81},
    {"cvt", "e2m1x2", 100, 'a', 86},
    {"cvt", "e2m3x2", 100, 'a', 86},
    {"cvt", "e3m2x2", 100, 'a', 86},
    {"cvt", "ue8m0x2", 100, 'a', 86},
    {"cvt", "rs", 100, 'a', 87},
};

/// The first PTX of each chip.
constexpr struct {
  unsigned sm;
  char suffix;
  unsigned version;
} kTargets[] = {{50, 0, 40},    {52, 0, 41},    {53, 0, 42},    {60, 0, 50},
                {61, 0, 50},    {62, 0, 50},    {70, 0, 60},    {72, 0, 61},
                {75, 0, 63},    {80, 0, 70},    {86, 0, 71},    {87, 0, 74},
                {88, 0, 90},    {89, 0, 78},    {90, 0, 78},    {90, 'a', 80},
                {100, 0, 86},   {100, 'a', 86}, {100, 'f', 88}, {101, 0, 86},
                {101, 'a', 86}, {101, 'f', 88}, {103, 0, 88},   {103, 'a', 88},
                {103, 'f', 88}, {110, 0, 90},   {110, 'a', 90}, {110, 'f', 90},
                {120, 0, 87},   {120, 'a', 87}, {120, 'f', 88}, {121, 0, 88},
                {121, 'a', 88}, {121, 'f', 88}};

/// The newest PTX whose text we know.
constexpr unsigned kNewestVersion = 93;

std::string versionText(unsigned version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

bool hasAll(const OpcodeMatch &m, std::string_view words) {
  while (!words.empty()) {
    size_t n = std::min(words.find(','), words.size());
    if (!m.has(words.substr(0, n)))
      return false;
    words.remove_prefix(std::min(n + 1, words.size()));
  }
  return true;
}

std::string describe(const Requirement &r) {
  std::string name = "sm_" + std::to_string(r.sm);
  return r.kind == 'h' ? name + "a alone" : r.kind ? name + "a" : name;
}
} // namespace

std::string Target::name() const {
  std::string text = "sm_" + std::to_string(sm);
  return suffix ? text + suffix : text;
}

std::optional<std::string> ptxvm::parseTarget(std::string_view target,
                                              std::string_view version,
                                              Target &into) {
  std::string_view word = version;
  unsigned major = 0;
  bool isVersion = word.size() == 3 && word[0] >= '1' && word[0] <= '9' &&
                   word[1] == '.' && word[2] >= '0' && word[2] <= '9';
  if (isVersion)
    major = unsigned(word[0] - '0');
  into.version = isVersion ? major * 10 + unsigned(word[2] - '0') : 0;
  if (!isVersion || into.version > kNewestVersion)
    return "PTX version '" + std::string(version) +
           "' is not known; the newest is " + versionText(kNewestVersion);
  word = target;
  if (word.empty())
    return "this file has no .target";
  bool isChip = word.starts_with("sm_");
  word.remove_prefix(isChip ? 3 : 0);
  into.sm = 0;
  while (isChip && !word.empty() && word[0] >= '0' && word[0] <= '9' &&
         into.sm < 1000) {
    into.sm = into.sm * 10 + unsigned(word[0] - '0');
    word.remove_prefix(1);
  }
  into.suffix = word.size() == 1 ? word[0] : 0;
  for (const auto &t : kTargets) {
    if (t.sm != into.sm || t.suffix != into.suffix || word.size() > 1)
      continue;
    if (into.version < t.version)
      return "PTX " + versionText(into.version) + " does not know " +
             into.name() + "; " + versionText(t.version) + " does";
    return std::nullopt;
  }
  return "unknown target '" + std::string(target) + "'";
}

std::optional<std::string> ptxvm::checkTarget(const Target &target,
                                              std::string_view opcode,
                                              const OpcodeMatch &m) {
  for (const Requirement &r : kRequirements) {
    bool isOther = r.mnemonic &&
                   m.row->mnemonic != std::string_view(r.mnemonic) &&
                   m.row->handler != std::string_view(r.mnemonic);
    if (isOther || !hasAll(m, r.words))
      continue;
    bool fits = target.sm >= r.sm;
    if (r.kind == 'h')
      fits = target.sm == 90 && target.suffix == 'a';
    else if (r.kind == 'a')
      fits &= target.suffix != 0;
    if (!fits)
      return "'" + std::string(opcode) + "' needs " + describe(r) +
             "; this file is for " + target.name();
    if (target.version < r.version)
      return "'" + std::string(opcode) + "' needs PTX " +
             versionText(r.version) + "; this file is PTX " +
             versionText(target.version);
  }
  return std::nullopt;
}

std::optional<std::string> ptxvm::checkSpecial(const Target &target,
                                               std::string_view name) {
  bool isCluster = name.starts_with("%cluster") ||
                   name.starts_with("%nclusterid") ||
                   name.starts_with("%is_explicit_cluster") ||
                   name.starts_with("%aggr_smem_size");
  if (!isCluster || target.sm >= 90)
    return std::nullopt;
  return "'" + std::string(name) + "' needs sm_90; this file is for " +
         target.name();
}
