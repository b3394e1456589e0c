; Kernels in LLVM IR, compiled by llc (compile.py): what its back end writes
; differs from nvcc's PTX in registers, calls, parameters and tables.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@partial = internal addrspace(3) global [8 x float] undef, align 16
@primes = internal addrspace(4) constant [8 x i16] [i16 2, i16 3, i16 5, i16 7, i16 11, i16 13, i16 17, i16 19], align 2
@counter = addrspace(1) global i64 1000, align 8

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare void @llvm.nvvm.barrier0()
declare float @llvm.nvvm.shfl.sync.bfly.f32(i32, float, i32, i32)
declare float @llvm.nvvm.ex2.approx.f(float)
declare float @llvm.maxnum.f32(float, float)
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i32 @llvm.ctpop.i32(i32)
declare i64 @llvm.bitreverse.i64(i64)
declare i32 @llvm.sadd.sat.i32(i32, i32)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)

define internal float @block_reduce(float %x, i1 %is_max) noinline {
entry:
  br label %lanes
lanes:
  %v = phi float [ %x, %entry ], [ %w, %lanes ]
  %d = phi i32 [ 16, %entry ], [ %d2, %lanes ]
  %o = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %v, i32 %d, i32 31)
  %m = call float @llvm.maxnum.f32(float %v, float %o)
  %s = fadd float %v, %o
  %w = select i1 %is_max, float %m, float %s
  %d2 = lshr i32 %d, 1
  %more = icmp ne i32 %d2, 0
  br i1 %more, label %lanes, label %store
store:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %lane = and i32 %tid, 31
  %warp = lshr i32 %tid, 5
  %first = icmp eq i32 %lane, 0
  %slot = getelementptr [8 x float], ptr addrspace(3) @partial, i32 0, i32 %warp
  br i1 %first, label %write, label %meet
write:
  store float %w, ptr addrspace(3) %slot, align 4
  br label %meet
meet:
  call void @llvm.nvvm.barrier0()
  %n = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %warps = lshr i32 %n, 5
  br label %sum
sum:
  %i = phi i32 [ 1, %meet ], [ %i2, %body ]
  %acc = phi float [ 0.000000e+00, %meet ], [ %acc2, %body ]
  %base = load float, ptr addrspace(3) @partial, align 16
  %start = icmp eq i32 %i, 1
  %cur = select i1 %start, float %base, float %acc
  %in = icmp ult i32 %i, %warps
  br i1 %in, label %body, label %done
body:
  %p = getelementptr [8 x float], ptr addrspace(3) @partial, i32 0, i32 %i
  %y = load float, ptr addrspace(3) %p, align 4
  %m2 = call float @llvm.maxnum.f32(float %cur, float %y)
  %s2 = fadd float %cur, %y
  %acc2 = select i1 %is_max, float %m2, float %s2
  %i2 = add i32 %i, 1
  br label %sum
done:
  call void @llvm.nvvm.barrier0()
  ret float %cur
}

; One block a row of `columns` numbers, 2^x instead of e^x.
define ptx_kernel void @softmax(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %columns) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %inside = icmp ult i32 %tid, %columns
  %at0 = mul i32 %row, %columns
  %at1 = add i32 %at0, %tid
  %at = zext i32 %at1 to i64
  %from = getelementptr float, ptr addrspace(1) %in, i64 %at
  br i1 %inside, label %read, label %reduce
read:
  %x = load float, ptr addrspace(1) %from, align 4
  br label %reduce
reduce:
  %v = phi float [ 0xFFF0000000000000, %entry ], [ %x, %read ]
  %max = call float @block_reduce(float %v, i1 true)
  %diff = fsub float %v, %max
  %e = call float @llvm.nvvm.ex2.approx.f(float %diff)
  %sum = call float @block_reduce(float %e, i1 false)
  %q = fdiv float %e, %sum
  br i1 %inside, label %write, label %end
write:
  %to = getelementptr float, ptr addrspace(1) %out, i64 %at
  store float %q, ptr addrspace(1) %to, align 4
  br label %end
end:
  ret void
}

%pair = type { i32, i64, [3 x i8] }

define internal %pair @mix(%pair %p, i8 %c) noinline {
  %a = extractvalue %pair %p, 0
  %b = extractvalue %pair %p, 1
  %k = extractvalue %pair %p, 2, 1
  %c32 = sext i8 %c to i32
  %a2 = call i32 @llvm.fshl.i32(i32 %a, i32 %c32, i32 %c32)
  %b2 = call i64 @llvm.bitreverse.i64(i64 %b)
  %k2 = add i8 %k, %c
  %p1 = insertvalue %pair %p, i32 %a2, 0
  %p2 = insertvalue %pair %p1, i64 %b2, 1
  %p3 = insertvalue %pair %p2, i8 %k2, 2, 1
  ret %pair %p3
}

; A switch of eight cases, structures by value, i128, memset and memcpy.
define ptx_kernel void @scalars(ptr addrspace(1) %in, ptr addrspace(1) %out, i1 %flip, i8 %step, i16 %bias) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %tid to i64
  %from = getelementptr [4 x i32], ptr addrspace(1) %in, i64 %t64
  %room = alloca [8 x i32], align 16
  call void @llvm.memset.p0.i64(ptr align 16 %room, i8 3, i64 32, i1 false)
  call void @llvm.memcpy.p0.p1.i64(ptr align 16 %room, ptr addrspace(1) align 16 %from, i64 16, i1 false)
  %which = and i32 %tid, 7
  %at = getelementptr [8 x i32], ptr %room, i32 0, i32 %which
  %x = load i32, ptr %at, align 4
  switch i32 %which, label %other [
    i32 0, label %c0
    i32 1, label %c1
    i32 2, label %c2
    i32 3, label %c3
    i32 4, label %c4
    i32 5, label %c5
    i32 6, label %c6
  ]
c0:
  %r0 = mul i32 %x, 17
  br label %join
c1:
  %r1 = call i32 @llvm.ctpop.i32(i32 %x)
  br label %join
c2:
  %r2 = call i32 @llvm.sadd.sat.i32(i32 %x, i32 2147480000)
  br label %join
c3:
  %r3 = sdiv i32 %x, 13
  br label %join
c4:
  %r4 = lshr i32 %x, %which
  br label %join
c5:
  %pp = getelementptr [8 x i16], ptr addrspace(4) @primes, i32 0, i32 %which
  %pr = load i16, ptr addrspace(4) %pp, align 2
  %r5 = zext i16 %pr to i32
  br label %join
c6:
  %r6 = xor i32 %x, -1
  br label %join
other:
  br label %join
join:
  %r = phi i32 [ %r0, %c0 ], [ %r1, %c1 ], [ %r2, %c2 ], [ %r3, %c3 ], [ %r4, %c4 ], [ %r5, %c5 ], [ %r6, %c6 ], [ -5, %other ]
  %b32 = sext i16 %bias to i32
  %rb = add i32 %r, %b32
  %wide = sext i32 %rb to i128
  %p64 = sext i32 %x to i64
  %big = sext i64 %p64 to i128
  %scaled = mul i128 %big, 1000000000000000000000
  %sum = add i128 %scaled, %wide
  %hi128 = ashr i128 %sum, 40
  %hi = trunc i128 %hi128 to i64
  %p0 = insertvalue %pair poison, i32 %rb, 0
  %p1 = insertvalue %pair %p0, i64 %hi, 1
  %p2 = insertvalue %pair %p1, i8 1, 2, 0
  %p3 = insertvalue %pair %p2, i8 7, 2, 1
  %p4 = insertvalue %pair %p3, i8 9, 2, 2
  %q = call %pair @mix(%pair %p4, i8 %step)
  %qa = extractvalue %pair %q, 0
  %qb = extractvalue %pair %q, 1
  %qc = extractvalue %pair %q, 2, 1
  %qc64 = zext i8 %qc to i64
  %qa64 = zext i32 %qa to i64
  %m = xor i64 %qa64, %qb
  %n = add i64 %m, %qc64
  %neg = sub i64 0, %n
  %final = select i1 %flip, i64 %neg, i64 %n
  %to = getelementptr i64, ptr addrspace(1) %out, i64 %t64
  store i64 %final, ptr addrspace(1) %to, align 8
  ret void
}

; Tickets by a global counter, a maximum, an exchange under a loop.
define ptx_kernel void @atomics(ptr addrspace(1) %sum, ptr addrspace(1) %most, ptr addrspace(1) %product) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ticket = atomicrmw add ptr addrspace(1) @counter, i64 1 syncscope("device") monotonic
  %f = sitofp i64 %ticket to float
  %scaled = fmul float %f, 2.500000e-01
  %old = atomicrmw fadd ptr addrspace(1) %sum, float %scaled syncscope("device") monotonic
  %t2 = mul i32 %tid, 3
  %before = atomicrmw umax ptr addrspace(1) %most, i32 %t2 syncscope("device") acq_rel
  %seen = load atomic i32, ptr addrspace(1) %product syncscope("device") monotonic, align 4
  br label %again
again:
  %now = phi i32 [ %seen, %entry ], [ %got, %again ]
  %odd = shl i32 %tid, 1
  %odd1 = or i32 %odd, 1
  %next = mul i32 %now, %odd1
  %both = cmpxchg ptr addrspace(1) %product, i32 %now, i32 %next syncscope("device") acq_rel monotonic
  %got = extractvalue { i32, i1 } %both, 0
  %ok = extractvalue { i32, i1 } %both, 1
  br i1 %ok, label %end, label %again
end:
  ret void
}
