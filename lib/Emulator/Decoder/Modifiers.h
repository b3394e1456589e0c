//===- Modifiers.h - modifier words as bits ---------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The words between the dots of an opcode that change what a handler does. Each
// has a bit in Instruction::mods; words that only hint at caches are accepted
// and have none.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_DECODER_MODIFIERS_H
#define FA_LIB_EMULATOR_DECODER_MODIFIERS_H

#include <cstdint>
#include <string_view>

namespace ptxvm {

// Left alone by clang-format, which finds another form each time.
// clang-format off
#define FA_PTX_MODIFIERS(X)                                                    \
  X(rn) X(rz) X(rm) X(rp) X(rna) X(rni) X(rzi) X(rmi) X(rpi) X(ftz) X(sat)     \
  X(NaN) X(approx) X(full) X(relu) X(satfinite) X(clamp) X(wrap) X(shiftamt)   \
  X(trans) X(volatile) X(relaxed) X(acquire) X(release) X(acq_rel) X(sc)       \
  X(nc) X(mmio) X(cta) X(cluster) X(gl) X(gpu) X(sys) X(xorsign)
// clang-format on

enum class ModBit : uint8_t {
#define X(name) name##_,
  FA_PTX_MODIFIERS(X)
#undef X
      Count
};
static_assert(unsigned(ModBit::Count) <= 64);

namespace mod {
#define X(name)                                                                \
  inline constexpr uint64_t name##_ = 1ull << unsigned(ModBit::name##_);
FA_PTX_MODIFIERS(X)
#undef X
} // namespace mod

/// The bit of a word, or 0.
inline uint64_t modifierBit(std::string_view word) {
#define X(name)                                                                \
  if (word == #name)                                                           \
    return mod::name##_;
  FA_PTX_MODIFIERS(X)
#undef X
  return 0;
}

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_DECODER_MODIFIERS_H
