//===- Kernel.cpp - compile, keep, save, load and free kernels ------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Kernel.h"

#include "Attention.h"
#include "Compile.h"

#include "fa/Support/Npy.h"
#include "fa/Support/Package.h"

#include <atomic>

namespace facapi {

static std::atomic<uint64_t> compileCount{0};

EntryView::EntryView(const farun::Entry &entry) : entry(&entry) {
  for (const farun::Operand &operand : entry.operands) {
    roles.push_back(operand.roleText());
    std::vector<const char *> names;
    for (const std::string &dim : operand.dims)
      names.push_back(dim.c_str());
    dims.push_back(std::move(names));
    bool isResult = operand.kind == farun::OperandKind::Output;
    (isResult ? resultNames : inputNames).push_back(operand.role);
  }
}

KernelObject::KernelObject(farun::Program given,
                           std::vector<std::string> warnings)
    : program(std::move(given)), warnings(std::move(warnings)),
      manifestJson(farun::manifestToJson(program.manifest)) {
  for (const farun::Entry &entry : program.manifest.entries)
    entries.emplace_back(entry);
}

Outcome KernelObject::findEntry(const char *name,
                                const EntryView *&view) const {
  farun::Expected<const farun::Entry *> found =
      farun::findEntry(program.manifest, name ? name : "");
  if (!found)
    return toFailure(found.error(), "entry");
  view = &entries[size_t(*found - program.manifest.entries.data())];
  return std::nullopt;
}

std::unique_ptr<farun::Device>
KernelObject::takeDevice(const std::string &name,
                         const std::string &optionText) const {
  std::lock_guard<std::mutex> guard(lock);
  auto found = idle.find(name + " " + optionText);
  if (found == idle.end())
    return nullptr;
  std::unique_ptr<farun::Device> device = std::move(found->second);
  idle.erase(found);
  return device;
}

void KernelObject::giveDevice(const std::string &name,
                              const std::string &optionText,
                              std::unique_ptr<farun::Device> device) const {
  // As many as threads may launch at once on a large machine's share.
  constexpr size_t kMaxIdle = 16;
  std::lock_guard<std::mutex> guard(lock);
  if (idle.size() < kMaxIdle)
    idle.emplace(name + " " + optionText, std::move(device));
}

static Outcome keep(farun::Program program, std::vector<std::string> warnings,
                    fa_kernel **kernel) {
  *kernel = static_cast<fa_kernel *>(insertHandle(
      Kind::Kernel,
      std::make_shared<KernelObject>(std::move(program), std::move(warnings))));
  return std::nullopt;
}

static Outcome readOptions(const fa_compile_options *given,
                           CompileRequest &request) {
  fa_compile_options options;
  if (Outcome failure = readStruct(given, "fa_compile_options",
                                   sizeof(fa_compile_options), options))
    return failure;
  auto text = [](const char *word, const char *otherwise) {
    return std::string(word ? word : otherwise);
  };
  request.target = text(options.target, farun::kDefaultTarget);
  request.schedule = text(options.schedule, "");
  request.entry = text(options.entry, "");
  request.name = text(options.name, "<text>");
  request.keepStages = options.keep_stages;
  request.traceState = options.trace_state;
  return std::nullopt;
}

static Outcome compileAndKeep(CompileRequest &request, fa_kernel **kernel) {
  if (Outcome failure = beginWork())
    return failure;
  ++compileCount;
  // The compiler takes an empty text for none.
  if (request.text.empty())
    request.text = "\n";
  CompileResult result;
  if (Outcome failure = compileText(request, result))
    return failure;
  return keep(std::move(result.program), std::move(result.warnings), kernel);
}

} // namespace facapi

using namespace facapi;

fa_status fa_compile_text(const char *text, const fa_compile_options *options,
                          fa_kernel **kernel, fa_error **error) {
  return call(error, [&]() -> Outcome {
    CompileRequest request;
    if (Outcome failure = checkPlace(kernel, "kernel"))
      return failure;
    *kernel = nullptr;
    if (Outcome failure = checkPlace(text, "text"))
      return failure;
    if (Outcome failure = readOptions(options, request))
      return failure;
    request.text = text;
    return compileAndKeep(request, kernel);
  });
}

fa_status fa_compile_file(const char *path, const fa_compile_options *options,
                          fa_kernel **kernel, fa_error **error) {
  return call(error, [&]() -> Outcome {
    CompileRequest request;
    if (Outcome failure = checkPlace(kernel, "kernel"))
      return failure;
    *kernel = nullptr;
    if (Outcome failure = checkPlace(path, "path"))
      return failure;
    if (Outcome failure = readOptions(options, request))
      return failure;
    farun::Expected<std::string> text = farun::readFileText(path);
    if (!text)
      return toFailure(text.error(), "path");
    request.text = std::move(*text);
    request.name = path;
    return compileAndKeep(request, kernel);
  });
}

fa_status fa_compile_attention(const fa_attention *attention,
                               const fa_compile_options *options,
                               fa_kernel **kernel, fa_error **error) {
  return call(error, [&]() -> Outcome {
    CompileRequest request;
    AttentionOp op;
    if (Outcome failure = checkPlace(kernel, "kernel"))
      return failure;
    *kernel = nullptr;
    if (Outcome failure = op.read(attention))
      return failure;
    if (Outcome failure = readOptions(options, request))
      return failure;
    request.text = op.text();
    request.name = "<attention>";
    Outcome failure = compileAndKeep(request, kernel);
    if (failure)
      op.blameRegion(*failure);
    return failure;
  });
}

uint64_t fa_compile_count(void) { return compileCount; }

fa_status fa_kernel_save(const fa_kernel *kernel, const char *path,
                         fa_error **error) {
  return call(error, [&]() -> Outcome {
    Outcome failure;
    auto object = get<KernelObject>(Kind::Kernel, kernel, failure);
    if (!object)
      return failure;
    if ((failure = checkPlace(path, "path")))
      return failure;
    farun::Status status = farun::checkPackagePath(path);
    if (status)
      status = farun::writePackage(object->program.manifest,
                                   object->program.ptx, path);
    if (!status)
      return toFailure(status.error(), "path");
    return std::nullopt;
  });
}

fa_status fa_kernel_load(const char *path, fa_kernel **kernel,
                         fa_error **error) {
  return call(error, [&]() -> Outcome {
    if (Outcome failure = checkPlace(kernel, "kernel"))
      return failure;
    *kernel = nullptr;
    if (Outcome failure = checkPlace(path, "path"))
      return failure;
    farun::Expected<farun::Program> program = farun::loadPackage(path);
    if (!program)
      return toFailure(program.error(), "path");
    return keep(std::move(*program), {}, kernel);
  });
}

fa_status fa_kernel_free(fa_kernel *kernel) {
  return !kernel || eraseHandle(Kind::Kernel, kernel) ? FA_OK : FA_ERROR_HANDLE;
}
