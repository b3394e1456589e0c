//===- Harness.cpp - the C API in the tests' words ------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Harness.h"

#include "fa/Support/Array.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace capitest {

static farun::ElementType typeOf(fa_dtype dtype) {
  return *farun::parseElementType(fa_dtype_name(dtype));
}

Tensor::Tensor(fa_dtype dtype, std::vector<int64_t> given)
    : shape(std::move(given)), dtype(dtype) {
  for (int64_t extent : shape)
    count *= extent;
  bytes.resize(size_t(count) * fa_dtype_size(dtype));
}

fa_array Tensor::array() const {
  fa_array array = {};
  array.data = const_cast<unsigned char *>(bytes.data());
  array.dtype = dtype;
  array.rank = int32_t(shape.size());
  array.shape = shape.data();
  return array;
}

fa_array Tensor::view(const std::vector<int64_t> &viewShape,
                      const std::vector<int64_t> &strides,
                      int64_t offset) const {
  fa_array array = this->array();
  array.data = const_cast<unsigned char *>(bytes.data()) +
               offset * int64_t(fa_dtype_size(dtype));
  array.rank = int32_t(viewShape.size());
  array.shape = viewShape.data();
  array.strides = strides.data();
  return array;
}

void Tensor::set(int64_t index, double value) {
  farun::storeElement(typeOf(dtype),
                      reinterpret_cast<std::byte *>(bytes.data()) +
                          index * int64_t(fa_dtype_size(dtype)),
                      value);
}

double Tensor::get(int64_t index) const {
  return farun::loadElement(typeOf(dtype),
                            reinterpret_cast<const std::byte *>(bytes.data()) +
                                index * int64_t(fa_dtype_size(dtype)));
}

void Tensor::fill(uint64_t seed) {
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (int64_t n = 0; n < count; ++n) {
    double sum = -3;
    for (int k = 0; k < 6; ++k) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      sum += double(state >> 33) / double(uint64_t(1) << 31);
    }
    set(n, sum);
  }
}

Kernel loadOneKey() {
  Kernel kernel;
  Answer answer =
      ask(fa_kernel_load, FA_TEST_INPUTS "/one-key.fapkg", &kernel.handle);
  EXPECT_TRUE(answer.ok()) << answer.message;
  return kernel;
}

static std::string readFile(const std::string &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Kernel loadEndless() {
  namespace fs = std::filesystem;
  fs::path folder = fs::path(testing::TempDir()) /
                    ("capi-endless-" + std::to_string(getpid()) + ".fapkg");
  fs::create_directories(folder);
  std::string inputs = FA_TEST_INPUTS "/one-key.fapkg/";
  std::string ptx = readFile(inputs + "kernel.ptx");
  const std::string place = "    mul.wide.u32 %rd6, %r2, 2;";
  ptx.insert(ptx.find(place), "    mov.u32 %r3, 1;\n"
                              "LOOP:\n"
                              "    add.u32 %r3, %r3, 1;\n"
                              "    setp.ne.u32 %p1, %r3, 0;\n"
                              "    @%p1 bra LOOP;\n");
  std::ofstream(folder / "kernel.ptx") << ptx;
  fs::copy_file(inputs + "manifest.json", folder / "manifest.json",
                fs::copy_options::overwrite_existing);
  Kernel kernel;
  Answer answer = ask(fa_kernel_load, folder.c_str(), &kernel.handle);
  EXPECT_TRUE(answer.ok()) << answer.message;
  fs::remove_all(folder);
  return kernel;
}

OneKey::OneKey(int64_t queries)
    : query(FA_F16, {1, 1, queries, 1}), key(FA_F16, {1, 1, 1, 1}),
      value(FA_F16, {1, 1, 1, 1}), out(FA_F16, {1, 1, queries, 1}),
      lse(FA_F32, {1, 1, queries}) {
  query.fill(1);
  key.set(0, 0.75);
  value.set(0, -2.5);
}

std::vector<fa_array> OneKey::inputs() const {
  return {query.array(), key.array(), value.array()};
}

std::vector<fa_array> OneKey::results() const {
  return {out.array(), lse.array()};
}

Answer launch(const Kernel &kernel, const std::vector<fa_array> &inputs,
              const std::vector<fa_array> &results, fa_launch_options options,
              fa_run **run) {
  options.struct_size = sizeof(options);
  return ask(fa_kernel_launch, kernel.handle,
             static_cast<const char *>(nullptr), inputs.data(), inputs.size(),
             results.data(), results.size(),
             const_cast<const fa_launch_options *>(&options), run);
}

} // namespace capitest
