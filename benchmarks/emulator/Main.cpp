//===- Main.cpp - how fast the PTX machine is -----------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   emulator --build=DIR --json=FILE [--compiler=FILE]
//
// Run by ./fa bench (utils/bench.py says what FILE holds). docs/Benchmarks.md
// says what each figure means.
//
//===----------------------------------------------------------------------===//
#include "Figures.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string_view>

using namespace bench;

int main(int argc, char **argv) {
  std::string build = ".", json, compiler;
  for (int k = 1; k < argc; ++k) {
    std::string_view text = argv[k];
    auto take = [&](std::string_view name, std::string &value) {
      if (text.substr(0, name.size()) != name)
        return false;
      value = text.substr(name.size());
      return true;
    };
    if (take("--build=", build) || take("--json=", json) ||
        take("--compiler=", compiler))
      continue;
    std::fprintf(stderr, "error: unknown option '%s'\n", argv[k]);
    return 2;
  }
  if (json.empty()) {
    std::fprintf(stderr, "error: --json=FILE is missing\n");
    return 2;
  }
  if (compiler.empty())
    compiler = build + "/bin/fa-compile";
  Figures figures;
  if (!measureMemory(figures) || !measureLoops(figures) ||
      !measureHead(figures, compiler) || !measureRolesHead(figures) ||
      !measureParsing(figures))
    return 1;
  std::ofstream out(json);
  out << figures.rows.dump(1) << "\n";
  return out.flush() ? 0 : 1;
}
