//===- FunctionDecoder.cpp - names to meanings ----------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scopes, calls and the operands that all families share.
//
//===----------------------------------------------------------------------===//
#include "FunctionDecoder.h"
#include "../Memory/GlobalMemory.h"
#include "../Parser/Parser.h"

#include <algorithm>
#include <cstring>

using namespace ptxvm;
using ast::Operand;
using ast::Statement;

static std::string quote(std::string_view text) {
  return "'" + std::string(text) + "'";
}

DraftKernel FunctionDecoder::run(const ast::Function &entry) {
  if (auto problem =
          parseTarget(module.file.target, module.file.version, target))
    fail(module.file.targetAt.line ? module.file.targetAt : ast::Position{1, 1},
         *problem);
  draft.registers.push_back({"_", true, false, 2, {}});
  scopes.emplace_back();
  reach(entry);
  for (uint32_t f = 0; f < reached.size(); ++f)
    walk(f);
  draft.joinCallsByAddress();
  measureStack();
  return std::move(draft);
}

void FunctionDecoder::walk(uint32_t index) {
  const ast::Function &f = *reached[index];
  auto body = parseBody(f, module.filename);
  if (!body)
    fail({body.error().location.line, body.error().location.column},
         body.error().message);
  current = index;
  locFile = inlinedFile = -1;
  draft.regions[index].first = uint32_t(draft.drafts.size());
  labelScopes = findLabels(*body);
  nextLabelScope = 0;
  scopes.resize(1);
  scopes.emplace_back();
  if (index == 0)
    for (size_t i = 0; i < f.parameters.size(); ++i)
      scopes.back().variables[f.parameters[i].name] = {
          Place::Param, kernel.signature.parameters[i].offset, {}};
  else
    enterFunction(f);
  size_t at = 0;
  scope(*body, at);
  // Falling off the end returns.
  Statement end;
  end.at = f.at;
  end.opcode = "ret";
  instruction(end);
  draft.regions[index].last = uint32_t(draft.drafts.size());
}

std::vector<FunctionDecoder::Scope>
FunctionDecoder::findLabels(const std::vector<Statement> &statements) {
  std::vector<Scope> found(1);
  std::vector<size_t> open{0};
  auto define = [&](auto &table, const Statement &s, auto value) {
    if (!table.emplace(s.label, std::move(value)).second)
      fail(s.at, "label " + quote(s.label) + " is defined twice");
  };
  for (const Statement &s : statements) {
    Scope &scope = found[open.back()];
    if (s.kind == Statement::ScopeBegin) {
      open.push_back(found.size());
      found.emplace_back();
    } else if (s.kind == Statement::ScopeEnd) {
      open.pop_back();
    } else if (s.kind == Statement::BranchTargets ||
               s.kind == Statement::CallTargets) {
      define(scope.tables, s, s.targets);
    } else if (s.kind == Statement::CallPrototype) {
      define(scope.prototypes, s, Prototype{s.results, s.variables});
    } else if (s.kind == Statement::Label) {
      define(scope.labels, s, newLabel());
    }
  }
  return found;
}

void FunctionDecoder::scope(const std::vector<Statement> &statements,
                            size_t &at) {
  // Labels and tables are there from the start: they are used before they
  // stand.
  scopes.push_back(std::move(labelScopes[nextLabelScope++]));
  for (; at < statements.size(); ++at) {
    const Statement &s = statements[at];
    switch (s.kind) {
    case Statement::ScopeBegin:
      scope(statements, ++at);
      break;
    case Statement::ScopeEnd:
      scopes.pop_back();
      return;
    case Statement::Label:
      draft.labels[scopes.back().labels[s.label]] =
          uint32_t(draft.drafts.size());
      break;
    case Statement::Registers:
      declareRegisters(s);
      break;
    case Statement::Variables:
      for (const ast::Variable &v : s.variables)
        declareVariable(v, scopes.back());
      break;
    case Statement::Location:
      locFile = int32_t(s.file);
      locLine = s.line;
      inlinedFile = s.inlinedLine ? int32_t(s.inlinedFile) : -1;
      inlinedLine = s.inlinedLine;
      break;
    case Statement::BranchTargets:
    case Statement::CallTargets:
    case Statement::CallPrototype:
      break;
    case Statement::Instruction:
      instruction(s);
      break;
    }
  }
  scopes.pop_back();
}

uint32_t FunctionDecoder::newRegister(std::string name, std::string_view type) {
  bool isPredicate = type == "pred";
  VirtualRegister r{std::move(name), isPredicate, typeBytes(type) >= 8, 0,
                    type};
  if (isPredicate)
    r.predicate = kernel.predicates++;
  draft.registers.push_back(r);
  if (type == "b128") // the upper half
    draft.registers.push_back(r);
  return uint32_t(draft.registers.size() - 1 - (type == "b128"));
}

void FunctionDecoder::declareRegisters(const Statement &s) {
  for (const ast::RegisterDeclaration &r : s.registers) {
    if (!typeBytes(r.type))
      fail(s.at, "unsupported register type '." + std::string(r.type) + "'");
    if (r.count < 0)
      scopes.back().registers[r.name] =
          newRegister(std::string(r.name), r.type);
    else
      scopes.back().families[r.name] = {r.type, uint64_t(r.count), {}};
  }
}

/// "%r12" -> "%r", 12; false when there is no number at the end.
static bool splitNumber(std::string_view name, std::string_view &stem,
                        uint64_t &number) {
  size_t n = name.size();
  while (n && name[n - 1] >= '0' && name[n - 1] <= '9')
    --n;
  if (n == name.size() || name.size() - n > 9 ||
      (name[n] == '0' && name.size() - n > 1))
    return false;
  stem = name.substr(0, n);
  number = 0;
  for (size_t i = n; i < name.size(); ++i)
    number = number * 10 + uint64_t(name[i] - '0');
  return true;
}

static constexpr uint32_t kNoRegister = ~0u;

uint32_t FunctionDecoder::findRegister(const Operand &o) {
  if (o.kind != Operand::Name)
    fail(o.at, "expected a register");
  std::string_view stem;
  uint64_t number = 0;
  bool isNumbered = splitNumber(o.name, stem, number);
  for (size_t i = scopes.size(); i-- > 0;) {
    Scope &s = scopes[i];
    auto found = s.registers.find(o.name);
    if (found != s.registers.end())
      return found->second;
    if (!isNumbered)
      continue;
    auto family = s.families.find(stem);
    if (family == s.families.end() || number >= family->second.count)
      continue;
    auto [known, isNew] =
        family->second.known.try_emplace(uint32_t(number), kNoRegister);
    if (isNew)
      known->second = newRegister(std::string(o.name), family->second.type);
    return known->second;
  }
  return kNoRegister;
}

bool FunctionDecoder::isRegister(const Operand &o) {
  return o.kind == Operand::Name && findRegister(o) != kNoRegister;
}

const FunctionDecoder::Place *
FunctionDecoder::findPlace(std::string_view name) {
  if (const Place *place = findIn(&Scope::variables, name))
    return place;
  const ast::Variable *v = module.findVariable(name);
  if (!v)
    return nullptr;
  if (v->space == ast::Variable::Shared) {
    declareVariable(*v, scopes[0]);
  } else {
    useGlobal(*v);
    scopes[0].variables[name] = {Place::Global, 0, v->name, v->bytes};
  }
  return &scopes[0].variables[name];
}

void FunctionDecoder::declareVariable(const ast::Variable &v, Scope &into) {
  auto align = [&](uint32_t &top) {
    uint32_t a = std::max(1u, v.alignment);
    top = (top + a - 1) / a * a;
    uint64_t offset = top;
    if (v.bytes > (1u << 30) - top)
      fail(v.at, quote(v.name) + " has " + std::to_string(v.bytes) +
                     " bytes, more than its space can hold");
    top += uint32_t(v.bytes);
    return offset;
  };
  Place place{Place::Local, 0, {}};
  if (v.space == ast::Variable::Shared && v.bytes == 0) {
    place.kind = Place::DynamicShared;
    kernel.usesDynamicShared = true;
    kernel.dynamicSharedAlignment =
        std::max(kernel.dynamicSharedAlignment, v.alignment);
  } else if (v.space == ast::Variable::Shared) {
    place.kind = Place::Shared;
    place.offset = align(kernel.staticShared);
  } else if (v.space == ast::Variable::Local ||
             v.space == ast::Variable::Param) {
    place.kind = current ? Place::Frame : Place::Local;
    place.offset = align(kernel.functions[current].frameBytes);
    place.isTemporary = v.space == ast::Variable::Param;
    frameAlignment = std::max(frameAlignment, v.alignment);
  } else {
    fail(v.at, "unsupported: a " + quote(v.name) +
                   " of global space inside a function");
  }
  place.bytes = v.bytes;
  into.variables[v.name] = place;
}

uint32_t FunctionDecoder::findLabel(const Operand &o) {
  const uint32_t *label = findIn(&Scope::labels, o.name);
  if (!label)
    fail(o.at, "unknown label " + quote(o.name));
  return *label;
}

uint32_t FunctionDecoder::readOnly(ReadOnly r) {
  kernel.readOnly.push_back(std::move(r));
  return uint32_t(kernel.readOnly.size() - 1) | kReadOnlyBit;
}

uint32_t FunctionDecoder::constant(uint64_t value, bool wide) {
  if (!wide)
    value = uint32_t(value);
  auto known = constants.find({value, wide});
  if (known != constants.end())
    return known->second;
  ReadOnly r;
  r.isWide = wide;
  r.value = value;
  return constants[{value, wide}] = readOnly(r);
}

uint32_t FunctionDecoder::addressOf(const Place &place, uint64_t offset,
                                    bool wide) {
  switch (place.kind) {
  case Place::Param:
  case Place::Local:
  case Place::Shared:
    return constant(place.offset + offset, wide);
  case Place::Frame: {
    // The frame's address and an offset, in a register of our own.
    uint32_t sum = newRegister("%address", "b64");
    Draft add;
    add.inst.row = rowOfHandler("add_b64");
    add.info.category = Category::Integer;
    add.info.opcode = "add.s64";
    add.info.mnemonic = "add";
    add.info.line = line;
    add.inst.dst = sum;
    add.inst.a = frameBase();
    add.inst.b = constant(place.offset + offset, true);
    add.fields = kFieldDst | kFieldA | kFieldB;
    add.hiddenReads.push_back(add.inst.a);
    add.info.writes.push_back(sum);
    if (wide) {
      emit(std::move(add));
      return sum;
    }
    Draft cut = add;
    emit(std::move(add));
    uint32_t narrow = newRegister("%address", "b32");
    cut.inst.row = rowOfHandler("cvt_trunc64");
    cut.info.opcode = "cvt.u32.u64";
    cut.info.mnemonic = "cvt";
    cut.info.category = Category::Convert;
    cut.inst.dst = narrow;
    cut.inst.a = sum;
    cut.fields = kFieldDst | kFieldA;
    cut.hiddenReads.clear();
    cut.info.reads.push_back(sum);
    cut.info.writes = {narrow};
    emit(std::move(cut));
    return narrow;
  }
  case Place::DynamicShared:
  case Place::Global: {
    std::string key = std::string(place.symbol) + "+" + std::to_string(offset) +
                      (wide ? "w" : "n");
    auto known = otherReadOnly.find(key);
    if (known != otherReadOnly.end())
      return known->second;
    ReadOnly r;
    r.kind = place.kind == Place::Global ? ReadOnly::GlobalSymbol
                                         : ReadOnly::DynamicShared;
    r.isWide = wide;
    r.symbol = place.symbol;
    r.value = offset;
    return otherReadOnly[key] = readOnly(r);
  }
  }
  return 0;
}

uint32_t FunctionDecoder::special(const Operand &o, bool wide) {
  static const std::unordered_map<std::string_view, Special> names = {
      {"%tid.x", Special::TidX},
      {"%tid.y", Special::TidY},
      {"%tid.z", Special::TidZ},
      {"%ntid.x", Special::NtidX},
      {"%ntid.y", Special::NtidY},
      {"%ntid.z", Special::NtidZ},
      {"%ctaid.x", Special::CtaidX},
      {"%ctaid.y", Special::CtaidY},
      {"%ctaid.z", Special::CtaidZ},
      {"%nctaid.x", Special::NctaidX},
      {"%nctaid.y", Special::NctaidY},
      {"%nctaid.z", Special::NctaidZ},
      {"%laneid", Special::LaneId},
      {"%warpid", Special::WarpId},
      {"%nwarpid", Special::NWarpId},
      {"%smid", Special::SmId},
      {"%nsmid", Special::NSmId},
      {"%gridid", Special::GridId},
      {"%lanemask_eq", Special::LanemaskEq},
      {"%lanemask_le", Special::LanemaskLe},
      {"%lanemask_lt", Special::LanemaskLt},
      {"%lanemask_ge", Special::LanemaskGe},
      {"%lanemask_gt", Special::LanemaskGt},
      {"%dynamic_smem_size", Special::DynamicSmemSize},
      {"%total_smem_size", Special::TotalSmemSize},
      {"%aggr_smem_size", Special::TotalSmemSize},
      {"%cluster_ctarank", Special::ClusterCtaRank},
      {"%cluster_nctarank", Special::ClusterNctaRank},
      {"%cluster_ctaid.x", Special::ClusterCtaidX},
      {"%cluster_ctaid.y", Special::ClusterCtaidY},
      {"%cluster_ctaid.z", Special::ClusterCtaidZ},
      {"%cluster_nctaid.x", Special::ClusterNctaidX},
      {"%cluster_nctaid.y", Special::ClusterNctaidY},
      {"%cluster_nctaid.z", Special::ClusterNctaidZ},
      {"%clusterid.x", Special::ClusteridX},
      {"%clusterid.y", Special::ClusteridY},
      {"%clusterid.z", Special::ClusteridZ},
      {"%nclusterid.x", Special::NclusteridX},
      {"%nclusterid.y", Special::NclusteridY},
      {"%nclusterid.z", Special::NclusteridZ},
      {"%clock", Special::Clock},
      {"%clock64", Special::Clock},
      {"%clock_hi", Special::Clock},
      {"%globaltimer", Special::Clock},
      {"%globaltimer_lo", Special::Clock},
      {"%globaltimer_hi", Special::Clock}};
  if (o.name == "WARP_SZ")
    return constant(32, wide);
  // Environment and performance registers hold nothing here, and no shared
  // memory is reserved: the region is empty (*unverified* on hardware, where
  // the system takes 1 KiB of it).
  for (const char *prefix :
       {"%envreg", "%pm", "%reserved_smem_offset_", "%current_graph_exec"})
    if (o.name.starts_with(prefix))
      return constant(0, wide);
  auto found = names.find(o.name);
  if (found == names.end())
    fail(o.at, "unknown name " + quote(o.name));
  if (auto problem = checkSpecial(target, o.name))
    fail(o.at, *problem);
  std::string key = std::string(o.name) + (wide ? "w" : "n");
  auto known = otherReadOnly.find(key);
  if (known != otherReadOnly.end())
    return known->second;
  ReadOnly r;
  r.kind = ReadOnly::SpecialRegister;
  r.isWide = wide;
  r.special = found->second;
  return otherReadOnly[key] = readOnly(r);
}

uint32_t FunctionDecoder::anySource(const Operand &o, bool wideImmediate,
                                    Draft &d, bool &isWide) {
  isWide = wideImmediate;
  uint64_t bits = uint64_t(o.value);
  if (o.negated)
    fail(o.at, "'!' is not allowed here");
  bool isHalf = operandType.starts_with("f16") || operandType.starts_with("bf");
  if (isHalf && o.kind != Operand::Name)
    fail(o.at, "a ." + std::string(operandType) + " operand is a register");
  switch (o.kind) {
  case Operand::Integer:
    return constant(bits, wideImmediate);
  case Operand::Float32:
    if (wideImmediate) {
      float narrow;
      std::memcpy(&narrow, &bits, 4);
      double wide = narrow;
      std::memcpy(&bits, &wide, 8);
    }
    return constant(bits, wideImmediate);
  case Operand::Float64:
    if (!wideImmediate) {
      double wide;
      std::memcpy(&wide, &bits, 8);
      float narrow = float(wide);
      bits = 0;
      std::memcpy(&bits, &narrow, 4);
    }
    return constant(bits, wideImmediate);
  case Operand::Name:
    break;
  default:
    fail(o.at, "expected a register or a constant");
  }
  uint32_t r = findRegister(o);
  if (r != kNoRegister) {
    if (draft.registers[r].isPredicate)
      fail(o.at, quote(o.name) + " is a predicate; expected a data register");
    if (draft.registers[r].type == "b128")
      fail(o.at, quote(o.name) + " has 128 bits");
    checkType(o, r, operandType, mayBeWider);
    isWide = draft.registers[r].isWide;
    d.info.reads.push_back(r);
    return r;
  }
  if (const Place *place = findPlace(o.name)) {
    line = o.at.line;
    uint32_t ref = addressOf(*place, uint64_t(o.value), wideImmediate);
    if (!(ref & kReadOnlyBit))
      d.info.reads.push_back(ref);
    return ref;
  }
  if (const ast::Function *f = module.findFunction(o.name)) {
    if (f->isEntry || !f->hasBody)
      fail(o.at, "unsupported: the address of " + quote(o.name) +
                     (f->isEntry ? ", an entry" : ", which has no body here"));
    takeAddress(*f);
    return constant(module.addressOf(*f), wideImmediate);
  }
  return special(o, wideImmediate);
}

uint32_t FunctionDecoder::source(const Operand &o, bool wide, Draft &d) {
  bool isWide;
  uint32_t ref = anySource(o, wide, d, isWide);
  if (isWide != wide)
    fail(o.at, quote(o.name) + " has " + (isWide ? "64" : "at most 32") +
                   " bits; '" + d.info.opcode + "' needs " +
                   (wide ? "64" : "at most 32"));
  return ref;
}

uint32_t FunctionDecoder::anyDestination(const Operand &o, Draft &d,
                                         bool &isWide) {
  if (o.kind == Operand::Sink) {
    return kNone;
  }
  uint32_t r = findRegister(o);
  if (r == kNoRegister)
    fail(o.at, "unknown register " + quote(o.name));
  if (draft.registers[r].isPredicate)
    fail(o.at, quote(o.name) + " is a predicate; expected a data register");
  if (draft.registers[r].type == "b128")
    fail(o.at, quote(o.name) + " has 128 bits");
  checkType(o, r, operandType, mayBeWider);
  isWide = draft.registers[r].isWide;
  d.info.writes.push_back(r);
  return r;
}

uint32_t FunctionDecoder::destination(const Operand &o, bool wide, Draft &d) {
  bool isWide = wide;
  uint32_t ref = anyDestination(o, d, isWide);
  if (isWide != wide)
    fail(o.at, quote(o.name) + " has " + (isWide ? "64" : "at most 32") +
                   " bits; '" + d.info.opcode + "' writes " +
                   (wide ? "64" : "at most 32"));
  return ref;
}

uint32_t FunctionDecoder::wholeRegister(const Operand &o) {
  uint32_t r = findRegister(o);
  if (r == kNoRegister || draft.registers[r].type != "b128")
    fail(o.at, quote(o.name) + " is no register of 128 bits");
  return r;
}

uint32_t FunctionDecoder::predicateSource(const Operand &o, Draft &d,
                                          bool *negated) {
  if (negated)
    *negated = o.negated;
  else if (o.negated)
    fail(o.at, "'!' is not allowed here");
  if (o.kind == Operand::Integer)
    return o.value ? 1 : 0;
  // The one special register that is a predicate.
  if (o.name == "%is_explicit_cluster") {
    if (auto problem = checkSpecial(target, o.name))
      fail(o.at, *problem);
    if (!kernel.explicitClusterPredicate)
      kernel.explicitClusterPredicate = kernel.predicates++;
    return kernel.explicitClusterPredicate;
  }
  uint32_t r = findRegister(o);
  if (r == kNoRegister)
    fail(o.at, "unknown predicate " + quote(o.name));
  if (!draft.registers[r].isPredicate)
    fail(o.at, quote(o.name) + " is not a predicate");
  d.info.reads.push_back(r);
  return draft.registers[r].predicate;
}

uint32_t FunctionDecoder::predicateDestination(const Operand &o, Draft &d) {
  if (o.kind == Operand::Sink)
    return 2;
  uint32_t r = findRegister(o);
  if (r == kNoRegister)
    fail(o.at, "unknown predicate " + quote(o.name));
  if (!draft.registers[r].isPredicate)
    fail(o.at, quote(o.name) + " is not a predicate");
  d.info.writes.push_back(r);
  return draft.registers[r].predicate;
}

int64_t FunctionDecoder::immediate(const Operand &o) {
  if (o.kind != Operand::Integer)
    fail(o.at, "expected an integer constant");
  return o.value;
}

void FunctionDecoder::address(const Operand &o, Draft &d, MemoryAux &aux,
                              uint32_t Instruction::*base) {
  if (o.kind != Operand::Address)
    fail(o.at, "expected an address in brackets");
  if (o.elements.size() != 1)
    fail(o.at, "this address takes no coordinates");
  const Operand &at = o.elements[0];
  int64_t offset = o.value;
  bool isWide = true;
  uint32_t ref;
  const Place *place = nullptr;
  if (at.kind == Operand::Name && !isRegister(at))
    place = findPlace(at.name);
  if (place) {
    // A symbol names its own space; a parameter of a called function is memory
    // of the thread.
    static constexpr Space kSpaces[] = {Space::Param,  Space::Local,
                                        Space::Shared, Space::Shared,
                                        Space::Global, Space::Local};
    aux.space = uint8_t(kSpaces[place->kind]);
    if (place->kind == Place::Frame) {
      ref = frameBase();
      d.hiddenReads.push_back(ref);
      offset += int64_t(place->offset);
    } else {
      ref = addressOf(*place, uint64_t(offset), true);
      offset = 0;
    }
  } else {
    ref = anySource(at, true, d, isWide);
  }
  if (offset != int32_t(offset))
    fail(o.at, "address offset " + std::to_string(offset) + " is too large");
  if (isWide)
    aux.flags |= MemoryAux::kWideAddress;
  d.inst.*base = ref;
  d.fields |= base == &Instruction::a ? kFieldA : kFieldB;
  d.inst.imm = int32_t(offset);
}

void FunctionDecoder::needOperands(const Statement &s, size_t least,
                                   size_t most) {
  if (s.operands.size() >= least && s.operands.size() <= most)
    return;
  std::string want = std::to_string(least);
  if (most != least)
    want += " to " + std::to_string(most);
  fail(s.at, quote(s.opcode) + " takes " + want + " operands, found " +
                 std::to_string(s.operands.size()));
}

/// u, s and b of one width are the same to an integer instruction; a float
/// register is a float, a bit register may hold anything of its width.
static bool sameClass(std::string_view reg, std::string_view type) {
  char a = reg[0], b = type[0];
  // bf16 and f16x2 live in registers of bits; "b" of both is not their class.
  bool isBits = a == 'b' && (reg[1] >= '0' && reg[1] <= '9');
  bool wantsBits = b == 'b' && (type[1] >= '0' && type[1] <= '9');
  if (isBits || wantsBits || reg == type)
    return true;
  bool isInteger = a == 'u' || a == 's', wantsInteger = b == 'u' || b == 's';
  return isInteger && wantsInteger;
}

void FunctionDecoder::checkType(const Operand &o, uint32_t reg,
                                std::string_view type, bool wider) {
  std::string_view declared = draft.registers[reg].type;
  uint32_t want = typeBytes(type), have = typeBytes(declared);
  if (!want || !have || o.kind != Operand::Name)
    return;
  bool fits = have == want || (wider && have > want);
  if (fits && sameClass(declared, type))
    return;
  fail(o.at, quote(o.name) + " is a register of ." + std::string(declared) +
                 "; this operand is ." + std::string(type));
}

/// The type of operand `i` of a plain row, empty when the row's own width says
/// enough. PTX ISA 9.1, the syntax of each instruction.
static std::string_view plainType(const OpcodeMatch &m, size_t i) {
  if (m.types.empty())
    return {};
  std::string_view name = m.row->mnemonic, type = m.types[0];
  static constexpr std::string_view kSame[] = {
      "add",      "sub",  "mul",   "mad",   "div",   "rem",  "abs",   "neg",
      "min",      "max",  "and",   "or",    "xor",   "not",  "cnot",  "fma",
      "sqrt",     "rcp",  "rsqrt", "ex2",   "lg2",   "sin",  "cos",   "tanh",
      "copysign", "selp", "shl",   "shr",   "popc",  "clz",  "bfind", "brev",
      "bfe",      "bfi",  "slct",  "mul24", "mad24", "addc", "subc",  "madc"};
  bool isKnown = false;
  for (std::string_view same : kSame)
    isKnown |= name == same;
  if (!isKnown || type == "pred")
    return {};
  if (m.has("wide") && (i == 0 || i == 3))
    return typeBytes(type) == 2 ? "b32" : "b64";
  bool isCount = (name == "popc" || name == "clz" || name == "bfind") && i == 0;
  bool isAmount = (name == "shl" || name == "shr") && i == 2;
  bool isField = (name == "bfe" && i >= 2) || (name == "bfi" && i >= 3);
  if (isCount || isAmount || isField)
    return "u32";
  if (name == "slct")
    return i == 3 ? m.types[1] : type;
  // Mixed precision: the factors, and the first summand, are the narrow ones.
  bool isNarrow = i == 1 || (i == 2 && name == "fma");
  return m.types.size() == 2 && isNarrow ? m.types[1] : type;
}

void FunctionDecoder::plainOperands(const Statement &s, const OpcodeMatch &m,
                                    Draft &d) {
  std::string_view pattern = m.row->operands;
  needOperands(s, pattern.size(), pattern.size());
  uint32_t Instruction::*const kSources[] = {&Instruction::a, &Instruction::b,
                                             &Instruction::c, &Instruction::d};
  unsigned sources = 0;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const Operand &o = s.operands[i];
    char p = pattern[i];
    operandType = plainType(m, i);
    if (p == 'W' || p == 'L') {
      d.inst.dst = destination(o, p == 'L', d);
      d.fields |= kFieldDst;
    } else if (p == 'P') {
      d.inst.dst = predicateDestination(o, d);
    } else if (p == 'w' || p == 'l') {
      d.inst.*kSources[sources] = source(o, p == 'l', d);
      d.fields |= uint8_t(kFieldA << sources++);
    } else if (p == 'p') {
      bool negated = false;
      d.inst.*kSources[sources++] = predicateSource(o, d, &negated);
      d.inst.aux |= negated;
    } else if (p == 'i') {
      d.inst.imm = int32_t(immediate(o));
    }
  }
  operandType = {};
}

void FunctionDecoder::instruction(const Statement &s) {
  const OpcodeMatch *m = opcodes.find(s.opcode, s.operands.size());
  if (!m)
    fail(s.at, "unsupported instruction " + quote(s.opcode));
  // The same opcode comes again and again.
  if (fitting.insert(m).second)
    if (auto problem = checkTarget(target, s.opcode, *m))
      fail(s.at, *problem);
  Draft d;
  d.inst.row = m->index;
  d.inst.mods = m->mods;
  d.info.opcode = s.opcode;
  d.info.mnemonic = m->row->mnemonic;
  d.info.category = m->row->category;
  d.info.line = s.at.line;
  d.info.column = s.at.column;
  d.info.sourceFile = locFile;
  d.info.sourceLine = locLine;
  d.info.inlinedFile = inlinedFile;
  d.info.inlinedLine = inlinedLine;
  d.info.isAligned =
      m->has("aligned") || (d.info.mnemonic == "bar" && !m->has("warp"));
  if (!s.guard.empty()) {
    Operand guard;
    guard.at = s.at;
    guard.name = s.guard;
    d.inst.guard = predicateSource(guard, d);
    d.inst.guardXor = s.guardNegated ? ~0u : 0;
    if (!d.info.reads.empty())
      d.info.guard = int32_t(d.info.reads.back());
    d.isGuarded = true;
  }
  std::string_view pattern = m->row->operands;
  if (pattern == "@call")
    return call(s, std::move(d));
  if (pattern.starts_with("@")) {
    if (!decodeFamily(std::string(pattern.substr(1)), *this, s, *m, d))
      fail(s.at, "unsupported instruction " + quote(s.opcode));
  } else {
    plainOperands(s, *m, d);
  }
  // Directed rounding has handlers of its own: they set the host's mode.
  bool isArithmetic = m->row->category == Category::Float ||
                      m->row->category == Category::SpecialFunction;
  if (isArithmetic && (d.inst.mods & (mod::rz_ | mod::rm_ | mod::rp_))) {
    std::string slow = std::string(m->row->handler) + "_slow";
    uint16_t row = rowOfHandler(slow);
    if (!row)
      fail(s.at, "unsupported instruction " + quote(s.opcode));
    d.inst.row = row;
  }
  emit(std::move(d));
}

/// Each takes half a kilobyte until the kernel is decoded.
static constexpr size_t kMaxInstructions = size_t(1) << 20;
static constexpr uint64_t kMaxListedTargets = uint64_t(1) << 24;

void FunctionDecoder::emit(Draft d) {
  if (draft.drafts.size() >= kMaxInstructions)
    fail({d.info.line, std::max(1u, d.info.column)},
         "the kernel has more than " + std::to_string(kMaxInstructions) +
             " instructions");
  draft.drafts.push_back(std::move(d));
}

void FunctionDecoder::countTargets(ast::Position at, size_t count) {
  listedTargets += count;
  if (listedTargets > kMaxListedTargets)
    fail(at, "the branches and calls of this kernel name more than " +
                 std::to_string(kMaxListedTargets) + " targets by lists");
}
