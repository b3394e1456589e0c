// REQUIRES: plugin, fa-opt
// RUN: mlir-opt %s --load-dialect-plugin=%fa_build/lib/FAPlugin.so --load-pass-plugin=%fa_build/lib/FAPlugin.so 2>&1 \
// RUN:   | FileCheck %s --check-prefixes=CHECK,ONCE
// RUN: mlir-opt %s --load-dialect-plugin=%fa_build/lib/FAPlugin.so --load-dialect-plugin=%fa_build/lib/FAPlugin.so \
// RUN:   --load-pass-plugin=%fa_build/lib/FAPlugin.so --load-pass-plugin=%fa_build/lib/FAPlugin.so 2>&1 | FileCheck %s --check-prefixes=CHECK,TWICE
// RUN: fa-opt %s --load-dialect-plugin=%fa_build/lib/FAPlugin.so --load-pass-plugin=%fa_build/lib/FAPlugin.so 2>&1 \
// RUN:   | FileCheck %s --check-prefixes=CHECK,TWICE

// A tool that has the dialect already says so and goes on.

// ONCE-NOT: FAPlugin
// TWICE: FAPlugin: the dialect and ops of fa are already in this tool, and are not loaded again
// TWICE: FAPlugin: the passes of fa are already in this tool, and are not loaded again
// CHECK-LABEL: @attention
// CHECK: fa.attention
func.func @attention(%q: tensor<1x2x8x16xf16>) -> tensor<1x2x8x16xf16> {
  %o = fa.attention %q, %q, %q : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16> -> tensor<1x2x8x16xf16>
  return %o : tensor<1x2x8x16xf16>
}
