//===- ReportJson.h - what all reports write alike --------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers, counters and the text of a report, for the reports of attention
// (lib/Runner/Report.cpp) and of any launch (LaunchReport.cpp). JSON has no
// infinities: they are written as the strings "inf", "-inf" and "nan".
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_SUPPORT_REPORTJSON_H
#define FA_LIB_SUPPORT_REPORTJSON_H

#include "fa/Support/Schedule.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace farun {

using ReportJson = nlohmann::ordered_json;

inline ReportJson numberJson(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  // Counts read as counts.
  if (value == std::floor(value) && std::abs(value) < 0x1p53)
    return int64_t(value);
  return value;
}

/// "global.loaded_bytes" goes to {"global": {"loaded_bytes": ...}}.
inline ReportJson
countersJson(const std::vector<std::pair<std::string, double>> &counters) {
  ReportJson json = ReportJson::object();
  for (const auto &[name, value] : counters) {
    ReportJson *place = &json;
    size_t begin = 0;
    for (size_t dot; (dot = name.find('.', begin)) != std::string::npos;
         begin = dot + 1)
      place = &(*place)[name.substr(begin, dot - begin)];
    (*place)[name.substr(begin)] = numberJson(value);
  }
  return json;
}

/// Every key of a schedule.
inline ReportJson scheduleJson(const Schedule &schedule) {
  ReportJson json = ReportJson::object();
  forEachKey(schedule,
             [&](const char *key, const auto &value) { json[key] = value; });
  return json;
}

/// Text that came from a user's file may be no UTF-8: replaced, never thrown.
inline std::string reportText(const ReportJson &json) {
  return json.dump(2, ' ', false, ReportJson::error_handler_t::replace) + "\n";
}

} // namespace farun

#endif // FA_LIB_SUPPORT_REPORTJSON_H
