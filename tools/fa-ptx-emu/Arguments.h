//===- Arguments.h - what --arg says ----------------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernel arguments from the command line, and what happens to them after the
// run: outputs are written, expectations are compared.
//
//===----------------------------------------------------------------------===//
#ifndef FA_TOOLS_FA_PTX_EMU_ARGUMENTS_H
#define FA_TOOLS_FA_PTX_EMU_ARGUMENTS_H

#include "fa/Emulator/Device.h"
#include "fa/Support/Npy.h"
#include "fa/Support/OutputFile.h"

#include <optional>

class Arguments {
public:
  /// `files` take the outputs.
  explicit Arguments(farun::OutputFiles &files) : files(files) {}

  /// Takes one --arg and makes its buffer; returns what is wrong with it.
  std::optional<std::string> add(const std::string &text,
                                 ptxvm::Device &device);
  const std::vector<ptxvm::Argument> &values() const { return arguments; }
  /// Compares, then adds the outputs to the files; returns the exit code.
  int finish(ptxvm::Device &device);

private:
  struct Buffer {
    uint64_t address = 0;
    farun::Array array;
    std::string output;   ///< file to write, or empty
    std::string expected; ///< file to compare with, or empty
    double tolerance = 0;
  };
  std::optional<std::string> addInput(const std::string &path, bool isReadOnly,
                                      const std::string &output,
                                      ptxvm::Device &device);
  std::optional<std::string> addOutput(const std::string &rest,
                                       ptxvm::Device &device);
  std::optional<std::string> addExpectation(const std::string &rest);
  std::optional<std::string> addScalar(const std::string &type,
                                       const std::string &value);
  bool compare(const Buffer &b, int &code);

  farun::OutputFiles &files;
  std::vector<ptxvm::Argument> arguments;
  std::vector<Buffer> buffers;
  bool lastIsOutput = false;
};

#endif // FA_TOOLS_FA_PTX_EMU_ARGUMENTS_H
