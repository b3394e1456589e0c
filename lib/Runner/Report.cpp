//===- Report.cpp - a run as JSON and as lines ----------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Runner/Report.h"

#include "../Support/ReportJson.h"

namespace farun {

namespace {

using Json = ReportJson;

Json operandsJson(const RunResult &result) {
  Json operands = Json::array();
  for (size_t n = 0; n < result.operands.size(); ++n)
    operands.push_back({{"role", result.operands[n].role},
                        {"kind", name(result.operands[n].kind)},
                        {"type", name(result.operands[n].type)},
                        {"shape", result.shapes[n]}});
  return operands;
}

Json checksJson(const RunResult &result) {
  Json checks = Json::array();
  for (const Comparison &comparison : result.comparisons)
    checks.push_back({{"result", comparison.result},
                      {"ok", comparison.ok},
                      {"problem", comparison.problem},
                      {"max_error", numberJson(comparison.maxError)},
                      {"bound", numberJson(comparison.bound)},
                      {"at", comparison.at},
                      {"found", numberJson(comparison.found)},
                      {"expected", numberJson(comparison.expected)},
                      {"wrong", comparison.wrong},
                      {"count", comparison.count}});
  return checks;
}

Json traceJson(const RunResult &result) {
  Json trace = Json::array();
  for (const TraceBlock &block : result.trace) {
    Json u = Json::array();
    for (float value : block.u)
      u.push_back(numberJson(value));
    trace.push_back({{"block", block.block},
                     {"m", numberJson(block.m)},
                     {"l", numberJson(block.l)},
                     {"u", u}});
  }
  return trace;
}

Json withoutTensorMapJson(const RunResult &result) {
  Json list = Json::array();
  for (const WithoutTensorMap &each : result.withoutTensorMap)
    list.push_back({{"operand", each.operand}, {"why", each.why}});
  return list;
}

Json toJson(const RunResult &result) {
  Json extents = Json::object();
  for (const auto &[name, value] : result.extents)
    extents[name] = value;
  Json json = {
      {"format", 1},
      {"entry", result.entry},
      {"target", result.target},
      {"device", result.device},
      {"extents", extents},
      {"operands", operandsJson(result)},
      {"schedule", scheduleJson(result.schedule)},
      {"seed", result.seed},
      {"exit_code", result.exitCode()},
      {"checks", checksJson(result)},
      {"trace", traceJson(result)},
      {"launches", result.launches},
      {"without_tensor_map", withoutTensorMapJson(result)},
      {"counters", countersJson(result.counters)},
      {"traffic",
       {{"bound_bytes", numberJson(result.traffic.bound)},
        {"naive_bytes", numberJson(result.traffic.naive)},
        {"naive_stored_bytes", numberJson(result.traffic.naiveStored)}}},
      {"seconds",
       {{"device", result.deviceSeconds}, {"oracle", result.oracleSeconds}}},
      {"diagnostics", result.diagnostics}};
  if (!result.model.empty())
    json["device_model"] = result.model;
  if (result.timing)
    json["bench"] = {{"warm_ups", Timing::kWarmUps},
                     {"seconds", result.timing->seconds},
                     {"operations", numberJson(result.timing->operations)},
                     {"bytes", numberJson(result.timing->bytes)}};
  if (result.failure)
    json["failure"] = result.failure->str();
  return json;
}

} // namespace

std::string reportJson(const RunResult &result) {
  return reportText(toJson(result));
}

std::string reportJson(const RunResult &result, const CompileFacts &facts) {
  Json json = toJson(result);
  json["source"] = facts.source;
  json["seconds"]["compile"] = facts.seconds;
  return reportText(json);
}

std::string countersJson(const RunResult &result) {
  return reportText(countersJson(result.counters));
}

} // namespace farun
