//===- HostDevice.h - a device whose kernel is a C++ function ---*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lets tests of the runner break a kernel in one chosen way. It checks no
// bounds, as a GPU does not, so the runner's own guards are what finds a bad
// store. The kernel is attention by blocks of two keys, with its parameters in
// the order of attentionProgram().
//
//===----------------------------------------------------------------------===//
#ifndef FA_UNITTESTS_RUNNER_HOSTDEVICE_H
#define FA_UNITTESTS_RUNNER_HOSTDEVICE_H

#include "fa/Runner/Program.h"
#include "fa/Runtime/Device.h"
#include "fa/Support/Array.h"

#include <cmath>
#include <map>

namespace farun::test {

/// Ways to be wrong.
enum class Fault {
  None,
  IgnoreCausal,
  IgnoreLengths,
  SkipLastRow,
  WriteBehind,
  WriteBefore,
  WriteInput,
  OffByTwoBounds,
  Stopped,
};

class HostDevice : public Device {
public:
  Fault fault = Fault::None;
  std::vector<std::string> loaded;
  LaunchGeometry lastGeometry;

  std::string name() const override { return "host"; }
  std::string defaultTarget() const override { return "sm_80"; }
  int64_t multiprocessors() const override { return 3; }
  Status load(const std::string &text, const std::string &) override {
    loaded.push_back(text);
    return {};
  }
  Expected<DeviceAddress> allocate(uint64_t bytes, const std::string &,
                                   BufferAccess) override {
    DeviceAddress address = next;
    next += (bytes + 4096) / 256 * 256;
    // Slack behind, so that a bad store stays on the host's own memory.
    memory[address].assign(bytes + 512, std::byte(0xff));
    return address;
  }
  void release(DeviceAddress address) override { memory.erase(address); }
  Status write(DeviceAddress to, const void *from, uint64_t bytes) override {
    std::memcpy(at(to), from, bytes);
    return {};
  }
  Status read(DeviceAddress from, void *to, uint64_t bytes) override {
    std::memcpy(to, at(from), bytes);
    return {};
  }
  size_t liveBuffers() const { return memory.size(); }

  Expected<LaunchOutcome>
  launch(const std::string &kernel, const LaunchGeometry &geometry,
         const std::vector<LaunchArgument> &arguments) override {
    lastGeometry = geometry;
    LaunchOutcome outcome;
    outcome.counters = {{"ctas", double(geometry.grid[0])},
                        {"global.loaded_bytes", 64},
                        {"global.stored_bytes", 32}};
    if (fault == Fault::Stopped) {
      outcome.failure = Error{ErrorCode::Fault, "deadlock", {"k.ptx", 7, 1}};
      return outcome;
    }
    attention(arguments);
    return outcome;
  }

private:
  std::byte *at(DeviceAddress address) {
    auto buffer = --memory.upper_bound(address);
    return buffer->second.data() + (address - buffer->first);
  }
  template <typename T> static T value(const LaunchArgument &argument) {
    T result;
    std::memcpy(&result, argument.bytes.data(), sizeof(T));
    return result;
  }
  /// Base address and four strides of an operand, f16 or f32.
  struct Operand4 {
    DeviceAddress base;
    int64_t strides[4];
    ElementType type;
  };
  std::byte *element(const Operand4 &o, int64_t b, int64_t h, int64_t i,
                     int64_t d) {
    return at(o.base + (b * o.strides[0] + h * o.strides[1] + i * o.strides[2] +
                        d * o.strides[3]) *
                           int64_t(byteSize(o.type)));
  }

  void attention(const std::vector<LaunchArgument> &a) {
    size_t n = 0;
    auto operand = [&](ElementType type) {
      Operand4 o{value<uint64_t>(a[n++]), {0, 0, 0, 0}, type};
      for (int64_t &stride : o.strides)
        stride = value<int64_t>(a[n++]);
      return o;
    };
    Operand4 q = operand(ElementType::F16), k = operand(ElementType::F16),
             v = operand(ElementType::F16);
    DeviceAddress lengths = value<uint64_t>(a[n++]);
    Operand4 out = operand(ElementType::F16);
    DeviceAddress lse = value<uint64_t>(a[n++]);
    int64_t B = value<int32_t>(a[n++]), Hq = value<int32_t>(a[n++]),
            Hkv = value<int32_t>(a[n++]), Sq = value<int32_t>(a[n++]),
            Sk = value<int64_t>(a[n++]), D = value<int32_t>(a[n++]),
            Dv = value<int32_t>(a[n++]);
    DeviceAddress trace = value<uint64_t>(a[n++]);
    int64_t traceRow = value<int64_t>(a[n++]);
    for (int64_t row = 0; row < B * Hq * Sq; ++row) {
      int64_t b = row / (Hq * Sq), h = row / Sq % Hq, i = row % Sq;
      if (fault == Fault::SkipLastRow && row == B * Hq * Sq - 1)
        continue;
      int32_t length;
      std::memcpy(&length, at(lengths) + 4 * b, 4);
      if (fault == Fault::IgnoreLengths)
        length = int32_t(Sk);
      float m = -INFINITY, l = 0;
      std::vector<float> u(static_cast<size_t>(Dv));
      for (int64_t block = 0; block * 2 < length; ++block) {
        for (int64_t j = block * 2;
             j < std::min<int64_t>(length, block * 2 + 2); ++j) {
          if (fault != Fault::IgnoreCausal && j > i + length - Sq)
            continue;
          float s = 0;
          for (int64_t d = 0; d < D; ++d)
            s += float(loadElement(q.type, element(q, b, h, i, d)) *
                       loadElement(k.type, element(k, b, h * Hkv / Hq, j, d)));
          s *= 0.5f;
          float larger = std::max(m, s);
          float rescale = m == -INFINITY ? 0 : std::exp(m - larger);
          float p = std::exp(s - larger);
          l = l * rescale + p;
          for (int64_t d = 0; d < Dv; ++d)
            u[size_t(d)] = u[size_t(d)] * rescale +
                           p * float(loadElement(
                                   v.type, element(v, b, h * Hkv / Hq, j, d)));
          m = larger;
        }
        if (row == traceRow) {
          std::vector<float> state = {m, l};
          state.insert(state.end(), u.begin(), u.end());
          std::memcpy(at(trace + uint64_t(block * (2 + Dv)) * 4), state.data(),
                      state.size() * 4);
        }
      }
      for (int64_t d = 0; d < Dv; ++d) {
        double o = l == 0 ? 0 : u[size_t(d)] / l;
        if (fault == Fault::OffByTwoBounds && row == 0 && d == 0)
          o += 0.02;
        storeElement(out.type, element(out, b, h, i, d), o);
      }
      storeElement(ElementType::F32, at(lse + uint64_t(row) * 4),
                   l == 0 ? -INFINITY : m + std::log(l));
    }
    if (fault == Fault::WriteBehind)
      storeElement(ElementType::F16, element(out, B - 1, Hq - 1, Sq - 1, Dv),
                   1.0);
    if (fault == Fault::WriteBefore)
      storeElement(ElementType::F16, element(out, 0, 0, 0, -1), 1.0);
    if (fault == Fault::WriteInput)
      storeElement(ElementType::F16, element(k, 0, 0, 0, 0), 77.0);
  }

  std::map<DeviceAddress, std::vector<std::byte>> memory;
  DeviceAddress next = 0x1000;
};

/// A causal (bottom_right) f16 kernel with lengths and LSE, scale 0.5, every
/// extent dynamic.
inline Program attentionProgram() {
  Entry entry;
  entry.name = "attention";
  auto operand = [&](const char *role, OperandKind kind, ElementType type,
                     std::vector<std::string> dims) {
    std::vector<int64_t> shape(dims.size(), kDynamic);
    entry.operands.push_back({role, kind, type, shape, dims});
  };
  using T = ElementType;
  operand("query", OperandKind::Input, T::F16, {"B", "Hq", "Sq", "D"});
  operand("key", OperandKind::Input, T::F16, {"B", "Hkv", "Sk", "D"});
  operand("value", OperandKind::Input, T::F16, {"B", "Hkv", "Sk", "Dv"});
  operand("kv_lengths", OperandKind::Input, T::I32, {"B"});
  operand("out", OperandKind::Output, T::F16, {"B", "Hq", "Sq", "Dv"});
  operand("lse", OperandKind::Output, T::F32, {"B", "Hq", "Sq"});
  entry.attention.scale = 0.5;
  entry.attention.masks.resize(1);
  entry.attention.masks[0].isBottomRight = true;
  entry.attention.schedule = {1, 2, 4, 2, "registers", 1};
  auto parameter = [&](ParameterKind kind, int operand, int dim,
                       const char *extent, const char *type) {
    entry.parameters.push_back({kind, operand, dim, extent, type});
  };
  for (int n : {0, 1, 2, 3, 4, 5}) {
    parameter(ParameterKind::Pointer, n, -1, "", "ptr");
    for (int d = 0; d < 4 && n != 3 && n != 5; ++d)
      parameter(ParameterKind::Stride, n, d, "", "i64");
  }
  for (const char *name : {"B", "Hq", "Hkv", "Sq", "Sk", "D", "Dv"})
    parameter(ParameterKind::Extent, -1, -1, name,
              std::string(name) == "Sk" ? "i64" : "i32");
  parameter(ParameterKind::Trace, -1, -1, "", "ptr");
  parameter(ParameterKind::Trace, -1, -1, "", "i64");
  Launch launch;
  launch.kernel = "attention_kernel";
  for (size_t n = 0; n < entry.parameters.size(); ++n)
    launch.arguments.push_back(int(n));
  launch.grid = {"ceildiv(Sq, 128) * Hq", "B", "1"};
  launch.block = {"128", "1", "1"};
  launch.sharedBytes = "49152";
  entry.launches = {launch};
  Program program;
  program.manifest.target = "sm_80";
  program.manifest.ptx = "kernel.ptx";
  program.manifest.entries = {entry};
  program.ptx = "// the host device runs no text";
  program.ptxName = "kernel.ptx";
  return program;
}

} // namespace farun::test

#endif // FA_UNITTESTS_RUNNER_HOSTDEVICE_H
