// RUN: fa-opt %s --fa-stage-tile | FileCheck %s --check-prefix=SM90
// RUN: fa-opt %s --fa-pipeline | FileCheck %s --check-prefix=SM90
// RUN: fa-opt %s --fa-pipeline=target=sm_86 | FileCheck %s --check-prefix=SM86
// RUN: sed 's/attributes {fa.target = "sm_90"}//' %s | fa-opt --fa-pipeline | FileCheck %s --check-prefix=SM80

// The option, else what the module says, else sm_80.
// SM90: module attributes {{{.*}}fa.target = "sm_90"
// SM86: module attributes {{{.*}}fa.target = "sm_86"
// SM80: module attributes {{{.*}}fa.target = "sm_80"
module attributes {fa.target = "sm_90"} {
  func.func @attention(%q: tensor<1x1x?x64xf16>) -> tensor<1x1x?x64xf16> {
    %o = fa.attention %q, %q, %q : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16> -> tensor<1x1x?x64xf16>
    return %o : tensor<1x1x?x64xf16>
  }
}
