//===- TensorCopyTest.cpp - boxes of tensors ------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cp.async.bulk.tensor in tile mode against a second walk, written here as one
// loop over elements, with a swizzle by tables: every rank, swizzle and element
// size, coordinates out of range, element strides. Then reductions, NaN fill,
// tensormap.replace, and what is refused.
//
//===----------------------------------------------------------------------===//
#include "Harness.h"
#include "fa/Emulator/TensorMap.h"

#include <cstring>
#include <random>

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
constexpr uint32_t kShared = 32768;

/// A kernel of one warp with a tensor map, coordinates and a buffer. Shared
/// memory holds the buffer's bytes before the body and goes back after it.
std::string kernel(const std::string &body, const char *target = "sm_90a") {
  return std::string(".version 8.6\n.target ") + target + R"(
.address_size 64
.visible .entry k(.param .align 64 .b8 k_map[128], .param .u64 k_coords,
                  .param .u64 k_out)
{
  .reg .b32 %r<40>, %c<5>, %tid, %at;
  .reg .b64 %rd<20>, %map, %coords, %out;
  .reg .pred %p<8>;
  .shared .align 1024 .b8 smem[32768];
  .shared .align 8 .b64 bar;
  mov.b64 %rd0, k_map;
  cvta.param.u64 %map, %rd0;
  ld.param.u64 %coords, [k_coords];
  ld.param.u64 %out, [k_out];
  mov.u32 %tid, %tid.x;
  ld.global.u32 %c0, [%coords];
  ld.global.u32 %c1, [%coords+4];
  ld.global.u32 %c2, [%coords+8];
  ld.global.u32 %c3, [%coords+12];
  ld.global.u32 %c4, [%coords+16];
  ld.global.u32 %at, [%coords+20];
  mov.u32 %r0, smem;
  add.u32 %at, %at, %r0;
  setp.eq.u32 %p0, %tid, 0;
  @%p0 mbarrier.init.shared.b64 [bar], 1;
  mul.lo.u32 %r1, %tid, 16;
IN:
  add.u32 %r2, %r0, %r1;
  cvt.u64.u32 %rd1, %r1;
  add.u64 %rd2, %out, %rd1;
  ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd2];
  st.shared.v4.u32 [%r2], {%r4, %r5, %r6, %r7};
  add.u32 %r1, %r1, 512;
  setp.lt.u32 %p1, %r1, 32768;
  @%p1 bra IN;
  fence.proxy.async.shared::cta;
  bar.sync 0;
)" + body +
         R"(
  bar.sync 0;
  mul.lo.u32 %r1, %tid, 16;
BACK:
  add.u32 %r2, %r0, %r1;
  cvt.u64.u32 %rd1, %r1;
  add.u64 %rd2, %out, %rd1;
  ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r2];
  st.global.v4.u32 [%rd2], {%r4, %r5, %r6, %r7};
  add.u32 %r1, %r1, 512;
  setp.lt.u32 %p1, %r1, 32768;
  @%p1 bra BACK;
  ret;
})";
}

std::string coordinates(uint32_t n) {
  std::string text = "{%c0";
  for (uint32_t k = 1; k < n; ++k)
    text += ", %c" + std::to_string(k);
  return text + "}";
}

const char *const kWait = R"(
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
  @!%p2 bra WAIT;
)";

std::string loadBody(uint32_t rank, uint64_t bytes) {
  std::string r = std::to_string(rank);
  return "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], " +
         std::to_string(bytes) + ";\n@%p0 cp.async.bulk.tensor." + r +
         "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%at], "
         "[%map, " +
         coordinates(rank) + "], [bar];\n" + kWait;
}

std::string storeBody(uint32_t rank) {
  return "@%p0 cp.async.bulk.tensor." + std::to_string(rank) +
         "d.global.shared::cta.bulk_group [%map, " + coordinates(rank) +
         "], [%at];\n@%p0 cp.async.bulk.commit_group;\n"
         "@%p0 cp.async.bulk.wait_group 0;\n";
}

struct Machine {
  Device device;
  uint64_t tensor, coords, shared;
  std::vector<uint8_t> tensorBytes, sharedBytes;
  Report report;

  explicit Machine(size_t size, DeviceOptions options = {}) : device(options) {
    tensor = device.alloc(size, "tensor");
    coords = device.alloc(24, "coords", true);
    shared = device.alloc(kShared, "shared");
    tensorBytes.resize(size);
    sharedBytes.resize(kShared);
    std::mt19937 random{unsigned(size)};
    for (uint8_t &b : tensorBytes)
      b = uint8_t(random());
    for (uint8_t &b : sharedBytes)
      b = uint8_t(random());
    device.write(tensor, tensorBytes.data(), size);
    device.write(shared, sharedBytes.data(), kShared);
  }

  bool run(const std::string &body, const TensorMap &map, const int32_t *at,
           uint32_t offset, const char *target = "sm_90a") {
    int32_t numbers[6] = {at[0], at[1], at[2], at[3], at[4], int32_t(offset)};
    device.write(coords, numbers, 24);
    auto module = Module::parse(kernel(body, target), "tensor.ptx");
    if (!module) {
      report.status = Status::Invalid;
      report.diagnostics = {module.error()};
      return false;
    }
    report = device.launch(
        *module, "k", {{1}, {32}, {0, 0, 0}, 0},
        {Argument::of(map), Argument::of(coords), Argument::of(shared)});
    device.read(tensor, tensorBytes.data(), tensorBytes.size());
    device.read(shared, sharedBytes.data(), kShared);
    return report.ok();
  }
  std::string message() const {
    return report.diagnostics.empty() ? "" : report.diagnostics[0].str();
  }
};

/// The swizzles as tables: which of eight 16-byte cells of line `line` holds
/// cell `cell`, and whether its halves change places.
uint32_t swizzledCell(TensorSwizzle s, uint32_t line, uint32_t cell) {
  static constexpr uint32_t kXor[8][8] = {
      {0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6},
      {2, 3, 0, 1, 6, 7, 4, 5}, {3, 2, 1, 0, 7, 6, 5, 4},
      {4, 5, 6, 7, 0, 1, 2, 3}, {5, 4, 7, 6, 1, 0, 3, 2},
      {6, 7, 4, 5, 2, 3, 0, 1}, {7, 6, 5, 4, 3, 2, 1, 0}};
  switch (s) {
  case TensorSwizzle::Bytes32:
    return kXor[line % 2][cell];
  case TensorSwizzle::Bytes64:
    return kXor[line % 4][cell];
  case TensorSwizzle::Bytes128:
    return kXor[line % 8][cell];
  case TensorSwizzle::Bytes128Atom32:
  case TensorSwizzle::Bytes128Atom32Flip8:
    return 2 * kXor[line % 4][cell / 2] + cell % 2;
  case TensorSwizzle::Bytes128Atom64:
    return 4 * ((cell / 4 + line) % 2) + cell % 4;
  default:
    return cell;
  }
}

uint32_t swizzledByte(TensorSwizzle s, uint32_t a) {
  uint32_t line = a / 128, byte = a % 16;
  if (s == TensorSwizzle::Bytes128Atom32Flip8 && line % 2)
    byte = (byte + 8) % 16;
  return line * 128 + swizzledCell(s, line, a % 128 / 16) * 16 + byte;
}

/// Calls visit(byte in shared memory, byte in the tensor or -1) for every byte
/// of the box.
template <typename Visit>
void naiveBox(const TensorMapShape &s, const int32_t *at, uint32_t offset,
              Visit visit) {
  uint32_t es = elementBytes(s.type), counts[5] = {1, 1, 1, 1, 1}, total = 1;
  for (uint32_t d = 0; d < s.rank; ++d) {
    uint32_t step = d ? s.elementStrides[d] : 1;
    while ((counts[d] - 1) * step + step < s.box[d])
      ++counts[d];
    total *= counts[d];
  }
  for (uint32_t e = 0; e < total; ++e) {
    uint32_t rest = e;
    int64_t from = 0;
    bool isInside = true;
    for (uint32_t d = 0; d < s.rank; ++d) {
      uint32_t step = d ? s.elementStrides[d] : 1;
      int64_t x = at[d] + int64_t(rest % counts[d]) * step;
      rest /= counts[d];
      isInside &= x >= 0 && x < int64_t(s.dims[d]);
      from += x * int64_t(d ? s.strides[d - 1] : es);
    }
    for (uint32_t b = 0; b < es; ++b)
      visit(swizzledByte(s.swizzle, offset + e * es + b),
            isInside ? from + b : -1);
  }
}

struct Random {
  std::mt19937 engine;
  explicit Random(unsigned seed) : engine(seed) {}
  uint32_t operator()(uint32_t low, uint32_t high) {
    return low + engine() % (high - low + 1);
  }
};

/// A random legal shape with this swizzle, small enough for shared memory.
TensorMapShape randomShape(Random &random, TensorSwizzle swizzle) {
  static constexpr TensorType kTypes[] = {TensorType::U8, TensorType::F16,
                                          TensorType::F32, TensorType::F64};
  for (;;) {
    TensorMapShape s;
    s.type = kTypes[random(0, 3)];
    s.rank = random(1, 5);
    s.swizzle = swizzle;
    uint32_t es = elementBytes(s.type), span = swizzleSpan(swizzle);
    uint32_t row = span ? span : 16 * random(1, 8);
    if (row / es > 256)
      continue;
    s.box[0] = row / es;
    s.dims[0] = random(1, 2 * s.box[0]);
    uint64_t bytes = (s.dims[0] * es + 15) / 16 * 16;
    for (uint32_t d = 1; d < s.rank; ++d) {
      s.strides[d - 1] = bytes + 16 * random(0, 1);
      s.dims[d] = random(1, 9);
      s.box[d] = random(1, 7);
      s.elementStrides[d] = random(0, 2) ? 1 : random(1, 4);
      bytes = s.strides[d - 1] * s.dims[d];
    }
    if (boxBytes(s) <= 8192 && bytes < 1 << 22)
      return s;
  }
}

uint64_t tensorBytes(const TensorMapShape &s) {
  uint64_t last = s.dims[0] * elementBytes(s.type);
  for (uint32_t d = 1; d < s.rank; ++d)
    last += (s.dims[d] - 1) * s.strides[d - 1];
  return last;
}

class EverySwizzle : public testing::TestWithParam<int> {};

TEST_P(EverySwizzle, loadsAndStoresAgreeWithTheSecondWalk) {
  Random random{unsigned(GetParam()) + 100};
  for (int round = 0; round < 24; ++round) {
    TensorMapShape s = randomShape(random, TensorSwizzle(GetParam()));
    Machine m(tensorBytes(s));
    s.address = m.tensor;
    auto map = encodeTiled(s);
    ASSERT_TRUE(map) << map.error().message;
    int32_t at[5] = {};
    for (uint32_t d = 0; d < s.rank; ++d) {
      int32_t low = -int32_t(s.box[d]) - 1, high = int32_t(s.dims[d]) + 1;
      at[d] = round % 3 ? low + int32_t(random(0, uint32_t(high - low))) : 0;
    }
    uint32_t offset = 128 * random(0, 60);
    std::vector<uint8_t> shared = m.sharedBytes, tensor = m.tensorBytes;
    naiveBox(s, at, offset, [&](uint32_t to, int64_t from) {
      shared[to] = from < 0 ? 0 : tensor[size_t(from)];
    });
    ASSERT_TRUE(m.run(loadBody(s.rank, boxBytes(s)), *map, at, offset))
        << m.message();
    ASSERT_TRUE(m.sharedBytes == shared) << "load, round " << round;
    ASSERT_TRUE(m.tensorBytes == tensor);
    // The other way, from what the shared memory holds elsewhere.
    offset = 128 * random(0, 60);
    naiveBox(s, at, offset, [&](uint32_t from, int64_t to) {
      if (to >= 0)
        tensor[size_t(to)] = shared[from];
    });
    ASSERT_TRUE(m.run(storeBody(s.rank), *map, at, offset)) << m.message();
    ASSERT_TRUE(m.tensorBytes == tensor) << "store, round " << round;
    ASSERT_TRUE(m.sharedBytes == shared);
  }
}

INSTANTIATE_TEST_SUITE_P(Swizzles, EverySwizzle,
                         testing::Range(0, int(TensorSwizzle::Count)));

TensorMapShape matrix(uint64_t address) {
  TensorMapShape s;
  s.type = TensorType::F16;
  s.rank = 2;
  s.address = address;
  s.dims = {40, 20};
  s.strides = {96};
  s.box = {16, 8};
  return s;
}

TEST(TensorCopy, nanFillByType) {
  const std::pair<TensorType, uint64_t> kCases[] = {
      {TensorType::F16, 0x7FFF},
      {TensorType::BF16, 0x7FFF},
      {TensorType::F32, 0x7FFFFFFF},
      {TensorType::F64, 0x7FFFFFFFFFFFFFFF}};
  for (auto &[type, pattern] : kCases) {
    Machine m(40 * 20 * 8 + 4096);
    TensorMapShape s = matrix(m.tensor);
    s.type = type;
    s.strides = {320};
    s.fill = TensorFill::NaN;
    int32_t at[5] = {-100, 0};
    auto map = encodeTiled(s);
    ASSERT_TRUE(m.run(loadBody(2, boxBytes(s)), *map, at, 0)) << m.message();
    for (uint64_t k = 0; k < boxBytes(s); k += elementBytes(type))
      ASSERT_EQ(0,
                std::memcmp(&m.sharedBytes[k], &pattern, elementBytes(type)));
  }
}

TEST(TensorCopy, typesThatChangeOnTheWay) {
  // A subnormal, and a number that tf32 rounds.
  struct Case {
    TensorType type;
    uint32_t in, out;
  };
  const Case kCases[] = {{TensorType::F32, 1, 1},
                         {TensorType::F32Ftz, 0x80000001, 0x80000000},
                         {TensorType::TF32, 0x3F801001, 0x3F802000},
                         {TensorType::TF32, 0x3F801000, 0x3F800000},
                         {TensorType::TF32Ftz, 1, 0},
                         {TensorType::TF32, 0x7F800000, 0x7F800000}};
  for (const Case &c : kCases) {
    Machine m(4096);
    TensorMapShape s;
    s.type = c.type;
    s.address = m.tensor;
    s.dims = {4};
    s.box = {4};
    m.device.write(m.tensor, &c.in, 4);
    int32_t at[5] = {};
    auto map = encodeTiled(s);
    ASSERT_TRUE(m.run(loadBody(1, 16), *map, at, 0)) << m.message();
    EXPECT_EQ(0, std::memcmp(m.sharedBytes.data(), &c.out, 4)) << c.in;
  }
}

TEST(TensorCopy, reductionsSkipWhatLiesOutside) {
  Machine m(96 * 20);
  TensorMapShape s = matrix(m.tensor);
  s.type = TensorType::U32;
  s.dims = {20, 20};
  auto map = encodeTiled(s);
  int32_t at[5] = {-4, 15};
  std::vector<uint8_t> tensor = m.tensorBytes;
  for (uint32_t y = 0; y < 8; ++y)
    for (uint32_t x = 0; x < 16; ++x) {
      int64_t cx = int64_t(x) - 4, cy = int64_t(y) + 15;
      if (cx < 0 || cx >= 20 || cy >= 20)
        continue;
      uint32_t old, value;
      std::memcpy(&old, &tensor[size_t(cy * 96 + cx * 4)], 4);
      std::memcpy(&value, &m.sharedBytes[(y * 16 + x) * 4], 4);
      old += value;
      std::memcpy(&tensor[size_t(cy * 96 + cx * 4)], &old, 4);
    }
  ASSERT_TRUE(m.run("@%p0 cp.reduce.async.bulk.tensor.2d.global.shared::cta."
                    "add.tile.bulk_group [%map, {%c0, %c1}], [%at];\n"
                    "@%p0 cp.async.bulk.commit_group;\n"
                    "@%p0 cp.async.bulk.wait_group 0;\n",
                    *map, at, 0))
      << m.message();
  EXPECT_TRUE(m.tensorBytes == tensor);
}

TEST(TensorCopy, gatherAndScatterOfFourRows) {
  Machine m(96 * 20);
  TensorMapShape s = matrix(m.tensor);
  s.box = {16, 1};
  auto map = encodeTiled(s);
  int32_t at[5] = {30, 3, -1, 19, 0};
  std::vector<uint8_t> shared = m.sharedBytes;
  for (uint32_t k = 0; k < 4; ++k)
    for (uint32_t b = 0; b < 32; ++b) {
      bool isInside = at[k + 1] >= 0 && b < 20;
      shared[k * 32 + b] =
          isInside ? m.tensorBytes[size_t(at[k + 1] * 96 + 60) + b] : 0;
    }
  ASSERT_TRUE(m.run(
      "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;\n"
      "@%p0 cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4."
      "mbarrier::complete_tx::bytes [%at], [%map, {%c0, %c1, %c2, %c3, %c4}], "
      "[bar];\n" +
          std::string(kWait),
      *map, at, 0, "sm_100a"))
      << m.message();
  EXPECT_TRUE(m.sharedBytes == shared);
  std::vector<uint8_t> tensor = m.tensorBytes;
  for (uint32_t k = 0; k < 4; ++k)
    for (uint32_t b = 0; b < 20; ++b)
      if (at[k + 1] >= 0)
        tensor[size_t(at[k + 1] * 96 + 60) + b] = shared[1024 + k * 32 + b];
  ASSERT_TRUE(m.run("@%p0 cp.async.bulk.tensor.2d.global.shared::cta.tile::"
                    "scatter4.bulk_group [%map, {%c0, %c1, %c2, %c3, %c4}], "
                    "[%at];\n@%p0 cp.async.bulk.commit_group;\n"
                    "@%p0 cp.async.bulk.wait_group 0;\n",
                    *map, at, 1024, "sm_100a"))
      << m.message();
  EXPECT_TRUE(m.tensorBytes == tensor);
  // Four rows are four boxes.
  s.box = {16, 2};
  auto tall = encodeTiled(s);
  EXPECT_FALSE(m.run("@%p0 cp.async.bulk.tensor.2d.global.shared::cta.tile::"
                     "scatter4.bulk_group [%map, {%c0, %c1, %c2, %c3, %c4}], "
                     "[%at];\n",
                     *tall, at, 1024, "sm_100a"));
  EXPECT_EQ(m.report.diagnostics.at(0).message,
            "gather4 and scatter4 need a box of one row, found 2");
}

TEST(TensorCopy, faultsOfTheMap) {
  struct Case {
    void (*change)(TensorMapShape &);
    std::string body, message;
    uint32_t offset = 0;
  };
  const Case kCases[] = {
      {[](TensorMapShape &) {}, loadBody(3, 256),
       "the tensor map has rank 2, the instruction rank 3"},
      {[](TensorMapShape &s) { s.swizzle = TensorSwizzle::Bytes128; },
       loadBody(2, 256), "unsupported: rows of 32 bytes with a swizzle of 128"},
      {[](TensorMapShape &s) {
         s.rank = 3;
         s.dims[2] = s.box[2] = 1;
         s.strides[1] = 1920;
         s.interleave = TensorInterleave::Bytes16;
       },
       loadBody(3, 256), "unsupported: an interleaved tensor"},
      {[](TensorMapShape &s) { s.dims[1] = 200; }, loadBody(2, 256),
       "a bulk copy reads 32 bytes at 0x7000004800, which is out of bounds: "
       "16512 bytes past the end of buffer 'tensor' (1920 bytes)"},
      {[](TensorMapShape &) {}, loadBody(2, 256),
       "the destination of a bulk copy, 256 bytes of shared memory at 0x40, "
       "is not aligned to 128",
       64},
      {[](TensorMapShape &) {},
       "cp.reduce.async.bulk.tensor.2d.global.shared::cta.and.bulk_group "
       "[%map, {%c0, %c1}], [%at];",
       "this reduction does not work on elements of the tensor map's type"},
      {[](TensorMapShape &) {},
       "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%coords, {%c0, "
       "%c1}], [%at];",
       "the address of the tensor map is not one of parameter, const or "
       "global memory"},
      {[](TensorMapShape &) {},
       "add.u64 %map, %out, 64; "
       "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map, {%c0, "
       "%c1}], [%at];",
       "these 128 bytes are no tensor map"},
      {[](TensorMapShape &) {},
       "add.u64 %map, %out, 32; "
       "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map, {%c0, "
       "%c1}], [%at];",
       "the tensor map is not aligned to 64"},
      {[](TensorMapShape &s) {
         s.dims[0] = 256;
         s.strides[0] = 512;
         s.box = {256, 256};
       },
       loadBody(2, 131072),
       "the box of the tensor map has 131072 bytes; there are " +
           std::to_string(kShared + 8) + " for it"},
  };
  for (const Case &c : kCases) {
    Machine m(1920);
    TensorMapShape s = matrix(m.tensor);
    c.change(s);
    auto map = encodeTiled(s);
    ASSERT_TRUE(map) << map.error().message;
    int32_t at[5] = {0, s.dims[1] == 200 ? 192 : 0};
    EXPECT_FALSE(m.run(c.body, *map, at, c.offset)) << c.body;
    ASSERT_FALSE(m.report.diagnostics.empty());
    EXPECT_EQ(m.report.diagnostics[0].message, c.message);
  }
}

TEST(TensorCopy, fieldsOfAMapInGlobalMemory) {
  // The map goes to global memory, its fields change, and a fence lets the copy
  // see them: rank 2 -> 3, another type, box, stride and address.
  Machine m(8192);
  TensorMapShape s = matrix(m.tensor + 4096);
  auto map = encodeTiled(s);
  uint64_t place = m.device.alloc(128, "map");
  m.device.write(place, map->bytes.data(), 128);
  TensorMapShape want = s;
  want.type = TensorType::F32;
  want.rank = 3;
  want.address = m.tensor;
  want.dims = {10, 6, 3};
  want.strides = {112, 1024};
  want.box = {8, 4, 2};
  want.elementStrides = {1, 2, 1, 1, 1};
  want.swizzle = TensorSwizzle::Bytes32;
  want.fill = TensorFill::NaN;
  uint64_t base = m.tensor;
  auto field = [&](const std::string &name, const std::string &value,
                   bool isWide = false) {
    return "@%p0 tensormap.replace.tile." + name + ".global.b1024." +
           (isWide ? "b64" : "b32") + " [%rd10], " + value + ";\n";
  };
  std::string body =
      "mov.u64 %rd10, " + std::to_string(place) + ";\nmov.u64 %rd11, " +
      std::to_string(base) + ";\nmov.u32 %r20, 10; mov.u64 %rd12, 112;\n" +
      field("global_address", "%rd11", true) + field("rank", "2") +
      field("global_dim", "0, %r20") + field("global_dim", "1, 6") +
      field("global_dim", "2, 3") + field("global_stride", "0, %rd12", true) +
      field("global_stride", "1, 1024", true) + field("box_dim", "0, 8") +
      field("box_dim", "1, 4") + field("box_dim", "2, 2") +
      field("element_stride", "1, 2") + field("elemtype", "7") +
      field("interleave_layout", "0") + field("swizzle_mode", "1") +
      field("swizzle_atomicity", "0") + field("fill_mode", "1") +
      "@%p0 fence.proxy.tensormap::generic.release.gpu;\n"
      "@%p0 fence.proxy.tensormap::generic.acquire.gpu [%rd10], 128;\n"
      "mov.u64 %map, %rd10;\n" +
      loadBody(3, boxBytes(want));
  int32_t at[5] = {4, 2, 1};
  std::vector<uint8_t> shared = m.sharedBytes, tensor = m.tensorBytes;
  const uint32_t nan = 0x7FFFFFFF;
  naiveBox(want, at, 256, [&](uint32_t to, int64_t from) {
    shared[to] = from < 0 ? reinterpret_cast<const uint8_t *>(&nan)[to % 4]
                          : tensor[size_t(from)];
  });
  ASSERT_TRUE(m.run(body, *map, at, 256)) << m.message();
  EXPECT_TRUE(m.sharedBytes == shared);
  uint8_t bytes[128];
  m.device.read(place, bytes, 128);
  auto now = unpackTensorMap(bytes);
  ASSERT_TRUE(now);
  EXPECT_TRUE(*now == want);
}

TEST(TensorCopy, aMapMadeInSharedMemory) {
  Machine m(1920);
  TensorMapShape s = matrix(m.tensor);
  auto map = encodeTiled(s);
  uint64_t place = m.device.alloc(128, "map");
  std::string body = "mov.u64 %rd10, " + std::to_string(place) + R"(;
  add.u32 %r20, %r0, 1024;
  mul.lo.u32 %r21, %tid, 4;
  add.u32 %r21, %r21, %r20;
  cvt.u64.u32 %rd11, %tid;
  shl.b64 %rd11, %rd11, 2;
  add.u64 %rd11, %rd11, %map;
  ld.u32 %r22, [%rd11];
  st.shared.u32 [%r21], %r22;
  bar.warp.sync -1;
  @%p0 tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r20], 1, 2;
  bar.warp.sync -1;
  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd10], [%r20], 128;
  mov.u64 %map, %rd10;
)" + loadBody(2, 64);
  int32_t at[5] = {8, 3};
  std::vector<uint8_t> tensor = m.tensorBytes;
  ASSERT_TRUE(m.run(body, *map, at, 0)) << m.message();
  for (uint32_t k = 0; k < 64; ++k)
    EXPECT_EQ(m.sharedBytes[k], tensor[(3 + k / 32) * 96 + 16 + k % 32]);
}

TEST(TensorCopy, aChangedMapIsCheckedWhenItIsUsed) {
  Machine m(1920);
  TensorMapShape s = matrix(m.tensor);
  auto map = encodeTiled(s);
  uint64_t place = m.device.alloc(128, "map");
  m.device.write(place, map->bytes.data(), 128);
  int32_t at[5] = {};
  EXPECT_FALSE(m.run(
      "mov.u64 %map, " + std::to_string(place) +
          ";\n@%p0 tensormap.replace.tile.box_dim.global.b1024.b32 [%map], 0, "
          "12;\n" +
          loadBody(2, 256),
      *map, at, 0));
  EXPECT_EQ(m.report.diagnostics.at(0).message,
            "tensor map: a row of the box has 24 bytes, which is not a "
            "multiple of 16");
}
} // namespace
