//===- BodyParser.cpp - statements of a function --------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions, labels, scopes and the directives inside a body (PTX ISA 9.1
// section 4.3). Modifiers stay one word: the decoder takes them apart.
//
//===----------------------------------------------------------------------===//
#include "ParserImpl.h"

using namespace ptxvm;
using namespace ptxvm::ast;

std::vector<Statement> BodyParser::run() {
  while (!lexer.atEnd())
    statement();
  return std::move(result);
}

/// A name is looked up through the scopes around it, and the decoder recurses.
static constexpr unsigned kMaxScopes = 200;
/// Each has tables of its own.
static constexpr unsigned kMaxScopeCount = 1 << 20;

void BodyParser::statement() {
  Position at = lexer.position();
  char c = lexer.peek();
  if (c == ';') {
    lexer.take(';');
    return;
  }
  Statement s;
  s.at = at;
  if (c == '{' || c == '}') {
    // The body was cut where its braces balance: each has its partner here.
    lexer.take(c);
    if (c == '{' && depth == kMaxScopes)
      Lexer::fail(at, "scopes are nested more than " +
                          std::to_string(kMaxScopes) + " deep");
    if (c == '{' && ++scopeCount > kMaxScopeCount)
      Lexer::fail(at, "this function has more than " +
                          std::to_string(kMaxScopeCount) + " scopes");
    depth += c == '{' ? 1 : -1;
    s.kind = c == '{' ? Statement::ScopeBegin : Statement::ScopeEnd;
    result.push_back(std::move(s));
    return;
  }
  if (c == '.')
    return directive(at);
  if (c == '@') {
    lexer.take('@');
    s.guardNegated = lexer.take('!');
    s.guard = lexer.identifier();
    if (s.guard.empty())
      lexer.fail("expected a predicate after '@'");
    s.at = lexer.position();
    s.opcode = lexer.dotted();
    return instruction(s);
  }
  s.opcode = lexer.dotted();
  if (s.opcode.empty())
    Lexer::fail(at, std::string("unexpected character '") + c + "'");
  if (lexer.peek() == ':') {
    lexer.take(':');
    s.kind = Statement::Label;
    s.label = s.opcode;
    result.push_back(std::move(s));
    return;
  }
  instruction(s);
}

void BodyParser::directive(Position at) {
  std::string_view word = lexer.directive();
  Statement s;
  s.at = at;
  if (word == ".reg") {
    s.kind = Statement::Registers;
    registers(s);
  } else if (word == ".loc") {
    location(s);
  } else if (word == ".branchtargets" || word == ".calltargets" ||
             word == ".callprototype") {
    labelled(word, s);
  } else if (word == ".pragma") {
    lexer.skipStatement();
    return;
  } else if (word == ".shared" || word == ".local" || word == ".param" ||
             word == ".global" || word == ".const") {
    s.kind = Statement::Variables;
    Variable::Space space = word == ".shared"   ? Variable::Shared
                            : word == ".local"  ? Variable::Local
                            : word == ".param"  ? Variable::Param
                            : word == ".global" ? Variable::Global
                                                : Variable::Const;
    variables(space, false, s.variables);
  } else {
    Lexer::fail(at, "unsupported directive '" + std::string(word) + "'");
  }
  result.push_back(std::move(s));
}

// .loc file line column{, function_name label{+n}{, inlined_at file line
// column}}. PTX ISA 9.1 section 11.5.4.
void BodyParser::location(Statement &s) {
  s.kind = Statement::Location;
  s.file = uint32_t(integer("a file number", ~0u));
  s.line = uint32_t(integer("a line", ~0u));
  integer("a column", ~0u);
  while (lexer.take(',')) {
    Position at = lexer.position();
    std::string_view word = lexer.identifier();
    if (word == "function_name") {
      lexer.identifier();
      lexer.offsets();
    } else if (word == "inlined_at") {
      s.inlinedFile = uint32_t(integer("a file number", ~0u));
      s.inlinedLine = uint32_t(integer("a line", ~0u));
      integer("a column", ~0u);
    } else {
      Lexer::fail(at, "expected function_name or inlined_at");
    }
  }
}

/// Lists and prototypes, which take the label before them as their name.
void BodyParser::labelled(std::string_view word, Statement &s) {
  if (result.empty() || result.back().kind != Statement::Label)
    Lexer::fail(s.at, "expected a label before " + std::string(word));
  s.label = result.back().label;
  result.pop_back();
  if (word == ".callprototype") {
    // .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _);
    s.kind = Statement::CallPrototype;
    s.results = parameters();
    lexer.identifier();
    s.variables = parameters();
    while (lexer.peek() == '.')
      if (std::string_view more = lexer.directive();
          more == ".abi_preserve" || more == ".abi_preserve_control")
        lexer.number();
  } else {
    s.kind = word == ".branchtargets" ? Statement::BranchTargets
                                      : Statement::CallTargets;
    do {
      s.targets.push_back(lexer.identifier());
      if (s.targets.back().empty())
        lexer.fail("expected a name in this list");
    } while (lexer.take(','));
  }
  lexer.expect(';', ("after " + std::string(word)).c_str());
}

void BodyParser::registers(Statement &s) {
  std::string_view type;
  while (lexer.peek() == '.') {
    Position at = lexer.position();
    std::string_view word = lexer.directive();
    if (word == ".v2" || word == ".v4")
      Lexer::fail(at, "unsupported: a vector register");
    type = word.substr(1);
  }
  do {
    RegisterDeclaration d;
    d.type = type;
    d.name = lexer.identifier();
    if (d.name.empty())
      lexer.fail("expected the name of a register");
    if (lexer.take('<')) {
      Operand n = lexer.number(); // '>' would go on as an expression
      if (n.kind != Operand::Integer || n.value < 0 || n.value > (1 << 24))
        Lexer::fail(n.at, "register count is out of range");
      d.count = n.value;
      lexer.expect('>', "after a register count");
    }
    s.registers.push_back(d);
  } while (lexer.take(','));
  lexer.expect(';', "after a register declaration");
}

void BodyParser::instruction(Statement &s) {
  if (s.opcode.empty())
    lexer.fail("expected an instruction");
  s.kind = Statement::Instruction;
  isCall = s.opcode.starts_with("call");
  if (lexer.peek() != ';') {
    do
      s.operands.push_back(operand());
    while (lexer.take(','));
  }
  lexer.expect(';', "after an instruction");
  result.push_back(std::move(s));
}

Operand BodyParser::operand() {
  Operand first = primary();
  if (lexer.peek() != '|')
    return first;
  Operand pair;
  pair.kind = Operand::Pair;
  pair.at = first.at;
  pair.elements.push_back(std::move(first));
  while (lexer.take('|'))
    pair.elements.push_back(primary());
  return pair;
}

/// Braces in a call's list are the deepest that PTX has; the parser recurses.
static constexpr int kMaxOperandDepth = 16;

Operand BodyParser::primary() {
  Operand o;
  o.at = lexer.position();
  struct Nesting {
    int &depth;
    explicit Nesting(int &depth) : depth(++depth) {}
    ~Nesting() { --depth; }
  } nesting(operandDepth);
  if (operandDepth > kMaxOperandDepth)
    Lexer::fail(o.at, "operands are nested more than " +
                          std::to_string(kMaxOperandDepth) + " deep");
  auto list = [&](Operand::Kind kind, char close) {
    o.kind = kind;
    if (lexer.peek() != close) {
      do
        o.elements.push_back(operand());
      while (lexer.take(','));
    }
    lexer.expect(close, "after a list of operands");
  };
  if (lexer.take('{')) {
    list(Operand::Vector, '}');
  } else if (isCall && lexer.take('(')) {
    list(Operand::List, ')');
  } else if (lexer.take('[')) {
    o.kind = Operand::Address;
    o.elements.push_back(primary());
    o.value = lexer.offsets();
    // A tensor's coordinates follow in braces.
    while (lexer.take(','))
      o.elements.push_back(primary());
    lexer.expect(']', "after an address");
  } else if (lexer.take('!')) {
    o = primary();
    if (o.kind == Operand::Integer)
      o.value = !o.value;
    else
      o.negated = !o.negated;
  } else if (lexer.startsNumber() || lexer.peek() == '(' ||
             lexer.peek() == '~') {
    o = lexer.constant();
  } else {
    o.name = lexer.identifier();
    if (o.name.empty())
      lexer.fail(std::string("expected an operand, found '") + lexer.peek() +
                 "'");
    if (o.name == "_")
      o.kind = Operand::Sink;
    // symbol+offset as a plain operand: mov.u64 %rd1, table+8.
    if (o.name[0] != '%' && operandDepth == 1)
      o.value = lexer.offsets();
  }
  return o;
}
