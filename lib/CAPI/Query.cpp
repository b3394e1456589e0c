//===- Query.cpp - looking at a kernel ------------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Arrays.h"
#include "Kernel.h"

using namespace facapi;

namespace {

/// Calls `body` with the object of a kernel.
template <typename Body>
fa_status ask(const fa_kernel *kernel, fa_error **error, Body body) {
  return call(error, [&]() -> Outcome {
    Outcome failure;
    auto object = get<KernelObject>(Kind::Kernel, kernel, failure);
    return object ? body(*object) : failure;
  });
}

template <typename T> Outcome give(T *place, const char *name, const T &value) {
  if (Outcome failure = checkPlace(place, name))
    return failure;
  *place = value;
  return std::nullopt;
}

Outcome checkIndex(size_t index, size_t count, const char *what) {
  if (index < count)
    return std::nullopt;
  return inputFailure(std::string(what) + " " + std::to_string(index) +
                          " is none of " + std::to_string(count) +
                          ", counted from 0",
                      what);
}

/// Calls `body` with a part of an entry, after its index was looked at.
template <typename Body>
fa_status askEntry(const fa_kernel *kernel, size_t entry, fa_error **error,
                   Body body) {
  return ask(kernel, error, [&](const KernelObject &object) -> Outcome {
    if (Outcome failure = checkIndex(entry, object.entries.size(), "entry"))
      return failure;
    return body(object.entries[entry]);
  });
}

} // namespace

fa_status fa_kernel_target(const fa_kernel *kernel, const char **target,
                           fa_error **error) {
  return ask(kernel, error, [&](const KernelObject &object) {
    return give(target, "target", object.program.manifest.target.c_str());
  });
}

fa_status fa_kernel_ptx(const fa_kernel *kernel, const char **ptx,
                        fa_error **error) {
  return ask(kernel, error, [&](const KernelObject &object) {
    return give(ptx, "ptx", object.program.ptx.c_str());
  });
}

fa_status fa_kernel_manifest(const fa_kernel *kernel, const char **json,
                             fa_error **error) {
  return ask(kernel, error, [&](const KernelObject &object) {
    return give(json, "json", object.manifestJson.c_str());
  });
}

fa_status fa_kernel_source(const fa_kernel *kernel, const char **text,
                           fa_error **error) {
  return ask(kernel, error, [&](const KernelObject &object) {
    return give(text, "text", object.program.manifest.source.c_str());
  });
}

fa_status fa_kernel_warning_count(const fa_kernel *kernel, size_t *count,
                                  fa_error **error) {
  return ask(kernel, error, [&](const KernelObject &object) {
    return give(count, "count", object.warnings.size());
  });
}

fa_status fa_kernel_warning(const fa_kernel *kernel, size_t index,
                            const char **line, fa_error **error) {
  return ask(kernel, error, [&](const KernelObject &object) -> Outcome {
    if (Outcome failure = checkIndex(index, object.warnings.size(), "warning"))
      return failure;
    return give(line, "line", object.warnings[index].c_str());
  });
}

fa_status fa_kernel_stage_count(const fa_kernel *kernel, size_t *count,
                                fa_error **error) {
  return ask(kernel, error, [&](const KernelObject &object) {
    return give(count, "count", object.program.stages.size());
  });
}

fa_status fa_kernel_stage(const fa_kernel *kernel, size_t index,
                          const char **name, const char **text,
                          fa_error **error) {
  return ask(kernel, error, [&](const KernelObject &object) -> Outcome {
    const auto &stages = object.program.stages;
    if (Outcome failure = checkIndex(index, stages.size(), "stage"))
      return failure;
    // Nothing is written unless all can be.
    if (Outcome failure = checkPlace(text, "text"))
      return failure;
    if (Outcome failure = give(name, "name", stages[index].first.c_str()))
      return failure;
    return give(text, "text", stages[index].second.c_str());
  });
}

fa_status fa_kernel_entry_count(const fa_kernel *kernel, size_t *count,
                                fa_error **error) {
  return ask(kernel, error, [&](const KernelObject &object) {
    return give(count, "count", object.entries.size());
  });
}

fa_status fa_kernel_find_entry(const fa_kernel *kernel, const char *name,
                               size_t *entry, fa_error **error) {
  return ask(kernel, error, [&](const KernelObject &object) -> Outcome {
    const EntryView *view = nullptr;
    if (Outcome failure = object.findEntry(name, view))
      return failure;
    return give(entry, "entry", size_t(view - object.entries.data()));
  });
}

fa_status fa_kernel_entry(const fa_kernel *kernel, size_t entry,
                          fa_entry_info *info, fa_error **error) {
  return askEntry(kernel, entry, error, [&](const EntryView &view) {
    fa_entry_info filled = {};
    filled.name = view.entry->name.c_str();
    filled.operand_count = view.entry->operands.size();
    filled.input_count = view.inputNames.size();
    filled.result_count = view.resultNames.size();
    filled.parameter_count = view.entry->parameters.size();
    filled.launch_count = view.entry->launches.size();
    filled.shared_bytes = view.entry->sharedBytes.c_str();
    filled.workspace_bytes = view.entry->workspaceBytes.c_str();
    return writeStruct(info, "fa_entry_info", sizeof(fa_entry_info), filled);
  });
}

fa_status fa_kernel_operand(const fa_kernel *kernel, size_t entry, size_t index,
                            fa_operand_info *info, fa_error **error) {
  return askEntry(kernel, entry, error, [&](const EntryView &view) -> Outcome {
    const std::vector<farun::Operand> &operands = view.entry->operands;
    if (Outcome failure = checkIndex(index, operands.size(), "operand"))
      return failure;
    const farun::Operand &operand = operands[index];
    fa_operand_info filled = {};
    filled.role = view.roles[index].c_str();
    filled.kind = operand.kind == farun::OperandKind::Output ? FA_OPERAND_RESULT
                  : operand.kind == farun::OperandKind::Scalar
                      ? FA_OPERAND_SCALAR
                      : FA_OPERAND_INPUT;
    filled.dtype = toDtype(operand.type);
    filled.rank = int32_t(operand.shape.size());
    filled.shape = operand.shape.data();
    filled.dims = view.dims[index].data();
    return writeStruct(info, "fa_operand_info", sizeof(fa_operand_info),
                       filled);
  });
}

fa_status fa_kernel_parameter(const fa_kernel *kernel, size_t entry,
                              size_t index, fa_parameter_info *info,
                              fa_error **error) {
  return askEntry(kernel, entry, error, [&](const EntryView &view) -> Outcome {
    const std::vector<farun::Parameter> &parameters = view.entry->parameters;
    if (Outcome failure = checkIndex(index, parameters.size(), "parameter"))
      return failure;
    const farun::Parameter &parameter = parameters[index];
    fa_parameter_info filled = {};
    filled.kind = farun::name(parameter.kind).data();
    filled.operand = parameter.operand;
    filled.dim = parameter.dim;
    filled.extent = parameter.extent.c_str();
    filled.type = parameter.type.c_str();
    return writeStruct(info, "fa_parameter_info", sizeof(fa_parameter_info),
                       filled);
  });
}

fa_status fa_kernel_launch_info(const fa_kernel *kernel, size_t entry,
                                size_t index, fa_launch_info *info,
                                fa_error **error) {
  static_assert(sizeof(int) == sizeof(int32_t));
  return askEntry(kernel, entry, error, [&](const EntryView &view) -> Outcome {
    const std::vector<farun::Launch> &launches = view.entry->launches;
    if (Outcome failure = checkIndex(index, launches.size(), "launch"))
      return failure;
    const farun::Launch &launch = launches[index];
    fa_launch_info filled = {};
    filled.kernel = launch.kernel.c_str();
    filled.argument_count = launch.arguments.size();
    filled.arguments = launch.arguments.data();
    for (size_t d = 0; d < 3; ++d) {
      filled.grid[d] = launch.grid[d].c_str();
      filled.block[d] = launch.block[d].c_str();
      filled.cluster[d] = launch.cluster[d].c_str();
    }
    filled.shared_bytes = launch.sharedBytes.c_str();
    return writeStruct(info, "fa_launch_info", sizeof(fa_launch_info), filled);
  });
}
