//===- SpeedOfLight.cpp - the least time that counts allow ----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rates are those that the vendor publishes for dense operands (data sheets
// give them with sparsity too, as twice these). The clock is the highest boost
// clock, which no long run keeps, so a bound errs to the low side. What happens
// inside an SM cannot use more SMs than there are CTAs.
//
// What was compared, and with what: SMs times operations of an SM a clock gives
// the tensor rates of A100 at 1.41 GHz, of H100 and H200 at 1.83 GHz, of L40S
// at 2.49 GHz. So on a chip that runs faster than that, up to `clock`, the
// tensor bound is up to 8 % too high. Rates, bandwidths and clocks of H100,
// H200 and L40S were compared with public reprints of the data sheets, not with
// these themselves; L40S, int4, with a table of chips (1.47 P). *Unverified*:
// the L2 rate of A100, from the whitepaper's 5120 bytes a clock. No source was
// found for the other L2 rates.
//
//===----------------------------------------------------------------------===//
#include "fa/Support/SpeedOfLight.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

namespace farun {

const std::vector<Chip> &allChips() {
  constexpr double T = 1e12;
  static const std::vector<Chip> kTable = {
      {"A100", 108, 1.41e9, 312 * T, 156 * T, 19.5 * T, 0, 624 * T, 1248 * T,
       5120 * 1.41e9, 2.039 * T,
       "NVIDIA A100 architecture whitepaper v1.0 and data sheet, SXM4 80 GB; "
       "L2: 5120 bytes a clock"},
      {"H100", 132, 1.98e9, 989.4 * T, 494.7 * T, 66.9 * T, 1978.9 * T,
       1978.9 * T, 0, 0, 3.35 * T,
       "NVIDIA H100 architecture whitepaper v1.04 and data sheet, SXM5 80 GB"},
      {"H200", 132, 1.98e9, 989.4 * T, 494.7 * T, 66.9 * T, 1978.9 * T,
       1978.9 * T, 0, 0, 4.8 * T, "NVIDIA H200 data sheet, SXM 141 GB"},
      {"L40S", 142, 2.52e9, 362.05 * T, 183 * T, 0, 733 * T, 733 * T, 1466 * T,
       0, 0.864 * T, "NVIDIA L40S data sheet, 48 GB; int4: twice int8"},
  };
  return kTable;
}

const Chip *findChip(std::string_view name) {
  auto isSame = [](char a, char b) {
    return std::toupper(static_cast<unsigned char>(a)) ==
           std::toupper(static_cast<unsigned char>(b));
  };
  for (const Chip &chip : allChips())
    if (std::equal(name.begin(), name.end(), chip.name.begin(), chip.name.end(),
                   isSame))
      return &chip;
  return nullptr;
}

std::string chipNames() {
  std::string text;
  for (const Chip &chip : allChips())
    text += (text.empty() ? "" : ", ") + std::string(chip.name);
  return text;
}

namespace {
using Counts = std::vector<std::pair<std::string, double>>;

double valueOf(const Counts &counts, std::string_view name) {
  for (const auto &[key, value] : counts)
    if (key == name)
      return value;
  return 0;
}

/// Rate of an mma by the type of its A operand.
double tensorRate(const Chip &chip, std::string_view type) {
  if (type == "f16" || type == "bf16")
    return chip.f16;
  if (type == "tf32")
    return chip.tf32;
  if (type == "f64")
    return chip.f64;
  if (type == "e4m3" || type == "e5m2")
    return chip.fp8;
  if (type == "s8" || type == "u8")
    return chip.int8;
  return type == "s4" || type == "u4" ? chip.int4 : 0;
}

std::string format(const char *form, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), form, value);
  return text;
}

double busySMs(const Chip &chip, const Counts &counts) {
  double ctas = valueOf(counts, "ctas");
  return ctas > 0 ? std::min<double>(chip.sms, ctas) : chip.sms;
}
} // namespace

std::vector<Bound> computeBounds(const Chip &chip, const Counts &counts) {
  std::vector<Bound> bounds;
  double sms = busySMs(chip, counts), part = sms / chip.sms;
  auto add = [&](const char *resource, double amount, const char *unit,
                 double rate) {
    bounds.push_back({resource, format("%.6g", amount) + " " + unit,
                      rate > 0 ? amount / rate : 0});
  };
  double special = 0;
  for (const auto &[name, value] : counts) {
    constexpr std::string_view kTypes = "mma.types.", kSpecial = "special.";
    if (name.starts_with(kSpecial))
      special += value;
    if (!name.starts_with(kTypes) || !name.ends_with(".flops"))
      continue;
    std::string type =
        name.substr(kTypes.size(), name.size() - kTypes.size() - 6);
    add("tensor", value, ("flops of " + type).c_str(),
        part * tensorRate(chip, type));
  }
  double ofSMs = sms * chip.clock;
  add("special", special, "operations", ofSMs * Chip::kSpecial);
  add("issue", valueOf(counts, "warp_instructions"), "warp instructions",
      ofSMs * Chip::kIssue);
  add("shared", valueOf(counts, "shared.wavefronts"), "wavefronts",
      ofSMs * Chip::kWavefronts);
  double sectors = valueOf(counts, "global.loaded_sectors") +
                   valueOf(counts, "global.stored_sectors");
  add("L2", 32 * sectors, "bytes in sectors", chip.l2);
  add("memory", valueOf(counts, "global.touched_bytes"), "bytes touched",
      chip.memory);
  return bounds;
}

std::string speedOfLightTable(const Chip &chip, const Counts &counts) {
  std::vector<Bound> bounds = computeBounds(chip, counts);
  // Products of different types share the tensor cores.
  double tensor = 0, most = 0;
  std::string binding = "nothing";
  for (const Bound &b : bounds) {
    bool isTensor = b.resource == "tensor";
    tensor += isTensor ? b.seconds : 0;
    double seconds = isTensor ? tensor : b.seconds;
    if (seconds > most) {
      most = seconds;
      binding = b.resource;
    }
  }
  std::string text = "speed of light on " + std::string(chip.name) + ", " +
                     format("%g", busySMs(chip, counts)) + " of " +
                     std::to_string(chip.sms) + " SMs at " +
                     format("%g", chip.clock / 1e9) + " GHz:\n";
  for (const Bound &b : bounds) {
    char line[160];
    std::string time = b.seconds > 0 ? format("%.3f us", b.seconds * 1e6)
                       : b.asked[0] == '0' && b.asked[1] == ' '
                           ? "0 us"
                           : "no rate known";
    std::snprintf(line, sizeof(line), "  %-8s %-32s %14s%s\n",
                  b.resource.c_str(), b.asked.c_str(), time.c_str(),
                  b.resource == binding ? "  <- binds" : "");
    text += line;
  }
  return text + "at least " + format("%.3f", most * 1e6) + " us, by " +
         binding +
         "; bounds from counts at peak rates, not times (PTX instructions are "
         "not machine instructions)\n";
}

} // namespace farun
