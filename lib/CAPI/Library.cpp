//===- Library.cpp - the library itself: versions, names, devices ---------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Library.h"

#include "Arrays.h"
#include "Compile.h"

#include "fa/Runtime/RegisterDevices.h"
#include "fa/Support/ExtentExpression.h"

#include <nlohmann/json.hpp>

namespace facapi {

const farun::DeviceRegistry &devices() {
  static const farun::DeviceRegistry *registry = [] {
    auto *made = new farun::DeviceRegistry();
    farun::registerAllDevices(*made);
    return made;
  }();
  return *registry;
}

using Json = nlohmann::ordered_json;

static Json describeDevice(const farun::DeviceEntry &entry) {
  std::optional<std::string> reason = entry.whyUnavailable();
  Json json = {{"name", entry.name},
               {"description", entry.description},
               {"available", !reason},
               {"reason", reason.value_or("")}};
  if (!reason)
    if (auto device = entry.open({})) {
      json["runs_ptx"] = (*device)->runsPTX();
      json["default_target"] = (*device)->defaultTarget();
    }
  json["checkers"] = Json::array();
  for (const auto &[name, description] : entry.checkers)
    json["checkers"].push_back({{"name", name}, {"description", description}});
  return json;
}

static std::string describeAll() {
  Json json;
  json["version"] = fa_version();
  json["llvm_version"] = fa_llvm_version();
  json["targets"] = targetNames();
  json["devices"] = Json::array();
  for (const farun::DeviceEntry &entry : devices().devices()) {
    json["devices"].push_back(describeDevice(entry));
    for (int n = 1, count = entry.count ? entry.count() : 1; n < count; ++n)
      json["devices"].push_back(describeDevice(entry.at(n)));
  }
  auto chosen = devices().open("auto", {});
  json["default_device"] = chosen ? (*chosen)->name() : "";
  json["options"] = Json::array();
  for (const farun::DeviceOption &option : farun::deviceOptionTable())
    json["options"].push_back(
        {{"name", option.name + 2}, {"help", option.help}});
  return json.dump(2);
}

} // namespace facapi

using namespace facapi;

int32_t fa_abi_version(void) { return FA_ABI_VERSION; }

fa_status fa_abi_check(int32_t version, fa_error **error) {
  return call(error, [&]() -> Outcome {
    if (version == FA_ABI_VERSION)
      return std::nullopt;
    return Failure(FA_ERROR_VERSION,
                   "the program was built for version " +
                       std::to_string(version) +
                       " of the C API; this library has version " +
                       std::to_string(FA_ABI_VERSION));
  });
}

const char *fa_version(void) { return FA_VERSION; }

const char *fa_llvm_version(void) {
  static const std::string *version = new std::string(llvmVersion());
  return version->c_str();
}

const char *fa_status_name(fa_status status) {
  switch (status) {
  case FA_OK:
    return "ok";
  case FA_ERROR_INPUT:
    return "input";
  case FA_ERROR_DEVICE:
    return "device";
  case FA_ERROR_FAULT:
    return "fault";
  case FA_ERROR_COMPILE:
    return "compile";
  case FA_ERROR_CANCELLED:
    return "cancelled";
  case FA_ERROR_HANDLE:
    return "handle";
  case FA_ERROR_VERSION:
    return "version";
  case FA_ERROR_FORK:
    return "fork";
  case FA_ERROR_MEMORY:
    return "memory";
  case FA_ERROR_INTERNAL:
    return "internal";
  case FA_ERROR_UNSUPPORTED:
    return "unsupported";
  case FA_STATUS_INT32:
    break;
  }
  return "";
}

const char *fa_dtype_name(fa_dtype dtype) {
  std::optional<farun::ElementType> type = toElementType(dtype);
  return type ? farun::name(*type).data() : "";
}

size_t fa_dtype_size(fa_dtype dtype) {
  std::optional<farun::ElementType> type = toElementType(dtype);
  return type ? farun::byteSize(*type) : 0;
}

fa_status fa_devices(const char **json, fa_error **error) {
  return call(error, [&]() -> Outcome {
    if (Outcome failure = checkPlace(json, "json"))
      return failure;
    static const std::string *text = new std::string(describeAll());
    *json = text->c_str();
    return std::nullopt;
  });
}

fa_status fa_evaluate(const char *expression, const char *const *names,
                      const int64_t *values, size_t count, int64_t *value,
                      fa_error **error) {
  return call(error, [&]() -> Outcome {
    if (Outcome failure = checkPlace(expression, "expression"))
      return failure;
    if (Outcome failure = checkPlace(value, "value"))
      return failure;
    if (count && (!names || !values))
      return inputFailure("the names or values are null", "names");
    farun::Extents extents;
    for (size_t n = 0; n < count; ++n) {
      if (!names[n])
        return inputFailure("name " + std::to_string(n) + " is null", "names");
      extents[names[n]] = values[n];
    }
    farun::Expected<int64_t> result =
        farun::evaluateExtent(expression, extents);
    if (!result)
      return toFailure(result.error(), "expression");
    *value = *result;
    return std::nullopt;
  });
}
