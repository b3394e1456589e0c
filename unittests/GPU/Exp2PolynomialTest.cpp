//===- Exp2PolynomialTest.cpp - how near to 2^x the polynomial is ---------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same operations in C++, over every f32 that is left when the whole number
// is taken out; and PTX of fa.exp2, run by the PTX machine, gives their bits.
//
//===----------------------------------------------------------------------===//
#include "fa/GPU/Exp2Polynomial.h"

#include "fa/Emulator/Device.h"
#include "fa/Pipelines/Pipelines.h"
#include "fa/Target/PTX/ModuleToPTX.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <future>
#include <random>

using namespace mlir;
using namespace mlir::fa;

namespace {

float polynomialOf(float fraction) {
  float sum = Exp2Polynomial::kCoefficients[0];
  for (size_t i = 1; i < std::size(Exp2Polynomial::kCoefficients); ++i)
    sum = std::fma(sum, fraction, Exp2Polynomial::kCoefficients[i]);
  return std::fma(sum, fraction, 1.0f);
}

/// The whole of it; NaN as the PTX machine makes it.
float exp2Of(float x) {
  if (std::isnan(x))
    return std::bit_cast<float>(0x7FFFFFFFu);
  float y = std::max(x, Exp2Polynomial::kLeast);
  float shifted = y + Exp2Polynomial::kShift;
  float whole = shifted - Exp2Polynomial::kShift;
  auto bits = std::bit_cast<uint32_t>(shifted) << 23;
  return polynomialOf(y - whole) * std::bit_cast<float>(bits);
}

/// The largest errors found: relative, and in units of the last place of f16
/// and bf16 after rounding to them.
struct Errors {
  double relative = 0, f16 = 0, bf16 = 0;

  void take(const Errors &other) {
    relative = std::max(relative, other.relative);
    f16 = std::max(f16, other.f16);
    bf16 = std::max(bf16, other.bf16);
  }
};

/// Of `value`, between 1/2 and 2, after rounding to a type with `digits` binary
/// digits, in its units.
double unitsOff(float value, double exact, int digits) {
  // Adding a number rounds to its last place.
  float unit = std::ldexp(value < 1 ? 0.5f : 1.0f, 1 - digits);
  float large = 0x1.8p23f * unit;
  float rounded = (value + large) - large;
  return std::abs(double(rounded) - exact) / double(unit);
}

/// Over the numbers whose bits are from `first` to `last`, of either sign.
Errors errorsBetween(uint32_t first, uint32_t last) {
  Errors errors;
  auto take = [&](float value, double exact) {
    errors.take({std::abs(double(value) / exact - 1),
                 unitsOff(value, exact, 11), unitsOff(value, exact, 8)});
  };
  for (uint32_t bits = first; bits <= last; ++bits) {
    auto fraction = std::bit_cast<float>(bits);
    double exact = std::exp2(double(fraction));
    take(polynomialOf(fraction), exact);
    take(polynomialOf(-fraction), 1 / exact);
  }
  return errors;
}

constexpr uint32_t kBinade = 1 << 23;

TEST(Exp2Polynomial, ErrorOverEveryNumber) {
  // Below this the rounding of the last product gives 1.
  auto tiny = std::bit_cast<uint32_t>(0x1p-25f);
  for (uint32_t bits : {0u, 1u, kBinade, tiny - 1, tiny})
    for (float f : {std::bit_cast<float>(bits), -std::bit_cast<float>(bits)})
      EXPECT_EQ(polynomialOf(f), 1.0f);

  auto half = std::bit_cast<uint32_t>(0.5f);
  std::vector<std::future<Errors>> parts;
  for (uint32_t first = tiny; first < half; first += kBinade)
    parts.push_back(std::async(std::launch::async, errorsBetween, first,
                               std::min(first + kBinade, half)));
  Errors errors;
  for (std::future<Errors> &part : parts)
    errors.take(part.get());
  EXPECT_LE(errors.relative, 3e-6);
  EXPECT_GE(errors.relative, 2.8e-6); // or this would be another polynomial
  EXPECT_LE(errors.f16, 0.51);
  EXPECT_LE(errors.bf16, 0.502);
}

/// The PTX of a kernel that replaces 16 rows of 8 numbers a block.
std::string compilePowers() {
  constexpr const char *kText = R"(
#gl = #gpu.address_space<global>
module attributes {fa.target = "sm_80"} {
gpu.module @m {
  gpu.func @powers(%p: !llvm.ptr<1>, %rows: i64) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %size = arith.index_cast %rows : i64 to index
    %X = fa.view %p sizes [%size] strides [%c8, %c1] : !llvm.ptr<1> to memref<?x8xf32, strided<[?, ?]>, #gl>
    %block = gpu.block_id x
    %row = arith.muli %block, %c16 : index
    %x = fa.load_tile %X[%row, %c0] : memref<?x8xf32, strided<[?, ?]>, #gl> -> vector<16x8xf32>
    %y = fa.exp2 %x polynomial 1 : vector<16x8xf32>
    fa.store_tile %y, %X[%row, %c0] : vector<16x8xf32>, memref<?x8xf32, strided<[?, ?]>, #gl>
    gpu.return
  }
}
})";
  DialectRegistry registry;
  registerAllDialects(registry);
  registerPTXTranslations(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  auto module = parseSourceString<ModuleOp>(kText, &context);
  PassManager passes(&context);
  buildDistributePipeline(passes);
  buildLowerPipeline(passes);
  if (!module || failed(passes.run(*module)))
    return "";
  std::string error;
  FailureOr<std::string> ptx =
      moduleToPTX(*module->getOps<gpu::GPUModuleOp>().begin(),
                  *lookupTarget("sm_80", error));
  return succeeded(ptx) ? *ptx : "";
}

TEST(Exp2Polynomial, PTXGivesTheSameBits) {
  std::string ptx = compilePowers();
  EXPECT_EQ(ptx.find("ex2"), std::string::npos);
  auto module = ptxvm::Module::parse(ptx, "powers.ptx");
  ASSERT_TRUE(bool(module)) << ptx;

  constexpr float kInf = std::numeric_limits<float>::infinity();
  std::vector<float> numbers = {0.0f,     -0.0f,         1.0f,          127.0f,
                                0.5f,     -0.5f,         1.5f,          -126.0f,
                                -126.3f,  -126.49f,      -126.5f,       -127.f,
                                -127.49f, -127.5f,       -128.0f,       -1e30f,
                                -kInf,    std::nanf(""), -std::nanf("")};
  std::mt19937 random(7);
  std::uniform_real_distribution<float> wide(-140, 20), narrow(-1, 1);
  while (numbers.size() < 128 * 1024)
    numbers.push_back(numbers.size() % 2 ? wide(random) : narrow(random));

  ptxvm::Device device;
  size_t bytes = numbers.size() * sizeof(float);
  uint64_t buffer = device.alloc(bytes, "numbers");
  device.write(buffer, numbers.data(), bytes);
  auto rows = int64_t(numbers.size() / 8);
  ptxvm::Report report =
      device.launch(*module, "powers", {{uint32_t(rows / 16)}, {32}, {1}, 0},
                    {ptxvm::Argument::of(buffer), ptxvm::Argument::of(rows)});
  ASSERT_TRUE(report.ok()) << report.diagnostics[0].str();
  std::vector<float> powers(numbers.size());
  device.read(buffer, powers.data(), bytes);

  for (size_t i = 0; i < numbers.size(); ++i) {
    float x = numbers[i], power = powers[i];
    ASSERT_EQ(std::bit_cast<uint32_t>(power),
              std::bit_cast<uint32_t>(exp2Of(x)))
        << x;
    if (x <= -126.5f)
      ASSERT_EQ(power, 0) << x;
    else if (!std::isnan(x))
      ASSERT_NEAR(double(power), std::exp2(double(x)),
                  3e-6 * std::exp2(double(x)) + 0x1p-149)
          << x;
    else
      ASSERT_TRUE(std::isnan(power));
  }
}

} // namespace
