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
//   global.touched_bytes             distinct sectors, in bytes
//   global.buffers.NAME.{loaded,stored}_{bytes,sectors,lines}, .touched_bytes
//   shared.{wavefronts,conflicts,broadcasts}
//   shared.KIND.{instructions,bytes,wavefronts,conflicts,broadcasts}
//   shared.conflict_lines.LINE       conflicts of the instruction at a PTX line
//   async.{copies,bytes,commits,waits,bulk_copies,bulk_commits,bulk_waits}
//   mma.{instructions,flops}, mma.types.TYPE.{instructions,flops}
//   special.MNEMONIC                 operations, one a lane: ex2, rcp, ...
//   barriers.{cta,warp,cluster,mbarrier_arrivals,mbarrier_waits,wgmma_waits}
//   instructions.{categories,opcodes}.NAME
//   instructions.source_lines.FILE:LINE   where .loc gives one
//   loops.LINE.{depth,iterations,instructions,mma_flops,CATEGORY}
//   per_cta.{least,most}.{warp_instructions,loaded_bytes,...}
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
  uint64_t touched = 0;
  for (const auto &[name, traffic] : c.buffers())
    touched += traffic.touchedBytes;
  add("touched_bytes", touched);
  for (const auto &[name, traffic] : c.buffers()) {
    std::string group = "buffers." + flat(name) + ".";
    add(group + "loaded_bytes", traffic.loaded.bytes);
    add(group + "stored_bytes", traffic.stored.bytes);
    add(group + "loaded_sectors", traffic.loaded.sectors);
    add(group + "stored_sectors", traffic.stored.sectors);
    add(group + "loaded_lines", traffic.loaded.lines);
    add(group + "stored_lines", traffic.stored.lines);
    add(group + "touched_bytes", traffic.touchedBytes);
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
  add("broadcasts", all.broadcasts);
  for (unsigned k = 0; k < kSharedKinds; ++k) {
    const SharedTraffic &t = c.shared(SharedKind(k));
    std::string group = std::string(sharedKindName(SharedKind(k))) + ".";
    add(group + "instructions", t.instructions);
    add(group + "bytes", t.bytes);
    add(group + "wavefronts", t.wavefronts);
    add(group + "conflicts", t.conflicts());
    add(group + "broadcasts", t.broadcasts);
  }
  std::map<uint32_t, uint64_t> lines;
  for (const ConflictSite &site : c.conflicts())
    lines[site.line] += site.traffic.conflicts();
  for (const auto &[line, conflicts] : lines)
    add("conflict_lines." + std::to_string(line), conflicts);
}

void addBarriers(Values &out, const Counters &c) {
  auto add = [&](const std::string &name,
                 std::initializer_list<const char *> of) {
    uint64_t sum = 0;
    for (const char *prefix : of)
      sum += c.instructions(prefix);
    out.push_back({"barriers." + name, double(sum)});
  };
  uint64_t all = c.instructions("barrier");
  uint64_t cluster = c.instructions("barrier.cluster");
  out.push_back(
      {"barriers.cta",
       double(c.instructions("bar.sync") + c.instructions("bar.arrive") +
              c.instructions("bar.red") + all - cluster)});
  add("warp", {"bar.warp"});
  out.push_back({"barriers.cluster", double(cluster)});
  add("mbarrier_arrivals", {"mbarrier.arrive", "mbarrier.arrive_drop"});
  add("mbarrier_waits", {"mbarrier.test_wait", "mbarrier.try_wait"});
  add("wgmma_waits", {"wgmma.wait_group"});
}

void addLoopValues(Values &out, const Counters &c) {
  for (const auto &[line, loop] : c.loops()) {
    auto add = [&, at = line](const std::string &name, uint64_t value) {
      out.push_back(
          {"loops." + std::to_string(at) + "." + name, double(value)});
    };
    add("depth", loop.depth);
    add("iterations", loop.iterations);
    add("instructions", loop.instructions);
    add("mma_flops", loop.flops);
    for (const auto &[category, count] : loop.byCategory)
      add(category, count);
  }
}

constexpr std::pair<const char *, uint64_t CTACount::*> kOfCTA[] = {
    {"warp_instructions", &CTACount::instructions},
    {"loaded_bytes", &CTACount::loadedBytes},
    {"stored_bytes", &CTACount::storedBytes},
    {"wavefronts", &CTACount::wavefronts},
    {"conflicts", &CTACount::conflicts},
    {"mma_flops", &CTACount::flops},
    {"special", &CTACount::special},
};
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
  add("async.bulk_copies", shared(SharedKind::BulkWrite).instructions +
                               shared(SharedKind::BulkRead).instructions);
  add("async.bulk_commits", instructions("cp.async.bulk.commit_group"));
  add("async.bulk_waits", instructions("cp.async.bulk.wait_group"));
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
  addBarriers(out, *this);
  for (const auto &[category, count] : byCategory)
    add("instructions.categories." + category, count);
  for (const auto &[opcode, count] : byOpcode)
    add("instructions.opcodes." + flat(opcode), count.instructions);
  for (const auto &[source, count] : bySourceLine)
    add("instructions.source_lines." + flat(source), count);
  addLoopValues(out, *this);
  // Each group in one piece, or the text has it twice.
  for (const auto &[group, of] : {std::pair("least", &least), {"most", &most}})
    for (const auto &[name, member] : kOfCTA)
      add(std::string("per_cta.") + group + "." + name, ctas ? of->*member : 0);
  return out;
}

std::string Counters::json() const {
  std::string text = countersJson(values());
  text.resize(text.rfind('\n', text.size() - 3)); // without the last brace
  text += ",\n  \"ctas_listed\": [";
  const char *separator = "\n    {\"linear\": ";
  for (const CTACount &c : perCTA) {
    text += separator + std::to_string(c.linear);
    for (const auto &[name, member] : kOfCTA)
      text += std::string(", \"") + name + "\": " + std::to_string(c.*member);
    separator = "},\n    {\"linear\": ";
  }
  return text + (perCTA.empty() ? "" : "}\n  ") + "]\n}\n";
}

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
