//===- Code.h - decoded kernels ---------------------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the executor runs. An Instruction is one cache line; its operands are
// offsets into the register file of a warp, which holds for every register 32
// lanes of 32 bits (64-bit registers: 32 lanes of 64 bits, two slots):
//
//   regs: | r0 lane 0..31 | r1 lane 0..31 | rd0 lane 0..31, 64 bits each | ...
//
// 8- and 16-bit registers take a 32-bit slot and are kept zero-extended.
// Constants and special registers are read-only slots behind the registers, so
// a handler never asks what kind of operand it has. A predicate is one 32-bit
// mask, a bit a lane.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_DECODER_CODE_H
#define FA_LIB_EMULATOR_DECODER_CODE_H

#include "fa/Emulator/ExecutionObserver.h"

#include <map>
#include <memory>
#include <vector>

namespace ptxvm {

struct Warp;
struct Instruction;

/// What a handler tells the warp's loop.
enum class Flow : uint8_t {
  Next,  ///< go on with pc + 1
  Jump,  ///< the handler has set pc; groups are as they were
  Split, ///< groups changed: choose again
  Block, ///< this group waits at this pc; choose another or yield
  Stop,  ///< the launch stops: a fault was reported
};
using Handler = Flow (*)(Warp &, const Instruction &);

struct alignas(64) Instruction {
  Handler handler = nullptr; ///< filled in by the executor
  uint32_t guard = 1;        ///< predicate slot; slot 1 is always true
  uint32_t guardXor = 0;     ///< ~0 for @!p
  uint32_t dst = 0, a = 0, b = 0, c = 0;
  uint32_t d = 0;    ///< fourth source, or second destination
  uint32_t list = 0; ///< index into Kernel::lists: vector operands
  int32_t imm = 0;   ///< address offset, branch target, LUT, ...
  uint32_t aux = 0;  ///< packed by family, see MemoryAux and friends
  uint64_t mods = 0; ///< Mod bits
  uint16_t row = 0;  ///< row of Instructions.def
};

/// aux of ld, st, atom, red: what moves.
struct MemoryAux {
  uint8_t bytes; ///< of an element
  uint8_t count; ///< elements
  uint8_t flags; ///< kWideRegister, kSigned, kWideAddress
  uint8_t space; ///< Space, or kGeneric
  static constexpr uint8_t kWideRegister = 1, kSigned = 2, kWideAddress = 4;
  static constexpr uint8_t kRed = 8;      ///< no result
  static constexpr uint8_t kCluster = 16; ///< .shared::cluster
  static constexpr uint8_t kGeneric = 255;
  uint32_t pack() const {
    return bytes | count << 8 | flags << 16 | uint32_t(space) << 24;
  }
  static MemoryAux unpack(uint32_t v) {
    return {uint8_t(v), uint8_t(v >> 8), uint8_t(v >> 16), uint8_t(v >> 24)};
  }
};

/// What atom and red do, in Instruction::d.
enum class AtomicOp : uint32_t {
  Add,
  Min,
  Max,
  Inc,
  Dec,
  And,
  Or,
  Xor,
  Exch,
  Cas
};

/// Special registers that a warp fills in when it starts.
enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NWarpId,
  SmId,
  NSmId,
  GridId,
  LanemaskEq,
  LanemaskLe,
  LanemaskLt,
  LanemaskGe,
  LanemaskGt,
  ClusterCtaRank,
  ClusterNctaRank,
  ClusterCtaidX,
  ClusterCtaidY,
  ClusterCtaidZ,
  ClusterNctaidX,
  ClusterNctaidY,
  ClusterNctaidZ,
  ClusteridX,
  ClusteridY,
  ClusteridZ,
  NclusteridX,
  NclusteridY,
  NclusteridZ,
  DynamicSmemSize,
  TotalSmemSize,
  Clock,
  Count
};

/// A read-only slot of the register file.
struct ReadOnly {
  enum Kind : uint8_t { Value, GlobalSymbol, DynamicShared, SpecialRegister };
  Kind kind = Value;
  bool isWide = false;
  Special special = Special::Count;
  uint64_t value = 0; ///< the value, or what is added to a symbol's address
  std::string symbol; ///< GlobalSymbol: a variable of the module
  uint32_t slot = 0;  ///< offset into the register file
};

/// A function of a kernel; number 0 is the entry. A call pushes a frame on the
/// stack of each lane (in local memory, behind the variables of the caller) and
/// saves the registers that the function uses, whoever used them before.
struct FunctionInfo {
  std::string name;
  /// The code, [firstPc, lastPc).
  uint32_t firstPc = 0, lastPc = 0;
  /// Bytes of `.local` and `.param` variables, parameters and results first.
  uint32_t frameBytes = 0;
  /// Register that holds the frame's address, kNoFrameSlot when none does.
  uint32_t frameSlot = ~0u;
  static constexpr uint32_t kNoFrameSlot = ~0u;
  /// Bytes of the results, then of the parameters; what a call must give.
  std::vector<uint32_t> resultBytes, parameterBytes;
  /// Slots of the register file, of 32 and of 64 bits, and predicates that a
  /// call saves.
  std::vector<uint32_t> savedSlots, savedWideSlots, savedPredicates;
};

/// One call: what moves between the frames of the caller and the callee.
struct CallSite {
  enum Builtin : uint8_t { None, Vprintf, AssertFail, Malloc, Free };
  struct Copy {
    uint32_t from, to, bytes; ///< offsets in the two frames
  };
  Builtin builtin = None;
  uint32_t caller = 0;
  uint32_t callee = ~0u; ///< ~0u: the address is in a register
  std::vector<Copy> arguments, results;
  std::vector<uint32_t> resultBytes, parameterBytes;
};

/// One entry, decoded for execution. Immutable once made.
struct Kernel {
  KernelSignature signature;
  CodeInfo info; ///< info.instructions[pc] belongs to code[pc]
  std::vector<Instruction> code;
  std::vector<uint32_t> lists;
  std::vector<ReadOnly> readOnly;
  /// Register file: writable words, then those of the read-only slots.
  uint32_t registerWords = 0, totalWords = 0;
  uint32_t predicates = 3;               ///< 0 false, 1 true, 2 sink
  uint32_t explicitClusterPredicate = 0; ///< %is_explicit_cluster, where read
  uint32_t staticShared = 0;
  uint32_t dynamicSharedAlignment = 16;
  bool usesDynamicShared = false;
  bool usesHeap = false;   ///< calls malloc or free
  uint32_t localBytes = 0; ///< the entry's variables and the stack of calls
  std::vector<FunctionInfo> functions;
  std::vector<CallSite> calls;
  /// Functions by their addresses, for calls through registers.
  std::map<uint64_t, uint32_t> functionAt;
  /// Variables of the module that the code or their initial values name.
  std::vector<std::string> globals;
  uint32_t maxMembers = 0;
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_DECODER_CODE_H
