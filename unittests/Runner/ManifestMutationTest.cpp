//===- ManifestMutationTest.cpp - packages with one field changed ---------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A good package, and every package that differs from it in one field: each
// runs and gives the right answer, or is refused, or is found to be wrong.
//
//===----------------------------------------------------------------------===//
#include "fa/Runner/Runner.h"
#include "fa/Runtime/RegisterDevices.h"
#include "fa/Support/Package.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>

using namespace farun;

namespace {

using Json = nlohmann::ordered_json;

/// What a field may be changed to; all but the same.
std::vector<Json> replacements() {
  return {nullptr,
          true,
          -1,
          0,
          1,
          3,
          65536,
          int64_t(1) << 31,
          int64_t(1) << 62,
          std::numeric_limits<uint64_t>::max(),
          0.5,
          -1e300,
          "",
          "Sq",
          "1 / 0",
          "Sq * Sq * Sq * Sq * Sq * Sq * Sq * Sq * Sq * Sq * Sq * Sq",
          "Tq",
          "ptr",
          "i64",
          "f32",
          "key",
          "output",
          "tensormap",
          Json::array(),
          Json::object(),
          {{"kind", "chunk"}, {"alignment", "top_left"}, {"size", 1}}};
}

/// Calls `visit(mutated document, what was done)` for each mutation below
/// `place`, which lies in `document`.
void mutate(Json &document, Json &place, const std::string &path,
            const std::function<void(const std::string &)> &visit) {
  if (!path.empty()) {
    Json kept = place;
    for (const Json &replacement : replacements())
      if (replacement != kept) {
        place = replacement;
        visit(path + " = " + replacement.dump());
      }
    place = kept;
  }
  if (place.is_array())
    for (size_t n = 0; n < place.size(); ++n) {
      Json kept = place;
      place.erase(n);
      visit(path + " without " + std::to_string(n));
      place = kept;
      place.push_back(kept[n]);
      visit(path + " with " + std::to_string(n) + " again");
      place = kept;
      mutate(document, place[n], path + "/" + std::to_string(n), visit);
    }
  if (!place.is_object())
    return;
  std::vector<std::string> keys;
  for (const auto &[key, value] : place.items())
    keys.push_back(key);
  for (const std::string &key : keys) {
    Json kept = place;
    place.erase(key);
    visit(path + " without " + key);
    place["x" + key] = kept[key];
    visit(path + " with x" + key + " for " + key);
    place = kept;
    mutate(document, place[key], path + "/" + key, visit);
  }
}

TEST(ManifestMutation, EveryChangedFieldIsRefusedOrRunsRight) {
  Expected<Package> good =
      readPackage(std::string(FA_TEST_INPUTS) + "/one-key.fapkg");
  ASSERT_TRUE(bool(good)) << good.error().str();
  DeviceRegistry registry;
  registerAllDevices(registry);
  DeviceOptions options;
  options.threads = 1;
  options.maxInstructions = 100000;
  RunSpec spec;
  spec.dims = {{"Sq", 40}};

  struct Outcome {
    int code;
    std::vector<Array> outputs;
  };
  auto runText = [&](const std::string &text, const std::string &what) {
    Expected<Manifest> manifest = parseManifest(text, "manifest.json");
    if (!manifest) {
      EXPECT_EQ(manifest.error().code, ErrorCode::Input);
      EXPECT_EQ(manifest.error().location.file, "manifest.json");
      EXPECT_NE(manifest.error().message.find("manifest"), std::string::npos);
      return Outcome{2, {}};
    }
    Program program;
    program.manifest = *manifest;
    program.ptx = good->ptx;
    program.ptxName = "kernel.ptx";
    std::unique_ptr<Device> device =
        std::move(*registry.open("emulator", options));
    Expected<RunResult> result = run(program, spec, *device);
    if (!result) {
      EXPECT_EQ(result.error().code, ErrorCode::Input) << what;
      EXPECT_FALSE(result.error().message.empty());
      return Outcome{2, {}};
    }
    return Outcome{result->exitCode(), result->outputs};
  };

  std::string goodText = manifestToJson(good->manifest);
  Outcome right = runText(goodText, "good");
  ASSERT_EQ(right.code, 0);
  Json document = Json::parse(goodText);
  std::map<int, int> codes;
  mutate(document, document, "", [&](const std::string &what) {
    auto start = std::chrono::steady_clock::now();
    Outcome outcome = runText(document.dump(), what);
    EXPECT_LT(std::chrono::steady_clock::now() - start,
              std::chrono::seconds(20))
        << what;
    ++codes[outcome.code];
    EXPECT_NE(outcome.code, 3) << what;
    if (outcome.code != 0)
      return;
    ASSERT_EQ(outcome.outputs.size(), right.outputs.size()) << what;
    for (size_t n = 0; n < right.outputs.size(); ++n)
      EXPECT_EQ(outcome.outputs[n].bytes, right.outputs[n].bytes) << what;
  });
  // Most are refused before they run; some change nothing that matters.
  EXPECT_GT(codes[2], 1000);
  EXPECT_GT(codes[0], 50);
}

} // namespace
