// RUN: fa-opt %s --fa-attach-loop-annotations | FileCheck %s

#unroll = #llvm.loop_unroll<disable = true>
#annotation = #llvm.loop_annotation<unroll = #unroll>

gpu.module @m {
  // CHECK-LABEL: llvm.func @loop
  llvm.func @loop(%n: i64) {
    %c0 = llvm.mlir.constant(0 : i64) : i64
    llvm.br ^header(%c0 : i64)
  ^header(%i: i64):
    %more = llvm.icmp "slt" %i, %n : i64
    llvm.cond_br %more, ^body, ^exit
  ^body:
    %next = llvm.add %i, %n : i64
    // CHECK: llvm.br ^bb1(%{{.*}} : i64) {loop_annotation = #loop_annotation}
    llvm.br ^header(%next : i64) {llvm.loop_annotation = #annotation}
  ^exit:
    llvm.return
  }
}
