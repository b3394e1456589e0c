//===- ParserFuzz.cpp - any bytes as a PTX file ---------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Text becomes a module whose entries can be decoded, or an error that says
// where it is, in one line of readable text. Nothing runs.
//
//===----------------------------------------------------------------------===//
#include "FuzzTarget.h"

#include "fa/Emulator/Module.h"

#include <algorithm>

using namespace ptxvm;
using fafuzz::require;

/// Entries that are decoded: the cost of an input is to stay small.
static constexpr size_t kMaxEntries = 16;
static constexpr size_t kMaxMessage = 2048;

static void judge(const Diagnostic &d, const std::string &text) {
  require(!d.message.empty(), "an error without a message");
  require(d.message.size() <= kMaxMessage, "a message without an end");
  require(std::all_of(d.message.begin(), d.message.end(),
                      [](char c) { return c >= ' ' && c <= '~'; }),
          "a message that no terminal shows: " + d.message);
  require(d.location.file == "fuzz.ptx", "an error without its file");
  size_t lines = 1 + size_t(std::count(text.begin(), text.end(), '\n'));
  require(d.location.line >= 1 && d.location.line <= lines &&
              d.location.column >= 1,
          "an error at no place of the file: " + d.str());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  auto module = Module::parse(text, "fuzz.ptx");
  if (!module) {
    judge(module.error(), text);
    return 0;
  }
  std::vector<std::string> kernels = module->kernels();
  kernels.resize(std::min(kernels.size(), kMaxEntries));
  for (const std::string &name : kernels)
    if (auto problem = module->prepare(name))
      judge(*problem, text);
  return 0;
}
