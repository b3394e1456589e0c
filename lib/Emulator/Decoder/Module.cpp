//===- Module.cpp - a PTX file, parsed ------------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Module: parsing at the level of the file, signatures, decoding on demand.
//
//===----------------------------------------------------------------------===//
#include "fa/Emulator/Module.h"
#include "../Parser/Parser.h"
#include "Decoder.h"
#include "ModuleImpl.h"

#include <fstream>
#include <sstream>

using namespace ptxvm;

/// Bytes of parameters that an entry may have (PTX ISA 9.1 section 5.1.6.1).
static constexpr uint64_t kMaxParameterBytes = 32764;

static Expected<KernelSignature> signatureOf(const ast::Function &f,
                                             const std::string &filename) {
  KernelSignature s;
  s.name = f.name;
  s.location = {filename, f.at.line, f.at.column};
  for (const ast::Variable &v : f.parameters) {
    KernelParameter p;
    p.name = v.name;
    p.type = v.type;
    p.size = uint32_t(v.bytes);
    p.alignment = std::max(1u, v.alignment);
    p.isArray = v.isArray;
    p.isPointer = v.isPointer;
    p.offset = (s.parameterBytes + p.alignment - 1) / p.alignment * p.alignment;
    if (p.offset + v.bytes > kMaxParameterBytes) {
      Diagnostic d;
      d.origin = "parser";
      d.message =
          readable("the parameters of '" + s.name + "' have more than " +
                   std::to_string(kMaxParameterBytes) + " bytes");
      d.location = {filename, v.at.line, v.at.column};
      return d;
    }
    s.parameterBytes = p.offset + p.size;
    s.parameters.push_back(std::move(p));
  }
  if (f.requiredThreads.x)
    s.requiredThreads = f.requiredThreads;
  if (f.maximumThreads.x)
    s.maximumThreads = f.maximumThreads;
  if (f.requiredCluster.x)
    s.requiredCluster = f.requiredCluster;
  s.isExplicitCluster = f.isExplicitCluster;
  s.maximumRegisters = f.maximumRegisters;
  return s;
}

/// Lines, columns and the decoder's numbers have 32 bits.
static constexpr size_t kMaxTextBytes = size_t(1) << 30;

Expected<Module> Module::parse(std::string text, std::string filename) {
  if (text.size() > kMaxTextBytes) {
    Diagnostic d;
    d.origin = "parser";
    d.message = "this file has " + std::to_string(text.size()) +
                " bytes; at most " + std::to_string(kMaxTextBytes) +
                " are allowed";
    d.location.file = std::move(filename);
    return d;
  }
  auto impl = std::make_shared<ModuleImpl>();
  impl->text = std::move(text);
  impl->filename = std::move(filename);
  auto file = ptxvm::parseFile(impl->text, impl->filename);
  if (!file)
    return file.error();
  impl->file = std::move(*file);
  impl->target = impl->file.target;
  if (auto problem = impl->index())
    return *problem;
  for (const ast::Function &f : impl->file.functions) {
    if (!f.isEntry || !f.hasBody)
      continue;
    auto signature = signatureOf(f, impl->filename);
    if (!signature)
      return signature.error();
    impl->signatures.push_back(std::move(*signature));
  }
  for (const KernelSignature &s : impl->signatures)
    impl->signatureOf[s.name] = &s;
  return Module(std::move(impl));
}

Expected<Module> Module::parseFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (in)
    text << in.rdbuf();
  if (!in) {
    Diagnostic d;
    d.origin = "parser";
    d.message = "cannot read this file";
    d.location.file = path;
    return d;
  }
  return parse(std::move(text).str(), path);
}

const std::string &Module::filename() const { return implementation->filename; }
const std::string &Module::target() const { return implementation->target; }

std::vector<std::string> Module::kernels() const {
  std::vector<std::string> names;
  for (const KernelSignature &s : implementation->signatures)
    names.push_back(s.name);
  return names;
}

const KernelSignature *Module::findKernel(const std::string &name) const {
  auto found = implementation->signatureOf.find(name);
  return found == implementation->signatureOf.end() ? nullptr : found->second;
}

std::optional<Diagnostic> Module::prepare(const std::string &kernel) const {
  auto decoded = implementation->decode(kernel);
  if (decoded)
    return std::nullopt;
  return decoded.error();
}

std::optional<Diagnostic> ModuleImpl::index() {
  auto twice = [&](std::string_view name, ast::Position at) {
    Diagnostic d;
    d.origin = "parser";
    d.message = readable("'" + std::string(name) + "' is defined twice");
    d.location = {filename, at.line, at.column};
    return d;
  };
  for (const ast::Function &f : file.functions) {
    const ast::Function *&known = functions[f.name];
    if (known && known->hasBody && f.hasBody)
      return twice(f.name, f.at);
    if (!known || f.hasBody)
      known = &f;
  }
  for (const ast::Variable &v : file.variables) {
    const ast::Variable *&known = variables[v.name];
    if (known && !known->isExtern && !v.isExtern)
      return twice(v.name, v.at);
    if (!known || known->isExtern)
      known = &v;
  }
  for (auto [name, target] : file.aliases) {
    auto found = functions.find(target);
    if (found != functions.end())
      functions[name] = found->second;
  }
  return std::nullopt;
}

const ast::Function *ModuleImpl::findFunction(std::string_view name) const {
  auto found = functions.find(name);
  return found == functions.end() ? nullptr : found->second;
}

const ast::Variable *ModuleImpl::findVariable(std::string_view name) const {
  auto found = variables.find(name);
  return found == variables.end() ? nullptr : found->second;
}

Expected<std::shared_ptr<const Kernel>>
ModuleImpl::decode(const std::string &kernel) {
  std::lock_guard<std::mutex> guard(lock);
  auto known = kernels.find(kernel);
  if (known != kernels.end())
    return known->second;
  auto signature = signatureOf.find(kernel);
  if (signature != signatureOf.end()) {
    auto decoded = decodeKernel(*this, *signature->second);
    if (decoded)
      kernels[kernel] = *decoded;
    return decoded;
  }
  Diagnostic d;
  d.origin = "launch";
  d.message = "there is no entry '" + kernel + "' in this file";
  d.location.file = filename;
  return d;
}
