//===- Manifest.cpp - the manifest as JSON --------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading trusts nothing: a folder from elsewhere may hold any JSON. The
// reader walks the document with a path ("entries[0].launches[1].grid") that
// every message carries.
//
//===----------------------------------------------------------------------===//
#include "fa/Support/Manifest.h"

#include "fa/Support/ExtentExpression.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace farun {

namespace {

// ordered_json keeps the order of insertion: the bytes are ours to fix.
using Json = nlohmann::ordered_json;

template <typename E> struct Named {
  E value;
  std::string_view name;
};

constexpr Named<OperandKind> kOperandKinds[] = {
    {OperandKind::Input, "input"},
    {OperandKind::Output, "output"},
    {OperandKind::Scalar, "scalar"},
};
constexpr Named<ParameterKind> kParameterKinds[] = {
    {ParameterKind::Pointer, "pointer"},
    {ParameterKind::Extent, "extent"},
    {ParameterKind::Stride, "stride"},
    {ParameterKind::Scalar, "scalar"},
    {ParameterKind::Workspace, "workspace"},
    {ParameterKind::TensorMap, "tensormap"},
    {ParameterKind::Trace, "trace"},
};
constexpr Named<StructuralMask::Kind> kMaskKinds[] = {
    {StructuralMask::Kind::Causal, "causal"},
    {StructuralMask::Kind::Window, "window"},
    {StructuralMask::Kind::Chunk, "chunk"},
};

template <typename E, size_t N>
std::string_view nameOf(const Named<E> (&table)[N], E value) {
  for (const Named<E> &entry : table)
    if (entry.value == value)
      return entry.name;
  return "";
}

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
  return {{"role", operand.role},
          {"kind", nameOf(kOperandKinds, operand.kind)},
          {"type", name(operand.type)},
          {"shape", shape},
          {"dims", operand.dims}};
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

Json attentionJson(const Attention &attention) {
  Json masks = Json::array();
  for (const StructuralMask &mask : attention.masks)
    masks.push_back(maskJson(mask));
  const Schedule &schedule = attention.schedule;
  return {{"scale",
           std::isnan(attention.scale) ? Json(nullptr) : Json(attention.scale)},
          {"masks", masks},
          {"layout", attention.layout},
          {"empty_row", attention.emptyRow},
          {"schedule",
           {{"tile_q", schedule.tileQ},
            {"tile_kv", schedule.tileKV},
            {"warps", schedule.warps},
            {"stages", schedule.stages},
            {"state", schedule.state},
            {"splits", schedule.splits}}}};
}

Json parameterJson(const Parameter &parameter) {
  Json json = {{"kind", nameOf(kParameterKinds, parameter.kind)}};
  if (parameter.operand >= 0)
    json["operand"] = parameter.operand;
  if (parameter.dim >= 0)
    json["dim"] = parameter.dim;
  else if (!parameter.extent.empty())
    json["dim"] = parameter.extent;
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

/// A place in the document. The first failure is kept in the shared slot and
/// makes every later read return a default, so readers need no branches.
class Node {
public:
  Node(const Json *json, std::string path, std::optional<std::string> &failure)
      : json(json), path(std::move(path)), failure(failure) {}

  bool has(const char *key) const {
    return json && json->is_object() && json->contains(key);
  }

  Node operator[](const char *key) const {
    std::string where = path.empty() ? key : path + "." + key;
    if (!json || !json->is_object() || !json->contains(key))
      return missing(where, "is missing");
    return Node(&(*json)[key], where, failure);
  }

  std::vector<Node> elements() const {
    std::vector<Node> result;
    if (!json || !json->is_array()) {
      fail("must be a list");
      return result;
    }
    for (size_t n = 0; n < json->size(); ++n)
      result.push_back(
          Node(&(*json)[n], path + "[" + std::to_string(n) + "]", failure));
    return result;
  }

  std::string string() const {
    if (json && json->is_string())
      return json->get<std::string>();
    fail("must be a string");
    return "";
  }

  int64_t integer() const {
    bool fits = json && json->is_number_integer() &&
                (!json->is_number_unsigned() ||
                 json->get<uint64_t>() <=
                     uint64_t(std::numeric_limits<int64_t>::max()));
    if (fits)
      return json->get<int64_t>();
    fail("must be a whole number of 64 bits");
    return 0;
  }

  /// An index below `limit`.
  int index(size_t limit) const {
    int64_t value = integer();
    if (!failure && (value < 0 || uint64_t(value) >= limit))
      fail("is " + std::to_string(value) + ", outside 0.." +
           std::to_string(int64_t(limit) - 1));
    return failure ? 0 : int(value);
  }

  double number() const {
    if (json && json->is_number())
      return json->get<double>();
    fail("must be a number");
    return 0.0;
  }

  bool isNull() const { return json && json->is_null(); }
  bool isString() const { return json && json->is_string(); }

  /// Geometry: a whole number or an expression over the extents.
  std::string extent() const {
    if (json && json->is_number_integer()) {
      int64_t value = integer();
      if (value < 0)
        fail("must not be negative");
      return std::to_string(value);
    }
    std::string text = string();
    if (failure)
      return "0";
    if (Status status = checkExtentSyntax(text); !status)
      fail("is no size: " + status.error().message);
    return text;
  }

  template <typename E, size_t N> E choice(const Named<E> (&table)[N]) const {
    std::string text = string();
    std::string accepted;
    for (const Named<E> &entry : table) {
      if (entry.name == text)
        return entry.value;
      accepted += (accepted.empty() ? "" : ", ") + std::string(entry.name);
    }
    fail("is '" + text + "'; accepted are " + accepted);
    return table[0].value;
  }

  void fail(const std::string &what) const {
    if (!failure)
      failure = "'" + path + "' " + what;
  }

private:
  Node missing(const std::string &where, const char *what) const {
    if (!failure)
      failure = "'" + where + "' " + what;
    return Node(nullptr, where, failure);
  }

  const Json *json;
  std::string path;
  std::optional<std::string> &failure;
};

Operand readOperand(const Node &node) {
  Operand operand;
  operand.role = node["role"].string();
  operand.kind = node["kind"].choice(kOperandKinds);
  std::string type = node["type"].string();
  std::optional<ElementType> parsed = parseElementType(type);
  if (!parsed)
    node["type"].fail("is '" + type + "', which is no element type");
  operand.type = parsed.value_or(ElementType::F32);
  for (const Node &extent : node["shape"].elements()) {
    operand.shape.push_back(extent.isNull() ? kDynamic : extent.integer());
    if (operand.shape.back() < kDynamic)
      extent.fail("must not be negative");
  }
  for (const Node &dim : node["dims"].elements()) {
    operand.dims.push_back(dim.string());
    if (operand.dims.back() != "1" && !isExtentName(operand.dims.back()))
      dim.fail("is '" + operand.dims.back() + "', which names no extent");
  }
  if (operand.dims.size() != operand.shape.size())
    node["dims"].fail("must have as many entries as 'shape'");
  return operand;
}

StructuralMask readMask(const Node &node) {
  StructuralMask mask;
  mask.kind = node["kind"].choice(kMaskKinds);
  std::string alignment = node["alignment"].string();
  if (alignment != "top_left" && alignment != "bottom_right")
    node["alignment"].fail("must be top_left or bottom_right");
  mask.isBottomRight = alignment == "bottom_right";
  if (mask.kind == StructuralMask::Kind::Causal && node.has("prefix"))
    mask.prefix = node["prefix"].integer();
  if (mask.kind == StructuralMask::Kind::Window) {
    mask.left = node["left"].integer();
    mask.right = node["right"].integer();
  }
  if (mask.kind == StructuralMask::Kind::Chunk) {
    mask.size = node["size"].integer();
    if (mask.size < 1)
      node["size"].fail("must be at least 1");
  }
  return mask;
}

Attention readAttention(const Node &node) {
  Attention attention;
  Node scale = node["scale"];
  attention.scale = scale.isNull() ? std::numeric_limits<double>::quiet_NaN()
                                   : scale.number();
  for (const Node &mask : node["masks"].elements())
    attention.masks.push_back(readMask(mask));
  attention.layout = node["layout"].string();
  if (attention.layout != "bhsd" && attention.layout != "bshd")
    node["layout"].fail("must be bhsd or bshd");
  attention.emptyRow = node["empty_row"].string();
  if (attention.emptyRow != "zero" && attention.emptyRow != "nan" &&
      attention.emptyRow != "uniform")
    node["empty_row"].fail("must be zero, nan or uniform");
  Node schedule = node["schedule"];
  attention.schedule.tileQ = schedule["tile_q"].integer();
  attention.schedule.tileKV = schedule["tile_kv"].integer();
  attention.schedule.warps = schedule["warps"].integer();
  attention.schedule.stages = schedule["stages"].integer();
  attention.schedule.state = schedule["state"].string();
  attention.schedule.splits = schedule["splits"].integer();
  return attention;
}

Parameter readParameter(const Node &node, const Entry &entry) {
  Parameter parameter;
  parameter.kind = node["kind"].choice(kParameterKinds);
  parameter.type = node["type"].string();
  if (node.has("operand") && !node["operand"].isNull())
    parameter.operand = node["operand"].index(entry.operands.size());
  if (node.has("dim") && !node["dim"].isNull()) {
    Node dim = node["dim"];
    if (dim.isString()) {
      parameter.extent = dim.string();
      if (!isExtentName(parameter.extent))
        dim.fail("is '" + parameter.extent + "', which names no extent");
    } else if (parameter.operand < 0) {
      dim.fail("is an index and needs 'operand'");
    } else {
      parameter.dim = dim.index(
          entry.operands.empty()
              ? 0
              : entry.operands[size_t(parameter.operand)].shape.size());
    }
  }
  bool needsOperand = parameter.kind == ParameterKind::Pointer ||
                      parameter.kind == ParameterKind::Scalar ||
                      parameter.kind == ParameterKind::Stride;
  if (needsOperand && parameter.operand < 0)
    node["operand"].fail("is needed for this kind");
  if (parameter.kind == ParameterKind::Stride && parameter.dim < 0)
    node["dim"].fail("must be a dimension's index for a stride");
  if (parameter.kind == ParameterKind::Extent && parameter.dim < 0 &&
      parameter.extent.empty())
    node["dim"].fail("must be a name or an index for an extent");
  return parameter;
}

std::array<std::string, 3> readDim3(const Node &node) {
  std::array<std::string, 3> result = {"1", "1", "1"};
  std::vector<Node> elements = node.elements();
  if (elements.size() != 3)
    node.fail("must have three entries");
  for (size_t n = 0; n < std::min<size_t>(3, elements.size()); ++n)
    result[n] = elements[n].extent();
  return result;
}

Launch readLaunch(const Node &node, const Entry &entry) {
  Launch launch;
  launch.kernel = node["kernel"].string();
  for (const Node &argument : node["arguments"].elements())
    launch.arguments.push_back(argument.index(entry.parameters.size()));
  launch.sharedBytes = node["shared_bytes"].extent();
  launch.grid = readDim3(node["grid"]);
  launch.block = readDim3(node["block"]);
  if (node.has("cluster"))
    launch.cluster = readDim3(node["cluster"]);
  return launch;
}

Entry readEntry(const Node &node) {
  Entry entry;
  entry.name = node["name"].string();
  for (const Node &operand : node["operands"].elements())
    entry.operands.push_back(readOperand(operand));
  entry.attention = readAttention(node["attention"]);
  for (const Node &parameter : node["parameters"].elements())
    entry.parameters.push_back(readParameter(parameter, entry));
  for (const Node &launch : node["launches"].elements())
    entry.launches.push_back(readLaunch(launch, entry));
  entry.sharedBytes = node["shared_bytes"].extent();
  entry.workspaceBytes = node["workspace_bytes"].extent();
  return entry;
}

} // namespace

std::string_view name(OperandKind kind) { return nameOf(kOperandKinds, kind); }
std::string_view name(ParameterKind kind) {
  return nameOf(kParameterKinds, kind);
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

Expected<Manifest> parseManifest(const std::string &text,
                                 const std::string &path) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded())
    return inputError("the manifest is not JSON", {path, 0, 0});
  std::optional<std::string> failure;
  Node root(&json, "", failure);
  int64_t format = root["format"].integer();
  if (!failure && format != Manifest::kFormat)
    return inputError("the manifest has format " + std::to_string(format) +
                          "; accepted is " + std::to_string(Manifest::kFormat),
                      {path, 0, 0});
  Manifest manifest;
  manifest.target = root["target"].string();
  manifest.ptx = root["ptx"].string();
  manifest.source = root["source"].string();
  for (const Node &entry : root["entries"].elements())
    manifest.entries.push_back(readEntry(entry));
  if (failure)
    return inputError("in the manifest, " + *failure, {path, 0, 0});
  return manifest;
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
    return inputError("--entry is needed: there are " + known);
  return inputError("--entry=" + name + " names no function; there are " +
                    known);
}

} // namespace farun
