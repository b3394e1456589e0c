//===- ModuleVariables.cpp - .global and .const variables -----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A variable gets its buffer and its initial value when the first kernel that
// reaches it is launched. PTX ISA 9.1 section 5.4.
//
//===----------------------------------------------------------------------===//
#include "../Decoder/ModuleImpl.h"
#include "../Parser/Parser.h"
#include "DeviceState.h"

#include "fa/Support/HostMemory.h"

using namespace ptxvm;

/// Writes what stands behind '=', symbols resolved.
static std::optional<Diagnostic>
initialise(Allocation &buffer, const ast::Variable &v, const ModuleImpl &module,
           const std::map<std::string, uint64_t> &symbols) {
  auto value = parseInitialValue(v, module.filename);
  if (!value)
    return value.error();
  std::copy(value->bytes.begin(), value->bytes.end(), buffer.data.begin());
  for (const ast::InitialValue::Symbol &s : value->symbols) {
    uint64_t address = 0;
    auto found = symbols.find(std::string(s.name));
    if (found != symbols.end())
      address = found->second;
    else if (const ast::Function *f = module.findFunction(s.name))
      address = module.addressOf(*f);
    uint64_t bits = ((address + s.addend) & s.mask) >> s.shift;
    std::memcpy(buffer.data.data() + s.offset, &bits, std::min(s.size, 8u));
  }
  return std::nullopt;
}

Expected<const std::map<std::string, uint64_t> *>
DeviceState::load(const Module &module,
                  const std::vector<std::string> &globals) {
  const ModuleImpl &impl = module.impl();
  Loaded *loaded = nullptr;
  for (Loaded &l : modules)
    if (&l.module.impl() == &impl)
      loaded = &l;
  if (!loaded)
    loaded = &modules.emplace_back(Loaded{module, {}});
  std::vector<const ast::Variable *> fresh;
  uint64_t total = 0;
  for (const auto &buffer : memory.all())
    total += buffer->bytes;
  for (const std::string &name : globals) {
    const ast::Variable *v = impl.findVariable(name);
    if (!v || loaded->symbols.count(name))
      continue;
    fresh.push_back(v);
    total += v->bytes;
    // At first each byte has a mark, whether it is initialised.
    if (total + v->bytes <= farun::hostMemoryBudget())
      continue;
    Diagnostic d;
    d.origin = "launch";
    d.message = readable("'" + name + "' has " + std::to_string(v->bytes) +
                         " bytes, more than this machine's memory can hold");
    d.location = {impl.filename, v->at.line, v->at.column};
    return d;
  }
  // Without an initial value the variable is zero (PTX ISA 9.1, 5.4.4).
  std::vector<Allocation *> buffers;
  for (const ast::Variable *v : fresh) {
    std::string name(v->name);
    Allocation &b =
        memory.allocate(v->bytes, name, v->space == ast::Variable::Const);
    b.data.assign(v->bytes, 0);
    b.initialised = {};
    loaded->symbols[name] = b.address;
    buffers.push_back(&b);
  }
  for (size_t n = 0; n < fresh.size(); ++n)
    if (!fresh[n]->initialText.empty())
      if (auto problem =
              initialise(*buffers[n], *fresh[n], impl, loaded->symbols))
        return *problem;
  return &loaded->symbols;
}
