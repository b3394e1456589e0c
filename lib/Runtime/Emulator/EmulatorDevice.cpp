//===- EmulatorDevice.cpp - the PTX machine as a device -------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thin shell: buffers and launches go straight through, reports become
// outcomes. What went wrong decides the exit code: a program that the machine
// does not take is the user's input, a fault, a deadlock and the instruction
// limit stop the kernel.
//
//===----------------------------------------------------------------------===//
#include "fa/Emulator/Counters.h"
#include "fa/Emulator/Setup.h"
#include "fa/Emulator/TensorMap.h"

#include "fa/Runtime/RegisterDevices.h"
#include "fa/Support/Manifest.h"

#include <algorithm>
#include <mutex>

namespace farun {

namespace {

Location locationOf(const ptxvm::Diagnostic &diagnostic) {
  return {diagnostic.location.file, int(diagnostic.location.line),
          int(diagnostic.location.column)};
}

/// Parses a program. The last one of the process is kept, with what was decoded
/// of it: devices are often opened one after another for one program, each with
/// an order or checkers of its own.
ptxvm::Expected<ptxvm::Module> parseOnce(const std::string &text,
                                         const std::string &fileName) {
  static std::mutex lock;
  static std::optional<ptxvm::Module> last;
  static std::string lastText;
  {
    std::lock_guard<std::mutex> guard(lock);
    if (last && text == lastText && fileName == last->filename())
      return *last;
  }
  ptxvm::Expected<ptxvm::Module> parsed = ptxvm::Module::parse(text, fileName);
  if (parsed) {
    std::lock_guard<std::mutex> guard(lock);
    last = *parsed;
    lastText = text;
  }
  return parsed;
}

class EmulatorDevice : public Device {
public:
  EmulatorDevice(ptxvm::Setup setup, bool counts)
      : checkers(std::move(setup.checkers)),
        numMultiprocessors(setup.multiprocessors),
        device(std::move(setup.device)) {
    checkers.attach(device);
    if (counts)
      device.addObserver(counters.emplace());
  }

  std::string name() const override { return "emulator"; }
  std::string defaultTarget() const override { return kDefaultTarget; }
  int64_t multiprocessors() const override { return numMultiprocessors; }
  bool findsOutOfBounds() const override { return true; }

  Status load(const std::string &text, const std::string &fileName) override {
    // Many runs of one program parse and decode it once.
    if (module && text == loadedText && fileName == module->filename())
      return {};
    ptxvm::Expected<ptxvm::Module> parsed = parseOnce(text, fileName);
    if (!parsed)
      return inputError(parsed.error().message, locationOf(parsed.error()));
    module.emplace(*parsed);
    loadedText = text;
    return {};
  }

  Expected<DeviceAddress> allocate(uint64_t bytes, const std::string &name,
                                   BufferAccess access) override {
    return device.alloc(bytes ? bytes : 1, name,
                        access == BufferAccess::ReadOnly);
  }
  void release(DeviceAddress address) override { device.free(address); }

  Status write(DeviceAddress to, const void *from, uint64_t bytes) override {
    if (bytes && !device.write(to, from, bytes))
      return deviceError("a write of the host lies outside every buffer");
    return {};
  }
  Status read(DeviceAddress from, void *to, uint64_t bytes) override {
    if (bytes && !device.read(from, to, bytes))
      return deviceError("a read of the host lies outside every buffer");
    return {};
  }

  std::optional<uint64_t> firstUnwritten(DeviceAddress from,
                                         uint64_t bytes) override {
    const ptxvm::Allocation *buffer = device.findAllocation(from);
    if (!buffer || !buffer->contains(from, bytes) ||
        buffer->initialised.empty() || bytes == 0 ||
        buffer->isInitialised(from, bytes))
      return std::nullopt;
    const uint8_t *begin =
        buffer->initialised.data() + (from - buffer->address);
    return uint64_t(
        static_cast<const uint8_t *>(std::memchr(begin, 0, size_t(bytes))) -
        begin);
  }

  Expected<LaunchArgument>
  encodeTensorMap(const TensorMapRequest &request) override {
    ptxvm::TensorMapShape shape;
    shape.type = ptxvm::TensorType(tensorDataType(request.type));
    shape.swizzle = ptxvm::TensorSwizzle(request.swizzle);
    shape.rank = uint32_t(request.extents.size());
    shape.address = request.address;
    for (size_t d = 0; d < std::min(request.extents.size(), kMaxTensorRank);
         ++d) {
      shape.dims[d] = request.extents[d];
      shape.box[d] = request.box[d];
      if (d > 0)
        shape.strides[d - 1] = request.strides[d - 1];
    }
    ptxvm::Expected<ptxvm::TensorMap> map = ptxvm::encodeTiled(shape);
    if (!map)
      return deviceError(map.error().message);
    return LaunchArgument::of(map->bytes);
  }

  void setProgress(ProgressFunction progress) override {
    device.setProgress(std::move(progress));
  }

  Expected<LaunchOutcome>
  launch(const std::string &kernel, const LaunchGeometry &geometry,
         const std::vector<LaunchArgument> &arguments) override {
    if (!module)
      return deviceError("no module is loaded");
    ptxvm::LaunchShape shape;
    shape.grid = {geometry.grid[0], geometry.grid[1], geometry.grid[2]};
    shape.block = {geometry.block[0], geometry.block[1], geometry.block[2]};
    shape.cluster = {geometry.cluster[0], geometry.cluster[1],
                     geometry.cluster[2]};
    shape.dynamicSharedBytes = geometry.sharedBytes;
    std::vector<ptxvm::Argument> values;
    for (const LaunchArgument &argument : arguments)
      values.push_back({argument.bytes});
    if (counters)
      counters->reset();
    LaunchOutcome outcome =
        outcomeOf(device.launch(*module, kernel, shape, values));
    if (counters)
      outcome.counters = counters->values();
    return outcome;
  }

private:
  static LaunchOutcome outcomeOf(const ptxvm::Report &report) {
    LaunchOutcome outcome;
    outcome.seconds = report.counters.seconds;
    outcome.counters = {
        {"warp_instructions", double(report.counters.warpInstructions)},
        {"ctas", double(report.counters.ctas)}};
    const ptxvm::Diagnostic *first = nullptr;
    for (const ptxvm::Diagnostic &diagnostic : report.diagnostics) {
      outcome.diagnostics.push_back(diagnostic.str());
      if (!first && diagnostic.severity == ptxvm::Severity::Error)
        first = &diagnostic;
    }
    if (!report.ok()) {
      ErrorCode code = report.status == ptxvm::Status::Invalid
                           ? ErrorCode::Input
                           : ErrorCode::Fault;
      outcome.failure = Error{code,
                              first ? first->message
                                    : std::string("the kernel was stopped: ") +
                                          ptxvm::statusName(report.status),
                              first ? locationOf(*first) : Location()};
    }
    return outcome;
  }

  // Observers outlive the device's launches.
  ptxvm::CheckerSet checkers;
  std::optional<ptxvm::Counters> counters;
  int64_t numMultiprocessors;
  ptxvm::Device device;
  std::optional<ptxvm::Module> module;
  std::string loadedText;
};

Expected<std::unique_ptr<Device>> openEmulator(const DeviceOptions &options) {
  Expected<ptxvm::Setup> setup = ptxvm::makeSetup(options);
  if (!setup)
    return setup.takeError();
  return std::unique_ptr<Device>(
      new EmulatorDevice(std::move(*setup), options.counters));
}

} // namespace

DeviceEntry emulatorDeviceEntry() {
  DeviceEntry entry;
  entry.name = "emulator";
  entry.description =
      "the PTX machine: runs and checks PTX on the CPU, counts, never times";
  entry.preference = 2;
  entry.whyUnavailable = [] { return std::nullopt; };
  entry.checkers = ptxvm::describeCheckers();
  entry.open = openEmulator;
  return entry;
}

} // namespace farun
