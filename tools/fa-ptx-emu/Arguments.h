//===- Arguments.h - what --arg says ----------------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernel arguments from the command line, each checked against the parameter
// that takes it, and what happens to them after the run: outputs are written,
// expectations are compared.
//
//===----------------------------------------------------------------------===//
#ifndef FA_TOOLS_FA_PTX_EMU_ARGUMENTS_H
#define FA_TOOLS_FA_PTX_EMU_ARGUMENTS_H

#include "fa/Emulator/Device.h"
#include "fa/Emulator/TensorMap.h"
#include "fa/Support/LaunchReport.h"
#include "fa/Support/Npy.h"
#include "fa/Support/OutputFile.h"

#include <optional>

class Arguments {
public:
  /// `files` take the outputs.
  Arguments(const ptxvm::KernelSignature &kernel, ptxvm::Device &device,
            farun::OutputFiles &files)
      : kernel(kernel), device(device), files(files) {}

  /// Takes one --arg and makes its buffer; returns what is wrong with it.
  std::optional<std::string> add(const std::string &text);
  /// After the last: makes the tensor maps, which may name later arguments.
  /// Returns the --arg and what is wrong with it.
  std::optional<std::string> finishMaps();
  const std::vector<ptxvm::Argument> &values() const { return arguments; }
  /// Compares, then adds the outputs to the files; returns the exit code.
  int finish();
  const std::vector<farun::ExpectationResult> &checks() const {
    return results;
  }

private:
  struct Buffer {
    size_t argument = 0; ///< its number
    uint64_t address = 0;
    farun::Array array;
    std::string output;   ///< file to write, or empty
    std::string expected; ///< file to compare with, or empty
    double tolerance = 0;
  };
  /// A tensor map that waits for the other arguments.
  struct Map {
    std::string text; ///< the whole --arg
    size_t argument = 0, of = 0;
    std::vector<uint32_t> box; ///< outermost first
    ptxvm::TensorSwizzle swizzle = ptxvm::TensorSwizzle::None;
  };
  std::optional<std::string> addInput(const std::string &path, bool isReadOnly,
                                      const std::string &output);
  std::optional<std::string> addOutput(const std::string &rest);
  std::optional<std::string> addBytes(const std::string &path);
  std::optional<std::string> addExpectation(const std::string &rest);
  std::optional<std::string> addScalar(const std::string &type,
                                       const std::string &value);
  std::optional<std::string> addMap(const std::string &text,
                                    const std::string &rest);
  std::optional<std::string> finishMap(const Map &map);
  /// Does the next parameter take `what`? It is neither float nor integer where
  /// bytes are all that is given.
  std::optional<std::string> checkParameter(const std::string &what,
                                            size_t bytes, bool isFloat,
                                            bool isInteger) const;
  std::optional<std::string> addBuffer(Buffer buffer);
  farun::ExpectationResult compare(const Buffer &b, int &code) const;

  const ptxvm::KernelSignature &kernel;
  ptxvm::Device &device;
  farun::OutputFiles &files;
  std::vector<ptxvm::Argument> arguments;
  std::vector<Buffer> buffers;
  std::vector<Map> maps;
  std::vector<farun::ExpectationResult> results;
  bool lastIsOutput = false;
};

#endif // FA_TOOLS_FA_PTX_EMU_ARGUMENTS_H
