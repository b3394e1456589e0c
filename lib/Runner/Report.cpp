//===- Report.cpp - a run as JSON and as lines ----------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// JSON has no infinities: they are written as the strings "inf", "-inf" and
// "nan".
//
//===----------------------------------------------------------------------===//
#include "fa/Runner/Report.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace farun {

namespace {

using Json = nlohmann::ordered_json;

Json numberJson(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  // Counts read as counts.
  if (value == std::floor(value) && std::abs(value) < 0x1p53)
    return int64_t(value);
  return value;
}

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

/// "global.loaded_bytes" goes to {"global": {"loaded_bytes": ...}}.
Json counters(const RunResult &result) {
  Json json = Json::object();
  for (const auto &[name, value] : result.counters) {
    Json *place = &json;
    size_t begin = 0;
    for (size_t dot; (dot = name.find('.', begin)) != std::string::npos;
         begin = dot + 1)
      place = &(*place)[name.substr(begin, dot - begin)];
    (*place)[name.substr(begin)] = numberJson(value);
  }
  return json;
}

Json toJson(const RunResult &result) {
  Json extents = Json::object();
  for (const auto &[name, value] : result.extents)
    extents[name] = value;
  const Schedule &schedule = result.schedule;
  Json json = {
      {"format", 1},
      {"entry", result.entry},
      {"target", result.target},
      {"device", result.device},
      {"extents", extents},
      {"operands", operandsJson(result)},
      {"schedule",
       {{"tile_q", schedule.tileQ},
        {"tile_kv", schedule.tileKV},
        {"warps", schedule.warps},
        {"stages", schedule.stages},
        {"state", schedule.state},
        {"splits", schedule.splits}}},
      {"seed", result.seed},
      {"exit_code", result.exitCode()},
      {"checks", checksJson(result)},
      {"trace", traceJson(result)},
      {"launches", result.launches},
      {"counters", counters(result)},
      {"traffic",
       {{"bound_bytes", numberJson(result.traffic.bound)},
        {"naive_bytes", numberJson(result.traffic.naive)},
        {"naive_stored_bytes", numberJson(result.traffic.naiveStored)}}},
      {"seconds",
       {{"device", result.deviceSeconds}, {"oracle", result.oracleSeconds}}},
      {"diagnostics", result.diagnostics}};
  if (result.failure)
    json["failure"] = result.failure->str();
  return json;
}

/// Text that came from a user's file may be no UTF-8: replaced, never thrown.
std::string dump(const Json &json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

std::string reportJson(const RunResult &result) { return dump(toJson(result)); }

std::string reportJson(const RunResult &result, const CompileFacts &facts) {
  Json json = toJson(result);
  json["source"] = facts.source;
  json["seconds"]["compile"] = facts.seconds;
  return dump(json);
}

std::string countersJson(const RunResult &result) {
  return dump(counters(result));
}

} // namespace farun
