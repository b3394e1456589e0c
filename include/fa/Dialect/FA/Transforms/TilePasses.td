//===- TilePasses.td - the passes of the tile stage -------*- tablegen -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In the order of the stage.
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_FA_TRANSFORMS_TILEPASSES_TD
#define FA_DIALECT_FA_TRANSFORMS_TILEPASSES_TD

include "mlir/Pass/PassBase.td"

def FABufferizeAttention
    : Pass<"fa-bufferize-attention", "ModuleOp"> {
  let summary = "tensors become memrefs, results become arguments";
  let description = [{
    For each function that holds `fa.attention` on tensors: arguments become
    memrefs of any strides and offset, each result becomes a trailing argument
    that is written in place, in the order of the results. Views between the
    arguments and the op stay views.

    ```mlir
    func.func @f(%q: tensor<1x8x?x64xf16>, %k: ..., %v: ...) -> tensor<1x8x?x64xf16> {
      %o = fa.attention %q, %k, %v : ... -> tensor<1x8x?x64xf16>
      return %o : tensor<1x8x?x64xf16>
    }
    // becomes
    func.func @f(%q: memref<1x8x?x64xf16, strided<[?, ?, ?, ?], offset: ?>>, %k: ..., %v: ...,
                 %o: memref<1x8x?x64xf16, strided<[?, ?, ?, ?], offset: ?>>) {
      fa.attention %q, %k, %v outs(%o : ...) : ...
      return
    }
    ```

    Why not leave it to one-shot-bufferize alone? It keeps results as results,
    so that a kernel's output would be allocated and copied. A compiler that has
    bufferized by other means does not need this pass: functions without
    tensors keep their form; only strides that the type of an argument fixes
    become open ones, which a launch is told. Refused: a function that is called in the
    module (its signature changes), and a returned value that is not made in the
    function, which would need a copy.

    An extent that a type says is 0 becomes an open one, since a kernel that
    serves any extent serves none too; `fa.shape` on the argument keeps what the
    type said, for the manifest.

    Before that, a scale operand that is a constant becomes the attribute, and a
    log-sum-exp that nobody reads goes, as by `--canonicalize`. So does what a
    region computes in vain; `fa.read_in_vain` marks an argument that nothing
    reads without that, which its caller passes as before.

    Each function notes the text of its op in `fa.source`.
  }];
  let dependentDialects = ["memref::MemRefDialect",
                           "bufferization::BufferizationDialect"];
}

def FASelectSchedule : Pass<"fa-select-schedule", "ModuleOp"> {
  let summary = "completes the schedule of each attention for a target";
  let description = [{
    Writes a complete `#fa.schedule` on each `fa.attention` and the target on
    the module (`fa.target`), where later stages find it. Keys that the op
    already has are kept.

    ```mlir
    fa.attention %q, %k, %v outs(...) {schedule = #fa.schedule<tile_kv = 32>} : ...
    // becomes, for sm_80 and D = 64
    fa.attention %q, %k, %v outs(...) {schedule = #fa.schedule<tile_q = 128, tile_kv = 32, warps = 4, stages = 2, state = registers, splits = 1, query = shared>} : ...
    ```

    Where a target has products of warpgroups, operands of 16 bits get a
    warpgroup of producers beside those of `warps` (`producers = 4`), and
    `pingpong` where two or three of them do a softmax about as long as the
    products beside it. `persistent` and `cluster` stay as given; `polynomial`
    is chosen where a count of what the loop takes shows a gain.

    A schedule must fit: tiles are whole tensor-core products for each warp, the
    tiles of Q, K and V (and with `state = shared` m, l and u) fit the shared
    memory of a block, and accumulators and scores fit the registers of a
    thread. Where `state` is not given and no choice keeps m, l and u in
    registers, they stay in shared memory. What does not fit is an error that
    says what it needs, what there is, and a schedule that would fit. An operand
    outside of global memory, a result in the memory of an operand, and what the
    compiler or the chip cannot do yet are refused here too.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"\"",
           "Chip to compile for; by default the module's fa.target, else sm_80">
  ];
}

def FATileAttention : Pass<"fa-tile-attention", "func::FuncOp"> {
  let summary = "attention becomes a loop over blocks of keys";
  let description = [{
    Replaces each `fa.attention` on memrefs with a complete schedule by its tile
    program: one iteration of `scf.forall` for each block of query rows (by one
    number, longest first, where later rows see more keys), in it loops over the
    blocks of keys that some row sees. They carry m, l and u in workgroup memory.
    Blocks that every row sees are in a loop without mask code
    (`fa.blocks = "full"`). Rows whose u comes out NaN or infinite are computed
    again behind them, key by key.

    ```mlir
    fa.attention %q, %k, %v masks [#fa.causal<top_left>] outs(%o : ...) {schedule = ...} : ...
    // becomes
    scf.forall (%b, %h, %ib) in (1, 8, %nq) {
      %hi = ...                                  // each row sees the keys below hi
      %Q = fa.load_tile %Qb[%i0, %c0] : ... -> vector<128x64xf16>
      %m = memref.alloc() : memref<128xf32, #gpu.address_space<workgroup>>   // and l, u
      scf.for %jb = %c0 to %fullEnd step %c1 { ... } {fa.blocks = "full"}
      scf.for %jb = %fullEnd to %end step %c1 {
        %K = fa.load_tile %Kb[%j0, %c0] : ... -> vector<64x64xf16>
        %s = vector.contract ... %Q, %K
        %x = arith.select %visible, %s, %ninf    // partial blocks only
        ...                                      // softcap, ALiBi, bias; one step
                                                 // of the softmax; l, u
      } {fa.blocks = "partial"}
      scf.for %j = %first to %last step %c1 { ... }   // no key, but for such rows
      fa.store_tile ...                          // u / l, and LSE
    } {fa.schedule = ...}
    ```

    Softcap, ALiBi and bias change the scores behind the first product, the sink
    joins l at the end. The function keeps what the manifest needs: `fa.operands` (role, kind, type
    and dimensions of each argument), `fa.attention` (what the op meant) and
    `fa.source` (its text); one whose attention cannot be launched from outside
    notes why (`fa.no_entry`).
  }];
  let options = [
    Option<"trace", "trace", "bool", /*default=*/"false",
           "Add a trace buffer and a row as trailing arguments, and store m, l "
           "and u of that row after each block of keys">
  ];
  let statistics = [
    Statistic<"numTiled", "num-tiled", "Number of attention ops tiled">
  ];
  let dependentDialects = ["arith::ArithDialect", "gpu::GPUDialect",
                           "math::MathDialect", "memref::MemRefDialect",
                           "scf::SCFDialect", "vector::VectorDialect"];
}

#endif // FA_DIALECT_FA_TRANSFORMS_TILEPASSES_TD
