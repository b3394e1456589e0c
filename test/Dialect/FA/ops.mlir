// REQUIRES: fa-opt
// RUN: fa-opt %s --verify-roundtrip | FileCheck %s

// Every form of the attention op, as text, generic text and bytecode.

// CHECK-LABEL: @attention_dense
func.func @attention_dense(%q: tensor<1x8x1024x64xf16>, %k: tensor<1x2x1024x64xf16>, %v: tensor<1x2x1024x64xf16>) -> tensor<1x8x1024x64xf16> {
  // CHECK: fa.attention %{{.*}}, %{{.*}}, %{{.*}} : tensor<1x8x1024x64xf16>, tensor<1x2x1024x64xf16>, tensor<1x2x1024x64xf16> -> tensor<1x8x1024x64xf16>
  %o = fa.attention %q, %k, %v : tensor<1x8x1024x64xf16>, tensor<1x2x1024x64xf16>, tensor<1x2x1024x64xf16> -> tensor<1x8x1024x64xf16>
  return %o : tensor<1x8x1024x64xf16>
}
