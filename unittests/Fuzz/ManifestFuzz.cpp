//===- ManifestFuzz.cpp - any bytes as a package's manifest ---------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// JSON text becomes a manifest, which written and read again is the same, or an
// error with its path. Every size of it can be evaluated.
//
//===----------------------------------------------------------------------===//
#include "FuzzTarget.h"

#include "fa/Support/ExtentExpression.h"
#include "fa/Support/Manifest.h"

using namespace farun;
using fafuzz::require;

/// Whatever the numbers, a value or an error.
static void evaluate(const std::string &text) {
  for (int64_t n : {int64_t(0), int64_t(1), int64_t(-3), INT64_MAX}) {
    Extents extents;
    for (const char *name :
         {"B", "Hq", "Hkv", "Sq", "Sk", "D", "Dv", "Tq", "Tk", "pages"})
      extents[name] = n;
    Expected<int64_t> value = evaluateExtent(text, extents);
    require(value || !value.error().message.empty(),
            "an error without a message: " + text);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  evaluate(text);
  Expected<Manifest> manifest = parseManifest(text, "fuzz.json");
  if (!manifest) {
    require(!manifest.error().message.empty() &&
                manifest.error().location.file == "fuzz.json",
            "an error without a message or its file");
    return 0;
  }
  for (const Entry &entry : manifest->entries) {
    evaluate(entry.sharedBytes);
    evaluate(entry.workspaceBytes);
    for (const Launch &launch : entry.launches)
      for (const auto *sizes : {&launch.grid, &launch.block, &launch.cluster})
        for (const std::string &extent : *sizes)
          evaluate(extent);
  }
  std::string once = manifestToJson(*manifest);
  Expected<Manifest> again = parseManifest(once, "again.json");
  require(bool(again), "what was written cannot be read: " +
                           (again ? "" : again.error().str()));
  require(manifestToJson(*again) == once, "a second writing is another one");
  return 0;
}
