//===- Compiled.cpp - kernels that other compilers made ---===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The modes: plain; all checkers in order and in reverse; all checkers under 20
// seeds.
//
//===----------------------------------------------------------------------===//
#include "Compiled.h"

#include <cstdlib>

using namespace ptxvm;
using namespace ptxvm::test;

static DeviceOptions optionsOf(const std::string &mode) {
  DeviceOptions options;
  options.threads = 1;
  options.maxInstructions = 50'000'000;
  if (mode != "plain")
    options.order = *OrderPolicy::parse(mode);
  return options;
}

Session::Session(const Module &module, const std::string &mode)
    : device(optionsOf(mode)), module(module) {
  if (mode == "plain")
    return;
  auto all = CheckerSet::parse("all");
  checkers = std::make_unique<CheckerSet>(std::move(*all));
  checkers->attach(device);
}

uint64_t Session::fill(const void *from, uint64_t bytes, bool isReadOnly) {
  uint64_t address = device.alloc(bytes, name(), isReadOnly);
  device.write(address, from, bytes);
  return address;
}

Expected<Module> ptxvm::test::load(const std::string &file,
                                   const std::string &arch) {
  const char *other = std::getenv("FA_COMPILED_PTX");
  std::string folder = other ? other : FA_COMPILED_PTX_DIR;
  return Module::parseFile(folder + "/" + file + "." + arch + ".ptx");
}

void ptxvm::test::forAll(const std::string &file,
                         const std::vector<std::string> &arches,
                         const std::function<void(Session &)> &body) {
  std::vector<std::string> modes = {"plain", "round-robin", "reverse"};
  for (int seed = 1; seed <= 20; ++seed)
    modes.push_back("random:" + std::to_string(seed));
  for (const std::string &arch : arches) {
    auto module = load(file, arch);
    ASSERT_TRUE(bool(module)) << module.error().str();
    for (const std::string &mode : modes) {
      SCOPED_TRACE(arch + " " + mode);
      Session r(*module, mode);
      body(r);
      if (testing::Test::HasFailure())
        return;
    }
  }
}
