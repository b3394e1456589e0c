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

#include <algorithm>
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

GridRunner::GridRunner(Launch &launch,
                       const std::vector<ExecutionObserver *> &observers,
                       Report &report)
    : launch(launch), observers(observers), report(report),
      clusterSize(uint32_t(launch.shape.cluster.count())),
      total(launch.shape.grid.count() / clusterSize) {
  for (const CallSite &site : launch.kernel.calls)
    mayPrint |= site.builtin == CallSite::Vprintf;
}

/// More host threads than this only cost memory.
static constexpr uint64_t kMaxThreads = 256;

void GridRunner::run() {
  unsigned threads = launch.options.threads;
  if (!threads)
    threads = std::max(1u, std::thread::hardware_concurrency());
  threads = unsigned(std::min<uint64_t>({threads, total, kMaxThreads}));
  std::vector<std::thread> pool;
  // As many as the host lets us have; the work is the same with fewer.
  try {
    for (unsigned t = 1; t < threads; ++t)
      pool.emplace_back([this] { work(); });
  } catch (const std::system_error &) {
  }
  work();
  for (std::thread &t : pool)
    t.join();
  finishAll();
}

void GridRunner::work() {
  Cluster cluster(launch);
  for (uint64_t n; !launch.stop && (n = next++) < total;) {
    while (cluster.ctas.size() < clusterSize) {
      cluster.ctas.push_back(std::make_unique<CTA>(launch));
      cluster.ctas.back()->cluster = &cluster;
    }
    bool isReverse = launch.options.order.kind == OrderPolicy::Reverse;
    runOne(cluster, isReverse ? total - 1 - n : n);
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

void GridRunner::runOne(Cluster &cluster, uint64_t number) {
  cluster.linear = number;
  cluster.failed = false;
  cluster.barrierPhase = 0;
  cluster.queue.clear();
  std::vector<Finished> parts;
  for (auto &cta : cluster.ctas) {
    cta->reset(makeRecord(number, uint32_t(parts.size())));
    parts.push_back(
        {nullptr, std::make_unique<Sink>(*cta->record, launch), {}});
  }
  if (!observers.empty()) {
    std::lock_guard<std::mutex> guard(lock);
    for (size_t k = 0; k < parts.size(); ++k)
      for (ExecutionObserver *o : observers)
        attach(*cluster.ctas[k], parts[k], *o);
  }
  uint64_t seed = launch.options.order.seed * 0x9E3779B97F4A7C15ull + number;
  ClusterRun(cluster, seed).run();
  done += clusterSize;
  bool isQuiet = observers.empty();
  for (size_t k = 0; k < parts.size(); ++k) {
    CTA &cta = *cluster.ctas[k];
    cta.record->completed = cta.record->status == Status::Ok && cta.hasExited();
    if (cta.record->status != Status::Ok)
      launch.stop = true;
    for (Warp &w : cta.warps)
      cta.record->printed += w.printed;
    isQuiet &= cta.record->diagnostics.empty() && cta.record->printed.empty();
    parts[k].record = std::move(cta.record);
  }
  if (!isQuiet || mayPrint)
    handOver(std::move(parts));
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

/// In order: what all earlier CTAs have left behind is handed on.
void GridRunner::handOver(std::vector<Finished> parts) {
  std::lock_guard<std::mutex> guard(lock);
  for (Finished &f : parts) {
    uint64_t linear = f.record->linear;
    waiting[linear] = std::move(f);
  }
  bool isForward = launch.options.order.kind != OrderPolicy::Reverse;
  while (isForward && !waiting.empty() && waiting.begin()->first == handed) {
    finish(waiting.begin()->second);
    waiting.erase(waiting.begin());
    ++handed;
  }
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
  for (auto &[linear, f] : waiting)
    finish(f);
  report.counters.ctas = done;
  report.counters.warpInstructions = launch.issued;
}
