//===- Families.h - operands of one family each -----------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The decoder functions of Instructions.def ("@name"). Each takes one statement
// and fills in a Draft; they say no by a SyntaxError.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_DECODER_FAMILIES_H
#define FA_LIB_EMULATOR_DECODER_FAMILIES_H

#include "FunctionDecoder.h"

namespace ptxvm {

struct FamilyDecoders {
  FunctionDecoder &f;
  const ast::Statement &s;
  const OpcodeMatch &m;
  Draft &d;

  // Families.cpp
  void movpred();
  void mov();
  void movWhole();
  void cvta();
  void isspacep();
  void bra();
  void brx();
  void exit();
  void ret();
  // ScalarFamilies.cpp
  void setp();
  void set();
  void testp();
  void prmt();
  void carry();
  void dp2a();
  void vabsdiff();
  void lop3();
  void cvt();
  void cvtpack();
  // MmaFamilies.cpp
  void mma();
  // WmmaFamilies.cpp
  void wmmamove();
  void wmma();
  void wmmaRegisters(const ast::Operand &o, size_t want, bool wide,
                     bool isDestination, const char *name);
  // AccessWords.cpp
  /// Says no where words of an access do not go together.
  void accessWords(bool isAtomic);
  /// Says no to other numbers of operands. With a cache hint there is a policy
  /// behind them, of 64 bits, which is read and has no effect.
  void accessOperands(size_t least, size_t most);
  void createpolicy();
  // MemoryFamilies.cpp
  void ld();
  void st();
  void atom();
  void cpasync();
  void ldmatrix();
  void shfl();
  void vote();
  void match();
  void redux();
  void elect();
  void bar();
  void barwarp();
  void barred();
  // AsyncFamilies.cpp
  void mapa();
  void getctarank();
  void mbarrier();
  void mbarrierpending();
  void fence();
  void setmaxnreg();
  // BulkFamilies.cpp
  void bulk();
  void tensormap();
  void tensormapcopy();
  void storeasync();
  void mbarrierAddress(const ast::Operand &o);

  // WgmmaFamilies.cpp
  void wgmma();
  void wgmmawait();
  void wgmmaForm(struct WgmmaForm &form);
  std::vector<ast::Operand> wgmmaRegisters(size_t at, size_t want,
                                           const char *name);
  int64_t wgmmaImmediate(size_t at, const char *name, int64_t first,
                         int64_t second);

  // Helpers of the functions above.
  void data(uint32_t Instruction::*field, uint8_t bit, const ast::Operand &o,
            bool wide);
  void destination(const ast::Operand &o, bool wide);
  /// d|p: the second is a predicate and goes to Instruction::d.
  void pair(const ast::Operand &o, bool isPredicateFirst);
  /// The elements of {..}, or the operand itself.
  std::vector<ast::Operand> elements(const ast::Operand &o);
  void access(const ast::Operand &address, const ast::Operand &data,
              bool isLoad);
  uint8_t spaceWord();
  void comparison();
  void atomVectors(size_t count, bool isRed);
  void atomWhole(bool isCas);
  bool convertPair();
  void bulkAddress(const ast::Operand &o, uint32_t Instruction::*base,
                   uint8_t bit, bool isShared, bool &wide);
  void bulkTensor(const ast::Operand &o, unsigned rank, bool isGather,
                  bool &wide);
  void bulkOperands(struct BulkAux &aux, bool isTensor);
  void barrierOperands(size_t first, size_t last);
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_DECODER_FAMILIES_H
