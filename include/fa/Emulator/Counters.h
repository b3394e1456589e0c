//===- Counters.h - what a kernel asked for ---------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An observer that counts. Counts are facts of the program; nothing here is a
// time. Sums are made in the order of CTAs, so they do not depend on threads.
//
//   ptxvm::Counters counters;
//   device.addObserver(counters);
//   device.launch(...);
//   counters.shared(SharedKind::MatrixLoad).conflicts();   // 0, one hopes
//
// Models:
//  - Global bytes are those that the lanes asked for, each lane for itself;
//    sectors are the distinct 32-byte sectors of one warp instruction, lines
//    the distinct 128-byte ones. A cp.async counts when it is issued, as a load
//    of its source. An atomic counts as a load and as a store.
//  - Shared memory has 32 banks of 4 bytes. A warp's access goes in phases of
//  at
//    most 128 bytes: all lanes at once for up to 4 bytes a lane, half a warp
//    for 8, a quarter for 16, the eight rows of each matrix for ldmatrix. A
//    phase takes as many wavefronts as the busiest bank has distinct words; one
//    is ideal, what is more are conflicts; lanes that read the same word share
//    it: a broadcast. Bulk copies and the operands of wgmma take one wavefront
//    for 128 bytes: their layouts are made to be free of conflicts.
//  - A loop is named by the PTX line of its first instruction. Its counts are
//    those of warps, its inner loops included.
//
//===----------------------------------------------------------------------===//
#ifndef FA_EMULATOR_COUNTERS_H
#define FA_EMULATOR_COUNTERS_H

#include "fa/Emulator/ExecutionObserver.h"

#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ptxvm {

/// Traffic of one direction.
struct GlobalTraffic {
  uint64_t bytes = 0, sectors = 0, lines = 0;
  void operator+=(const GlobalTraffic &other) {
    bytes += other.bytes;
    sectors += other.sectors;
    lines += other.lines;
  }
};

struct BufferTraffic {
  GlobalTraffic loaded, stored;
  /// Sectors that were touched at all, in bytes; over all CTAs.
  uint64_t touchedBytes = 0;
};

/// Who uses shared memory: the kinds that layouts are made for.
enum class SharedKind : uint8_t {
  Load,        ///< ld.shared
  Store,       ///< st.shared
  Atomic,      ///< atom.shared, red.shared
  MatrixLoad,  ///< ldmatrix
  MatrixStore, ///< stmatrix
  AsyncWrite,  ///< cp.async
  BulkWrite,   ///< cp.async.bulk to shared memory
  BulkRead,    ///< cp.async.bulk from shared memory
  Wgmma,       ///< operands of wgmma
};
constexpr unsigned kSharedKinds = 9;
/// "load", "store", "atomic", "ldmatrix", "stmatrix", "cp_async", "bulk_write",
/// "bulk_read" or "wgmma".
const char *sharedKindName(SharedKind kind);

struct SharedTraffic {
  uint64_t instructions = 0, bytes = 0, wavefronts = 0, ideal = 0;
  uint64_t broadcasts = 0; ///< lanes that another lane's words served
  uint64_t conflicts() const { return wavefronts - ideal; }
  void operator+=(const SharedTraffic &other) {
    instructions += other.instructions;
    bytes += other.bytes;
    wavefronts += other.wavefronts;
    ideal += other.ideal;
    broadcasts += other.broadcasts;
  }
};

/// An instruction whose accesses were in conflict.
struct ConflictSite {
  uint32_t line = 0; ///< of the PTX file
  std::string opcode;
  SharedKind kind = SharedKind::Load;
  SharedTraffic traffic;
};

/// What one opcode did: warp instructions, and lanes that executed them.
struct OpcodeCount {
  uint64_t instructions = 0, lanes = 0;
};

/// One loop: its warp instructions, all and by category.
struct LoopCount {
  uint32_t depth = 1;        ///< 1 = in no other loop
  uint64_t iterations = 0;   ///< warp instructions of its first one
  uint64_t instructions = 0; ///< of the body
  uint64_t flops = 0;        ///< of matrix instructions
  std::map<std::string, uint64_t> byCategory;
};

/// The figures that are kept of each CTA.
struct CTACount {
  uint64_t linear = 0;
  uint64_t instructions = 0, loadedBytes = 0, storedBytes = 0, wavefronts = 0,
           conflicts = 0, flops = 0, special = 0;
};

class CTACounters;
struct TouchedBuffers;

class Counters : public ExecutionObserver {
public:
  Counters();
  ~Counters() override;
  Counters(Counters &&other);
  Counters &operator=(Counters &&other);

  std::string_view name() const override { return "counters"; }
  uint32_t interests() const override;
  bool countsOnce() const override { return true; }
  void kernelBegin(const KernelEvent &event) override;
  std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &event) override;
  void ctaEnd(const CTAEvent &event, CTAObserver &observer,
              bool completed) override;
  void kernelEnd(Report &report) override;

  /// Sums over all launches since the last reset.
  const std::map<std::string, BufferTraffic> &buffers() const {
    return byBuffer;
  }
  GlobalTraffic loaded() const;
  GlobalTraffic stored() const;
  const SharedTraffic &shared(SharedKind kind) const {
    return byKind[unsigned(kind)];
  }
  /// Sites with conflicts, by PTX line.
  std::vector<ConflictSite> conflicts() const;
  /// By the whole opcode, "ld.global.v4.b32".
  const std::map<std::string, OpcodeCount> &opcodes() const { return byOpcode; }
  /// Warp instructions whose opcode begins with `prefix` and a dot or ends.
  uint64_t instructions(const std::string &prefix) const;
  /// What the lanes computed: ex2 of an f16x2 counts two.
  uint64_t operations(const std::string &mnemonic) const;
  uint64_t flops(const std::string &mmaType) const;
  /// By the PTX line of the first instruction.
  const std::map<uint32_t, LoopCount> &loops() const { return byLoop; }
  /// Warp instructions by source line, "file:line", where `.loc` gives one.
  const std::map<std::string, uint64_t> &sourceLines() const {
    return bySourceLine;
  }
  /// Of the first kMaxListed CTAs.
  const std::vector<CTACount> &ctaCounts() const { return perCTA; }
  static constexpr size_t kMaxListed = 1024;

  /// All of it under dotted names, in a fixed order; a name has no dots but
  /// those that open a group ("ld.global" becomes "ld_global").
  std::vector<std::pair<std::string, double>> values() const;
  /// The values as JSON text, groups as objects; behind them "ctas_listed", a
  /// list of what each of the first CTAs asked for.
  std::string json() const;

  void reset();

private:
  void addInstructions(const InstructionInfo &info, const OpcodeCount &count);
  void addLoops();
  void addCTA(uint64_t linear, const CTACounters &cta);
  void addConflicts(const InstructionInfo &info, SharedKind kind,
                    const SharedTraffic &traffic);

  const Device *device = nullptr;
  // Of the launch in progress, by pc.
  const CodeInfo *code = nullptr;
  std::vector<OpcodeCount> issued;
  std::vector<SharedTraffic> accessed;
  std::vector<SharedKind> kinds;
  // Of all launches.
  std::map<std::string, BufferTraffic> byBuffer;
  std::array<SharedTraffic, kSharedKinds> byKind{};
  /// By kernel, line, column and kind.
  std::map<std::string, ConflictSite> bySite;
  std::map<std::string, OpcodeCount> byOpcode;
  std::map<std::string, uint64_t> byCategory, operationsOf, flopsOf, mmasOf;
  std::map<uint32_t, LoopCount> byLoop;
  std::map<std::string, uint64_t> bySourceLine;
  std::vector<CTACount> perCTA;
  CTACount least, most;
  std::unique_ptr<TouchedBuffers> touched;
  uint64_t ctas = 0, warpInstructions = 0, asyncBytes = 0;
};

/// Values under dotted names as JSON text, groups as objects.
std::string
countersJson(const std::vector<std::pair<std::string, double>> &values);

} // namespace ptxvm

#endif // FA_EMULATOR_COUNTERS_H
