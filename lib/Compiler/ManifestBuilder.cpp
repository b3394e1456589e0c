//===- ManifestBuilder.cpp - a manifest from mapped IR --------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An entry is a function that launches kernels of ours. Its launches are taken
// in program order; the parameters of its kernels are put one after another,
// equal ones once.
//
//===----------------------------------------------------------------------===//
#include "ManifestBuilder.h"

#include "fa/Dialect/FA/IR/FADialect.h"
#include "fa/Dialect/FA/Transforms/AttributeNames.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"

#include <limits>

namespace mlir::fa {

namespace {

/// Reads the attributes of one dictionary; the first that is missing or of
/// another kind is an error that names it.
class Fields {
public:
  Fields(Operation *op, Attribute attribute, StringRef name)
      : op(op), dict(dyn_cast_if_present<DictionaryAttr>(attribute)),
        name(name) {
    if (!dict)
      fail() << "is not a dictionary";
  }

  std::string string(StringRef key) {
    auto attr = get<StringAttr>(key, "string");
    return attr ? attr.str() : "";
  }
  int64_t integer(StringRef key) {
    auto attr = get<IntegerAttr>(key, "integer");
    return attr ? attr.getInt() : 0;
  }
  ArrayRef<Attribute> array(StringRef key) {
    auto attr = get<ArrayAttr>(key, "array");
    return attr ? attr.getValue() : ArrayRef<Attribute>();
  }
  template <typename Attr> Attr optional(StringRef key) {
    return dict ? dyn_cast_if_present<Attr>(dict.get(key)) : Attr();
  }
  template <typename Attr> Attr get(StringRef key, StringRef what) {
    Attr attr = optional<Attr>(key);
    if (!attr && isGood)
      fail() << "has no " << what << " '" << key << "'";
    return attr;
  }

  InFlightDiagnostic fail() {
    isGood = false;
    return op->emitError() << "attribute '" << name << "' ";
  }
  bool good() const { return isGood; }

private:
  Operation *op;
  DictionaryAttr dict;
  StringRef name;
  bool isGood = true;
};

std::vector<std::string> strings(ArrayRef<Attribute> attributes) {
  std::vector<std::string> result;
  for (Attribute attribute : attributes)
    if (auto text = dyn_cast<StringAttr>(attribute))
      result.push_back(text.str());
  return result;
}

FailureOr<farun::Operand> buildOperand(func::FuncOp func, size_t index,
                                       Attribute attribute) {
  Fields fields(func, attribute, kOperandsAttr);
  farun::Operand operand;
  operand.role = fields.string("role");
  operand.dims = strings(fields.array("dims"));
  std::string kind = fields.string("kind"), type = fields.string("type");
  if (auto also = fields.optional<ArrayAttr>("also"))
    for (Attribute further : also) {
      Fields use(func, further, kOperandsAttr);
      operand.also.push_back({use.string("role"), strings(use.array("dims"))});
      if (!use.good())
        return failure();
    }
  if (!fields.good())
    return failure();
  if (operand.role == "none")
    return func.emitError() << "argument " << index << " of '" << func.getName()
                            << "' is no operand of fa.attention; a function to "
                               "launch from outside has no others";
  operand.kind = kind == "output"   ? farun::OperandKind::Output
                 : kind == "scalar" ? farun::OperandKind::Scalar
                                    : farun::OperandKind::Input;
  std::optional<farun::ElementType> element = farun::parseElementType(type);
  if (!element)
    return func.emitError() << "argument " << index << " is of type '" << type
                            << "', which no launcher can pass";
  operand.type = *element;
  if (index >= func.getNumArguments())
    return func.emitError() << "'" << kOperandsAttr << "' has " << index + 1
                            << " entries or more, the function has "
                            << func.getNumArguments() << " arguments";
  // A launcher knows of strides what the parameters say.
  auto memref = dyn_cast<MemRefType>(func.getArgument(index).getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (memref && !memref.getLayout().isIdentity() &&
      succeeded(memref.getStridesAndOffset(strides, offset)) &&
      !llvm::all_of(strides, ShapedType::isDynamic))
    return func.emitError() << "argument " << index << " of '" << func.getName()
                            << "' is of type " << memref
                            << ", whose strides a launcher is not told; only "
                               "contiguous and open ones are accepted";
  // What the user's type said, where the compiler opened it.
  if (auto stated = func.getArgAttrOfType<DenseI64ArrayAttr>(index, kShapeAttr))
    for (int64_t extent : stated.asArrayRef())
      operand.shape.push_back(ShapedType::isDynamic(extent) ? farun::kDynamic
                                                            : extent);
  else if (memref)
    for (int64_t extent : memref.getShape())
      operand.shape.push_back(ShapedType::isDynamic(extent) ? farun::kDynamic
                                                            : extent);
  return operand;
}

FailureOr<farun::StructuralMask> buildMask(func::FuncOp func,
                                           Attribute attribute) {
  using Kind = farun::StructuralMask::Kind;
  Fields fields(func, attribute, kAttentionAttr);
  farun::StructuralMask mask;
  std::string kind = fields.string("kind");
  mask.isBottomRight = fields.string("alignment") == "bottom_right";
  if (kind == "causal") {
    mask.kind = Kind::Causal;
    mask.prefix = fields.integer("prefix");
  } else if (kind == "window") {
    mask.kind = Kind::Window;
    mask.left = fields.integer("left");
    mask.right = fields.integer("right");
  } else if (kind == "chunk") {
    mask.kind = Kind::Chunk;
    mask.size = fields.integer("size");
  } else if (fields.good()) {
    fields.fail() << "has a mask of kind '" << kind << "'";
  }
  if (!fields.good())
    return failure();
  return mask;
}

/// RegionFacts.h says how a region is written down.
FailureOr<farun::RegionProgram> buildRegion(func::FuncOp func,
                                            Attribute attribute) {
  Fields fields(func, attribute, kAttentionAttr);
  farun::RegionProgram region;
  region.result = static_cast<int>(fields.integer("result"));
  for (Attribute one : fields.array("values")) {
    Fields value(func, one, kAttentionAttr);
    farun::RegionValue read;
    const farun::RegionOpFacts *facts = farun::findRegionOp(value.string("op"));
    std::optional<farun::ElementType> type =
        farun::parseElementType(value.string("type"));
    if (value.good() && (!facts || !type))
      value.fail() << "has an op of a region or a type that no launcher knows";
    for (Attribute argument : value.array("arguments"))
      if (auto number = dyn_cast<IntegerAttr>(argument))
        read.arguments.push_back(static_cast<int>(number.getInt()));
    if (!value.good())
      return failure();
    read.op = facts->op;
    read.type = *type;
    if (auto number = value.optional<FloatAttr>("value"))
      read.number = number.getValueAsDouble();
    if (auto number = value.optional<IntegerAttr>("value"))
      read.integer = number.getInt();
    if (auto operand = value.optional<IntegerAttr>("operand"))
      read.operand = static_cast<int>(operand.getInt());
    region.values.push_back(std::move(read));
  }
  if (!fields.good())
    return failure();
  return region;
}

farun::Schedule buildSchedule(ScheduleAttr attr) {
  farun::Schedule schedule;
#define FA_SCHEDULE_VALUE(key, member, accessor, ...)                          \
  if (auto value = attr.get##accessor())                                       \
    schedule.member = *value;
#define FA_SCHEDULE_WORD(key, member, accessor, ...)                           \
  if (auto word = attr.get##accessor())                                        \
    schedule.member = stringifyEnum(*word).str();
  FA_SCHEDULE_KEYS(FA_SCHEDULE_VALUE, FA_SCHEDULE_WORD, FA_SCHEDULE_VALUE)
#undef FA_SCHEDULE_VALUE
#undef FA_SCHEDULE_WORD
  return schedule;
}

FailureOr<farun::Attention> buildAttention(func::FuncOp func) {
  Fields fields(func, func->getAttr(kAttentionAttr), kAttentionAttr);
  farun::Attention attention;
  auto scale = fields.optional<FloatAttr>("scale");
  attention.scale = scale ? scale.getValueAsDouble()
                          : std::numeric_limits<double>::quiet_NaN();
  if (auto softcap = fields.optional<FloatAttr>("softcap"))
    attention.softcap = softcap.getValueAsDouble();
  for (auto [name, region] : {std::pair("score", &attention.score),
                              std::pair("visible", &attention.visible)})
    if (auto described = fields.optional<DictionaryAttr>(name)) {
      FailureOr<farun::RegionProgram> built = buildRegion(func, described);
      if (failed(built))
        return failure();
      *region = std::move(*built);
    }
  if (auto dropout = fields.optional<FloatAttr>("dropout"))
    attention.dropout = dropout.getValueAsDouble();
  for (Attribute attribute : fields.array("masks")) {
    FailureOr<farun::StructuralMask> mask = buildMask(func, attribute);
    if (failed(mask))
      return failure();
    attention.masks.push_back(*mask);
  }
  attention.layout = fields.string("layout");
  attention.emptyRow = fields.string("empty_row");
  auto schedule = fields.get<ScheduleAttr>("schedule", "schedule");
  if (!fields.good())
    return failure();
  attention.schedule = buildSchedule(schedule);
  return attention;
}

FailureOr<farun::Parameter> buildParameter(gpu::GPUFuncOp kernel,
                                           Attribute attribute) {
  using farun::ParameterKind;
  Fields fields(kernel, attribute, kParametersAttr);
  farun::Parameter parameter;
  std::string kind = fields.string("kind");
  parameter.type = fields.string("type");
  bool isKnown = false;
  for (auto known :
       {ParameterKind::Pointer, ParameterKind::Extent, ParameterKind::Stride,
        ParameterKind::Scalar, ParameterKind::Workspace,
        ParameterKind::TensorMap, ParameterKind::Trace}) {
    if (kind != farun::name(known))
      continue;
    parameter.kind = known;
    isKnown = true;
  }
  if (!isKnown && fields.good())
    fields.fail() << "has a parameter of kind '" << kind << "'";
  if (auto operand = fields.optional<IntegerAttr>("operand"))
    parameter.operand = static_cast<int>(operand.getInt());
  if (auto dim = fields.optional<IntegerAttr>("dim"))
    parameter.dim = static_cast<int>(dim.getInt());
  if (auto extent = fields.optional<StringAttr>("dim"))
    parameter.extent = extent.str();
  if (auto box = fields.optional<DenseI64ArrayAttr>("box"))
    parameter.box.assign(box.asArrayRef().begin(), box.asArrayRef().end());
  if (auto text = fields.optional<StringAttr>("swizzle")) {
    auto swizzle = farun::parseTensorSwizzle(text.strref());
    if (!swizzle)
      fields.fail() << "has a tensor map of swizzle " << text;
    else
      parameter.swizzle = *swizzle;
  }
  if (!fields.good())
    return failure();
  return parameter;
}

bool isSame(const farun::Parameter &a, const farun::Parameter &b) {
  return a.kind == b.kind && a.operand == b.operand && a.dim == b.dim &&
         a.extent == b.extent && a.type == b.type && a.box == b.box &&
         a.swizzle == b.swizzle;
}

/// The index of `parameter` in the entry, which gets it if it has not.
int indexOf(const farun::Parameter &parameter, farun::Entry &entry) {
  auto &all = entry.parameters;
  auto found = llvm::find_if(
      all, [&](const farun::Parameter &p) { return isSame(p, parameter); });
  if (found == all.end())
    found = all.insert(found, parameter);
  return static_cast<int>(found - all.begin());
}

LogicalResult addLaunch(gpu::GPUFuncOp kernel, farun::Entry &entry) {
  auto parameters = kernel->getAttrOfType<ArrayAttr>(kParametersAttr);
  auto grid = kernel->getAttrOfType<ArrayAttr>(kGridAttr);
  auto bytes = kernel->getAttrOfType<IntegerAttr>(kSharedBytesAttr);
  std::optional<ArrayRef<int32_t>> block = kernel.getKnownBlockSize();
  if (!parameters || !grid || grid.size() != 3 || !bytes || !block)
    return kernel.emitError()
           << "kernel '" << kernel.getName()
           << "' does not say how it is launched ('" << kParametersAttr
           << "', '" << kGridAttr << "', '" << kSharedBytesAttr
           << "', a known block size)";
  farun::Launch launch;
  launch.kernel = kernel.getName().str();
  launch.sharedBytes = std::to_string(bytes.getInt());
  for (auto [i, text] : llvm::enumerate(strings(grid.getValue())))
    launch.grid[i] = text;
  for (auto [i, extent] : llvm::enumerate(*block))
    launch.block[i] = std::to_string(extent);
  if (auto cluster = kernel->getAttrOfType<DenseI64ArrayAttr>(kClusterAttr))
    for (auto [i, extent] : llvm::enumerate(cluster.asArrayRef()))
      launch.cluster[i] = std::to_string(extent);
  for (Attribute attribute : parameters) {
    FailureOr<farun::Parameter> parameter = buildParameter(kernel, attribute);
    if (failed(parameter))
      return failure();
    launch.arguments.push_back(indexOf(*parameter, entry));
  }
  if (std::stoll(entry.sharedBytes) < bytes.getInt())
    entry.sharedBytes = launch.sharedBytes;
  entry.launches.push_back(std::move(launch));
  return success();
}

FailureOr<farun::Entry> buildEntry(func::FuncOp func) {
  farun::Entry entry;
  entry.name = func.getName().str();
  auto operands = func->getAttrOfType<ArrayAttr>(kOperandsAttr);
  for (auto [index, attribute] : llvm::enumerate(operands)) {
    FailureOr<farun::Operand> operand = buildOperand(func, index, attribute);
    if (failed(operand))
      return failure();
    entry.operands.push_back(std::move(*operand));
  }
  for (StringRef role : {"query", "key", "value"})
    if (llvm::none_of(entry.operands,
                      [&](auto &operand) { return operand.hasRole(role); }))
      return func.emitError() << "'" << func.getName()
                              << "' has no argument that is the " << role
                              << "; query, key and value must be arguments to "
                                 "launch it from outside";
  FailureOr<farun::Attention> attention = buildAttention(func);
  if (failed(attention))
    return failure();
  entry.attention = std::move(*attention);

  SymbolTableCollection symbols;
  WalkResult walk = func.walk([&](gpu::LaunchFuncOp launch) {
    auto kernel = symbols.lookupNearestSymbolFrom<gpu::GPUFuncOp>(
        launch, launch.getKernelAttr());
    if (!kernel || failed(addLaunch(kernel, entry)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  return entry;
}

} // namespace

FailureOr<farun::Manifest> buildManifest(ModuleOp module) {
  farun::Manifest manifest;
  if (auto target = module->getAttrOfType<StringAttr>(kTargetAttr))
    manifest.target = target.str();
  manifest.ptx = "kernel.ptx";
  for (auto func : module.getOps<func::FuncOp>()) {
    if (!func->hasAttrOfType<ArrayAttr>(kOperandsAttr))
      continue;
    FailureOr<farun::Entry> entry = buildEntry(func);
    if (failed(entry))
      return failure();
    manifest.entries.push_back(std::move(*entry));
    if (auto source = func->getAttrOfType<StringAttr>(kSourceAttr))
      manifest.source += (manifest.source.empty() ? "" : "\n") + source.str();
  }
  if (!manifest.entries.empty())
    return manifest;
  for (auto func : module.getOps<func::FuncOp>())
    if (auto why = func->getAttrOfType<StringAttr>(kNoEntryAttr))
      return func.emitError()
             << "'" << func.getName() << "' must hold one fa.attention with "
             << "arguments for operands to be launched from outside, and "
             << why.getValue()
             << "; what computes around attention is compiled by fa-opt";
  return module.emitError("no function holds fa.attention");
}

} // namespace mlir::fa
