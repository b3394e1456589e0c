//===- RegionWriter.cpp - random regions of integers ----------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RegionWriter.h"

using namespace farun::test;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::string RegionWriter::add(const std::string &op) {
  std::string name = "%v" + std::to_string(numValues++);
  lines += "  " + name + " = " + op + "\n";
  return name;
}

std::string RegionWriter::constant(int64_t least, int64_t most) {
  return add("arith.constant " +
             std::to_string(least + random.integer(most - least)) + " : index");
}

std::string RegionWriter::binary(const char *op, const std::string &a,
                                 const std::string &c) {
  return add(std::string("arith.") + op + " " + a + ", " + c + " : index");
}

std::string RegionWriter::integer(int depth) {
  const char *leaves[] = {"%i", "%j", "%i", "%j", "%h", "%b"};
  if (depth == 0)
    return leaves[random.integer(5)];
  std::string a = integer(depth - 1);
  switch (random.integer(7)) {
  case 0:
    return binary("addi", a, integer(depth - 1));
  case 1:
  case 2:
    return binary("subi", a, integer(depth - 1));
  case 3:
    return binary("muli", a, constant(-3, 5));
  case 4:
    return binary("floordivsi", a, constant(1, 20));
  case 5:
    return binary("remsi", a, constant(1, 9));
  case 6:
    return binary(random.integer(1) ? "minsi" : "maxsi", a, integer(depth - 1));
  default:
    return a;
  }
}

/// An integer as an f32 times `unit`.
std::string RegionWriter::multiple(const std::string &number,
                                   const char *unit) {
  std::string wide = add("arith.index_cast " + number + " : index to i64");
  std::string real = add("arith.sitofp " + wide + " : i64 to f32");
  std::string factor = add("arith.constant " + std::string(unit) + " : f32");
  return add("arith.mulf " + real + ", " + factor + " : f32");
}

std::string RegionWriter::truth(int depth) {
  if (depth == 0 || random.integer(3) == 0) {
    const char *order[] = {"sge", "sle", "slt", "ne",  "sgt",
                           "ult", "ule", "ugt", "uge", "eq"};
    std::string a = integer(2), c = constant(-20, 60);
    return add(std::string("arith.cmpi ") + order[random.integer(9)] + ", " +
               a + ", " + c + " : index");
  }
  std::string a = truth(depth - 1), c = truth(depth - 1);
  const char *join[] = {"andi", "ori", "xori"};
  return add(std::string("arith.") + join[random.integer(2)] + " " + a + ", " +
             c + " : i1");
}

/// 0 <= i - j < n, by two comparisons or by one.
std::string RegionWriter::window() {
  std::string distance = binary("subi", "%i", "%j");
  std::string length = constant(1, 40);
  if (random.integer(1))
    return add("arith.cmpi ult, " + distance + ", " + length + " : index");
  std::string isPast =
      add("arith.cmpi sge, " + distance + ", " + constant(0, 0) + " : index");
  std::string isNear =
      add("arith.cmpi slt, " + distance + ", " + length + " : index");
  return add("arith.andi " + isPast + ", " + isNear + " : i1");
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

std::string RegionWriter::shownWhere(const std::string &truth) const {
  return " visible { ^bb0(%b: index, %h: index, %i: index, %j: index):\n" +
         lines + "  fa.yield " + truth + " : i1 }";
}

std::string RegionWriter::withAdded(const std::string &number) {
  std::string sum = add("arith.addf %s, " + number + " : f32");
  return " score { ^bb0(%s: f32, %b: index, %h: index, %i: index, "
         "%j: index):\n" +
         lines + "  fa.yield " + sum + " : f32 }";
}

std::string RegionWriter::visible() {
  std::string result = truth(/*depth=*/2);
  return shownWhere(result);
}

std::string RegionWriter::sinksAndWindow() {
  std::string isFirst =
      add("arith.cmpi slt, %j, " + constant(1, 20) + " : index");
  std::string isNear = window();
  std::string result = add("arith.ori " + isFirst + ", " + isNear + " : i1");
  return shownWhere(result);
}

std::string RegionWriter::score() {
  std::string part = multiple(integer(/*depth=*/2), "0.03125");
  return withAdded(add("math.tanh " + part + " : f32"));
}

std::string RegionWriter::steps() {
  std::string number = integer(/*depth=*/2);
  std::string rest = binary("remsi", number, constant(4, 4));
  return withAdded(multiple(rest, kLn2));
}
