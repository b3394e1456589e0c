//===- CUDADevice.cpp - a GPU through its driver --------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Works in the GPU's primary context, which other users of the process (a
// framework, say) share, and makes it current for the time of a call only. The
// device owns what it made: a call that fails half way leaves nothing behind
// once close() has been called. A failure to give something back is kept until
// then.
//
//===----------------------------------------------------------------------===//
#include "Gpu.h"

#include "fa/Runtime/RegisterDevices.h"

#include <algorithm>
#include <cstdio>
#include <set>

namespace farun {

namespace {

using namespace cuda;

/// Did the kernel do what it must not, rather than the device fail?
bool isFaultOfKernel(Result result) {
  constexpr Result kFaults[] = {
      kIllegalAddress,      kLaunchTimeout,      kAssert,
      kHardwareStackError,  kIllegalInstruction, kMisalignedAddress,
      kInvalidAddressSpace, kInvalidPC,          kLaunchFailed};
  return std::find(std::begin(kFaults), std::end(kFaults), result) !=
         std::end(kFaults);
}

std::string bytesText(uint64_t bytes) {
  return std::to_string(bytes) + " bytes";
}

class CUDADevice : public Device {
public:
  explicit CUDADevice(Gpu gpu)
      : gpu(std::move(gpu)), driver(this->gpu.driver) {}
  ~CUDADevice() override {
    // Who wants to know of a failure has called close() before.
    (void)close();
  }

  Status open();
  Status close() override;

  std::string name() const override { return Gpu::name(gpu.ordinal); }
  std::string model() const override { return gpu.description(); }
  std::string defaultTarget() const override { return gpu.target(); }
  int64_t multiprocessors() const override { return gpu.multiprocessors; }
  bool hasRealTime() const override { return true; }

  Status load(const std::string &text, const std::string &fileName) override;
  Expected<DeviceAddress> allocate(uint64_t bytes, const std::string &name,
                                   BufferAccess access) override;
  void release(DeviceAddress address) override;
  Status write(DeviceAddress to, const void *from, uint64_t bytes) override;
  Status read(DeviceAddress from, void *to, uint64_t bytes) override;
  Expected<LaunchArgument>
  encodeTensorMap(const TensorMapRequest &request) override;
  Expected<LaunchOutcome>
  launch(const std::string &kernel, const LaunchGeometry &geometry,
         const std::vector<LaunchArgument> &arguments) override;
  bool isShared() const override { return true; }
  Status checkAddress(DeviceAddress address, const std::string &what) override;
  Expected<LaunchOutcome>
  launchInStream(const std::string &kernel, const LaunchGeometry &geometry,
                 const std::vector<LaunchArgument> &arguments, void *stream,
                 bool wait) override;

private:
  /// Destroyed with the scope.
  struct OwnedEvent {
    explicit OwnedEvent(CUDADevice &device) : device(device) {}
    ~OwnedEvent() {
      if (event)
        device.keep(device.driver.call(device.driver.EventDestroy,
                                       "giving back an event", event));
    }
    Status create() {
      return device.driver.call(device.driver.EventCreate, "making an event",
                                &event, 0u);
    }
    CUDADevice &device;
    Event event = nullptr;
  };

  /// A context that was made current, and is not any more behind an exception
  /// either: work allocates on the host.
  class CurrentContext {
  public:
    explicit CurrentContext(const Driver &driver) : driver(driver) {}
    CurrentContext(const CurrentContext &) = delete;
    CurrentContext &operator=(const CurrentContext &) = delete;
    ~CurrentContext() {
      // Without a sentence about a failure: that would allocate.
      if (Context popped = nullptr; isInside)
        (void)driver.CtxPopCurrent.pointer(&popped);
    }
    Status leave() {
      isInside = false;
      Context popped = nullptr;
      return driver.call(driver.CtxPopCurrent, "leaving its context", &popped);
    }

  private:
    const Driver &driver;
    bool isInside = true;
  };

  /// Keeps the first failure to give something back.
  void keep(Status status) {
    if (!status && firstFailure)
      firstFailure = std::move(status);
  }
  /// Calls `function` while the context is current.
  template <typename Work> auto inContext(Work work) -> decltype(work());

  void unload();
  Status loadModule(const std::string &text, const std::string &fileName);
  void releaseInContext(DeviceAddress address);
  Expected<DeviceAddress> allocateFilled(uint64_t bytes,
                                         const std::string &what);
  Expected<std::optional<Error>>
  findMismatch(Function function, const std::string &kernel,
               const LaunchGeometry &geometry,
               const std::vector<LaunchArgument> &arguments);
  Status allow(Function function, const std::string &doing,
               const LaunchGeometry &geometry);
  Status enqueue(Function function, const std::string &kernel,
                 const LaunchGeometry &geometry, void **parameters,
                 Stream stream);
  Expected<LaunchOutcome> launchTimed(Function function,
                                      const std::string &kernel,
                                      const LaunchGeometry &geometry,
                                      void **parameters, Stream stream);
  Expected<LaunchOutcome>
  launchInContext(const std::string &kernel, const LaunchGeometry &geometry,
                  const std::vector<LaunchArgument> &arguments, Stream stream,
                  bool wait);
  Status checkInContext(DeviceAddress address, const std::string &what);

  Gpu gpu;
  const Driver &driver;
  Context context = nullptr;
  Module module = nullptr;
  std::string loadedText;
  bool mayBeRunning = false; ///< a kernel of the module
  std::set<DeviceAddress> buffers;
  Status firstFailure;
};

template <typename Work>
auto CUDADevice::inContext(Work work) -> decltype(work()) {
  if (Status status = driver.call(driver.CtxPushCurrent,
                                  "making its context current", context);
      !status)
    return status.takeError();
  CurrentContext current(driver);
  auto result = work();
  Status status = current.leave();
  if (!status && result)
    return status.takeError();
  return result;
}

Status CUDADevice::open() {
  return driver.call(driver.DevicePrimaryCtxRetain,
                     "taking the context of " + gpu.model, &context,
                     gpu.device);
}

Status CUDADevice::close() {
  if (!context)
    return {};
  keep(inContext([&]() -> Status {
    unload();
    while (!buffers.empty())
      releaseInContext(*buffers.begin());
    return {};
  }));
  context = nullptr;
  keep(driver.call(driver.DevicePrimaryCtxRelease,
                   "giving back the context of " + gpu.model, gpu.device));
  return std::exchange(firstFailure, {});
}

void CUDADevice::unload() {
  loadedText.clear();
  if (std::exchange(mayBeRunning, false))
    keep(driver.call(driver.CtxSynchronize, "waiting for kernels"));
  if (Module old = std::exchange(module, nullptr))
    keep(driver.call(driver.ModuleUnload, "giving back a module", old));
}

Status CUDADevice::load(const std::string &text, const std::string &fileName) {
  // Many runs of one program translate it once.
  if (module && text == loadedText)
    return {};
  return inContext([&] { return loadModule(text, fileName); });
}

Status CUDADevice::loadModule(const std::string &text,
                              const std::string &fileName) {
  unload();
  char log[8192] = {};
  int options[] = {kJITErrorLogBuffer, kJITErrorLogBufferBytes};
  void *values[] = {log, reinterpret_cast<void *>(uintptr_t(sizeof(log)))};
  Result result = driver.ModuleLoadDataEx.pointer(&module, text.c_str(), 2,
                                                  options, values);
  if (result == kSuccess) {
    loadedText = text;
    return {};
  }
  module = nullptr;
  Error error = driver.failure(driver.ModuleLoadDataEx.name, result,
                               "translating PTX for " + gpu.model);
  log[sizeof(log) - 1] = 0;
  std::string said = log;
  while (!said.empty() && (said.back() == '\n' || said.back() == ' '))
    said.pop_back();
  if (!said.empty())
    error.message += ": " + said;
  error.location.file = fileName;
  if (result == kInvalidPTX)
    error.code = ErrorCode::Input;
  return error;
}

Expected<DeviceAddress>
CUDADevice::allocate(uint64_t bytes, const std::string &name, BufferAccess) {
  return inContext([&] {
    return allocateFilled(std::max<uint64_t>(bytes, 1),
                          bytesText(bytes) + " for " + name);
  });
}

Expected<DeviceAddress> CUDADevice::allocateFilled(uint64_t bytes,
                                                   const std::string &what) {
  DevicePointer address = 0;
  if (Status status = driver.call(driver.MemAlloc, "allocating " + what,
                                  &address, size_t(bytes));
      !status)
    return status.takeError();
  buffers.insert(address);
  if (Status status =
          driver.call(driver.MemsetD8, "filling " + what, address,
                      static_cast<unsigned char>(0xff), size_t(bytes));
      !status) {
    releaseInContext(address);
    return status.takeError();
  }
  return DeviceAddress(address);
}

void CUDADevice::release(DeviceAddress address) {
  keep(inContext([&]() -> Status {
    releaseInContext(address);
    return {};
  }));
}

void CUDADevice::releaseInContext(DeviceAddress address) {
  buffers.erase(address);
  keep(driver.call(driver.MemFree, "giving back a buffer", address));
}

Status CUDADevice::write(DeviceAddress to, const void *from, uint64_t bytes) {
  if (bytes == 0)
    return {};
  return inContext([&] {
    return driver.call(driver.MemcpyHtoD, "writing " + bytesText(bytes), to,
                       from, size_t(bytes));
  });
}

Status CUDADevice::read(DeviceAddress from, void *to, uint64_t bytes) {
  if (bytes == 0)
    return {};
  return inContext([&] {
    return driver.call(driver.MemcpyDtoH, "reading " + bytesText(bytes), to,
                       from, size_t(bytes));
  });
}

Expected<LaunchArgument>
CUDADevice::encodeTensorMap(const TensorMapRequest &request) {
  TensorMap map;
  std::vector<uint32_t> elementStrides(request.extents.size(), 1);
  // A tensor of one dimension has no stride, and the driver wants a pointer.
  std::vector<uint64_t> strides = request.strides;
  strides.push_back(0);
  if (Status status = driver.call(
          driver.TensorMapEncodeTiled, "describing a tensor", &map,
          int(tensorDataType(request.type)), uint32_t(request.extents.size()),
          reinterpret_cast<void *>(request.address), request.extents.data(),
          strides.data(), request.box.data(), elementStrides.data(),
          /*interleave=*/0, int(request.swizzle), kPromotionL2_128B,
          /*fill=*/0);
      !status)
    return status.takeError();
  return LaunchArgument::of(map);
}

/// What is wrong with a launch before the driver sees it: it would read
/// arguments that are not there.
Expected<std::optional<Error>>
CUDADevice::findMismatch(Function function, const std::string &kernel,
                         const LaunchGeometry &geometry,
                         const std::vector<LaunchArgument> &arguments) {
  std::string which = "the kernel " + kernel;
  auto mismatch = [](std::string message) {
    return std::optional<Error>(inputError(std::move(message)));
  };
  for (size_t n = 0; n <= arguments.size(); ++n) {
    size_t offset = 0, bytes = 0;
    Result result =
        driver.FuncGetParamInfo.pointer(function, n, &offset, &bytes);
    if (result == kInvalidValue && n < arguments.size())
      return mismatch(which + " takes " + std::to_string(n) +
                      " arguments, found " + std::to_string(arguments.size()));
    if (result == kInvalidValue)
      break;
    if (result != kSuccess)
      return driver.failure(driver.FuncGetParamInfo.name, result,
                            "asking for the parameters of " + kernel);
    if (n == arguments.size())
      return mismatch(which + " takes more than the " + std::to_string(n) +
                      " arguments that it is given");
    if (bytes != arguments[n].bytes.size())
      return mismatch("argument " + std::to_string(n) + " of " + which +
                      " has " + bytesText(bytes) + ", found " +
                      std::to_string(arguments[n].bytes.size()));
  }
  if (int64_t(geometry.sharedBytes) > gpu.maxSharedBytes)
    return mismatch(which + " needs " + bytesText(geometry.sharedBytes) +
                    " of shared memory; a block has up to " +
                    std::to_string(gpu.maxSharedBytes) + " on " + gpu.model);
  return std::optional<Error>();
}

/// Beyond what every kernel may ask for, the driver wants to be told.
Status CUDADevice::allow(Function function, const std::string &doing,
                         const LaunchGeometry &geometry) {
  if (geometry.sharedBytes > 0)
    if (Status status =
            driver.call(driver.FuncSetAttribute, doing, function,
                        kMaxDynamicSharedBytes, int(geometry.sharedBytes));
        !status)
      return status;
  constexpr uint32_t kPortableCluster = 8;
  if (geometry.cluster[0] * geometry.cluster[1] * geometry.cluster[2] >
      kPortableCluster)
    return driver.call(driver.FuncSetAttribute, doing, function,
                       kNonPortableClusterSizeAllowed, 1);
  return {};
}

Status CUDADevice::enqueue(Function function, const std::string &kernel,
                           const LaunchGeometry &geometry, void **parameters,
                           Stream stream) {
  ClusterAttribute cluster;
  cluster.x = geometry.cluster[0];
  cluster.y = geometry.cluster[1];
  cluster.z = geometry.cluster[2];
  bool hasCluster = cluster.x * cluster.y * cluster.z > 1;
  LaunchConfig config{};
  std::copy_n(geometry.grid.begin(), 3, config.grid);
  std::copy_n(geometry.block.begin(), 3, config.block);
  config.sharedBytes = geometry.sharedBytes;
  config.stream = stream;
  config.attributes = hasCluster ? &cluster : nullptr;
  config.attributeCount = hasCluster;
  void **extra = nullptr;
  return driver.call(driver.LaunchKernelEx, "launching the kernel " + kernel,
                     static_cast<const LaunchConfig *>(&config), function,
                     parameters, extra);
}

Expected<LaunchOutcome> CUDADevice::launchTimed(Function function,
                                                const std::string &kernel,
                                                const LaunchGeometry &geometry,
                                                void **parameters,
                                                Stream stream) {
  std::string doing = "launching the kernel " + kernel;
  OwnedEvent start(*this), end(*this);
  for (OwnedEvent *event : {&start, &end})
    if (Status status = event->create(); !status)
      return status.takeError();
  if (Status status =
          driver.call(driver.EventRecord, doing, start.event, stream);
      !status)
    return status.takeError();
  if (Status status = enqueue(function, kernel, geometry, parameters, stream);
      !status)
    return status.takeError();
  // From here on the kernel's own failure may show.
  std::string waiting = "waiting for the kernel " + kernel;
  const char *call = driver.EventRecord.name;
  Result result = driver.EventRecord.pointer(end.event, stream);
  if (result == kSuccess) {
    call = driver.EventSynchronize.name;
    result = driver.EventSynchronize.pointer(end.event);
  }
  LaunchOutcome outcome;
  if (isFaultOfKernel(result)) {
    outcome.failure =
        Error{ErrorCode::Fault,
              "the kernel " + kernel + " was stopped by " +
                  driver.describe(result) + "; --device=emulator can say where",
              {}};
    return outcome;
  }
  if (result != kSuccess)
    return driver.failure(call, result, waiting);
  float milliseconds = 0;
  if (Status status = driver.call(driver.EventElapsedTime, waiting,
                                  &milliseconds, start.event, end.event);
      !status)
    return status.takeError();
  outcome.seconds = double(milliseconds) / 1000;
  return outcome;
}

Expected<LaunchOutcome> CUDADevice::launchInContext(
    const std::string &kernel, const LaunchGeometry &geometry,
    const std::vector<LaunchArgument> &arguments, Stream stream, bool wait) {
  std::string doing = "preparing the kernel " + kernel;
  LaunchOutcome refused;
  Function function = nullptr;
  Result result =
      driver.ModuleGetFunction.pointer(&function, module, kernel.c_str());
  if (result == kNotFound) {
    refused.failure = inputError("the program has no kernel " + kernel);
    return refused;
  }
  if (result != kSuccess)
    return driver.failure(driver.ModuleGetFunction.name, result, doing);
  Expected<std::optional<Error>> mismatch =
      findMismatch(function, kernel, geometry, arguments);
  if (!mismatch)
    return mismatch.takeError();
  if (*mismatch) {
    refused.failure = **mismatch;
    return refused;
  }
  if (Status status = allow(function, doing, geometry); !status)
    return status.takeError();
  std::vector<void *> parameters;
  for (const LaunchArgument &argument : arguments)
    parameters.push_back(const_cast<uint8_t *>(argument.bytes.data()));
  bool mayAnotherRun = std::exchange(mayBeRunning, true);
  if (wait) {
    Expected<LaunchOutcome> outcome =
        launchTimed(function, kernel, geometry, parameters.data(), stream);
    if (outcome)
      mayBeRunning = mayAnotherRun;
    return outcome;
  }
  if (Status status =
          enqueue(function, kernel, geometry, parameters.data(), stream);
      !status)
    return status.takeError();
  return LaunchOutcome();
}

Expected<LaunchOutcome>
CUDADevice::launch(const std::string &kernel, const LaunchGeometry &geometry,
                   const std::vector<LaunchArgument> &arguments) {
  return launchInStream(kernel, geometry, arguments, nullptr, /*wait=*/true);
}

Expected<LaunchOutcome> CUDADevice::launchInStream(
    const std::string &kernel, const LaunchGeometry &geometry,
    const std::vector<LaunchArgument> &arguments, void *stream, bool wait) {
  if (!module)
    return deviceError("no module is loaded");
  return inContext([&] {
    return launchInContext(kernel, geometry, arguments,
                           static_cast<Stream>(stream), wait);
  });
}

Status CUDADevice::checkAddress(DeviceAddress address,
                                const std::string &what) {
  return inContext([&] { return checkInContext(address, what); });
}

Status CUDADevice::checkInContext(DeviceAddress address,
                                  const std::string &what) {
  std::string asking = "asking where " + what + " lies";
  unsigned type = 0;
  Result result =
      driver.PointerGetAttribute.pointer(&type, kPointerMemoryType, address);
  if (result == kInvalidValue ||
      (result == kSuccess && type != kMemoryTypeDevice &&
       type != kMemoryTypeUnified)) {
    char text[20];
    std::snprintf(text, sizeof(text), "0x%llx",
                  static_cast<unsigned long long>(address));
    return inputError(what + " is at " + text +
                      ", which is in no memory of a GPU");
  }
  if (result != kSuccess)
    return driver.failure(driver.PointerGetAttribute.name, result, asking);
  int ordinal = 0;
  if (Status status = driver.call(driver.PointerGetAttribute, asking,
                                  static_cast<void *>(&ordinal),
                                  kPointerDeviceOrdinal, address);
      !status)
    return status;
  if (ordinal == gpu.ordinal)
    return {};
  return inputError(what + " is on " + Gpu::name(ordinal) +
                    ", and the launch is on " + Gpu::name(gpu.ordinal));
}

Expected<std::unique_ptr<Device>> openCUDA(int ordinal,
                                           const DeviceOptions &options) {
  if (std::string given = findGivenOption(options); !given.empty())
    return inputError(given + " is about the PTX machine, and the device cuda "
                              "is a GPU; --device=emulator takes it");
  Expected<Gpu> gpu = Gpu::find(ordinal);
  if (!gpu)
    return deviceError("the device " + Gpu::name(ordinal) +
                       " is not available: " + gpu.error().message);
  auto device = std::make_unique<CUDADevice>(std::move(*gpu));
  if (Status status = device->open(); !status)
    return status.takeError();
  return std::unique_ptr<Device>(std::move(device));
}

DeviceEntry seatOf(int ordinal) {
  DeviceEntry entry;
  entry.name = Gpu::name(ordinal);
  entry.description = "an NVIDIA GPU through its driver";
  entry.whyUnavailable = [ordinal]() -> std::optional<std::string> {
    Expected<Gpu> gpu = Gpu::find(ordinal);
    return gpu ? std::nullopt : std::optional(gpu.error().message);
  };
  entry.model = [ordinal] {
    Expected<Gpu> gpu = Gpu::find(ordinal);
    return gpu ? gpu->description() : std::string();
  };
  entry.open = [ordinal](const DeviceOptions &options) {
    return openCUDA(ordinal, options);
  };
  return entry;
}

} // namespace

DeviceEntry cudaDeviceEntry() {
  DeviceEntry entry = seatOf(0);
  entry.preference = 1;
  entry.count = [] {
    Expected<int> count = Gpu::count();
    return count ? *count : 0;
  };
  entry.at = seatOf;
  return entry;
}

} // namespace farun
