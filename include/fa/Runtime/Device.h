//===- Device.h - something that runs PTX -----------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the runner asks of a device: memory, a module, a launch. A back end
// lives in a folder below lib/Runtime and is reached through the registry
// alone. Addresses are the device's; they mean nothing to the host.
//
//===----------------------------------------------------------------------===//
#ifndef FA_RUNTIME_DEVICE_H
#define FA_RUNTIME_DEVICE_H

#include "fa/Support/DeviceOptions.h"
#include "fa/Support/Expected.h"
#include "fa/Support/TensorMap.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace farun {

using DeviceAddress = uint64_t;

/// One kernel argument by value: its bytes.
struct LaunchArgument {
  std::vector<uint8_t> bytes;

  template <typename T> static LaunchArgument of(const T &value) {
    LaunchArgument argument;
    argument.bytes.resize(sizeof(T));
    std::memcpy(argument.bytes.data(), &value, sizeof(T));
    return argument;
  }
};

/// A tensor in device memory and a box of it, as cuTensorMapEncodeTiled takes
/// them: dimensions innermost first, the first one dense, zeros outside.
struct TensorMapRequest {
  ElementType type = ElementType::F16;
  DeviceAddress address = 0;
  std::vector<uint64_t> extents;
  std::vector<uint64_t> strides; ///< bytes, of the second dimension and on
  std::vector<uint32_t> box;
  TensorSwizzle swizzle = TensorSwizzle::None;
};

struct LaunchGeometry {
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::array<uint32_t, 3> block = {1, 1, 1};
  std::array<uint32_t, 3> cluster = {1, 1, 1};
  uint32_t sharedBytes = 0; ///< dynamic
};

/// What a launch that was accepted came to.
struct LaunchOutcome {
  /// Set when the kernel was stopped (ErrorCode::Fault) or the launch refused.
  std::optional<Error> failure;
  /// Everything that the device said, one line each, errors first.
  std::vector<std::string> diagnostics;
  /// Counters in a fixed order, when they were asked for; a dot in a name
  /// opens a group: "global.loaded_bytes".
  std::vector<std::pair<std::string, double>> counters;
  double seconds = 0;
};

/// Told how many blocks of a launch are done, of how many; false stops it.
using ProgressFunction = std::function<bool(uint64_t done, uint64_t total)>;

/// Who may write to a buffer.
enum class BufferAccess { ReadOnly, ReadWrite };

class Device {
public:
  virtual ~Device() = default;

  virtual std::string name() const = 0;
  /// Which one it is, on devices of which there are many: "NVIDIA H200, ...".
  virtual std::string model() const { return ""; }
  /// The target to compile for when the user names none: "sm_80".
  virtual std::string defaultTarget() const = 0;
  /// False for a device that computes from the op's meaning instead: the
  /// runner then asks the oracle, and nothing below is called.
  virtual bool runsPTX() const { return true; }
  /// True when time on this device says something about a GPU.
  virtual bool hasRealTime() const { return false; }
  /// How many blocks run at once where each needs a multiprocessor: what SMs
  /// is in the grid of a launch (fa/Support/ExtentExpression.h).
  virtual int64_t multiprocessors() const { return 1; }
  /// True when an access outside a buffer is always found by the device
  /// itself; else the runner puts guard zones around every buffer.
  virtual bool findsOutOfBounds() const { return false; }

  /// Gives everything back, buffers that are left too; nothing may follow. The
  /// error is the first failure to give something back, now or before.
  virtual Status close() { return {}; }

  /// Makes `text` the module that later launches use.
  virtual Status load(const std::string &text, const std::string &fileName) = 0;

  /// A buffer of at least one byte, 256-byte aligned, every byte 0xFF (a NaN
  /// in every float type). `name` appears in messages.
  virtual Expected<DeviceAddress>
  allocate(uint64_t bytes, const std::string &name, BufferAccess access) = 0;
  virtual void release(DeviceAddress address) = 0;
  virtual Status write(DeviceAddress to, const void *from, uint64_t bytes) = 0;
  virtual Status read(DeviceAddress from, void *to, uint64_t bytes) = 0;
  /// The first of these bytes that nobody wrote, on devices that know.
  virtual std::optional<uint64_t> firstUnwritten(DeviceAddress from,
                                                 uint64_t bytes) {
    return std::nullopt;
  }

  /// The 128 bytes of a tensor map, to be passed by value. The request keeps
  /// the rules of Parameter::box (fa/Support/Manifest.h).
  virtual Expected<LaunchArgument>
  encodeTensorMap(const TensorMapRequest &request) {
    return deviceError("the device " + name() + " has no tensor maps");
  }

  /// Called by the launching thread at least every 50 ms during later launches,
  /// on devices where a launch may take long; none when empty.
  virtual void setProgress(ProgressFunction progress) {}

  /// Runs a grid to its end. An Error means that the device itself failed.
  virtual Expected<LaunchOutcome>
  launch(const std::string &kernel, const LaunchGeometry &geometry,
         const std::vector<LaunchArgument> &arguments) = 0;

  /// True when other parts of the process have memory and streams on this
  /// device, to which what follows belongs.
  virtual bool isShared() const { return false; }
  /// An error about `what` unless this byte is in memory of this device.
  virtual Status checkAddress(DeviceAddress address, const std::string &what) {
    return deviceError("the device " + name() + " shares no memory");
  }
  /// Like launch(), in a stream (null: the default one). Without `wait` it
  /// returns when the grid is in the stream, and times nothing.
  virtual Expected<LaunchOutcome>
  launchInStream(const std::string &kernel, const LaunchGeometry &geometry,
                 const std::vector<LaunchArgument> &arguments, void *stream,
                 bool wait) {
    return deviceError("the device " + name() + " has no streams");
  }
};

} // namespace farun

#endif // FA_RUNTIME_DEVICE_H
