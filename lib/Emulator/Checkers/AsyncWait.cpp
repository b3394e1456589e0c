//===- AsyncWait.cpp - touching what is still being moved -----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From its issue until a wait the destination of an asynchronous copy (PTX ISA
// 9.1 section 9.7.9.25) belongs to nobody: a read may find old or new bytes, a
// write may be lost, and two copies to the same bytes have no order. The source
// of a bulk store and the operands of a wgmma may be read, but not written.
//
// The machine completes an operation when a wait asks for it, so what is under
// way when a thread touches it has not been waited for.
//
//===----------------------------------------------------------------------===//
#include "ClusterState.h"
#include "Findings.h"
#include "PendingBytes.h"

#include <array>

using namespace ptxvm;

namespace {
struct Operation {
  uint32_t pc = 0, warp = 0, mask = 0, bytes = 0;
  uint64_t cta = 0;
  std::array<uint64_t, 32> shared; ///< cp.async: by lane
};

struct WaitState {
  explicit WaitState(const CTAEvent &e) : operations(1) {
    for (uint32_t k = 0; k < e.clusterSize; ++k)
      memory.emplace_back(e.sharedBytes);
  }

  /// Its number; 0 is none.
  uint32_t begin(uint32_t pc, uint32_t warp, uint32_t mask, uint64_t cta) {
    if (unused.empty()) {
      unused.push_back(uint32_t(operations.size()));
      operations.emplace_back();
    }
    uint32_t number = unused.back();
    unused.pop_back();
    Operation &o = operations[number];
    o.pc = pc;
    o.warp = warp;
    o.mask = mask;
    o.bytes = 0;
    o.cta = cta;
    ++underWay;
    return number;
  }
  void end(uint32_t number) {
    unused.push_back(number);
    --underWay;
  }

  std::vector<PendingBytes> memory; ///< by rank
  std::vector<Operation> operations;
  std::vector<uint32_t> unused;
  uint32_t underWay = 0;
};

class AsyncWaitCTA : public CheckerCTA {
public:
  AsyncWaitCTA(const CTAEvent &event, std::string_view checker,
               std::shared_ptr<WaitState> shared)
      : CheckerCTA(event, checker), cta(event.linear), rank(event.clusterRank),
        size(event.clusterSize), state(std::move(shared)),
        own(state->memory[rank]) {}

  void asyncCopyIssued(const AsyncCopyEvent &e) override {
    uint32_t number = state->begin(e.pc, e.warp, e.mask, cta);
    numberOfCopy[e.id] = number;
    Operation &o = state->operations[number];
    o.bytes = e.bytes;
    std::copy_n(e.shared, 32, o.shared.begin());
    for (uint32_t m = e.mask; m; m &= m - 1) {
      unsigned l = unsigned(__builtin_ctz(m));
      check({e.pc, e.warp, l}, rank, e.shared[l], e.bytes, "overwrites", true);
      own.beginWrite(e.shared[l], e.bytes, number);
    }
  }

  void asyncCopyCompleted(uint32_t, uint64_t id, uint32_t mask) override {
    auto at = numberOfCopy.find(id);
    if (at == numberOfCopy.end())
      return;
    Operation &o = state->operations[at->second];
    for (uint32_t m = mask & o.mask; m; m &= m - 1)
      own.endWrite(o.shared[unsigned(__builtin_ctz(m))], o.bytes, at->second);
    o.mask &= ~mask;
    if (o.mask)
      return;
    state->end(at->second);
    numberOfCopy.erase(at);
  }

  void bulkCopyIssued(const BulkCopyEvent &e) override {
    if (e.direction == BulkCopyEvent::Prefetch)
      return;
    Place at{e.pc, e.warp, e.lane};
    uint32_t number = state->begin(e.pc, e.warp, 1u << e.lane, cta);
    numberOfBulk[e.id] = number;
    if (readsShared(e)) {
      check(at, rank, source(e), e.bytes, "reads", false);
      own.beginRead(source(e), e.bytes, number);
    }
    forDestinations(e, [&](uint32_t to, PendingBytes &memory) {
      check(at, to, e.sharedAddress, e.bytes, "overwrites", true);
      memory.beginWrite(e.sharedAddress, e.bytes, number);
    });
  }
  void bulkCopyRead(const BulkCopyEvent &e) override {
    if (readsShared(e) && numberOfBulk.count(e.id))
      own.endRead(source(e), e.bytes);
  }
  void bulkCopyCompleted(const BulkCopyEvent &e) override {
    auto at = numberOfBulk.find(e.id);
    if (at == numberOfBulk.end())
      return;
    forDestinations(e, [&](uint32_t, PendingBytes &memory) {
      memory.endWrite(e.sharedAddress, e.bytes, at->second);
    });
    state->end(at->second);
    numberOfBulk.erase(at);
  }

  void wgmmaIssued(const WgmmaEvent &e) override {
    uint32_t number = state->begin(e.pc, e.firstWarp, 1, cta);
    numberOfWgmma[e.id] = number;
    for (const auto &ranges : {e.aShared, e.bShared})
      for (ByteRange r : ranges) {
        check({e.pc, e.firstWarp, 0}, rank, r.begin, r.end - r.begin, "reads",
              false);
        own.beginRead(r.begin, r.end - r.begin, number);
      }
  }
  void wgmmaCompleted(const WgmmaEvent &e) override {
    auto at = numberOfWgmma.find(e.id);
    if (at == numberOfWgmma.end())
      return;
    for (const auto &ranges : {e.aShared, e.bShared})
      for (ByteRange r : ranges)
        own.endRead(r.begin, r.end - r.begin);
    state->end(at->second);
    numberOfWgmma.erase(at);
  }

  void memoryAccess(const AccessEvent &e) override {
    bool isOwn =
        e.kind == AccessKind::AsyncRead || e.kind == AccessKind::AsyncWrite;
    if (!state->underWay || e.space != Space::Shared || isOwn)
      return;
    bool reads = e.kind == AccessKind::Load || e.kind == AccessKind::MatrixLoad;
    for (uint32_t m = e.mask; m; m &= m - 1) {
      unsigned l = unsigned(__builtin_ctz(m));
      if (check({e.pc, e.warp, l}, e.ownerRank, e.addresses[l], e.bytes,
                reads ? "reads" : "writes", !reads))
        return;
    }
  }

private:
  struct Place {
    uint32_t pc, warp, lane;
  };

  static bool readsShared(const BulkCopyEvent &e) {
    return e.direction == BulkCopyEvent::SharedToGlobal ||
           e.direction == BulkCopyEvent::SharedToShared;
  }
  static uint32_t source(const BulkCopyEvent &e) {
    return e.direction == BulkCopyEvent::SharedToGlobal ? e.sharedAddress
                                                        : e.sourceAddress;
  }
  template <typename Visit>
  void forDestinations(const BulkCopyEvent &e, Visit visit) {
    bool writes = e.direction == BulkCopyEvent::GlobalToShared ||
                  e.direction == BulkCopyEvent::SharedToShared;
    uint32_t ranks = e.multicast ? e.multicast : 1u << e.sharedRank;
    for (uint32_t to = 0; writes && to < size; ++to)
      if (ranks >> to & 1)
        visit(to, state->memory[to]);
  }

  /// True when something under way has been met.
  bool check(const Place &p, uint32_t owner, uint64_t begin, uint64_t bytes,
             const char *verb, bool isWrite) {
    const PendingBytes &memory = state->memory[owner];
    for (uint64_t at = begin & ~3ull; at < begin + bytes;) {
      if (!memory.isBusy(at)) [[likely]] {
        at = (at | 15) + 1;
        continue;
      }
      uint32_t writer = memory.writer(at);
      uint32_t reader = isWrite ? memory.reader(at) : 0;
      if (writer || reader) {
        found(p, at, verb, writer ? writer : reader, !writer);
        return true;
      }
      at += 4;
    }
    return false;
  }

  void found(const Place &p, uint64_t at, const char *verb, uint32_t number,
             bool isReader) {
    if (!isNew(p.pc))
      return;
    const Operation &o = state->operations[number];
    bool isWgmma = code.instructions[o.pc].mnemonic == "wgmma";
    unsigned other = unsigned(__builtin_ctz(o.mask));
    for (uint32_t m = o.bytes ? o.mask : 0; m; m &= m - 1) {
      unsigned l = unsigned(__builtin_ctz(m));
      if (at - o.shared[l] < o.bytes)
        other = l;
    }
    std::string who = " (";
    if (o.cta != cta)
      who += "CTA " + std::to_string(o.cta) + " of the grid, ";
    who += "warp " + std::to_string(o.warp);
    who += isWgmma ? " to " + std::to_string(o.warp + 3)
                   : ", lane " + std::to_string(other);
    report(p.pc, p.warp, isWgmmaAt(p.pc) ? -1 : int(p.lane),
           opcode(p.pc) + " " + verb + " " +
               placeName(Space::Shared, at, nullptr) + ", which " +
               instruction(o.pc) + who + ") is still " +
               (isReader ? "reading" : "writing") + "; " +
               (isWgmma ? "those warps have" : "that thread has") +
               " not waited for it");
  }
  bool isWgmmaAt(uint32_t pc) const {
    return code.instructions[pc].mnemonic == "wgmma";
  }

  uint64_t cta;
  uint32_t rank, size;
  std::shared_ptr<WaitState> state;
  PendingBytes &own;
  // Numbers by the id that the CTA gives.
  std::map<uint64_t, uint32_t> numberOfCopy, numberOfBulk, numberOfWgmma;
};

class AsyncWaitChecker : public Checker {
public:
  std::string_view name() const override { return "async-wait"; }
  uint32_t interests() const override {
    return kMemory | kAsyncCopies | kWgmma;
  }
  void kernelBegin(const KernelEvent &event) override {
    Checker::kernelBegin(event);
    isAsync = false;
    for (const InstructionInfo &i : event.code.instructions)
      isAsync |= i.category == Category::AsyncCopy || i.mnemonic == "wgmma" ||
                 i.mnemonic == "cp";
  }
  std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &event) override {
    if (!isAsync)
      return nullptr;
    return std::make_unique<AsyncWaitCTA>(event, name(), states.of(event));
  }
  void kernelEnd(Report &report) override {
    Checker::kernelEnd(report);
    states.clear();
  }

private:
  bool isAsync = false;
  ClusterStates<WaitState> states;
};
} // namespace

std::unique_ptr<ExecutionObserver> ptxvm::makeAsyncWaitChecker() {
  return std::make_unique<AsyncWaitChecker>();
}
