//===- Counters.cpp - what a kernel asked for -----------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A CTA counts by pc, which costs an addition; names are looked up once for
// each CTA, when its counts are added to the sums.
//
//===----------------------------------------------------------------------===//
#include "fa/Emulator/Counters.h"

#include "CTACounters.h"
#include "Loops.h"

#include <cstdio>

using namespace ptxvm;

namespace {
const char *categoryName(Category category) {
  static constexpr const char *kNames[] = {
      "integer", "float",   "convert", "compare",    "move",   "special",
      "load",    "store",   "atomic",  "async_copy", "matrix", "mma",
      "shuffle", "barrier", "fence",   "control"};
  return kNames[unsigned(category)];
}

bool endsWith(const std::string &text, const char *end) {
  size_t n = std::char_traits<char>::length(end);
  return text.size() >= n && !text.compare(text.size() - n, n, end);
}
} // namespace

const char *ptxvm::sharedKindName(SharedKind kind) {
  static constexpr const char *kNames[kSharedKinds] = {
      "load",     "store",      "atomic",    "ldmatrix", "stmatrix",
      "cp_async", "bulk_write", "bulk_read", "wgmma"};
  return kNames[unsigned(kind)];
}

Counters::Counters() : touched(std::make_unique<TouchedBuffers>()) {
  least.instructions = least.loadedBytes = least.storedBytes =
      least.wavefronts = least.conflicts = least.flops = least.special = ~0ull;
}
Counters::~Counters() = default;
Counters::Counters(Counters &&other) = default;
Counters &Counters::operator=(Counters &&other) = default;

uint32_t Counters::interests() const {
  return kInstructions | kMemory | kAsyncCopies | kWgmma;
}

void Counters::kernelBegin(const KernelEvent &event) {
  device = &event.device;
  code = &event.code;
  issued.assign(code->instructions.size(), {});
  accessed.assign(code->instructions.size(), {});
  kinds.assign(code->instructions.size(), SharedKind::Load);
}

std::unique_ptr<CTAObserver> Counters::ctaBegin(const CTAEvent &event) {
  return std::make_unique<CTACounters>(*device, event.code.instructions.size(),
                                       *touched);
}

void Counters::ctaEnd(const CTAEvent &event, CTAObserver &observer,
                      bool completed) {
  const CTACounters &cta = static_cast<const CTACounters &>(observer);
  ++ctas;
  asyncBytes += cta.asyncBytes;
  for (const CTACounters::Buffer &b : cta.buffers) {
    BufferTraffic &sum = byBuffer[b.buffer ? b.buffer->name : "unknown"];
    sum.loaded += b.traffic.loaded;
    sum.stored += b.traffic.stored;
  }
  addCTA(event.linear, cta);
  for (unsigned k = 0; k < kSharedKinds; ++k)
    byKind[k] += cta.byKind[k];
  for (uint32_t pc = 0; pc < issued.size(); ++pc) {
    issued[pc].instructions += cta.issued[pc].instructions;
    issued[pc].lanes += cta.issued[pc].lanes;
    accessed[pc] += cta.shared[pc];
    if (cta.shared[pc].conflicts())
      kinds[pc] = cta.kinds[pc];
  }
}

/// Of one instruction. All lanes of a warp work on one mma, those of four warps
/// on one wgmma.
static uint64_t productsOf(const InstructionInfo &i, uint64_t lanes) {
  return i.m ? lanes / (i.mnemonic == "wgmma" ? 128 : 32) : 0;
}
/// `m` are the rows of a warp.
static uint64_t flopsOfProduct(const InstructionInfo &i) {
  uint64_t warps = i.mnemonic == "wgmma" ? 4 : 1;
  return 2 * warps * i.m * i.n * i.k;
}
/// ex2 of an f16x2 counts two a lane.
static uint64_t specialOf(const InstructionInfo &i, uint64_t lanes) {
  if (i.category != Category::SpecialFunction)
    return 0;
  return lanes * (endsWith(i.opcode, "x2") ? 2 : 1);
}

void Counters::addCTA(uint64_t linear, const CTACounters &cta) {
  CTACount c;
  c.linear = linear;
  for (uint32_t pc = 0; pc < cta.issued.size(); ++pc) {
    const InstructionInfo &i = code->instructions[pc];
    const OpcodeCount &count = cta.issued[pc];
    c.instructions += count.instructions;
    c.wavefronts += cta.shared[pc].wavefronts;
    c.conflicts += cta.shared[pc].conflicts();
    c.flops += productsOf(i, count.lanes) * flopsOfProduct(i);
    c.special += specialOf(i, count.lanes);
  }
  for (const CTACounters::Buffer &b : cta.buffers) {
    c.loadedBytes += b.traffic.loaded.bytes;
    c.storedBytes += b.traffic.stored.bytes;
  }
  for (auto member :
       {&CTACount::instructions, &CTACount::loadedBytes, &CTACount::storedBytes,
        &CTACount::wavefronts, &CTACount::conflicts, &CTACount::flops,
        &CTACount::special}) {
    least.*member = std::min(least.*member, c.*member);
    most.*member = std::max(most.*member, c.*member);
  }
  if (perCTA.size() < kMaxListed)
    perCTA.push_back(c);
}

void Counters::addLoops() {
  for (const Loop &loop : findLoops(*code)) {
    LoopCount &sum = byLoop[code->instructions[loop.header].line];
    sum.depth = loop.depth;
    sum.iterations += issued[loop.header].instructions;
    for (uint32_t pc : loop.body) {
      const InstructionInfo &i = code->instructions[pc];
      if (!issued[pc].instructions)
        continue;
      sum.instructions += issued[pc].instructions;
      sum.flops += productsOf(i, issued[pc].lanes) * flopsOfProduct(i);
      sum.byCategory[categoryName(i.category)] += issued[pc].instructions;
    }
  }
}

void Counters::kernelEnd(Report &) {
  for (uint32_t pc = 0; pc < issued.size(); ++pc) {
    const InstructionInfo &info = code->instructions[pc];
    if (issued[pc].instructions)
      addInstructions(info, issued[pc]);
    if (accessed[pc].conflicts())
      addConflicts(info, kinds[pc], accessed[pc]);
    SourceLocation source = code->source(pc);
    if (issued[pc].instructions && source.line)
      bySourceLine[source.file + ":" + std::to_string(source.line)] +=
          issued[pc].instructions;
  }
  addLoops();
  for (const auto &[buffer, sectors] : touched->all)
    byBuffer[buffer->name].touchedBytes += sectors->count() * 32;
  touched->all.clear();
}

void Counters::addConflicts(const InstructionInfo &info, SharedKind kind,
                            const SharedTraffic &traffic) {
  char key[32];
  std::snprintf(key, sizeof(key), "%09u:%05u", info.line, info.column);
  ConflictSite &site = bySite[code->kernel + ":" + key];
  site.line = info.line;
  site.opcode = info.opcode;
  site.kind = kind;
  site.traffic += traffic;
}

void Counters::addInstructions(const InstructionInfo &i,
                               const OpcodeCount &count) {
  warpInstructions += count.instructions;
  OpcodeCount &sum = byOpcode[i.opcode];
  sum.instructions += count.instructions;
  sum.lanes += count.lanes;
  byCategory[categoryName(i.category)] += count.instructions;
  if (uint64_t n = specialOf(i, count.lanes))
    operationsOf[i.mnemonic] += n;
  if (i.m) {
    uint64_t products = productsOf(i, count.lanes);
    mmasOf[i.mmaType] += products;
    flopsOf[i.mmaType] += products * flopsOfProduct(i);
  }
}

GlobalTraffic Counters::loaded() const {
  GlobalTraffic sum;
  for (const auto &[buffer, traffic] : byBuffer)
    sum += traffic.loaded;
  return sum;
}
GlobalTraffic Counters::stored() const {
  GlobalTraffic sum;
  for (const auto &[buffer, traffic] : byBuffer)
    sum += traffic.stored;
  return sum;
}

std::vector<ConflictSite> Counters::conflicts() const {
  std::vector<ConflictSite> sites;
  for (const auto &[key, site] : bySite)
    sites.push_back(site);
  return sites;
}

uint64_t Counters::instructions(const std::string &prefix) const {
  uint64_t sum = 0;
  for (const auto &[opcode, count] : byOpcode)
    if (opcode == prefix || !opcode.compare(0, prefix.size() + 1, prefix + "."))
      sum += count.instructions;
  return sum;
}

uint64_t Counters::operations(const std::string &mnemonic) const {
  auto found = operationsOf.find(mnemonic);
  return found == operationsOf.end() ? 0 : found->second;
}

uint64_t Counters::flops(const std::string &mmaType) const {
  auto found = flopsOf.find(mmaType);
  return found == flopsOf.end() ? 0 : found->second;
}

void Counters::reset() { *this = Counters(); }
