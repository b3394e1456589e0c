//===- GridRunner.cpp - clusters on host threads -------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pool of threads, and what observers and the report get of each CTA.
//
//===----------------------------------------------------------------------===//
#include "GridRunner.h"

#include "fa/Support/HostMemory.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <numeric>
#include <stdexcept>
#include <sys/mman.h>
#include <system_error>
#include <thread>

using namespace ptxvm;

void Sink::report(Diagnostic d) {
  bool isError = d.severity == Severity::Error;
  unsigned limit = launch.options.maxDiagnostics;
  if (record.diagnostics.size() < limit)
    record.diagnostics.push_back(std::move(d));
  if (isError && ++record.errors >= limit)
    launch.stop = true;
}

void Sink::report(Severity severity, std::string origin, std::string message,
                  uint32_t pc, int warp, int lane) {
  report(record.makeDiagnostic(severity, std::move(origin), std::move(message),
                               pc, warp, lane));
}

uint64_t ptxvm::clusterBytes(const Launch &launch) {
  const Kernel &k = launch.kernel;
  uint64_t threads = launch.shape.block.count(), warps = (threads + 31) / 32;
  uint64_t ofWarp =
      4 * (uint64_t(k.totalWords) + k.predicates) + 32 * k.localBytes;
  return launch.shape.cluster.count() * (launch.sharedBytes + warps * ofWarp);
}

Diagnostic ptxvm::memoryProblem(const Kernel &kernel) {
  Diagnostic d;
  d.origin = "launch";
  d.message = "this machine has not enough memory to run kernel '" +
              kernel.info.kernel + "'";
  d.location = kernel.signature.location;
  return d;
}

GridRunner::GridRunner(Launch &launch,
                       const std::vector<ExecutionObserver *> &observers,
                       Report &report)
    : launch(launch), observers(observers), report(report),
      clusterSize(uint32_t(launch.shape.cluster.count())),
      total(launch.shape.grid.count() / clusterSize),
      mostResidents(
          std::max(1u, launch.options.maxResidentCTAs / clusterSize)) {
  for (const CallSite &site : launch.kernel.calls)
    mayPrint |= site.builtin == CallSite::Vprintf;
}

/// More host threads than this only cost memory.
static constexpr uint64_t kMaxThreads = 256;

/// CTAs that have ended before one of a smaller number has: when a thread falls
/// behind, the others wait for it rather than to fill memory.
static constexpr size_t kMostWaiting = 512;

namespace {
/// Keeps addresses from threads that start, whose stacks take all there are
/// where a process may have few: with none left nothing could run.
class AddressReserve {
public:
  AddressReserve()
      : start(mmap(nullptr, kBytes, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~AddressReserve() {
    if (start != MAP_FAILED)
      munmap(start, kBytes);
  }
  AddressReserve(const AddressReserve &) = delete;
  AddressReserve &operator=(const AddressReserve &) = delete;

private:
  /// Less than the heap that the C library makes for a thread.
  static constexpr size_t kBytes = size_t(32) << 20;
  void *start;
};
} // namespace

/// As many as the host lets us have; the work is the same with fewer.
void GridRunner::startThreads(std::vector<std::thread> &pool, unsigned count) {
  AddressReserve reserve;
  try {
    while (pool.size() < count)
      pool.emplace_back([this] { workBehind(); });
  } catch (const std::system_error &) {
  } catch (const std::bad_alloc &) {
  }
}

void GridRunner::run() {
  unsigned threads = launch.options.threads;
  if (!threads)
    threads = std::max(1u, std::thread::hardware_concurrency());
  uint64_t fitting =
      std::max<uint64_t>(1, farun::hostMemoryBudget() / clusterBytes(launch));
  threads =
      unsigned(std::min<uint64_t>({threads, total, kMaxThreads, fitting}));
  mostResidents = std::min(mostResidents, fitting);
  mostResidents = std::max<uint64_t>(mostResidents, threads);
  // This thread works too, or it watches.
  bool isWatched = launch.progress && *launch.progress;
  std::vector<std::thread> pool;
  startThreads(pool, isWatched ? threads : threads - 1);
  if (isWatched && !pool.empty())
    watch(pool.size());
  else
    work();
  for (std::thread &t : pool)
    t.join();
  stopParked();
  finishAll();
  if (lacksMemory) {
    report.status = Status::Invalid;
    report.diagnostics.push_back(memoryProblem(launch.kernel));
  }
}

/// Clusters whose order a seed changes among themselves; fewer than may wait.
static constexpr uint64_t kWindow = kMostWaiting / 2;

/// The cluster that begins as the nth. A random order steps through those of a
/// window by a number that has no factor in common with their count.
uint64_t GridRunner::numberOf(uint64_t n) const {
  const OrderPolicy &order = launch.options.order;
  if (isReverse())
    return total - 1 - n;
  if (order.kind == OrderPolicy::RoundRobin)
    return n;
  uint64_t begin = n / kWindow * kWindow;
  uint64_t count = std::min(kWindow, total - begin);
  uint64_t mixed = (order.seed + begin + 1) * 0x9E3779B97F4A7C15ull;
  mixed = (mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9ull;
  uint64_t step = (mixed >> 32) % count, first = uint32_t(mixed) % count;
  while (std::gcd(step, count) != 1)
    ++step;
  return begin + (first + (n - begin) * step) % count;
}

void GridRunner::workBehind() {
  work();
  std::lock_guard<std::mutex> guard(lock);
  ++ended;
  oneEnded.notify_all();
}

/// Until the other threads have ended, asks now and then whether to go on.
void GridRunner::watch(size_t threads) {
  constexpr std::chrono::milliseconds kInterval(20);
  std::unique_lock<std::mutex> guard(lock);
  while (
      !oneEnded.wait_for(guard, kInterval, [&] { return ended == threads; })) {
    if (isCancelled)
      continue;
    uint64_t now = done;
    guard.unlock();
    bool mayGoOn = (*launch.progress)(now, total * clusterSize);
    guard.lock();
    if (mayGoOn)
      continue;
    isCancelled = true;
    launch.stop = true;
    changed.notify_all();
  }
}

/// What to run next: in turns a cluster that spins, when something may have
/// changed since, and a new one. Null when there is nothing more to do.
std::unique_ptr<GridRunner::Resident> GridRunner::take() {
  std::unique_lock<std::mutex> guard(lock);
  for (;;) {
    if (launch.stop)
      return nullptr;
    bool isFarAhead = waiting.size() >= kMostWaiting && running;
    bool mayBegin = next < total && residents < mostResidents && !isFarAhead;
    auto again = std::find_if(parked.begin(), parked.end(), [&](auto &r) {
      return !r->isStuck || r->epoch != epoch;
    });
    if (mayBegin && (again == parked.end() || prefersNew)) {
      prefersNew = false;
      uint64_t n = next++;
      ++residents;
      ++running;
      std::unique_ptr<Resident> r;
      if (!spare.empty()) {
        r = std::move(spare.back());
        spare.pop_back();
      }
      guard.unlock();
      if (!r)
        r = std::make_unique<Resident>(launch);
      begin(*r, numberOf(n));
      return r;
    }
    if (again != parked.end()) {
      prefersNew = true;
      std::unique_ptr<Resident> r = std::move(*again);
      parked.erase(again);
      ++running;
      return r;
    }
    if (!running && !parked.empty()) {
      std::vector<Cluster *> stuck;
      for (auto &r : parked)
        stuck.push_back(&r->cluster);
      // The words shall not depend on which host thread came first.
      std::sort(stuck.begin(), stuck.end(),
                [](Cluster *a, Cluster *b) { return a->linear < b->linear; });
      reportNoProgress(stuck, (total - next) * clusterSize);
      launch.stop = true;
      changed.notify_all();
      return nullptr;
    }
    if (!running || (parked.empty() && next >= total))
      return nullptr;
    changed.wait(guard);
  }
}

void GridRunner::give(std::unique_ptr<Resident> r, ClusterRun::Result result,
                      uint64_t epochBefore) {
  std::unique_lock<std::mutex> guard(lock);
  --running;
  bool isAlone = epoch == epochBefore;
  if (r->run->changed())
    ++epoch;
  if (result == ClusterRun::Finished) {
    end(*r);
    --residents;
    spare.push_back(std::move(r));
  } else {
    r->isStuck = result == ClusterRun::Stuck;
    // Others may have written after it was looked at.
    r->epoch = isAlone ? epoch : ~0ull;
    parked.push_back(std::move(r));
  }
  guard.unlock();
  changed.notify_all();
}

/// Nothing may leave a host thread: that would end the process.
void GridRunner::work() {
  try {
    workUntilDone();
  } catch (const std::bad_alloc &) {
    stopForMemory();
  } catch (const std::length_error &) { // a vector beyond all memory
    stopForMemory();
  }
  // Threads that wait look again.
  std::lock_guard<std::mutex> guard(lock);
  changed.notify_all();
}

void GridRunner::stopForMemory() {
  std::lock_guard<std::mutex> guard(lock);
  lacksMemory = true;
  launch.stop = true;
}

void GridRunner::workUntilDone() {
  while (std::unique_ptr<Resident> r = take()) {
    uint64_t before;
    {
      std::lock_guard<std::mutex> guard(lock);
      before = epoch;
    }
    ClusterRun::Result result = r->run->run();
    give(std::move(r), result, before);
  }
}

std::unique_ptr<CTARecord> GridRunner::makeRecord(uint64_t cluster,
                                                  uint32_t rank) const {
  const Dim3 &g = launch.shape.grid, &c = launch.shape.cluster;
  uint32_t nx = g.x / c.x, ny = g.y / c.y;
  auto record = std::make_unique<CTARecord>(CTARecord{launch});
  record->id = {uint32_t(cluster % nx) * c.x + rank % c.x,
                uint32_t(cluster / nx % ny) * c.y + rank / c.x % c.y,
                uint32_t(cluster / nx / ny) * c.z + rank / c.x / c.y};
  const Dim3 &id = record->id;
  record->linear = (uint64_t(id.z) * g.y + id.y) * g.x + id.x;
  record->cluster = cluster;
  record->rank = rank;
  record->threads = uint32_t(launch.shape.block.count());
  return record;
}

CTAEvent GridRunner::eventOf(const CTARecord &r, DiagnosticSink &sink) const {
  return {launch.kernel.info, launch.shape, r.id,
          r.linear,           r.rank,       r.cluster,
          clusterSize,        r.warps(),    r.threads,
          launch.sharedBytes, sink};
}

void GridRunner::begin(Resident &r, uint64_t number) {
  Cluster &cluster = r.cluster;
  while (cluster.ctas.size() < clusterSize) {
    cluster.ctas.push_back(std::make_unique<CTA>(launch));
    cluster.ctas.back()->cluster = &cluster;
  }
  cluster.linear = number;
  cluster.failed = false;
  cluster.barrierPhase = 0;
  cluster.queue.clear();
  r.isStuck = false;
  r.parts.clear();
  for (auto &cta : cluster.ctas) {
    cta->reset(makeRecord(number, uint32_t(r.parts.size())));
    r.parts.push_back(
        {nullptr, std::make_unique<Sink>(*cta->record, launch), {}});
  }
  if (!observers.empty()) {
    std::lock_guard<std::mutex> guard(lock);
    for (size_t k = 0; k < r.parts.size(); ++k)
      for (ExecutionObserver *o : observers)
        attach(*cluster.ctas[k], r.parts[k], *o);
  }
  uint64_t seed = launch.options.order.seed * 0x9E3779B97F4A7C15ull + number;
  r.run = std::make_unique<ClusterRun>(cluster, seed);
}

/// Called under the lock.
void GridRunner::end(Resident &r) {
  done += clusterSize;
  bool isQuiet = observers.empty();
  for (size_t k = 0; k < r.parts.size(); ++k) {
    CTA &cta = *r.cluster.ctas[k];
    cta.record->completed = cta.record->status == Status::Ok && cta.hasExited();
    if (cta.record->status != Status::Ok)
      launch.stop = true;
    for (Warp &w : cta.warps)
      cta.record->printed += w.printed;
    isQuiet &= cta.record->diagnostics.empty() && cta.record->printed.empty();
    r.parts[k].record = std::move(cta.record);
  }
  if (!isQuiet || mayPrint)
    handOver(std::move(r.parts));
  r.parts.clear();
}

/// What is parked when the launch stops.
void GridRunner::stopParked() {
  for (auto &r : parked)
    end(*r);
  parked.clear();
}

void GridRunner::attach(CTA &cta, Finished &f, ExecutionObserver &o) {
  std::unique_ptr<CTAObserver> made = o.ctaBegin(eventOf(*cta.record, *f.sink));
  if (!made)
    return;
  const std::pair<uint32_t, std::vector<CTAObserver *> *> kLists[] = {
      {kInstructions, &cta.onInstruction},
      {kMemory, &cta.onMemory},
      {kAsyncCopies, &cta.onCopy},
      {kBarriers, &cta.onBarrier},
      {kWgmma, &cta.onWgmma},
      {kUndefined, &cta.onUndefined}};
  for (auto &[bit, list] : kLists)
    if (o.interests() & bit)
      list->push_back(made.get());
  f.observers.push_back({&o, std::move(made)});
}

bool GridRunner::isReverse() const {
  return launch.options.order.kind == OrderPolicy::Reverse;
}

/// In the order of CTAs, or for --order=reverse against it: what all that come
/// before have left behind is handed on. Called under the lock.
void GridRunner::handOver(std::vector<Finished> parts) {
  for (Finished &f : parts) {
    uint64_t linear = f.record->linear;
    waiting[linear] = std::move(f);
  }
  uint64_t last = launch.shape.grid.count() - 1;
  while (!waiting.empty()) {
    auto first = firstWaiting();
    if (first->first != (isReverse() ? last - handed : handed))
      return;
    finish(first->second);
    waiting.erase(first);
    ++handed;
  }
}

std::map<uint64_t, GridRunner::Finished>::iterator GridRunner::firstWaiting() {
  return isReverse() ? std::prev(waiting.end()) : waiting.begin();
}

void GridRunner::finish(Finished &f) {
  CTARecord &r = *f.record;
  for (auto &[observer, own] : f.observers)
    observer->ctaEnd(eventOf(r, *f.sink), *own, r.completed);
  if (!r.printed.empty() && launch.printer && *launch.printer)
    (*launch.printer)(r.printed);
  if (report.status == Status::Ok)
    report.status = r.status;
  bool hasError = std::any_of(
      r.diagnostics.begin(), r.diagnostics.end(),
      [](const Diagnostic &d) { return d.severity == Severity::Error; });
  if (report.status == Status::Ok && hasError)
    report.status = Status::Fault;
  for (Diagnostic &d : r.diagnostics)
    if (report.diagnostics.size() < launch.options.maxDiagnostics)
      report.diagnostics.push_back(std::move(d));
}

void GridRunner::finishAll() {
  while (!waiting.empty()) {
    auto first = firstWaiting();
    finish(first->second);
    waiting.erase(first);
  }
  if (isCancelled && report.status == Status::Ok)
    report.status = Status::Cancelled;
  report.counters.ctas = done;
  report.counters.warpInstructions = launch.issued;
}
