//===- Values.cpp - counters under names ----------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The names that reports and benchmarks use.
//
//   warp_instructions, ctas
//   global.{loaded,stored}_{bytes,sectors,lines}
//   global.buffers.NAME.{loaded,stored}_{bytes,sectors}
//   shared.{wavefronts,conflicts}
//   shared.KIND.{instructions,bytes,wavefronts,conflicts}
//   shared.conflict_lines.LINE       conflicts of the instruction at a PTX line
//   async.{copies,bytes,commits,waits}
//   mma.{instructions,flops}, mma.types.TYPE.{instructions,flops}
//   special.MNEMONIC                 operations, one a lane: ex2, rcp, ...
//   barriers.{cta,warp}
//   instructions.{categories,opcodes}.NAME
//
//===----------------------------------------------------------------------===//
#include "fa/Emulator/Counters.h"

#include <algorithm>
#include <cstdio>

using namespace ptxvm;

namespace {
using Values = std::vector<std::pair<std::string, double>>;

/// A name that opens no group.
std::string flat(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

void addGlobal(Values &out, const Counters &c) {
  auto add = [&](const std::string &name, uint64_t value) {
    out.push_back({"global." + name, double(value)});
  };
  GlobalTraffic loaded = c.loaded(), stored = c.stored();
  add("loaded_bytes", loaded.bytes);
  add("stored_bytes", stored.bytes);
  add("loaded_sectors", loaded.sectors);
  add("stored_sectors", stored.sectors);
  add("loaded_lines", loaded.lines);
  add("stored_lines", stored.lines);
  for (const auto &[name, traffic] : c.buffers()) {
    std::string group = "buffers." + flat(name) + ".";
    add(group + "loaded_bytes", traffic.loaded.bytes);
    add(group + "stored_bytes", traffic.stored.bytes);
    add(group + "loaded_sectors", traffic.loaded.sectors);
    add(group + "stored_sectors", traffic.stored.sectors);
  }
}

void addShared(Values &out, const Counters &c) {
  auto add = [&](const std::string &name, uint64_t value) {
    out.push_back({"shared." + name, double(value)});
  };
  SharedTraffic all;
  for (unsigned k = 0; k < kSharedKinds; ++k)
    all += c.shared(SharedKind(k));
  add("wavefronts", all.wavefronts);
  add("conflicts", all.conflicts());
  for (unsigned k = 0; k < kSharedKinds; ++k) {
    const SharedTraffic &t = c.shared(SharedKind(k));
    std::string group = std::string(sharedKindName(SharedKind(k))) + ".";
    add(group + "instructions", t.instructions);
    add(group + "bytes", t.bytes);
    add(group + "wavefronts", t.wavefronts);
    add(group + "conflicts", t.conflicts());
  }
  std::map<uint32_t, uint64_t> lines;
  for (const ConflictSite &site : c.conflicts())
    lines[site.line] += site.traffic.conflicts();
  for (const auto &[line, conflicts] : lines)
    add("conflict_lines." + std::to_string(line), conflicts);
}
} // namespace

std::vector<std::pair<std::string, double>> Counters::values() const {
  Values out;
  auto add = [&](const std::string &name, uint64_t value) {
    out.push_back({name, double(value)});
  };
  add("warp_instructions", warpInstructions);
  add("ctas", ctas);
  addGlobal(out, *this);
  addShared(out, *this);
  add("async.copies", shared(SharedKind::AsyncWrite).instructions);
  add("async.bytes", asyncBytes);
  add("async.commits", instructions("cp.async.commit_group"));
  add("async.waits",
      instructions("cp.async.wait_group") + instructions("cp.async.wait_all"));
  uint64_t products = 0, allFlops = 0;
  for (const auto &[type, count] : mmasOf) {
    products += count;
    allFlops += flopsOf.at(type);
  }
  add("mma.instructions", products);
  add("mma.flops", allFlops);
  for (const auto &[type, count] : mmasOf) {
    add("mma.types." + type + ".instructions", count);
    add("mma.types." + type + ".flops", flopsOf.at(type));
  }
  // Always there: a kernel without exponentials says so.
  add("special.ex2", operations("ex2"));
  for (const auto &[mnemonic, count] : operationsOf)
    if (mnemonic != "ex2")
      add("special." + mnemonic, count);
  add("barriers.cta", instructions("bar.sync") + instructions("bar.arrive") +
                          instructions("bar.red") + instructions("barrier"));
  add("barriers.warp", instructions("bar.warp"));
  for (const auto &[category, count] : byCategory)
    add("instructions.categories." + category, count);
  for (const auto &[opcode, count] : byOpcode)
    add("instructions.opcodes." + flat(opcode), count.instructions);
  return out;
}

std::string Counters::json() const { return countersJson(values()); }

namespace {
/// "a.b.c" in {"a", "b", "c"}.
std::vector<std::string> split(const std::string &name) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= name.size();) {
    size_t end = std::min(name.find('.', begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", unsigned(c));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + "\"";
}
} // namespace

std::string
ptxvm::countersJson(const std::vector<std::pair<std::string, double>> &values) {
  std::string out = "{";
  std::vector<std::string> open; // groups around the last value
  const char *separator = "\n";
  auto indent = [&] { return std::string(2 * open.size() + 2, ' '); };
  for (const auto &[name, value] : values) {
    std::vector<std::string> parts = split(name);
    size_t same = 0;
    while (same < open.size() && same + 1 < parts.size() &&
           open[same] == parts[same])
      ++same;
    while (open.size() > same) {
      open.pop_back();
      out += "\n" + indent() + "}";
      separator = ",\n";
    }
    for (size_t k = same; k + 1 < parts.size(); ++k) {
      out += separator + indent() + quoted(parts[k]) + ": {";
      separator = "\n";
      open.push_back(parts[k]);
    }
    char number[32];
    std::snprintf(number, sizeof(number), "%.17g", value);
    out += separator + indent() + quoted(parts.back()) + ": " + number;
    separator = ",\n";
  }
  while (!open.empty()) {
    open.pop_back();
    out += "\n" + indent() + "}";
  }
  return out + "\n}\n";
}
