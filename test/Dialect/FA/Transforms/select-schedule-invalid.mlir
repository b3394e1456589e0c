// RUN: fa-opt %s --fa-select-schedule=target=sm_80 --split-input-file --verify-diagnostics

func.func @tile_q_not_rows_of_products(%q: tensor<1x8x?x64xf16>) -> tensor<1x8x?x64xf16> {
  // expected-error @+1 {{schedule key tile_q = 24 must be a multiple of 16 and at least 16}}
  %o = fa.attention %q, %q, %q {schedule = #fa.schedule<tile_q = 24>} : tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16> -> tensor<1x8x?x64xf16>
  return %o : tensor<1x8x?x64xf16>
}

// -----

func.func @tile_kv_not_products(%q: tensor<1x8x?x64xf16>) -> tensor<1x8x?x64xf16> {
  // expected-error @+1 {{schedule key tile_kv = 20 must be a multiple of 16 and at least 16}}
  %o = fa.attention %q, %q, %q {schedule = #fa.schedule<tile_kv = 20>} : tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16> -> tensor<1x8x?x64xf16>
  return %o : tensor<1x8x?x64xf16>
}

// -----

func.func @one_stage(%q: tensor<1x8x?x64xf16>) -> tensor<1x8x?x64xf16> {
  // expected-error @+1 {{schedule key stages = 1 must be at least 2}}
  %o = fa.attention %q, %q, %q {schedule = #fa.schedule<stages = 1>} : tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16> -> tensor<1x8x?x64xf16>
  return %o : tensor<1x8x?x64xf16>
}

// -----

func.func @too_many_warps(%q: tensor<1x8x?x64xf16>) -> tensor<1x8x?x64xf16> {
  // expected-error @+1 {{schedule key warps = 64 exceeds the 32 warps of a block on sm_80}}
  %o = fa.attention %q, %q, %q {schedule = #fa.schedule<warps = 64>} : tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16> -> tensor<1x8x?x64xf16>
  return %o : tensor<1x8x?x64xf16>
}

// -----

func.func @fewer_exponentials_of_a_row(%q: tensor<1x8x?x64xf16>) -> tensor<1x8x?x64xf16> {
  // expected-error @+1 {{schedule key polynomial = 25 exceeds the 24 exponentials that a lane has of a row of tile_kv = 96}}
  %o = fa.attention %q, %q, %q {schedule = #fa.schedule<polynomial = 25>} : tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16> -> tensor<1x8x?x64xf16>
  return %o : tensor<1x8x?x64xf16>
}

// -----

func.func @weights_of_f32(%q: tensor<1x8x?x64xf32>) -> tensor<1x8x?x64xf32> {
  // expected-error @+1 {{schedule key polynomial = 8 needs operands of 16 bits, found f32; polynomial = 0 is compiled}}
  %o = fa.attention %q, %q, %q {schedule = #fa.schedule<polynomial = 8>} : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32> -> tensor<1x8x?x64xf32>
  return %o : tensor<1x8x?x64xf32>
}

// -----

func.func @rows_for_each_warp(%q: tensor<1x8x?x64xf16>) -> tensor<1x8x?x64xf16> {
  // expected-error @+1 {{schedule key tile_q = 64 must be a multiple of 128, 16 rows for each of 8 warps}}
  %o = fa.attention %q, %q, %q {schedule = #fa.schedule<tile_q = 64, warps = 8>} : tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16> -> tensor<1x8x?x64xf16>
  return %o : tensor<1x8x?x64xf16>
}

// -----

func.func @shared_memory(%q: tensor<1x8x?x64xf16>) -> tensor<1x8x?x64xf16> {
  // expected-error @+1 {{schedule does not fit sm_80: tile_q = 128, tile_kv = 64, warps = 4, stages = 16, state = registers, query = shared at head dims 64 and 64 needs 278528 bytes of shared memory and 168 registers a thread, there are 166912 and 255; tile_q = 128, tile_kv = 96, warps = 4, stages = 2, state = registers, query = shared would fit}}
  %o = fa.attention %q, %q, %q {schedule = #fa.schedule<tile_q = 128, tile_kv = 64, stages = 16>} : tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16> -> tensor<1x8x?x64xf16>
  return %o : tensor<1x8x?x64xf16>
}

// -----

func.func @registers(%q: tensor<1x8x?x64xf16>) -> tensor<1x8x?x64xf16> {
  // expected-error @+1 {{schedule does not fit sm_80: tile_q = 128, tile_kv = 256, warps = 4, stages = 2, state = shared, query = shared at head dims 64 and 64 needs 182784 bytes of shared memory and 296 registers a thread, there are 166912 and 255; tile_q = 128, tile_kv = 96}}
  %o = fa.attention %q, %q, %q {schedule = #fa.schedule<tile_q = 128, tile_kv = 256, warps = 4>} : tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16> -> tensor<1x8x?x64xf16>
  return %o : tensor<1x8x?x64xf16>
}

// -----

// A clause that is not compiled is refused before anything is changed.
func.func @unsupported(%q: tensor<1x8x?x64xf16>) -> tensor<1x8x?x64xf16> {
  // expected-error @+1 {{'math.erf' op in the score region is not supported yet}}
  %o = fa.attention %q, %q, %q score { ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index): %e = math.erf %s : f32 fa.yield %e : f32 } : tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16> -> tensor<1x8x?x64xf16>
  return %o : tensor<1x8x?x64xf16>
}

// -----

// Of comparisons the predicate is named, and those that are compiled.
func.func @predicate(%q: tensor<1x8x?x64xf16>) -> tensor<1x8x?x64xf16> {
  // expected-error @+1 {{'arith.cmpf' op ult in the visible region is not supported yet; supported are oeq, olt, ole, ogt, oge, une}}
  %o = fa.attention %q, %q, %q visible { ^bb0(%b: index, %h: index, %i: index, %j: index): %z = arith.constant 0.0 : f32 %c = arith.cmpf ult, %z, %z : f32 fa.yield %c : i1 } : tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16> -> tensor<1x8x?x64xf16>
  return %o : tensor<1x8x?x64xf16>
}

// -----

// A kernel that divides so would be empty.
func.func @least_number(%q: tensor<1x8x?x64xf16>) -> tensor<1x8x?x64xf16> {
  // expected-error @+1 {{'arith.remsi' op in the visible region divides the least number of 'i32' by -1}}
  %o = fa.attention %q, %q, %q visible { ^bb0(%b: index, %h: index, %i: index, %j: index): %x = arith.constant -2147483648 : i32 %n = arith.constant -1 : i32 %r = arith.remsi %x, %n : i32 %c = arith.cmpi eq, %r, %n : i32 fa.yield %c : i1 } : tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16> -> tensor<1x8x?x64xf16>
  return %o : tensor<1x8x?x64xf16>
}

// -----

// Positions are i32 in the kernel.
func.func @too_many_keys(%q: tensor<1x1x16x64xf16>, %k: tensor<1x1x4294967301x64xf16>) -> tensor<1x1x16x64xf16> {
  // expected-error @+1 {{extent Sk = 4294967301 is not supported yet, supported are at most 2147418112}}
  %o = fa.attention %q, %k, %k : tensor<1x1x16x64xf16>, tensor<1x1x4294967301x64xf16>, tensor<1x1x4294967301x64xf16> -> tensor<1x1x16x64xf16>
  return %o : tensor<1x1x16x64xf16>
}

// -----

func.func @scale_beyond_f32(%q: tensor<1x1x16x64xf16>) -> tensor<1x1x16x64xf16> {
  // expected-error @+1 {{scale 1.000000e+39 is not supported yet, |scale| log2 e must be finite in f32}}
  %o = fa.attention %q, %q, %q scale(1.0e39) : tensor<1x1x16x64xf16>, tensor<1x1x16x64xf16>, tensor<1x1x16x64xf16> -> tensor<1x1x16x64xf16>
  return %o : tensor<1x1x16x64xf16>
}

// -----

func.func @softcap_beyond_f32(%q: tensor<1x1x16x64xf16>) -> tensor<1x1x16x64xf16> {
  // expected-error @+1 {{softcap 1.000000e+39 is not supported yet, it and its reciprocal must be finite in f32}}
  %o = fa.attention %q, %q, %q softcap(1.0e39) : tensor<1x1x16x64xf16>, tensor<1x1x16x64xf16>, tensor<1x1x16x64xf16> -> tensor<1x1x16x64xf16>
  return %o : tensor<1x1x16x64xf16>
}

// -----

// Products of f32 are no tensor-core products, whose layout Q would have.
func.func @query_of_f32_in_registers(%q: tensor<1x1x16x64xf32>) -> tensor<1x1x16x64xf32> {
  // expected-error @+1 {{schedule key query = registers needs operands of 16 bits, found 'f32'; query = shared is compiled}}
  %o = fa.attention %q, %q, %q {schedule = #fa.schedule<query = registers>} : tensor<1x1x16x64xf32>, tensor<1x1x16x64xf32>, tensor<1x1x16x64xf32> -> tensor<1x1x16x64xf32>
  return %o : tensor<1x1x16x64xf32>
}

// -----

!mem = memref<1x1x16x64xf16>
func.func @result_in_an_operand(%q: !mem, %k: !mem) {
  // expected-error @+1 {{'outs' holds the key; results need memory of their own}}
  fa.attention %q, %k, %k outs(%k : !mem) : !mem, !mem, !mem
  return
}

// -----

!mem = memref<1x1x16x64xf16, #gpu.address_space<global>>
!wg = memref<1x1x16x64xf16, #gpu.address_space<workgroup>>
func.func @operand_in_workgroup_memory(%q: !mem, %k: !wg, %o: !mem) {
  // expected-error @+1 {{the key is in memory space #gpu.address_space<workgroup>, accepted are the default one, 1 and #gpu.address_space<global>}}
  fa.attention %q, %k, %k outs(%o : !mem) : !mem, !wg, !wg
  return
}

// -----

!mem = memref<1x1x16x64xf16>
func.func @result_in_shared_memory(%q: !mem, %o: memref<1x1x16x64xf16, 3>) {
  // expected-error @+1 {{the out is in memory space 3 : i64, accepted are the default one, 1 and #gpu.address_space<global>}}
  fa.attention %q, %q, %q outs(%o : memref<1x1x16x64xf16, 3>) : !mem, !mem, !mem
  return
}

// -----

!mem = memref<1x1x16x64xf16>
func.func @table_in_shared_memory(%q: !mem, %o: !mem, %t: memref<1xf32, 3>) {
  // expected-error @+1 {{the table of a region is in memory space 3 : i64, accepted are the default one, 1 and #gpu.address_space<global>}}
  fa.attention %q, %q, %q outs(%o : !mem) score { ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %x = memref.load %t[%b] : memref<1xf32, 3>
    %r = arith.addf %s, %x : f32
    fa.yield %r : f32 } : !mem, !mem, !mem
  return
}

// -----

!mem = memref<1x1x16x64xf16>
func.func @f64_from_outside(%q: !mem, %o: !mem, %x: f64) {
  fa.attention %q, %q, %q outs(%o : !mem) score { ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    // expected-error @+1 {{in the score region takes 'f64', which is not supported yet; supported are f32, f16, bf16, i1, i32, i64 and index}}
    %r = arith.truncf %x : f64 to f32
    fa.yield %r : f32 } : !mem, !mem, !mem
  return
}

// -----

!mem = memref<1x1x16x64xf16>
func.func @f64_in_a_region(%q: !mem, %o: !mem) {
  fa.attention %q, %q, %q outs(%o : !mem) score { ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    // expected-error @+1 {{in the score region gives 'f64', which is not supported yet; supported are f32, f16, bf16, i1, i32, i64 and index}}
    %x = arith.extf %s : f32 to f64
    %r = arith.truncf %x : f64 to f32
    fa.yield %r : f32 } : !mem, !mem, !mem
  return
}

// -----

!mem = memref<1x1x16x64xf16>
func.func @division_by_nothing(%q: !mem, %o: !mem) {
  fa.attention %q, %q, %q outs(%o : !mem) visible { ^bb0(%b: index, %h: index, %i: index, %j: index):
    %zero = arith.constant 0 : index
    // expected-error @+1 {{'arith.remui' op in the visible region divides by 0}}
    %x = arith.remui %i, %zero : index
    %r = arith.cmpi eq, %x, %j : index
    fa.yield %r : i1 } : !mem, !mem, !mem
  return
}

// -----

func.func @rows_of_more_lanes_than_there_are(%q: tensor<1x8x?x192xf32>) -> tensor<1x8x?x192xf32> {
  // expected-error @+1 {{schedule does not fit sm_80: tile_q = 16, tile_kv = 16, warps = 1, stages = 2, state = registers, query = shared at head dims 192 and 192; a row of 1024 bytes is copied by 64 threads, 16 bytes each, found 32 threads; tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, query = shared would fit}}
  %o = fa.attention %q, %q, %q {schedule = #fa.schedule<tile_q = 16, tile_kv = 16>} : tensor<1x8x?x192xf32>, tensor<1x8x?x192xf32>, tensor<1x8x?x192xf32> -> tensor<1x8x?x192xf32>
  return %o : tensor<1x8x?x192xf32>
}
