//===- LaunchReport.cpp - one launch as JSON ------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Support/LaunchReport.h"

#include "ReportJson.h"

namespace farun {

static ReportJson checksJson(const LaunchReport &report) {
  ReportJson checks = ReportJson::array();
  for (const ExpectationResult &check : report.checks)
    checks.push_back({{"argument", check.argument},
                      {"file", check.expected},
                      {"ok", check.ok},
                      {"problem", check.problem},
                      {"max_error", numberJson(check.maxError)},
                      {"bound", numberJson(check.bound)},
                      {"at", check.at},
                      {"found", numberJson(check.found)},
                      {"expected", numberJson(check.wanted)},
                      {"wrong", check.wrong},
                      {"count", check.count}});
  return checks;
}

std::string reportJson(const LaunchReport &report) {
  ReportJson json = {{"format", 1},
                     {"file", report.file},
                     {"entry", report.entry},
                     {"target", report.target},
                     {"device", "emulator"},
                     {"grid", report.grid},
                     {"block", report.block},
                     {"shared_bytes", report.sharedBytes},
                     {"arguments", report.arguments},
                     {"exit_code", report.exitCode},
                     {"status", report.status},
                     {"checks", checksJson(report)},
                     {"launches", 1},
                     {"counters", countersJson(report.counters)},
                     {"seconds", {{"device", report.seconds}}},
                     {"diagnostics", report.diagnostics}};
  if (report.cluster[0])
    json["cluster"] = report.cluster;
  if (!report.speedOfLight.empty())
    json["speed_of_light"] = report.speedOfLight;
  return reportText(json);
}

} // namespace farun
