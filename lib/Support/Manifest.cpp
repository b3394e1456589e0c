//===- Manifest.cpp - the manifest as JSON --------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Its writer; ManifestReader.cpp reads.
//
//===----------------------------------------------------------------------===//
#include "fa/Support/Manifest.h"

#include "ManifestNames.h"
#include "ReportJson.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace farun {

namespace {

// ordered_json keeps the order of insertion: the bytes are ours to fix.
using Json = nlohmann::ordered_json;

/// A number when the text is one, so that fixed geometry reads naturally.
Json extentJson(const std::string &text) {
  bool isNumber = !text.empty() && text.size() < 19 &&
                  text.find_first_not_of("0123456789") == std::string::npos;
  if (isNumber)
    return std::stoll(text);
  return text;
}

Json dim3Json(const std::array<std::string, 3> &dim) {
  return Json::array(
      {extentJson(dim[0]), extentJson(dim[1]), extentJson(dim[2])});
}

Json operandJson(const Operand &operand) {
  Json shape = Json::array();
  for (int64_t extent : operand.shape)
    shape.push_back(extent == kDynamic ? Json(nullptr) : Json(extent));
  Json json = {{"role", operand.role},
               {"kind", nameOf(kOperandKinds, operand.kind)},
               {"type", name(operand.type)},
               {"shape", shape},
               {"dims", operand.dims}};
  for (const OperandUse &use : operand.also)
    json["also"].push_back({{"role", use.role}, {"dims", use.dims}});
  return json;
}

Json maskJson(const StructuralMask &mask) {
  Json json = {{"kind", nameOf(kMaskKinds, mask.kind)},
               {"alignment", mask.isBottomRight ? "bottom_right" : "top_left"}};
  if (mask.kind == StructuralMask::Kind::Causal)
    json["prefix"] = mask.prefix;
  if (mask.kind == StructuralMask::Kind::Window) {
    json["left"] = mask.left;
    json["right"] = mask.right;
  }
  if (mask.kind == StructuralMask::Kind::Chunk)
    json["size"] = mask.size;
  return json;
}

/// JSON has no infinities and no NaN.
Json floatJson(double number) {
  if (std::isfinite(number))
    return number;
  return std::isnan(number) ? "nan" : number < 0 ? "-inf" : "inf";
}

Json regionJson(const RegionProgram &region) {
  Json values = Json::array();
  for (const RegionValue &value : region.values) {
    Json json = {{"op", kRegionOps[size_t(value.op)].name},
                 {"type", name(value.type)}};
    if (value.op == RegionOp::Constant)
      json["value"] =
          isFloat(value.type) ? floatJson(value.number) : Json(value.integer);
    if (value.operand >= 0)
      json["operand"] = value.operand;
    if (!value.arguments.empty())
      json["arguments"] = value.arguments;
    values.push_back(json);
  }
  return {{"values", values}, {"result", region.result}};
}

Json attentionJson(const Attention &attention) {
  Json masks = Json::array();
  for (const StructuralMask &mask : attention.masks)
    masks.push_back(maskJson(mask));
  Json json = {{"scale", std::isnan(attention.scale) ? Json(nullptr)
                                                     : Json(attention.scale)},
               {"masks", masks},
               {"layout", attention.layout},
               {"empty_row", attention.emptyRow},
               {"schedule", scheduleJson(attention.schedule)}};
  if (attention.softcap)
    json["softcap"] = *attention.softcap;
  if (attention.score)
    json["score"] = regionJson(*attention.score);
  if (attention.visible)
    json["visible"] = regionJson(*attention.visible);
  if (attention.dropout)
    json["dropout"] = *attention.dropout;
  return json;
}

Json parameterJson(const Parameter &parameter) {
  Json json = {{"kind", nameOf(kParameterKinds, parameter.kind)}};
  if (parameter.operand >= 0)
    json["operand"] = parameter.operand;
  if (parameter.dim >= 0)
    json["dim"] = parameter.dim;
  else if (!parameter.extent.empty())
    json["dim"] = parameter.extent;
  if (parameter.kind == ParameterKind::TensorMap) {
    json["box"] = parameter.box;
    json["swizzle"] = name(parameter.swizzle);
  }
  json["type"] = parameter.type;
  return json;
}

Json launchJson(const Launch &launch) {
  return {{"kernel", launch.kernel},
          {"arguments", launch.arguments},
          {"shared_bytes", extentJson(launch.sharedBytes)},
          {"grid", dim3Json(launch.grid)},
          {"block", dim3Json(launch.block)},
          {"cluster", dim3Json(launch.cluster)}};
}

Json entryJson(const Entry &entry) {
  Json operands = Json::array(), parameters = Json::array(),
       launches = Json::array();
  for (const Operand &operand : entry.operands)
    operands.push_back(operandJson(operand));
  for (const Parameter &parameter : entry.parameters)
    parameters.push_back(parameterJson(parameter));
  for (const Launch &launch : entry.launches)
    launches.push_back(launchJson(launch));
  return {{"name", entry.name},
          {"operands", operands},
          {"attention", attentionJson(entry.attention)},
          {"parameters", parameters},
          {"launches", launches},
          {"shared_bytes", extentJson(entry.sharedBytes)},
          {"workspace_bytes", extentJson(entry.workspaceBytes)}};
}

} // namespace

std::string_view name(OperandKind kind) { return nameOf(kOperandKinds, kind); }
std::string_view name(ParameterKind kind) {
  return nameOf(kParameterKinds, kind);
}

bool isScaleInRange(double scale) {
  // NaN compares false.
  return std::abs(scale) * std::numbers::log2e <=
         double(std::numeric_limits<float>::max());
}

std::vector<OperandUse> Operand::uses() const {
  std::vector<OperandUse> all = {{role, dims}};
  all.insert(all.end(), also.begin(), also.end());
  return all;
}

bool Operand::hasRole(std::string_view wanted) const {
  return role == wanted ||
         std::any_of(also.begin(), also.end(),
                     [&](const OperandUse &use) { return use.role == wanted; });
}

std::string Operand::roleText() const {
  std::string text = role;
  for (const OperandUse &use : also)
    text += ", " + use.role;
  return text;
}

std::string manifestToJson(const Manifest &manifest) {
  Json entries = Json::array();
  for (const Entry &entry : manifest.entries)
    entries.push_back(entryJson(entry));
  Json json = {{"format", Manifest::kFormat},
               {"target", manifest.target},
               {"ptx", manifest.ptx},
               {"source", manifest.source},
               {"entries", entries}};
  // Invalid UTF-8 in a user's source is replaced, never thrown upon.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Expected<const Entry *> findEntry(const Manifest &manifest,
                                  const std::string &name) {
  std::string known;
  for (const Entry &entry : manifest.entries) {
    if (entry.name == name || (name.empty() && manifest.entries.size() == 1))
      return &entry;
    known += (known.empty() ? "" : ", ") + entry.name;
  }
  if (manifest.entries.empty())
    return inputError("the manifest has no entries");
  if (name.empty())
    return inputError("the entry must be named: there are " + known);
  return inputError("the entry '" + name + "' names no function; there are " +
                    known);
}

} // namespace farun
