//===- Device.h - buffers and launches --------------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The door of the PTX machine:
//
//   auto module = ptxvm::Module::parseFile("axpy.ptx");
//   ptxvm::Device device;
//   uint64_t x = device.alloc(4096, "x");
//   device.write(x, data, 4096);
//   ptxvm::Report report = device.launch(
//       *module, "axpy", {{4}, {256}},
//       {ptxvm::Argument::of(x), ptxvm::Argument::of(2.0f)});
//   if (!report.ok()) puts(report.diagnostics[0].str().c_str());
//
// Addresses are device addresses: they mean nothing to the host. Buffers lie
// apart from each other with unmapped red zones between them, so an access
// past an end is always found and never reaches another buffer.
//
//===----------------------------------------------------------------------===//
#ifndef FA_EMULATOR_DEVICE_H
#define FA_EMULATOR_DEVICE_H

#include "fa/Emulator/Diagnostic.h"
#include "fa/Emulator/Module.h"
#include "fa/Emulator/Numerics.h"

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ptxvm {

class ExecutionObserver;
struct DeviceState;

/// The order in which CTAs and the warps of a CTA get their turns.
struct OrderPolicy {
  enum Kind { RoundRobin, Reverse, Random } kind = RoundRobin;
  uint64_t seed = 0;
  /// When larger than `seed`: the launch is run with each seed from the one to
  /// the other on the same memory, and it is an error when the results are not
  /// the same bits.
  uint64_t lastSeed = 0;

  /// "round-robin", "reverse", "random:SEED" or "random:FIRST..LAST".
  static Expected<OrderPolicy> parse(const std::string &text);
};

struct DeviceOptions {
  /// Host threads that run CTAs; 0 = one for each core. Results do not depend
  /// on it, except the order of float atomics that different CTAs do on one
  /// address.
  unsigned threads = 0;
  OrderPolicy order;
  /// Warp instructions a launch may issue, over all CTAs; 0 = no limit.
  uint64_t maxInstructions = 0;
  /// cp.async and the like move their bytes as late as the waits allow (true)
  /// or when they are issued (false).
  bool lateCompletion = true;
  /// Largest shared memory of a CTA, static and dynamic (227 KiB: sm_90).
  uint32_t maxSharedBytes = 227 * 1024;
  /// Largest cluster; 8 is what every sm_90 has, some have 16.
  uint32_t maxClusterSize = 8;
  /// Arithmetic of the tensor cores and of approximate functions.
  TensorModel tensorModel = TensorModel::Fma;
  ApproxPolicy approx;
  /// CTAs that may have begun and not ended. More than the host threads need
  /// are begun only when a CTA spins on what a later one writes.
  uint32_t maxResidentCTAs = 1024;
  /// Errors that observers may report before the launch is stopped.
  unsigned maxDiagnostics = 64;
};

/// One kernel argument: its bytes.
struct Argument {
  std::vector<uint8_t> bytes;

  template <typename T> static Argument of(const T &value) {
    Argument a;
    a.bytes.resize(sizeof(T));
    std::memcpy(a.bytes.data(), &value, sizeof(T));
    return a;
  }
};

struct LaunchShape {
  Dim3 grid;
  Dim3 block;
  /// CTAs of a cluster; 0x0x0 leaves it to the kernel, or is 1x1x1.
  Dim3 cluster{0, 0, 0};
  uint32_t dynamicSharedBytes = 0;
};

enum class Status {
  Ok,
  /// The launch, the program or an argument is wrong; nothing ran.
  Invalid,
  /// An access out of bounds, misaligned or to read-only memory, a trap, or
  /// an error that an observer reported.
  Fault,
  Deadlock,
  InstructionLimit,
  /// The progress function asked to stop.
  Cancelled,
};

/// Returns "ok", "invalid", "fault", "deadlock", "instruction-limit" or
/// "cancelled".
const char *statusName(Status status);

/// What the core itself counts in every run.
struct RunCounters {
  uint64_t warpInstructions = 0;
  uint64_t ctas = 0;
  double seconds = 0;
};

struct Report {
  Status status = Status::Ok;
  std::vector<Diagnostic> diagnostics;
  RunCounters counters;

  bool ok() const { return status == Status::Ok; }
};

/// Told how many CTAs of a launch are done, of how many; false stops it.
using ProgressFunction = std::function<bool(uint64_t done, uint64_t total)>;

/// One buffer in global memory, as observers see it.
struct Allocation {
  std::string name;
  uint64_t address = 0;
  uint64_t bytes = 0;
  bool readOnly = false;
  std::vector<uint8_t> data;
  /// One byte a byte, 1 = initialised; empty = all of them are.
  std::vector<uint8_t> initialised;

  bool contains(uint64_t at, uint64_t size) const {
    return at - address <= bytes && bytes - (at - address) >= size;
  }
  bool isInitialised(uint64_t at, uint64_t size) const {
    if (initialised.empty())
      return true;
    return !std::memchr(&initialised[at - address], 0, size);
  }
};

class Device {
public:
  explicit Device(DeviceOptions options = {});
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  DeviceOptions &options() { return opts; }

  /// Makes a buffer, 256-byte aligned, whose bytes are not initialised yet
  /// (they read as 0xFF, a NaN in every float type). `name` appears in
  /// messages. A store of a kernel to a read-only buffer is a fault.
  uint64_t alloc(uint64_t bytes, std::string name, bool readOnly = false);
  void free(uint64_t address);
  /// Host copies; false when the range is not inside one buffer. Writing
  /// marks the bytes as initialised.
  bool write(uint64_t address, const void *from, uint64_t bytes);
  bool read(uint64_t address, void *to, uint64_t bytes) const;
  /// Forgets what a buffer holds: all bytes are 0xFF and uninitialised again.
  bool fillUninitialised(uint64_t address);
  /// The buffer around an address, or null.
  const Allocation *findAllocation(uint64_t address) const;

  /// Observers see every later launch, in this order. The device does not own
  /// them; they must outlive the launches.
  void addObserver(ExecutionObserver &observer);
  void clearObservers() { observers.clear(); }
  /// Takes what printf in kernels prints, CTA by CTA in linear order, within a
  /// CTA warp by warp, whatever the order of execution was; called from one
  /// thread at a time. Without it the text is dropped.
  void setPrinter(std::function<void(std::string_view)> function) {
    printer = std::move(function);
  }
  /// Called by the thread that launches, every 20 ms until the launch ends;
  /// other threads run the CTAs then. Not where the host has none to give. What
  /// a stopped launch has written stays.
  void setProgress(ProgressFunction function) {
    progress = std::move(function);
  }

  /// Runs a whole grid and returns when it is done or stopped. Arguments are
  /// checked by number and size against the entry's parameters.
  Report launch(const Module &module, const std::string &kernel,
                const LaunchShape &shape, const std::vector<Argument> &args);

private:
  Report launchInEachOrder(const Module &module, const std::string &kernel,
                           const LaunchShape &shape,
                           const std::vector<Argument> &args);

  DeviceOptions opts;
  std::unique_ptr<DeviceState> state;
  std::vector<ExecutionObserver *> observers;
  std::function<void(std::string_view)> printer;
  ProgressFunction progress;
};

} // namespace ptxvm

#endif // FA_EMULATOR_DEVICE_H
