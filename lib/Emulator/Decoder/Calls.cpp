//===- Calls.cpp - calls and the frames between which they copy -----------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 sections 7.1 and 9.7.12.4. A frame of a function starts with its
// results and parameters:
//
//   caller's frame:  ... param0 ... retval0 ...   (its .param temporaries)
//                          |           ^
//                      call copies   return copies
//                          v           |
//   callee's frame:  results | parameters | other .local and .param variables
//
// Arguments that are registers or constants go through a temporary, parameters
// in `.reg` space are loaded where the function starts.
//
//===----------------------------------------------------------------------===//
#include "../Memory/GlobalMemory.h"
#include "../Parser/Parser.h"
#include "FunctionDecoder.h"

#include <algorithm>

using namespace ptxvm;
using ast::Operand;
using ast::Statement;

static std::string quote(std::string_view text) {
  return "'" + std::string(text) + "'";
}

static uint32_t alignTo(uint32_t top, uint32_t alignment) {
  uint32_t a = std::max(1u, alignment);
  return (top + a - 1) / a * a;
}

/// More than a thread's local memory; sums of two still fit 32 bits.
static constexpr uint32_t kMaxFrameBytes = 1u << 28;

/// Offsets of formal parameters behind `top`, which moves behind them.
static std::vector<uint32_t>
layoutFormals(const std::vector<ast::Variable> &formals, uint32_t &top) {
  std::vector<uint32_t> offsets;
  for (const ast::Variable &v : formals) {
    top = alignTo(top, v.alignment);
    offsets.push_back(top);
    if (v.bytes > (1u << 20))
      throw SyntaxError{v.at, quote(v.name) + " has " +
                                  std::to_string(v.bytes) +
                                  " bytes, too many for a parameter"};
    top += uint32_t(v.bytes);
    if (top > kMaxFrameBytes)
      throw SyntaxError{v.at, "parameters of more than " +
                                  std::to_string(kMaxFrameBytes) + " bytes"};
  }
  return offsets;
}

static std::vector<uint32_t> sizes(const std::vector<ast::Variable> &formals) {
  std::vector<uint32_t> bytes;
  for (const ast::Variable &v : formals)
    bytes.push_back(uint32_t(v.bytes));
  return bytes;
}

namespace {
/// What CUDA's device runtime defines, as nvcc declares it.
struct BuiltinFunction {
  std::string_view name;
  CallSite::Builtin number;
  const char *handler;
  std::vector<uint32_t> parameterBytes;
  uint32_t resultBytes; ///< 0: no result
};
} // namespace

static const BuiltinFunction *findBuiltin(std::string_view name) {
  static const BuiltinFunction kTable[] = {
      // int vprintf(format, arguments)
      {"vprintf", CallSite::Vprintf, "call_vprintf", {8, 8}, 4},
      // void __assertfail(message, file, line, function, size of a char)
      {"__assertfail",
       CallSite::AssertFail,
       "call_assertfail",
       {8, 8, 4, 8, 8},
       0},
      // void *malloc(bytes), void free(address)
      {"malloc", CallSite::Malloc, "call_malloc", {8}, 8},
      {"free", CallSite::Free, "call_free", {8}, 0},
  };
  for (const BuiltinFunction &f : kTable)
    if (name == f.name)
      return &f;
  return nullptr;
}

uint32_t FunctionDecoder::reach(const ast::Function &f) {
  auto [known, isNew] = reachedIndex.try_emplace(&f, uint32_t(reached.size()));
  if (!isNew)
    return known->second;
  reached.push_back(&f);
  draft.regions.emplace_back();
  FunctionInfo info;
  info.name = f.name;
  if (!f.isEntry) {
    info.resultBytes = sizes(f.results);
    info.parameterBytes = sizes(f.parameters);
    kernel.functionAt[module.addressOf(f)] = known->second;
  }
  kernel.functions.push_back(std::move(info));
  return known->second;
}

void FunctionDecoder::useGlobal(const ast::Variable &v) {
  // Initial values name further variables, in chains of any length.
  std::vector<const ast::Variable *> open{&v};
  while (!open.empty()) {
    const ast::Variable &next = *open.back();
    open.pop_back();
    if (usedGlobals.insert(&next).second)
      useInitialValue(next, open);
  }
}

void FunctionDecoder::useInitialValue(
    const ast::Variable &v, std::vector<const ast::Variable *> &open) {
  if (v.isExtern)
    fail(v.at, "unsupported: " + quote(v.name) + " is defined in another file");
  kernel.globals.push_back(std::string(v.name));
  if (v.initialText.empty())
    return;
  auto value = parseInitialValue(v, module.filename);
  if (!value)
    fail({value.error().location.line, value.error().location.column},
         value.error().message);
  for (const ast::InitialValue::Symbol &s : value->symbols) {
    if (const ast::Variable *other = module.findVariable(s.name)) {
      open.push_back(other);
      continue;
    }
    const ast::Function *f = module.findFunction(s.name);
    if (!f || !f->hasBody || f->isEntry)
      fail(s.at, "the initial value of " + quote(v.name) + " names " +
                     quote(s.name) +
                     ", which is no variable and no function "
                     "with a body in this file");
    takeAddress(*f);
  }
}

uint32_t FunctionDecoder::takeAddress(const ast::Function &f) {
  uint32_t index = reach(f);
  if (isAddressTaken.insert(index).second)
    draft.addressTaken.push_back(index);
  return index;
}

/// The register that holds the address of the current function's frame.
uint32_t FunctionDecoder::frameBase() {
  uint32_t &r = draft.regions[current].frameRegister;
  if (r == kNone)
    r = newRegister("%frame", "b64");
  return r;
}

Draft FunctionDecoder::localAccess(const Place &place, std::string_view type,
                                   const Operand &reg, bool isLoad) {
  Draft d;
  uint32_t bytes = typeBytes(type);
  bool isWide = bytes == 8;
  MemoryAux aux{uint8_t(bytes), 1, MemoryAux::kWideAddress,
                uint8_t(Space::Local)};
  d.inst.row = rowOfHandler(isLoad ? "ld" : "st");
  d.info.category = isLoad ? Category::Load : Category::Store;
  d.info.mnemonic = isLoad ? "ld" : "st";
  d.info.opcode = d.info.mnemonic + ".param." + std::string(type);
  d.info.line = reg.at.line;
  d.info.column = reg.at.column;
  d.list.push_back(isLoad ? anyDestination(reg, d, isWide)
                          : anySource(reg, isWide, d, isWide));
  if (isWide)
    aux.flags |= MemoryAux::kWideRegister;
  d.inst.imm = int32_t(place.offset);
  d.fields = kFieldA;
  if (place.kind == Place::Frame) {
    d.inst.a = frameBase();
    d.hiddenReads.push_back(d.inst.a);
  } else {
    d.inst.a = constant(0, true);
  }
  d.inst.aux = aux.pack();
  return d;
}

void FunctionDecoder::enterFunction(const ast::Function &f) {
  FunctionInfo &info = kernel.functions[current];
  uint32_t top = 0;
  for (const auto *formals : {&f.results, &f.parameters}) {
    std::vector<uint32_t> offsets = layoutFormals(*formals, top);
    for (size_t i = 0; i < formals->size(); ++i) {
      const ast::Variable &v = (*formals)[i];
      Place place{Place::Frame, offsets[i], {}, v.bytes, true};
      frameAlignment = std::max(frameAlignment, v.alignment);
      if (!v.isRegister) {
        scopes.back().variables[v.name] = place;
        continue;
      }
      scopes.back().registers[v.name] =
          newRegister(std::string(v.name), v.type);
      if (formals == &f.results)
        continue;
      Operand reg;
      reg.at = v.at;
      reg.name = v.name;
      emit(localAccess(place, v.type, reg, true));
    }
  }
  info.frameBytes = top;
}

/// Before a return: results in `.reg` space go to the frame.
void FunctionDecoder::leaveFunction(const Statement &s) {
  const ast::Function &f = *reached[current];
  uint32_t top = 0;
  std::vector<uint32_t> offsets = layoutFormals(f.results, top);
  for (size_t i = 0; i < offsets.size(); ++i) {
    const ast::Variable &v = f.results[i];
    if (!v.isRegister)
      continue;
    Operand reg;
    reg.at = s.at;
    reg.name = v.name;
    emit(localAccess({Place::Frame, offsets[i], {}}, v.type, reg, false));
  }
}

uint32_t FunctionDecoder::argumentPlace(const Operand &o,
                                        const ast::Variable &formal,
                                        bool isResult,
                                        std::vector<Draft> &after) {
  bool isVariable = o.kind == Operand::Name && !isRegister(o);
  if (isVariable) {
    const Place *place = findPlace(o.name);
    if (!place || !place->isTemporary)
      fail(o.at, quote(o.name) + " is not a .param variable");
    if (place->bytes != formal.bytes)
      fail(o.at, quote(o.name) + " has " + std::to_string(place->bytes) +
                     " bytes; the function's has " +
                     std::to_string(formal.bytes));
    return uint32_t(place->offset);
  }
  if (formal.isArray)
    fail(o.at, "this argument must be a .param variable of " +
                   std::to_string(formal.bytes) + " bytes");
  FunctionInfo &info = kernel.functions[current];
  info.frameBytes = alignTo(info.frameBytes, formal.alignment);
  Place place{
      current ? Place::Frame : Place::Local, info.frameBytes, {}, formal.bytes};
  info.frameBytes += uint32_t(formal.bytes);
  if (info.frameBytes > kMaxFrameBytes)
    fail(o.at, "the arguments of calls have more than " +
                   std::to_string(kMaxFrameBytes) + " bytes");
  Draft access = localAccess(place, formal.type, o, isResult);
  if (isResult)
    after.push_back(std::move(access));
  else
    emit(std::move(access));
  return uint32_t(place.offset);
}

CallSite
FunctionDecoder::prepareCall(const Statement &s, const Operand *results,
                             const Operand *parameters,
                             const std::vector<ast::Variable> &resultTypes,
                             const std::vector<ast::Variable> &parameterTypes,
                             std::vector<Draft> &after) {
  CallSite site;
  site.caller = current;
  site.resultBytes = sizes(resultTypes);
  site.parameterBytes = sizes(parameterTypes);
  uint32_t top = 0;
  auto bind = [&](const Operand *list,
                  const std::vector<ast::Variable> &formals, const char *what,
                  std::vector<CallSite::Copy> &copies, bool isResult) {
    std::vector<uint32_t> offsets = layoutFormals(formals, top);
    size_t n = list ? list->elements.size() : 0;
    if (n != formals.size())
      fail(s.at, "this function has " + std::to_string(formals.size()) + " " +
                     what + ", this call gives " + std::to_string(n));
    for (size_t i = 0; i < n; ++i) {
      const Operand &o = list->elements[i];
      if (isResult && o.kind == Operand::Sink)
        continue;
      uint32_t mine = argumentPlace(o, formals[i], isResult, after);
      uint32_t bytes = uint32_t(formals[i].bytes);
      copies.push_back(isResult ? CallSite::Copy{offsets[i], mine, bytes}
                                : CallSite::Copy{mine, offsets[i], bytes});
    }
  };
  bind(results, resultTypes, "results", site.results, true);
  bind(parameters, parameterTypes, "parameters", site.arguments, false);
  return site;
}

/// Takes the operands of call{.uni} {(results),} function{, (parameters)}
/// {, prototype or targets} apart.
static void splitCall(const Statement &s, const Operand *&results,
                      const Operand *&callee, const Operand *&parameters,
                      const Operand *&label) {
  for (const Operand &o : s.operands) {
    if (o.kind == Operand::List && !callee && !results)
      results = &o;
    else if (o.kind == Operand::List && callee && !parameters && !label)
      parameters = &o;
    else if (o.kind == Operand::Name && !callee)
      callee = &o;
    else if (o.kind == Operand::Name && !label)
      label = &o;
    else
      throw SyntaxError{o.at, "this operand has no place in a call"};
  }
  if (!callee)
    throw SyntaxError{s.at, "this call names no function"};
}

void FunctionDecoder::call(const Statement &s, Draft d) {
  const Operand *results = nullptr, *callee = nullptr, *params = nullptr,
                *label = nullptr;
  splitCall(s, results, callee, params, label);
  std::vector<Draft> after;
  CallSite site;
  if (isRegister(*callee)) {
    if (!label)
      fail(s.at, "a call through a register needs a .callprototype or "
                 ".calltargets");
    const Prototype *prototype = findIn(&Scope::prototypes, label->name);
    const auto *targets = findIn(&Scope::tables, label->name);
    Prototype first;
    if (targets) {
      countTargets(s.at, targets->size());
      for (std::string_view name : *targets) {
        const ast::Function *f = module.findFunction(name);
        if (!f || !f->hasBody || f->isEntry)
          fail(label->at, "the target " + quote(name) + " has no body");
        takeAddress(*f);
        first = {f->results, f->parameters};
      }
      prototype = &first;
    }
    if (!prototype)
      fail(label->at, "unknown prototype " + quote(label->name));
    site = prepareCall(s, results, params, prototype->results,
                       prototype->parameters, after);
    d.inst.a = source(*callee, true, d);
    d.fields |= kFieldA;
    draft.regions[current].callsByAddress = true;
  } else {
    const ast::Function *f = module.findFunction(callee->name);
    if (!f)
      fail(callee->at, "unknown function " + quote(callee->name));
    if (f->isEntry)
      fail(callee->at,
           "unsupported: a call of the entry " + quote(callee->name));
    if (!f->hasBody && !findBuiltin(f->name))
      fail(callee->at, "unsupported: a call of " + quote(callee->name) +
                           ", which has no body in this file");
    site = prepareCall(s, results, params, f->results, f->parameters, after);
    if (!f->hasBody)
      return builtinCall(s, std::move(d), std::move(site), f->name);
    site.callee = reach(*f);
    draft.regions[current].callees.push_back(site.callee);
  }
  d.inst.aux = uint32_t(kernel.calls.size());
  kernel.calls.push_back(std::move(site));
  for (Draft &load : after) {
    load.inst.guard = d.inst.guard;
    load.inst.guardXor = d.inst.guardXor;
    load.isGuarded = d.isGuarded;
    load.info.guard = d.info.guard;
    if (d.info.guard >= 0)
      load.info.reads.push_back(uint32_t(d.info.guard));
  }
  emit(std::move(d));
  for (Draft &load : after)
    emit(std::move(load));
}

void FunctionDecoder::builtinCall(const Statement &s, Draft d, CallSite site,
                                  std::string_view name) {
  const BuiltinFunction &builtin = *findBuiltin(name);
  bool fits = site.parameterBytes == builtin.parameterBytes &&
              site.resultBytes.size() <= 1;
  for (uint32_t bytes : site.resultBytes)
    fits &= bytes == builtin.resultBytes;
  if (!fits)
    fail(s.at, quote(name) + " is not declared as CUDA's is");
  site.builtin = builtin.number;
  kernel.usesHeap |=
      site.builtin == CallSite::Malloc || site.builtin == CallSite::Free;
  d.inst.row = rowOfHandler(builtin.handler);
  d.inst.aux = uint32_t(kernel.calls.size());
  kernel.calls.push_back(std::move(site));
  emit(std::move(d));
}

/// Local memory that a thread may have (CUDA's limit), and what recursion gets
/// of it for its stack.
static constexpr uint64_t kMaxLocalBytes = 512 * 1024;
static constexpr uint64_t kRecursionBytes = 16 * 1024;

/// Local memory of a thread: the frames of the longest chain of calls, or a
/// fixed stack where the chain has no end.
void FunctionDecoder::measureStack() {
  std::vector<FunctionInfo> &functions = kernel.functions;
  size_t n = draft.regions.size();
  for (FunctionInfo &f : functions)
    f.frameBytes =
        alignTo(f.frameBytes, functions.size() > 1 ? frameAlignment : 1);
  enum : char { New, Open, Done };
  std::vector<char> state(n, New);
  std::vector<uint64_t> deepest(n, 0);
  std::vector<std::pair<uint32_t, size_t>> path{{0, 0}};
  bool isRecursive = false;
  state[0] = Open;
  while (!path.empty()) {
    auto &[f, next] = path.back();
    const std::vector<uint32_t> &callees = draft.regions[f].callees;
    if (next < callees.size()) {
      uint32_t callee = callees[next++];
      isRecursive |= state[callee] == Open;
      if (state[callee] == New) {
        state[callee] = Open;
        path.push_back({callee, 0});
      }
      continue;
    }
    for (uint32_t callee : callees)
      deepest[f] = std::max(deepest[f], deepest[callee]);
    deepest[f] += f < functions.size() ? functions[f].frameBytes : 0;
    state[f] = Done;
    path.pop_back();
  }
  uint64_t bytes = deepest[0] + (isRecursive ? kRecursionBytes : 0);
  if (bytes > kMaxLocalBytes)
    fail(reached[0]->at, quote(reached[0]->name) + " needs " +
                             std::to_string(bytes) +
                             " bytes of local memory a thread; there are " +
                             std::to_string(kMaxLocalBytes));
  kernel.localBytes = uint32_t(bytes);
}
