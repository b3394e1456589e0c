//===- FakeDriver.cpp - a CUDA driver that checks its callers -------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FakeDriver.h"

#include "../../../lib/Runtime/CUDA/DriverTypes.h"

#include "fa/Emulator/Device.h"
#include "fa/Emulator/TensorMap.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

using namespace farun::cuda;
using farun::test::FakeSetup;

#define FA_EXPORT __attribute__((visibility("default")))

extern "C" {
#define FA_DRIVER_FUNCTION(NAME, SUFFIX, PARAMETERS)                           \
  FA_EXPORT Result cu##NAME##SUFFIX PARAMETERS;
#include "../../../lib/Runtime/CUDA/DriverFunctions.def"
FA_EXPORT Result cuGetErrorName(Result result, const char **text);
FA_EXPORT Result cuGetErrorString(Result result, const char **text);
// What a program beside us calls.
FA_EXPORT Result cuStreamCreate(Stream *stream, unsigned flags);
FA_EXPORT Result cuStreamSynchronize(Stream stream);
FA_EXPORT Result cuStreamDestroy_v2(Stream stream);
FA_EXPORT void fakeCudaReset(const FakeSetup *setup);
FA_EXPORT const char *fakeCudaLog();
FA_EXPORT const char *fakeCudaFailedCall();
FA_EXPORT const char *fakeCudaMisuses();
FA_EXPORT const char *fakeCudaLeaks();
}

namespace {

constexpr Result kNotInitialized = 3, kInvalidDevice = 101,
                 kInvalidContext = 201, kInvalidHandle = 400;
constexpr uint32_t kDefaultSharedBytes = 48 * 1024;
constexpr int kMaxSharedBytes = 227 * 1024;
constexpr int kMultiprocessors = 2;

struct ErrorText {
  Result result;
  const char *name, *text;
};
constexpr ErrorText kErrors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {kInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {kNotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {kInvalidPTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {kNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {kLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

struct LoadedFunction {
  Module module;
  std::string name;
  uint32_t dynamicBytes = kDefaultSharedBytes;
  bool mayBeNonPortable = false;
};

struct Buffer {
  std::string name;
  uint64_t bytes;
  int ordinal; ///< of its GPU
};

/// A launch that is in a stream. It runs when somebody waits, whoever that is:
/// who takes a result before that finds none.
struct PendingLaunch {
  Module module;
  std::string name;
  ptxvm::LaunchShape shape;
  std::vector<ptxvm::Argument> arguments;
};

/// All that the driver knows.
struct State {
  FakeSetup setup;
  std::string failName;
  uint64_t failCount = 0;
  Result failResult = 0;
  bool isThrown = false; ///< the failure

  bool isStarted = false;
  std::unique_ptr<ptxvm::Device> machine;
  std::map<DevicePointer, Buffer> buffers;
  std::map<Module, ptxvm::Module> modules;
  std::map<Function, LoadedFunction> functions;
  std::map<Event, bool> events;  ///< and whether it was recorded
  std::map<Stream, int> streams; ///< and the ordinal of the GPU
  std::map<int, int> retained;   ///< by ordinal
  std::vector<PendingLaunch> pending;
  std::map<std::thread::id, std::vector<Context>> stacks;
  Result sticky = 0; ///< what a kernel left

  uint64_t calls = 0, elapsed = 0;
  std::map<std::string, uint64_t> callsOf, made;
  std::string log, misuses, failed;
};

std::mutex mutex;
State state;
/// A primary context is a number behind the address of the state.
Context contextOf(int ordinal) {
  return reinterpret_cast<Context>(reinterpret_cast<char *>(&state) + ordinal);
}
/// -1 for what is none.
int ordinalOf(Context context) {
  for (int ordinal = 0; ordinal < state.setup.gpus; ++ordinal)
    if (context == contextOf(ordinal))
      return ordinal;
  return -1;
}

template <typename Handle> Handle newHandle(const char *kind) {
  // Kind in the upper half, so that one handle is never taken for another.
  uintptr_t number = ++state.made[kind];
  return reinterpret_cast<Handle>((uintptr_t(kind[0]) << 32) + number * 16);
}
template <typename Handle> std::string handleText(const char *kind, Handle h) {
  return h ? kind + std::to_string(
                        (reinterpret_cast<uintptr_t>(h) & 0xffffffff) / 16)
           : "null";
}

void readFail(std::string text) {
  state.failName.clear();
  state.failCount = 0;
  size_t equals = text.find('=');
  if (equals == std::string::npos)
    return;
  std::string failure = text.substr(equals + 1);
  state.isThrown = failure == "throw";
  state.failResult = state.isThrown ? kSuccess : std::stoi(failure);
  std::string which = text.substr(0, equals);
  size_t hash = which.find('#');
  bool isNumber = which.find_first_not_of("0123456789") == std::string::npos;
  state.failName = isNumber ? "" : which.substr(0, hash);
  state.failCount = isNumber ? std::stoull(which)
                    : hash == std::string::npos
                        ? 1
                        : std::stoull(which.substr(hash + 1));
}

void startOver(const FakeSetup &setup) {
  state = State();
  state.setup = setup;
  ptxvm::DeviceOptions options;
  options.threads = 1;
  options.maxClusterSize = 16;
  state.machine = std::make_unique<ptxvm::Device>(options);
  readFail(setup.fail ? setup.fail : "");
}

/// The buffer around an address; null without one. `offset` is into it.
const Buffer *findBuffer(DevicePointer address, uint64_t bytes = 0,
                         uint64_t *offset = nullptr) {
  auto after = state.buffers.upper_bound(address);
  if (after == state.buffers.begin())
    return nullptr;
  const auto &[start, buffer] = *--after;
  uint64_t distance = address - start;
  if (distance > buffer.bytes || buffer.bytes - distance < bytes)
    return nullptr;
  if (offset)
    *offset = distance;
  return &buffer;
}

/// "buffer2+1024"; empty without one.
std::string addressText(DevicePointer address) {
  uint64_t offset = 0;
  const Buffer *buffer = findBuffer(address, 0, &offset);
  if (!buffer)
    return "";
  return buffer->name + (offset ? "+" + std::to_string(offset) : "");
}

enum class Needs { Nothing, Start, Context };

/// One call from its beginning: counted, told to fail, checked against what
/// must be so before it.
class Call {
public:
  Call(const char *name, const std::string &arguments,
       Needs needs = Needs::Context)
      : lock(mutex), name(name) {
    if (!state.machine)
      startOver({});
    state.log += name + (arguments.empty() ? "" : " " + arguments) + "\n";
    ++state.calls;
    ++state.callsOf[name];
    uint64_t count =
        state.failName.empty() ? state.calls : state.callsOf[state.failName];
    isTold = count == state.failCount && state.failed.empty() &&
             (state.failName.empty() || state.failName == name);
    if (isTold) {
      state.failed = name;
      if (state.isThrown)
        throw std::bad_alloc();
      result = state.failResult;
    } else if (needs >= Needs::Start && !state.isStarted) {
      misuse(kNotInitialized, "before cuInit");
    } else if (needs == Needs::Context && stack().empty()) {
      misuse(kInvalidContext, "without a current context");
    } else if (needs == Needs::Context) {
      result = state.sticky;
    }
  }

  bool isRefused() const { return result != kSuccess; }
  /// A call that gives something back has done so even if it says it failed.
  bool mayGiveBack() const { return !isRefused() || isTold || state.sticky; }
  Result misuse(Result value, const std::string &what) {
    state.misuses += name + ": " + what + "\n";
    return result = value;
  }
  static std::vector<Context> &stack() {
    return state.stacks[std::this_thread::get_id()];
  }

  Result result = kSuccess;

private:
  std::lock_guard<std::mutex> lock;
  std::string name;
  bool isTold = false;
};

int currentOrdinal() { return ordinalOf(Call::stack().back()); }

/// Everything that was launched comes to its end. A kernel's fault is told by
/// what waits for it, and by all that follows.
Result runPending() {
  for (PendingLaunch &launch : std::exchange(state.pending, {})) {
    if (state.sticky)
      continue;
    ptxvm::Report report =
        state.machine->launch(state.modules.at(launch.module), launch.name,
                              launch.shape, launch.arguments);
    if (report.status == ptxvm::Status::Invalid)
      state.sticky = kInvalidValue;
    else if (!report.ok())
      state.sticky = kIllegalAddress;
  }
  return state.sticky;
}

std::string number(uint64_t value) { return std::to_string(value); }

/// Writes what is wrong with a program where the caller wants to have it.
void writeJITLog(const std::string &message, unsigned count, const int *options,
                 void **values) {
  char *buffer = nullptr;
  size_t bytes = 0;
  for (unsigned n = 0; n < count; ++n) {
    if (options[n] == kJITErrorLogBuffer)
      buffer = static_cast<char *>(values[n]);
    if (options[n] == kJITErrorLogBufferBytes)
      bytes = reinterpret_cast<uintptr_t>(values[n]);
  }
  if (buffer && bytes)
    std::snprintf(buffer, bytes, "%s\n", message.c_str());
}

std::string parameterText(const void *value, uint32_t size) {
  uint64_t word = 0;
  if (size > sizeof(word))
    return number(size) + " bytes";
  std::memcpy(&word, value, size);
  std::string address = size == 8 ? addressText(word) : "";
  return address.empty() ? number(word) : address;
}

std::string dim3Text(const uint32_t *dim) {
  return number(dim[0]) + "," + number(dim[1]) + "," + number(dim[2]);
}

/// What the driver refuses of a configuration.
std::string findWrong(const LaunchConfig &config,
                      const LoadedFunction &function, const uint32_t *cluster) {
  uint64_t threads =
      uint64_t(config.block[0]) * config.block[1] * config.block[2];
  if (threads < 1 || threads > 1024 || config.block[2] > 64)
    return "a block of " + dim3Text(config.block);
  if (!config.grid[0] || !config.grid[1] || !config.grid[2] ||
      config.grid[0] > 0x7fffffffu || config.grid[1] > 65535 ||
      config.grid[2] > 65535)
    return "a grid of " + dim3Text(config.grid);
  for (int d = 0; d < 3; ++d)
    if (!cluster[d] || config.grid[d] % cluster[d])
      return "a cluster of " + dim3Text(cluster) + " in a grid of " +
             dim3Text(config.grid);
  uint32_t size = cluster[0] * cluster[1] * cluster[2];
  if (size > 16 || (size > 8 && !function.mayBeNonPortable))
    return "a cluster of " + number(size) + " that was not allowed";
  if (config.sharedBytes > function.dynamicBytes)
    return number(config.sharedBytes) + " bytes of shared memory where " +
           number(function.dynamicBytes) + " were allowed";
  return "";
}

void writeAtExit() {
  if (const char *path = std::getenv("FA_FAKE_CUDA_LOG"))
    if (FILE *file = std::fopen(path, "w")) {
      std::fprintf(file, "%smisuses:\n%sleaks:\n%s", fakeCudaLog(),
                   fakeCudaMisuses(), fakeCudaLeaks());
      std::fclose(file);
    }
}

/// Reads the environment of a process when it loads the library.
struct Begin {
  Begin() {
    FakeSetup setup;
    if (const char *given = std::getenv("FA_FAKE_CUDA_FAIL"))
      setup.fail = given;
    startOver(setup);
  }
  ~Begin() { writeAtExit(); }
};
Begin begin;

} // namespace

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

void fakeCudaReset(const FakeSetup *setup) {
  std::lock_guard<std::mutex> lock(mutex);
  startOver(*setup);
}

const char *fakeCudaLog() { return state.log.c_str(); }
const char *fakeCudaFailedCall() { return state.failed.c_str(); }
const char *fakeCudaMisuses() { return state.misuses.c_str(); }

const char *fakeCudaLeaks() {
  static std::string text;
  std::lock_guard<std::mutex> lock(mutex);
  text.clear();
  for (const auto &[address, buffer] : state.buffers)
    text += buffer.name + " of " + number(buffer.bytes) + " bytes\n";
  for (const auto &[module, program] : state.modules)
    text += handleText("module", module) + "\n";
  for (const auto &[event, isRecorded] : state.events)
    text += handleText("event", event) + "\n";
  for (const auto &[stream, ordinal] : state.streams)
    text += handleText("stream", stream) + "\n";
  for (const auto &[ordinal, times] : state.retained)
    if (times)
      text += "the context, " + number(uint64_t(times)) + " times\n";
  for (const auto &[thread, stack] : state.stacks)
    if (!stack.empty())
      text += "a context is still current\n";
  return text.c_str();
}

//===----------------------------------------------------------------------===//
// The driver: errors, devices, contexts
//===----------------------------------------------------------------------===//

Result cuGetErrorName(Result result, const char **text) {
  for (const ErrorText &row : kErrors)
    if (row.result == result) {
      *text = row.name;
      return kSuccess;
    }
  *text = nullptr;
  return kInvalidValue;
}

Result cuGetErrorString(Result result, const char **text) {
  for (const ErrorText &row : kErrors)
    if (row.result == result) {
      *text = row.text;
      return kSuccess;
    }
  *text = nullptr;
  return kInvalidValue;
}

Result cuInit(unsigned flags) {
  Call call("cuInit", number(flags), Needs::Nothing);
  if (call.isRefused())
    return call.result;
  if (flags != 0)
    return call.misuse(kInvalidValue, "flags must be 0");
  state.isStarted = true;
  return kSuccess;
}

Result cuDriverGetVersion(int *version) {
  Call call("cuDriverGetVersion", "", Needs::Start);
  if (!call.isRefused())
    *version = 12080;
  return call.result;
}

Result cuDeviceGetCount(int *count) {
  Call call("cuDeviceGetCount", "", Needs::Start);
  if (!call.isRefused())
    *count = state.setup.gpus;
  return call.result;
}

Result cuDeviceGet(DeviceOrdinal *device, int ordinal) {
  Call call("cuDeviceGet", number(uint64_t(ordinal)), Needs::Start);
  if (call.isRefused())
    return call.result;
  if (ordinal < 0 || ordinal >= state.setup.gpus)
    return call.misuse(kInvalidDevice, "no such GPU");
  // Not the ordinal, so that one is not taken for the other.
  *device = ordinal + 70;
  return kSuccess;
}

static bool isDevice(DeviceOrdinal device) {
  return device >= 70 && device < 70 + state.setup.gpus;
}

Result cuDeviceGetName(char *name, int bytes, DeviceOrdinal device) {
  Call call("cuDeviceGetName", "", Needs::Start);
  if (call.isRefused())
    return call.result;
  if (!isDevice(device) || bytes < 1)
    return call.misuse(kInvalidDevice, "no such GPU");
  std::snprintf(name, size_t(bytes), "Fake GPU");
  return kSuccess;
}

Result cuDeviceGetAttribute(int *value, int attribute, DeviceOrdinal device) {
  Call call("cuDeviceGetAttribute", number(uint64_t(attribute)), Needs::Start);
  if (call.isRefused())
    return call.result;
  if (!isDevice(device))
    return call.misuse(kInvalidDevice, "no such GPU");
  switch (attribute) {
  case kComputeCapabilityMajor:
    *value = state.setup.major;
    return kSuccess;
  case kComputeCapabilityMinor:
    *value = state.setup.minor;
    return kSuccess;
  case kMaxSharedBytesOptin:
    *value = kMaxSharedBytes;
    return kSuccess;
  case kMultiprocessorCount:
    *value = kMultiprocessors;
    return kSuccess;
  }
  return call.misuse(kInvalidValue, "no such attribute");
}

Result cuDevicePrimaryCtxRetain(Context *context, DeviceOrdinal device) {
  Call call("cuDevicePrimaryCtxRetain", "", Needs::Start);
  if (call.isRefused())
    return call.result;
  if (!isDevice(device))
    return call.misuse(kInvalidDevice, "no such GPU");
  ++state.retained[device - 70];
  *context = contextOf(device - 70);
  return kSuccess;
}

Result cuDevicePrimaryCtxRelease_v2(DeviceOrdinal device) {
  Call call("cuDevicePrimaryCtxRelease", "", Needs::Start);
  if (!call.mayGiveBack())
    return call.result;
  if (!isDevice(device) || state.retained[device - 70] == 0)
    return call.misuse(kInvalidContext, "it was not retained");
  if (--state.retained[device - 70] > 0)
    return call.result;
  for (const auto &[ordinal, times] : state.retained)
    if (times)
      return call.result;
  bool isEmpty = state.buffers.empty() && state.modules.empty() &&
                 state.events.empty() && state.pending.empty();
  // What is in a context ends with it. That is for emergencies.
  state.pending.clear();
  state.buffers.clear();
  state.modules.clear();
  state.functions.clear();
  state.events.clear();
  if (!isEmpty && state.failed.empty() && !state.sticky)
    return call.misuse(kInvalidContext, "it still holds something");
  return call.result;
}

Result cuCtxPushCurrent_v2(Context context) {
  Call call("cuCtxPushCurrent", "", Needs::Start);
  if (call.isRefused())
    return call.result;
  if (ordinalOf(context) < 0 || state.retained[ordinalOf(context)] == 0)
    return call.misuse(kInvalidContext, "no context of ours");
  Call::stack().push_back(context);
  return kSuccess;
}

Result cuCtxPopCurrent_v2(Context *context) {
  Call call("cuCtxPopCurrent", "", Needs::Start);
  if (!call.mayGiveBack())
    return call.result;
  if (Call::stack().empty())
    return call.misuse(kInvalidContext, "none is current");
  *context = Call::stack().back();
  Call::stack().pop_back();
  return call.result;
}

//===----------------------------------------------------------------------===//
// The driver: modules and functions
//===----------------------------------------------------------------------===//

Result cuModuleLoadDataEx(Module *module, const void *image,
                          unsigned optionCount, int *options, void **values) {
  std::string text = static_cast<const char *>(image);
  Call call("cuModuleLoadDataEx", number(text.size()) + " bytes");
  if (call.isRefused())
    return call.result;
  ptxvm::Expected<ptxvm::Module> parsed = ptxvm::Module::parse(text, "image");
  if (!parsed) {
    writeJITLog(parsed.error().message, optionCount, options, values);
    return kInvalidPTX;
  }
  *module = newHandle<Module>("module");
  state.modules.emplace(*module, *parsed);
  return kSuccess;
}

Result cuModuleUnload(Module module) {
  Call call("cuModuleUnload", handleText("module", module));
  if (!call.mayGiveBack())
    return call.result;
  for (const PendingLaunch &launch : state.pending)
    if (launch.module == module)
      return call.misuse(kInvalidHandle, "a kernel of it may still run");
  if (!state.modules.erase(module))
    return call.misuse(kInvalidHandle, "no module");
  std::erase_if(state.functions, [&](const auto &entry) {
    return entry.second.module == module;
  });
  return call.result;
}

Result cuModuleGetFunction(Function *function, Module module,
                           const char *name) {
  Call call("cuModuleGetFunction", handleText("module", module) + " " + name);
  if (call.isRefused())
    return call.result;
  auto found = state.modules.find(module);
  if (found == state.modules.end())
    return call.misuse(kInvalidHandle, "no module");
  if (!found->second.findKernel(name))
    return kNotFound;
  for (const auto &[handle, known] : state.functions)
    if (known.module == module && known.name == name) {
      *function = handle;
      return kSuccess;
    }
  *function = newHandle<Function>("function");
  state.functions[*function] = {module, name};
  return kSuccess;
}

static const ptxvm::KernelSignature &signatureOf(const LoadedFunction &f) {
  return *state.modules.at(f.module).findKernel(f.name);
}

Result cuFuncGetParamInfo(Function function, size_t index, size_t *offset,
                          size_t *bytes) {
  Call call("cuFuncGetParamInfo",
            handleText("function", function) + " " + number(index));
  if (call.isRefused())
    return call.result;
  auto found = state.functions.find(function);
  if (found == state.functions.end())
    return call.misuse(kInvalidHandle, "no function");
  const auto &parameters = signatureOf(found->second).parameters;
  // One behind the last is how a caller finds their number.
  if (index > parameters.size())
    return call.misuse(kInvalidValue, "no parameter near");
  if (index == parameters.size())
    return kInvalidValue;
  *offset = parameters[index].offset;
  *bytes = parameters[index].size;
  return kSuccess;
}

Result cuFuncSetAttribute(Function function, int attribute, int value) {
  Call call("cuFuncSetAttribute", handleText("function", function) + " " +
                                      number(uint64_t(attribute)) + " " +
                                      std::to_string(value));
  if (call.isRefused())
    return call.result;
  auto found = state.functions.find(function);
  if (found == state.functions.end())
    return call.misuse(kInvalidHandle, "no function");
  if (attribute == kMaxDynamicSharedBytes && value >= 0 &&
      value <= kMaxSharedBytes)
    found->second.dynamicBytes = uint32_t(value);
  else if (attribute == kNonPortableClusterSizeAllowed)
    found->second.mayBeNonPortable = value != 0;
  else
    return call.misuse(kInvalidValue, "attribute or value");
  return kSuccess;
}

/// The first buffer of another GPU than the current one among arguments.
static std::string
findForeignBuffer(const std::vector<ptxvm::Argument> &arguments) {
  for (const ptxvm::Argument &argument : arguments) {
    DevicePointer address = 0;
    if (argument.bytes.size() != sizeof(address))
      continue;
    std::memcpy(&address, argument.bytes.data(), sizeof(address));
    const Buffer *buffer = findBuffer(address);
    if (buffer && buffer->ordinal != currentOrdinal())
      return buffer->name;
  }
  return "";
}

static bool isStreamHere(Stream stream) {
  auto found = state.streams.find(stream);
  return !stream ||
         (found != state.streams.end() && found->second == currentOrdinal());
}

Result cuLaunchKernelEx(const LaunchConfig *config, Function function,
                        void **parameters, void **extra) {
  uint32_t cluster[3] = {1, 1, 1};
  bool hasOther = false;
  for (uint32_t n = 0; n < config->attributeCount; ++n) {
    const ClusterAttribute &attribute = config->attributes[n];
    hasOther |= attribute.id != ClusterAttribute().id;
    cluster[0] = attribute.x;
    cluster[1] = attribute.y;
    cluster[2] = attribute.z;
  }
  std::string text = handleText("function", function) + " grid " +
                     dim3Text(config->grid) + " block " +
                     dim3Text(config->block) + " cluster " + dim3Text(cluster) +
                     " shared " + number(config->sharedBytes) + ":";
  std::vector<ptxvm::Argument> arguments;
  auto found = state.functions.find(function);
  if (found != state.functions.end())
    for (const ptxvm::KernelParameter &parameter :
         signatureOf(found->second).parameters) {
      const void *value = parameters[arguments.size()];
      text += " " + parameterText(value, parameter.size);
      arguments.emplace_back().bytes.resize(parameter.size);
      std::memcpy(arguments.back().bytes.data(), value, parameter.size);
    }
  if (config->stream)
    text += " in " + handleText("stream", config->stream);
  Call call("cuLaunchKernelEx", text);
  if (call.isRefused())
    return call.result;
  if (found == state.functions.end())
    return call.misuse(kInvalidHandle, "no function");
  if (extra || hasOther)
    return call.misuse(kInvalidValue, "an attribute or extra");
  if (!isStreamHere(config->stream))
    return call.misuse(kInvalidHandle, "no stream of this context");
  if (std::string wrong = findWrong(*config, found->second, cluster);
      !wrong.empty())
    return call.misuse(kInvalidValue, wrong);
  if (std::string other = findForeignBuffer(arguments); !other.empty())
    return call.misuse(kInvalidValue, other + " is of another GPU");
  PendingLaunch launch{found->second.module, found->second.name, {}, arguments};
  launch.shape.grid = {config->grid[0], config->grid[1], config->grid[2]};
  launch.shape.block = {config->block[0], config->block[1], config->block[2]};
  launch.shape.cluster = {cluster[0], cluster[1], cluster[2]};
  launch.shape.dynamicSharedBytes = config->sharedBytes;
  state.pending.push_back(std::move(launch));
  return kSuccess;
}

Result cuCtxSynchronize() {
  Call call("cuCtxSynchronize", "");
  // It has waited, whatever it says.
  Result fault = call.mayGiveBack() ? runPending() : kSuccess;
  return call.isRefused() ? call.result : fault;
}

//===----------------------------------------------------------------------===//
// The driver: memory
//===----------------------------------------------------------------------===//

Result cuMemAlloc_v2(DevicePointer *address, size_t bytes) {
  Call call("cuMemAlloc", number(bytes));
  if (call.isRefused())
    return call.result;
  if (bytes == 0)
    return call.misuse(kInvalidValue, "no bytes");
  std::string name = "buffer" + number(++state.made["buffer"]);
  *address = state.machine->alloc(bytes, name);
  state.buffers[*address] = {name, bytes, currentOrdinal()};
  return kSuccess;
}

Result cuMemFree_v2(DevicePointer address) {
  Call call("cuMemFree", addressText(address));
  if (!call.mayGiveBack())
    return call.result;
  if (!state.buffers.erase(address))
    return call.misuse(kInvalidValue, "no buffer begins there");
  runPending();
  state.machine->free(address);
  return call.result;
}

Result cuMemsetD8_v2(DevicePointer address, unsigned char value, size_t count) {
  Call call("cuMemsetD8",
            addressText(address) + " " + number(value) + " " + number(count));
  if (call.isRefused())
    return call.result;
  runPending();
  std::vector<uint8_t> bytes(count, value);
  if (!state.machine->write(address, bytes.data(), count))
    return call.misuse(kInvalidValue, "outside of every buffer");
  return kSuccess;
}

Result cuMemcpyHtoD_v2(DevicePointer to, const void *from, size_t bytes) {
  Call call("cuMemcpyHtoD", addressText(to) + " " + number(bytes));
  if (call.isRefused())
    return call.result;
  if (Result fault = runPending())
    return fault;
  if (!state.machine->write(to, from, bytes))
    return call.misuse(kInvalidValue, "outside of every buffer");
  return kSuccess;
}

Result cuMemcpyDtoH_v2(void *to, DevicePointer from, size_t bytes) {
  Call call("cuMemcpyDtoH", addressText(from) + " " + number(bytes));
  if (call.isRefused())
    return call.result;
  if (Result fault = runPending())
    return fault;
  if (!state.machine->read(from, to, bytes))
    return call.misuse(kInvalidValue, "outside of every buffer");
  return kSuccess;
}

Result cuPointerGetAttribute(void *value, int attribute,
                             DevicePointer address) {
  Call call("cuPointerGetAttribute",
            number(uint64_t(attribute)) + " " + addressText(address));
  if (call.isRefused())
    return call.result;
  const Buffer *buffer = findBuffer(address, 1);
  // Of the host's own memory, and of none, the driver says nothing else.
  if (!buffer)
    return kInvalidValue;
  if (attribute == kPointerMemoryType)
    *static_cast<unsigned *>(value) = kMemoryTypeDevice;
  else if (attribute == kPointerDeviceOrdinal)
    *static_cast<int *>(value) = buffer->ordinal;
  else
    return call.misuse(kInvalidValue, "no such attribute");
  return kSuccess;
}

Result cuTensorMapEncodeTiled(TensorMap *map, int type, uint32_t rank,
                              void *address, const uint64_t *extents,
                              const uint64_t *strides, const uint32_t *box,
                              const uint32_t *elementStrides, int interleave,
                              int swizzle, int promotion, int fill) {
  DevicePointer at = reinterpret_cast<DevicePointer>(address);
  ptxvm::TensorMapShape shape;
  std::string text = addressText(at) + " type " + number(uint64_t(type)) +
                     " swizzle " + number(uint64_t(swizzle)) + ":";
  for (uint32_t d = 0; d < std::min(rank, 5u); ++d) {
    shape.dims[d] = extents[d];
    shape.box[d] = box[d];
    shape.elementStrides[d] = elementStrides[d];
    text += " " + number(extents[d]) + "/" + number(box[d]);
    if (d > 0) {
      shape.strides[d - 1] = strides[d - 1];
      text += "@" + number(strides[d - 1]);
    }
  }
  Call call("cuTensorMapEncodeTiled", text, Needs::Start);
  if (call.isRefused())
    return call.result;
  if (reinterpret_cast<uintptr_t>(map) % 64)
    return call.misuse(kInvalidValue, "the map is not aligned to 64 bytes");
  if (addressText(at).empty())
    return call.misuse(kInvalidValue, "the tensor is in no buffer");
  if (!strides)
    return call.misuse(kInvalidValue, "no strides");
  shape.type = ptxvm::TensorType(type);
  shape.rank = rank;
  shape.address = at;
  shape.interleave = ptxvm::TensorInterleave(interleave);
  shape.swizzle = ptxvm::TensorSwizzle(swizzle);
  shape.promotion = ptxvm::TensorPromotion(promotion);
  shape.fill = ptxvm::TensorFill(fill);
  ptxvm::Expected<ptxvm::TensorMap> encoded = ptxvm::encodeTiled(shape);
  if (!encoded)
    return call.misuse(kInvalidValue, encoded.error().message);
  std::memcpy(map, encoded->bytes.data(), encoded->bytes.size());
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// The driver: streams and events
//===----------------------------------------------------------------------===//

Result cuStreamCreate(Stream *stream, unsigned flags) {
  Call call("cuStreamCreate", number(flags));
  if (call.isRefused())
    return call.result;
  *stream = newHandle<Stream>("stream");
  state.streams[*stream] = currentOrdinal();
  return kSuccess;
}

Result cuStreamSynchronize(Stream stream) {
  Call call("cuStreamSynchronize", handleText("stream", stream));
  if (call.isRefused())
    return call.result;
  if (!isStreamHere(stream))
    return call.misuse(kInvalidHandle, "no stream of this context");
  return runPending();
}

Result cuStreamDestroy_v2(Stream stream) {
  Call call("cuStreamDestroy", handleText("stream", stream));
  if (!call.mayGiveBack())
    return call.result;
  if (!state.streams.erase(stream))
    return call.misuse(kInvalidHandle, "no stream");
  return call.result;
}

Result cuEventCreate(Event *event, unsigned flags) {
  Call call("cuEventCreate", number(flags));
  if (call.isRefused())
    return call.result;
  *event = newHandle<Event>("event");
  state.events[*event] = false;
  return kSuccess;
}

Result cuEventRecord(Event event, Stream stream) {
  Call call("cuEventRecord",
            handleText("event", event) +
                (stream ? " in " + handleText("stream", stream) : ""));
  if (call.isRefused())
    return call.result;
  if (!state.events.count(event) || !isStreamHere(stream))
    return call.misuse(kInvalidHandle,
                       "no event, or no stream of this context");
  state.events[event] = true;
  return kSuccess;
}

Result cuEventSynchronize(Event event) {
  Call call("cuEventSynchronize", handleText("event", event));
  if (call.isRefused())
    return call.result;
  if (!state.events.count(event) || !state.events[event])
    return call.misuse(kInvalidHandle, "an event that was not recorded");
  return runPending();
}

/// A quarter of a millisecond the first time, two quarters the second.
Result cuEventElapsedTime(float *milliseconds, Event start, Event end) {
  Call call("cuEventElapsedTime",
            handleText("event", start) + " " + handleText("event", end));
  if (call.isRefused())
    return call.result;
  for (Event event : {start, end})
    if (!state.events.count(event) || !state.events[event])
      return call.misuse(kInvalidHandle, "an event that was not recorded");
  *milliseconds = 0.25f * float(++state.elapsed);
  return kSuccess;
}

Result cuEventDestroy_v2(Event event) {
  Call call("cuEventDestroy", handleText("event", event));
  if (!call.mayGiveBack())
    return call.result;
  if (!state.events.erase(event))
    return call.misuse(kInvalidHandle, "no event");
  return call.result;
}
