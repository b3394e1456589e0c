//===- ManifestReader.cpp - a manifest that nobody vouches for ------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A folder from elsewhere may hold any JSON. What is read here can be run
// without looking again: indices are in range, names are known, numbers are
// sane, and the parts of an entry fit together.
//
//===----------------------------------------------------------------------===//
#include "JsonNode.h"

#include "fa/Support/ExtentExpression.h"
#include "fa/Support/Limits.h"
#include "fa/Support/Text.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace farun {

namespace {

/// Of a shape, and of bytes: more are a mistake, whatever the machine.
constexpr int64_t kMaxExtent = int64_t(1) << 40;
constexpr int64_t kMaxSharedBytes = 227 * 1024;

/// What an operand of a known role is.
struct RoleRule {
  const char *role;
  OperandKind kind;
  bool isFloat;
  /// The dimensions that it can have, one of a line each.
  std::vector<const char *> dims;
};

const RoleRule *findRule(const std::string &role) {
  using K = OperandKind;
  static const std::vector<RoleRule> kRules = {
      {"query", K::Input, true, {"B", "Hq", "Sq", "D", "Tq"}},
      {"key", K::Input, true, {"B", "Hkv", "Sk", "D", "Tk", "pages"}},
      {"value", K::Input, true, {"B", "Hkv", "Sk", "Dv", "Tk", "pages"}},
      {"mask", K::Input, false, {"B", "Hq", "Sq", "Sk", "1"}},
      {"bias", K::Input, true, {"B", "Hq", "Sq", "Sk", "1"}},
      {"alibi", K::Input, true, {"Hq"}},
      {"sink", K::Input, true, {"Hq"}},
      {"q_segments", K::Input, false, {"B", "Sq"}},
      {"kv_segments", K::Input, false, {"B", "Sk"}},
      {"q_lengths", K::Input, false, {"B"}},
      {"kv_lengths", K::Input, false, {"B"}},
      {"scale", K::Scalar, true, {}},
      {"seed", K::Scalar, false, {}},
      {"out", K::Output, true, {"B", "Hq", "Sq", "Dv", "Tq"}},
      {"lse", K::Output, true, {"B", "Hq", "Sq", "Tq"}},
  };
  for (const RoleRule &rule : kRules)
    if (role == rule.role)
      return &rule;
  return nullptr;
}

class EntryReader {
public:
  explicit EntryReader(const JsonNode &node) : node(node) {}
  Entry read();

private:
  std::vector<std::string> readDims(const JsonNode &dims,
                                    const std::string &role,
                                    const std::vector<int64_t> &shape);
  void checkRole(const JsonNode &role, const JsonNode &operand,
                 const Operand &read);
  void readOperand(const JsonNode &operand);
  StructuralMask readMask(const JsonNode &mask) const;
  RegionProgram readRegion(const JsonNode &region, int numArguments,
                           ElementType result) const;
  RegionValue readRegionValue(const JsonNode &value, int number) const;
  void readAttention(const JsonNode &attention);
  void checkLayout(const JsonNode &layout) const;
  void readParameter(const JsonNode &parameter);
  void readTensorMap(const JsonNode &parameter, Parameter &read) const;
  void checkParameterType(const JsonNode &type, const Parameter &read) const;
  void readLaunch(const JsonNode &launch);
  std::string readSize(const JsonNode &size, int64_t least, int64_t most) const;
  std::array<std::string, 3> readDim3(const JsonNode &dim, int64_t least,
                                      std::array<int64_t, 3> most) const;

  const JsonNode &node;
  Entry entry;
  ExtentNames names; ///< of all operands' dimensions
  /// Where an extent is fixed, and to what.
  std::map<std::string, std::pair<int64_t, std::string>> fixed;
  std::map<std::string, std::string> roles; ///< and where each is
};

std::vector<std::string>
EntryReader::readDims(const JsonNode &dims, const std::string &role,
                      const std::vector<int64_t> &shape) {
  const RoleRule *rule = findRule(role);
  std::vector<std::string> result;
  for (const JsonNode &dim : dims.elements()) {
    std::string name = dim.string();
    bool isKnown = name == "1" || isExtentName(name);
    if (rule)
      isKnown = std::find(rule->dims.begin(), rule->dims.end(), name) !=
                rule->dims.end();
    if (!isKnown)
      dim.fail("is " + quote(name) +
               ", which names no dimension of the operand " + quote(role));
    if (name != "1" &&
        std::find(result.begin(), result.end(), name) != result.end())
      dim.fail("is " + quote(name) + " once more");
    size_t n = result.size();
    result.push_back(name);
    if (n >= shape.size())
      continue;
    if (name == "1" && shape[n] != 1)
      dim.fail("is '1', and the extent in 'shape' is not");
    if (name == "1")
      continue;
    names.insert(name);
    if (shape[n] == kDynamic)
      continue;
    auto [known, isNew] = fixed.try_emplace(name, shape[n], dim.path());
    if (!isNew && known->second.first != shape[n])
      dim.fail("is '" + name + "' of extent " + std::to_string(shape[n]) +
               "; by '" + known->second.second + "' it is " +
               std::to_string(known->second.first));
  }
  if (result.size() != shape.size())
    dims.fail("has " + std::to_string(result.size()) + " names; 'shape' has " +
              std::to_string(shape.size()) + " extents");
  return result;
}

void EntryReader::checkRole(const JsonNode &role, const JsonNode &operand,
                            const Operand &read) {
  std::string name = role.word();
  auto [known, isNew] = roles.try_emplace(name, role.path());
  if (!isNew)
    role.fail("is " + quote(name) + ", and so is '" + known->second + "'");
  const RoleRule *rule = findRule(name);
  if (!rule)
    return;
  if (read.kind != rule->kind)
    operand["kind"].fail("is '" + std::string(farun::name(read.kind)) +
                         "'; accepted for the operand '" + name + "' is " +
                         std::string(farun::name(rule->kind)));
  if (isFloat(read.type) != rule->isFloat)
    operand["type"].fail("is '" + std::string(farun::name(read.type)) +
                         "'; accepted for the operand '" + name + "' is " +
                         (rule->isFloat ? "a float" : "an integer"));
}

void EntryReader::readOperand(const JsonNode &operand) {
  operand.expectKeys({"role", "kind", "type", "shape", "dims", "also"});
  Operand read;
  read.role = operand["role"].string();
  read.kind = operand["kind"].choice(kOperandKinds);
  std::string type = operand["type"].string();
  std::optional<ElementType> parsed = parseElementType(type);
  if (!parsed)
    operand["type"].fail("is " + quote(type) + ", which is no element type");
  read.type = parsed.value_or(ElementType::F32);
  if (!entry.operands.empty() && read.kind != OperandKind::Output &&
      entry.operands.back().kind == OperandKind::Output)
    operand["kind"].fail("is '" + std::string(name(read.kind)) +
                         "' behind an output; outputs come last");
  for (const JsonNode &extent : operand["shape"].elements())
    read.shape.push_back(extent.isNull() ? kDynamic
                                         : extent.integer(0, kMaxExtent));
  if (read.kind == OperandKind::Scalar && !read.shape.empty())
    operand["shape"].fail("must be empty for a scalar");
  checkRole(operand["role"], operand, read);
  read.dims = readDims(operand["dims"], read.role, read.shape);
  if (operand.has("also"))
    for (const JsonNode &use : operand["also"].elements()) {
      use.expectKeys({"role", "dims"});
      std::string role = use["role"].string();
      checkRole(use["role"], operand, read);
      read.also.push_back({role, readDims(use["dims"], role, read.shape)});
    }
  entry.operands.push_back(std::move(read));
}

StructuralMask EntryReader::readMask(const JsonNode &mask) const {
  StructuralMask read;
  read.kind = mask["kind"].choice(kMaskKinds);
  read.isBottomRight =
      mask["alignment"].choice({"top_left", "bottom_right"}) == "bottom_right";
  switch (read.kind) {
  case StructuralMask::Kind::Causal:
    mask.expectKeys({"kind", "alignment", "prefix"});
    if (mask.has("prefix"))
      read.prefix = mask["prefix"].integer(0, kMaxExtent);
    break;
  case StructuralMask::Kind::Window:
    mask.expectKeys({"kind", "alignment", "left", "right"});
    read.left = mask["left"].integer(-1, kMaxExtent);
    read.right = mask["right"].integer(-1, kMaxExtent);
    break;
  case StructuralMask::Kind::Chunk:
    mask.expectKeys({"kind", "alignment", "size"});
    read.size = mask["size"].integer(1, kMaxExtent);
    break;
  }
  return read;
}

RegionValue EntryReader::readRegionValue(const JsonNode &value,
                                         int number) const {
  value.expectKeys({"op", "type", "value", "operand", "arguments"});
  RegionValue read;
  const RegionOpFacts *facts = findRegionOp(value["op"].string());
  if (!facts) {
    value["op"].fail("is " + quote(value["op"].string()) +
                     ", which is no op of a region");
    return read;
  }
  read.op = facts->op;
  read.type = *parseElementType(
      value["type"].choice({"i1", "i32", "i64", "f32", "f16", "bf16"}));
  if (value.has("arguments"))
    for (const JsonNode &argument : value["arguments"].elements())
      read.arguments.push_back(argument.index(size_t(number), "values"));
  int arity = facts->arity;
  if (read.op == RegionOp::Constant) {
    JsonNode constant = value["value"];
    if (!isFloat(read.type))
      read.integer = constant.integer(std::numeric_limits<int64_t>::min(),
                                      std::numeric_limits<int64_t>::max());
    else if (constant.isString())
      read.number = std::stod(constant.choice({"inf", "-inf", "nan"}));
    else
      read.number = constant.number();
  }
  bool isLoad = read.op == RegionOp::Load;
  if (isLoad || read.op == RegionOp::Operand) {
    read.operand = value["operand"].index(entry.operands.size(), "operands");
    if (value.failed())
      return read;
    const Operand &operand = entry.operands[size_t(read.operand)];
    bool fits =
        operand.type == read.type &&
        operand.kind == (isLoad ? OperandKind::Input : OperandKind::Scalar);
    if (!fits)
      value["operand"].fail("is " + std::to_string(read.operand) +
                            ", an operand of another kind or type");
    arity = int(operand.shape.size());
  }
  if (int(read.arguments.size()) != arity)
    value.fail("has " + std::to_string(read.arguments.size()) +
               " arguments; accepted are " + std::to_string(arity));
  return read;
}

RegionProgram EntryReader::readRegion(const JsonNode &region, int numArguments,
                                      ElementType result) const {
  region.expectKeys({"values", "result"});
  RegionProgram read;
  int number = numArguments;
  for (const JsonNode &value : region["values"].elements())
    read.values.push_back(readRegionValue(value, number++));
  read.result = region["result"].index(size_t(number), "values");
  // The first argument of a score region is a score.
  bool fits =
      read.result < numArguments
          ? read.result == 0 && result == ElementType::F32
          : read.values[size_t(read.result - numArguments)].type == result;
  if (!region.failed() && !fits)
    region["result"].fail("is a value of another type than " +
                          std::string(farun::name(result)));
  return read;
}

/// The order of heads and rows in the operands must be that of the layout.
void EntryReader::checkLayout(const JsonNode &layout) const {
  bool isBSHD = layout.string() == "bshd";
  for (const Operand &operand : entry.operands)
    for (const OperandUse &use : operand.uses()) {
      auto at = [&](const char *name) {
        return std::find(use.dims.begin(), use.dims.end(), name);
      };
      bool isKey = use.role == "key" || use.role == "value";
      if (!isKey && use.role != "query" && use.role != "out")
        continue;
      auto heads = at(isKey ? "Hkv" : "Hq"), rows = at(isKey ? "Sk" : "Sq");
      if (heads != use.dims.end() && rows != use.dims.end() &&
          (rows < heads) != isBSHD)
        layout.fail("is '" + layout.string() + "', and the operand '" +
                    use.role + "' has its dimensions in the other order");
    }
}

/// A key that is not there has the value that the attribute gives it then, but
/// for those that every kernel has a choice of.
Schedule readSchedule(const JsonNode &schedule) {
  Schedule read;
#define FA_SCHEDULE_NAME(key, ...) #key,
  schedule.expectKeys(
      {FA_SCHEDULE_KEYS(FA_SCHEDULE_NAME, FA_SCHEDULE_NAME, FA_SCHEDULE_NAME)});
#undef FA_SCHEDULE_NAME
  for (const char *key : {"tile_q", "tile_kv", "warps", "stages", "state"})
    (void)schedule[key]; // fails where it is missing
#define FA_SCHEDULE_NUMBER(key, member, accessor, absent, most)                \
  if (schedule.contains(#key))                                                 \
    read.member = schedule[#key].integer(absent, most);
#define FA_SCHEDULE_WORD(key, member, accessor, absent, other)                 \
  if (schedule.contains(#key))                                                 \
    read.member = schedule[#key].choice({absent, other});
#define FA_SCHEDULE_FLAG(key, member, accessor)                                \
  if (schedule.contains(#key))                                                 \
    read.member = schedule[#key].flag();
  FA_SCHEDULE_KEYS(FA_SCHEDULE_NUMBER, FA_SCHEDULE_WORD, FA_SCHEDULE_FLAG)
#undef FA_SCHEDULE_NUMBER
#undef FA_SCHEDULE_WORD
#undef FA_SCHEDULE_FLAG
  if (read.producers != 0 && read.producers != 4)
    schedule["producers"].fail("is " + std::to_string(read.producers) +
                               "; accepted are 0 and 4");
  return read;
}

void EntryReader::readAttention(const JsonNode &attention) {
  attention.expectKeys({"scale", "softcap", "score", "visible", "dropout",
                        "masks", "layout", "empty_row", "schedule"});
  Attention &read = entry.attention;
  JsonNode scale = attention["scale"];
  bool hasOperand = roles.count("scale");
  read.scale = std::numeric_limits<double>::quiet_NaN();
  if (scale.isNull() != hasOperand)
    scale.fail(hasOperand ? "must be null, since an operand carries it"
                          : "must be a number, since no operand carries it");
  if (!scale.isNull()) {
    read.scale = scale.number();
    if (!isScaleInRange(read.scale))
      scale.fail("is beyond f32: |scale| log2 e must be finite");
  }
  if (attention.has("softcap")) {
    read.softcap = attention["softcap"].number();
    if (!isSoftcapInRange(*read.softcap))
      attention["softcap"].fail("must be above 0 and, like its reciprocal, "
                                "finite in f32");
  }
  if (attention.has("score"))
    read.score = readRegion(attention["score"], RegionProgram::kScoreArguments,
                            ElementType::F32);
  if (attention.has("visible"))
    read.visible =
        readRegion(attention["visible"], RegionProgram::kVisibleArguments,
                   ElementType::I1);
  bool hasSeed = roles.count("seed");
  if (hasSeed != attention.has("dropout"))
    attention.fail(hasSeed
                       ? "has no 'dropout', and an operand is the seed of it"
                       : "has 'dropout', and no operand is the seed of it");
  if (attention.has("dropout")) {
    read.dropout = attention["dropout"].number();
    if (!(*read.dropout >= 0.0 && *read.dropout <= 1.0))
      attention["dropout"].fail("must lie between 0 and 1");
  }
  for (const JsonNode &mask : attention["masks"].elements())
    read.masks.push_back(readMask(mask));
  read.layout = attention["layout"].choice({"bhsd", "bshd"});
  checkLayout(attention["layout"]);
  read.emptyRow = attention["empty_row"].choice({"zero", "nan", "uniform"});
  read.schedule = readSchedule(attention["schedule"]);
}

void EntryReader::checkParameterType(const JsonNode &type,
                                     const Parameter &read) const {
  switch (read.kind) {
  case ParameterKind::Pointer:
  case ParameterKind::Workspace:
    type.choice({"ptr"});
    break;
  case ParameterKind::Extent:
  case ParameterKind::Stride:
    type.choice({"i32", "i64"});
    break;
  case ParameterKind::Trace:
    type.choice({"ptr", "i32", "i64"});
    break;
  case ParameterKind::Scalar:
    if (type.failed())
      break;
    if (std::string_view accepted =
            name(entry.operands[size_t(read.operand)].type);
        type.string() != accepted)
      type.fail("is " + quote(type.string()) + "; accepted is the operand's " +
                std::string(accepted));
    break;
  case ParameterKind::TensorMap:
    type.choice({"tensormap"});
    break;
  }
}

/// The box and its swizzle, by the driver's rules for them; those for the
/// operand as it lies in memory are the launch's.
void EntryReader::readTensorMap(const JsonNode &parameter,
                                Parameter &read) const {
  JsonNode swizzle = parameter["swizzle"], box = parameter["box"];
  std::string word = swizzle.string();
  std::optional<TensorSwizzle> parsed = parseTensorSwizzle(word);
  if (!parsed)
    swizzle.fail("is " + quote(word) + "; accepted are none, 32B, 64B, 128B");
  read.swizzle = parsed.value_or(TensorSwizzle::None);
  for (const JsonNode &extent : box.elements())
    read.box.push_back(extent.integer(1, kMaxTensorBox));
  if (parameter.failed())
    return;
  const Operand &operand = entry.operands[size_t(read.operand)];
  size_t rank = operand.shape.size();
  if (rank < 1 || rank > kMaxTensorRank)
    parameter["operand"].fail("is " + std::to_string(read.operand) +
                              ", an operand of " + std::to_string(rank) +
                              " dimensions; accepted are 1 to " +
                              std::to_string(kMaxTensorRank));
  if (read.box.size() != rank)
    box.fail("has " + std::to_string(read.box.size()) +
             " numbers; the operand has " + std::to_string(rank) +
             " dimensions");
  if (parameter.failed())
    return;
  int64_t row = read.box.back() * int64_t(byteSize(operand.type));
  int64_t span = swizzleSpan(read.swizzle);
  if (row % kTensorAlignment || (span && row > span))
    box.elements().back().fail(
        "makes rows of " + std::to_string(row) +
        " bytes; accepted are multiples of " +
        std::to_string(kTensorAlignment) +
        (span ? " up to the swizzle's " + std::to_string(span) : ""));
}

void EntryReader::readParameter(const JsonNode &parameter) {
  using Kind = ParameterKind;
  Parameter read;
  read.kind = parameter["kind"].choice(kParameterKinds);
  if (read.kind == Kind::TensorMap)
    parameter.expectKeys({"kind", "operand", "box", "swizzle", "type"});
  else
    parameter.expectKeys({"kind", "operand", "dim", "type"});
  read.type = parameter["type"].string();
  if (parameter.has("operand"))
    read.operand =
        parameter["operand"].index(entry.operands.size(), "operands");
  bool isOfOperand = read.kind == Kind::Pointer || read.kind == Kind::Scalar ||
                     read.kind == Kind::Stride || read.kind == Kind::TensorMap;
  if (isOfOperand && read.operand < 0)
    parameter["operand"].fail("is needed for this kind");
  const Operand *operand = read.operand < 0 || parameter.failed()
                               ? nullptr
                               : &entry.operands[size_t(read.operand)];
  if (operand && isOfOperand &&
      (operand->kind == OperandKind::Scalar) != (read.kind == Kind::Scalar))
    parameter["operand"].fail("is " + std::to_string(read.operand) +
                              ", an operand of kind '" +
                              std::string(name(operand->kind)) + "'");
  if (parameter.has("dim")) {
    JsonNode dim = parameter["dim"];
    if (dim.isString()) {
      read.extent = dim.string();
      if (!names.count(read.extent))
        dim.fail("is " + quote(read.extent) + ", which no operand has");
    } else if (read.operand < 0) {
      dim.fail("is an index and needs 'operand'");
    } else if (operand) {
      read.dim = dim.index(operand->shape.size(), "dimensions");
    }
  }
  if (read.kind == Kind::Stride && read.dim < 0)
    parameter["dim"].fail("must be a dimension's index for a stride");
  if (read.kind == Kind::Extent && read.dim < 0 && read.extent.empty())
    parameter["dim"].fail("must be a name or an index for an extent");
  if (read.kind == Kind::TensorMap)
    readTensorMap(parameter, read);
  checkParameterType(parameter["type"], read);
  entry.parameters.push_back(std::move(read));
}

/// A whole number or an expression over the extents. What is the same for all
/// extents is checked here, the rest when they are known.
std::string EntryReader::readSize(const JsonNode &size, int64_t least,
                                  int64_t most) const {
  if (size.isInteger())
    return std::to_string(size.integer(least, most));
  std::string text = size.string();
  if (size.failed())
    return "0";
  if (Status status = checkExtentSyntax(text, &names); !status)
    size.fail("is no size: " + status.error().message);
  Expected<int64_t> value = evaluateExtent(text, {});
  if (value && (*value < least || *value > most))
    size.fail("is " + std::to_string(*value) + "; accepted are " +
              std::to_string(least) + " to " + std::to_string(most));
  return text;
}

std::array<std::string, 3>
EntryReader::readDim3(const JsonNode &dim, int64_t least,
                      std::array<int64_t, 3> most) const {
  std::array<std::string, 3> result = {"1", "1", "1"};
  std::vector<JsonNode> elements = dim.elements();
  if (elements.size() != 3)
    dim.fail("has " + std::to_string(elements.size()) +
             " entries; accepted are 3");
  for (size_t n = 0; n < std::min<size_t>(3, elements.size()); ++n)
    result[n] = readSize(elements[n], least, most[n]);
  return result;
}

void EntryReader::readLaunch(const JsonNode &launch) {
  launch.expectKeys(
      {"kernel", "arguments", "shared_bytes", "grid", "block", "cluster"});
  Launch read;
  read.kernel = launch["kernel"].word();
  for (const JsonNode &argument : launch["arguments"].elements())
    read.arguments.push_back(
        argument.index(entry.parameters.size(), "parameters"));
  read.sharedBytes = readSize(launch["shared_bytes"], 0, kMaxSharedBytes);
  read.grid = readDim3(launch["grid"], 0, {2147483647, 65535, 65535});
  read.block = readDim3(launch["block"], 1, {1024, 1024, 64});
  if (launch.has("cluster"))
    read.cluster = readDim3(launch["cluster"], 1, {16, 16, 16});
  entry.launches.push_back(std::move(read));
}

Entry EntryReader::read() {
  node.expectKeys({"name", "operands", "attention", "parameters", "launches",
                   "shared_bytes", "workspace_bytes"});
  entry.name = node["name"].word();
  for (const JsonNode &operand : node["operands"].elements())
    readOperand(operand);
  for (const char *role : {"query", "key", "value"})
    if (!roles.count(role))
      node["operands"].fail(std::string("has no operand of the role '") + role +
                            "'");
  readAttention(node["attention"]);
  for (const JsonNode &parameter : node["parameters"].elements())
    readParameter(parameter);
  for (const JsonNode &launch : node["launches"].elements())
    readLaunch(launch);
  if (entry.launches.empty())
    node["launches"].fail("has no entry");
  entry.sharedBytes = readSize(node["shared_bytes"], 0, kMaxSharedBytes);
  JsonNode workspace = node["workspace_bytes"];
  entry.workspaceBytes = readSize(workspace, 0, kMaxExtent);
  bool hasParameter =
      std::any_of(entry.parameters.begin(), entry.parameters.end(),
                  [](const Parameter &parameter) {
                    return parameter.kind == ParameterKind::Workspace;
                  });
  if (hasParameter != (entry.workspaceBytes != "0"))
    workspace.fail("is " + entry.workspaceBytes +
                   (hasParameter ? ", and a parameter is of kind workspace"
                                 : ", and no parameter is of kind workspace; "
                                   "accepted is 0"));
  return std::move(entry);
}

/// "sm_80", "sm_90a".
bool isTarget(const std::string &text) {
  return text.size() > 3 && text.size() < 16 && text.rfind("sm_", 0) == 0 &&
         std::all_of(text.begin() + 3, text.end(), [](unsigned char c) {
           return std::isdigit(c) || c == 'a' || c == 'f';
         });
}

/// Line and column of a byte.
Location locate(const std::string &text, size_t byte, const std::string &path) {
  size_t end = std::min(byte, text.size() + 1);
  Location location = {path, 1, 1};
  for (size_t n = 0; n + 1 < end; ++n) {
    bool isEnd = text[n] == '\n';
    location.line += isEnd;
    location.column = isEnd ? 1 : location.column + 1;
  }
  return location;
}

/// The byte at which lists and objects nest deeper than any manifest, 0 without
/// one: the JSON library would run out of stack.
size_t findTooDeep(const std::string &text) {
  constexpr int kMaxDepth = 64;
  int depth = 0;
  bool isInString = false;
  for (size_t n = 0; n < text.size(); ++n) {
    char c = text[n];
    if (c == '"')
      isInString = !isInString;
    else if (isInString)
      n += c == '\\';
    else if ((c == '[' || c == '{') && ++depth > kMaxDepth)
      return n + 1;
    else
      depth -= c == ']' || c == '}';
  }
  return 0;
}

} // namespace

Expected<Manifest> parseManifest(const std::string &text,
                                 const std::string &path) {
  if (size_t byte = findTooDeep(text))
    return inputError("the manifest is nested deeper than any that is right",
                      locate(text, byte, path));
  JsonNode::Json json;
  try {
    json = JsonNode::Json::parse(text);
  } catch (const JsonNode::Json::parse_error &error) {
    return inputError("the manifest is not JSON",
                      locate(text, error.byte, path));
  } catch (const JsonNode::Json::exception &) { // a number beyond f64
    return inputError("the manifest is not JSON", {path, 0, 0});
  }
  std::optional<std::string> failure;
  JsonNode root(&json, "", failure);
  // Another format may have other keys.
  int64_t format = root["format"].integer(0, 1000);
  if (!failure && format != Manifest::kFormat)
    return inputError("the manifest has format " + std::to_string(format) +
                          "; accepted is " + std::to_string(Manifest::kFormat),
                      {path, 0, 0});
  root.expectKeys({"format", "target", "ptx", "source", "entries"});
  Manifest manifest;
  manifest.target = root["target"].string();
  if (!isTarget(manifest.target))
    root["target"].fail("is " + quote(manifest.target) +
                        ", which names no target (sm_80, ...)");
  manifest.ptx = root["ptx"].word();
  manifest.source = root["source"].string();
  for (const JsonNode &node : root["entries"].elements()) {
    Entry entry = EntryReader(node).read();
    for (const Entry &other : manifest.entries)
      if (other.name == entry.name)
        node["name"].fail("is " + quote(entry.name) +
                          ", which an entry before it has");
    manifest.entries.push_back(std::move(entry));
  }
  if (manifest.entries.empty())
    root["entries"].fail("has no entry");
  if (failure)
    return inputError("in the manifest, " + *failure, {path, 0, 0});
  return manifest;
}

} // namespace farun
