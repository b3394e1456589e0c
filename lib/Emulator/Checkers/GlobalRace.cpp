//===- GlobalRace.cpp - CTAs that touch the same global bytes -------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two CTAs, one byte, one of them writes, not both strong, and nothing orders
// them. CTAs may run in any order or together, so their numbers order nothing;
// a release by one that another acquires does (PTX ISA 9.1 section 8):
//
//   CTA 0: st x;  fence.acq_rel.gpu;  atom flag        epoch 0 -> 1
//   CTA 5: atom flag;  fence.acq_rel.gpu;  ld x        knows CTA 0 up to 1
//
// Order is kept by CTA, not by thread: what one thread acquires the whole CTA
// knows, and a fence of one thread covers what the others did before. So a
// missing bar.sync around the fence is not found. Each CTA collects what it
// touches, by epoch, and is compared with all before it when it ends. Without
// fences in the code there is no order at all, and one page for all CTAs does.
//
//===----------------------------------------------------------------------===//
#include "CasLoads.h"
#include "Findings.h"
#include "TouchedMemory.h"

#include <algorithm>
#include <deque>
#include <mutex>

using namespace ptxvm;

namespace {
using Clocks = std::map<uint64_t, uint32_t>; ///< epochs by CTA, those known

void join(Clocks &into, const Clocks &other) {
  for (const auto &[cta, epoch] : other)
    into[cta] = std::max(into[cta], epoch);
}

/// What a CTA did between two releases, knowing what it knew.
struct Epoch {
  uint64_t cta = 0;
  uint32_t number = 0;
  std::shared_ptr<const Clocks> known;
};

/// Releases by address; shared by the host threads.
struct Synchronisation {
  std::mutex lock;
  std::map<uint64_t, Clocks> released;
};

class GlobalRaceCTA : public CheckerCTA {
public:
  GlobalRaceCTA(const CTAEvent &event, std::string_view checker,
                Synchronisation &sync, bool hasOrder,
                const std::vector<char> &isCasLoad)
      : CheckerCTA(event, checker), cta(event.linear), sync(sync),
        hasOrder(hasOrder), isCasLoad(isCasLoad) {
    begin(std::make_shared<Clocks>());
  }

  void memoryAccess(const AccessEvent &e) override {
    if (hasOrder)
      settle();
    if (e.space != Space::Global)
      return;
    bool isAtomic = e.kind == AccessKind::Atomic;
    // An atomic of the CTA only is none for the other CTAs. One of the cluster
    // counts as one of all, wherever the other CTA is.
    bool isStrong = isAtomic
                        ? e.scope != Scope::CTA
                        : e.ordering != Ordering::Weak && e.scope >= Scope::GPU;
    bool isRead = e.kind == AccessKind::Load ||
                  e.kind == AccessKind::AsyncRead ||
                  e.kind == AccessKind::MatrixLoad;
    // What a compare-and-swap compares again cannot race with one.
    bool isHarmless = isStrong || isCasLoad[e.pc];
    Touch touch = isRead ? (isHarmless ? Touch::StrongRead : Touch::Read)
                         : (isStrong ? Touch::StrongWrite : Touch::Write);
    for (uint32_t m = e.mask; m; m &= m - 1) {
      unsigned l = unsigned(__builtin_ctz(m));
      epochs.back().second.add(e.addresses[l],
                               e.lengths ? e.lengths[l] : e.bytes, touch, e.pc);
    }
    if (isStrong && hasOrder)
      synchronise(e, isRead, isAtomic);
  }

  void fence(const FenceEvent &e) override {
    if (!hasOrder || e.proxy != FenceEvent::Memory || e.scope < Scope::GPU)
      return;
    settle();
    acquire(seen);
    seen.clear();
    fenced = release();
  }

  std::deque<std::pair<Epoch, TouchedMemory>> epochs;

  void found(uint32_t pc, uint64_t at, const Allocation *buffer,
             const char *verb, uint32_t otherPc, uint64_t other,
             const char *otherVerb) {
    if (!isNew(pc))
      return;
    report(pc, 0, -1,
           opcode(pc) + " " + verb + " " +
               placeName(Space::Global, at, buffer) + ", which " +
               instruction(otherPc) + " of CTA " + std::to_string(other) + " " +
               otherVerb + " too, and nothing orders the two CTAs");
  }

private:
  void begin(std::shared_ptr<const Clocks> known) {
    epochs.emplace_back(Epoch{cta, uint32_t(epochs.size()), std::move(known)},
                        TouchedMemory());
  }

  /// All until now; what follows belongs to the next epoch.
  Clocks release() {
    Clocks sum = *epochs.back().first.known;
    sum[cta] = uint32_t(epochs.size());
    begin(epochs.back().first.known);
    return sum;
  }
  void acquire(const Clocks &what) {
    if (what.empty())
      return;
    auto sum = std::make_shared<Clocks>(*epochs.back().first.known);
    join(*sum, what);
    begin(std::move(sum));
  }

  void synchronise(const AccessEvent &e, bool isRead, bool isAtomic) {
    bool both = e.ordering == Ordering::AcquireRelease;
    bool releases = both || e.ordering == Ordering::Release;
    if (!isRead && (releases || !fenced.empty())) {
      Clocks what = releases ? release() : fenced;
      std::lock_guard<std::mutex> guard(sync.lock);
      for (uint32_t m = e.mask; m; m &= m - 1)
        join(sync.released[e.addresses[__builtin_ctz(m)]], what);
    }
    // The value is read after this event; see settle().
    if (isRead || isAtomic)
      for (uint32_t m = e.mask; m; m &= m - 1)
        reads.push_back({e.addresses[__builtin_ctz(m)],
                         both || e.ordering == Ordering::Acquire});
  }

  /// Strong reads take effect at the next event: another host thread may have
  /// written between the read's event and the read, and it is told first.
  void settle() {
    if (reads.empty()) [[likely]]
      return;
    Clocks now;
    {
      std::lock_guard<std::mutex> guard(sync.lock);
      for (const auto &[address, acquires] : reads)
        if (auto at = sync.released.find(address); at != sync.released.end())
          join(acquires ? now : seen, at->second);
    }
    reads.clear();
    now.erase(cta);
    seen.erase(cta);
    acquire(now);
  }

  uint64_t cta;
  Synchronisation &sync;
  bool hasOrder;
  const std::vector<char> &isCasLoad;           ///< by pc
  std::vector<std::pair<uint64_t, bool>> reads; ///< address, is an acquire
  Clocks seen;   ///< by relaxed reads, until the next fence
  Clocks fenced; ///< what a relaxed write releases
};

/// What CTAs that have ended did to one page.
struct PastPage {
  std::vector<std::pair<Epoch, TouchedPage>> touched;
};

class GlobalRaceChecker : public Checker {
public:
  std::string_view name() const override { return "global-race"; }
  uint32_t interests() const override { return kMemory | kBarriers; }
  void kernelBegin(const KernelEvent &event) override;
  std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &event) override {
    return std::make_unique<GlobalRaceCTA>(event, name(), sync, hasOrder,
                                           isCasLoad);
  }
  void ctaEnd(const CTAEvent &event, CTAObserver &observer,
              bool completed) override;
  void kernelEnd(Report &report) override {
    Checker::kernelEnd(report);
    past.clear();
    sync.released.clear();
  }

private:
  void compare(GlobalRaceCTA &cta, const Epoch &epoch, TouchedPage &page,
               const Epoch &other, TouchedPage &before, uint64_t address);
  void keep(const Epoch &epoch, TouchedPage page, PastPage &past);

  Synchronisation sync;
  bool hasOrder = false;
  std::vector<char> isCasLoad;
  std::unordered_map<uint64_t, PastPage> past;
};
} // namespace

void GlobalRaceChecker::kernelBegin(const KernelEvent &event) {
  Checker::kernelBegin(event);
  const auto &all = event.code.instructions;
  isCasLoad = findCasLoads(event.code);
  hasOrder = std::any_of(all.begin(), all.end(), [](const InstructionInfo &i) {
    return i.category == Category::Fence ||
           i.opcode.find(".acq") != std::string::npos ||
           i.opcode.find(".release") != std::string::npos;
  });
}

/// True when what `a` did comes before all that `b` did.
static bool isBefore(const Epoch &a, const Epoch &b) {
  auto at = b.known->find(a.cta);
  return a.cta == b.cta || (at != b.known->end() && at->second > a.number);
}

void GlobalRaceChecker::compare(GlobalRaceCTA &cta, const Epoch &epoch,
                                TouchedPage &page, const Epoch &other,
                                TouchedPage &before, uint64_t address) {
  if (isBefore(epoch, other) || isBefore(other, epoch))
    return;
  auto isWrite = [](unsigned k) { return k % 2 == 1; };
  for (unsigned k = 0; k < kTouches; ++k)
    for (unsigned n = 0; n < kTouches; ++n) {
      bool isAllowed = (!isWrite(k) && !isWrite(n)) || (k >= 2 && n >= 2);
      if (isAllowed || !page.kinds[k] || !before.kinds[n])
        continue;
      const TouchedPage::Kind &a = *page.kinds[k], &b = *before.kinds[n];
      for (size_t w = 0; w < a.bits.size(); ++w) {
        uint64_t common = a.bits[w] & b.bits[w];
        if (!common) [[likely]]
          continue;
        uint64_t at = w * 64 + unsigned(__builtin_ctzll(common));
        cta.found(a.pcs[at / 32], address + at,
                  device->findAllocation(address + at),
                  isWrite(k) ? "writes" : "reads", b.pcs[at / 32], other.cta,
                  isWrite(n) ? "writes" : "reads");
        break;
      }
    }
}

void GlobalRaceChecker::keep(const Epoch &epoch, TouchedPage page,
                             PastPage &past) {
  if (hasOrder || past.touched.empty()) {
    past.touched.push_back({epoch, std::move(page)});
    return;
  }
  // Nothing is ever ordered: all CTAs are one, the last one's number stands
  // for it.
  auto &[known, sum] = past.touched.front();
  known.cta = epoch.cta;
  for (unsigned k = 0; k < kTouches; ++k) {
    if (!page.kinds[k])
      continue;
    TouchedPage::Kind &to = sum.of(Touch(k)), &from = *page.kinds[k];
    for (size_t w = 0; w < to.bits.size(); ++w)
      to.bits[w] |= from.bits[w];
    for (size_t p = 0; p < to.pcs.size(); ++p)
      to.pcs[p] = from.pcs[p] ? from.pcs[p] : to.pcs[p];
  }
}

void GlobalRaceChecker::ctaEnd(const CTAEvent &event, CTAObserver &observer,
                               bool completed) {
  GlobalRaceCTA &cta = static_cast<GlobalRaceCTA &>(observer);
  for (auto &[epoch, memory] : cta.epochs)
    for (auto &[number, page] : memory.pages) {
      PastPage &there = past[number];
      for (auto &[other, before] : there.touched)
        compare(cta, epoch, page, other, before, number * TouchedPage::kBytes);
    }
  for (auto &[epoch, memory] : cta.epochs)
    for (auto &[number, page] : memory.pages)
      keep(epoch, std::move(page), past[number]);
  cta.epochs.clear();
  Checker::ctaEnd(event, observer, completed);
}

std::unique_ptr<ExecutionObserver> ptxvm::makeGlobalRaceChecker() {
  return std::make_unique<GlobalRaceChecker>();
}
