//===- FA.h - attention for programs in any language --------------*- C -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole library libFA-C: compile, look, launch, compare with the oracle.
// docs/CAPI.md explains lifetime, errors, threads and isolation. In short:
//
// - A function returns FA_OK or says what went wrong, and then, if asked by a
//   non-null `error`, leaves an object there that the caller frees. On success
//   *error is set to NULL.
// - A handle is valid until its free function. A stale, foreign or null handle
//   gives FA_ERROR_HANDLE; it is never read through.
// - A string belongs to the handle it was asked of and lives as long; those of
//   functions without a handle live as long as the library.
// - Every struct that begins with struct_size must carry sizeof of itself, and
//   0 in all else means the default. A library knows shorter ones of its past.
// - Each enumeration has an enumerator ..._INT32, which is never a value. With
//   it the type holds any int32_t, in C and in C++ alike: a number that is none
//   of the others is refused in words, wherever it comes from.
// - Every function may be called from several threads at once, also on one
//   handle; only to free a handle while another thread still uses its strings
//   is the caller's mistake.
// - After fork() a child whose parent had used the library may query and free;
//   to compile, launch or ask the oracle gives FA_ERROR_FORK.
//
// Between the two lines `cffi: begin` and `cffi: end` stand plain declarations
// without macros, for tools that read C without a preprocessor.
//
//===----------------------------------------------------------------------===//
#ifndef FA_C_FA_H
#define FA_C_FA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// cffi: begin

//===----------------------------------------------------------------------===//
// Numbers and names
//===----------------------------------------------------------------------===//

// What fa_abi_version() must give for this header.
enum { FA_ABI_VERSION = 1 };

// An extent that is known at the launch only, in an fa_attention.
enum { FA_DYNAMIC = -1 };

// Dimensions of an array at most.
enum { FA_MAX_RANK = 8 };

typedef enum fa_status {
  FA_OK = 0,
  // 2, 3 and 4 as the tools' exit codes.
  FA_ERROR_INPUT = 2,     // an argument, a text or a file is wrong
  FA_ERROR_DEVICE = 3,    // a device is missing or failed
  FA_ERROR_FAULT = 4,     // a checker, a deadlock or a limit stopped a kernel
  FA_ERROR_COMPILE = 5,   // the compiler refused; see the diagnostics
  FA_ERROR_CANCELLED = 6, // the progress function asked to stop
  FA_ERROR_HANDLE = 7,    // null, freed, of another kind or another library
  FA_ERROR_VERSION = 8,   // header and library do not fit
  FA_ERROR_FORK = 9,      // a child of a process that had used the library
  FA_ERROR_MEMORY = 10,   // the host's memory is exhausted
  FA_ERROR_INTERNAL = 11, // a defect of the library
  FA_ERROR_UNSUPPORTED = 12, // not in this build
  FA_STATUS_INT32 = -2147483647 - 1
} fa_status;

typedef enum fa_dtype {
  FA_NONE = 0,
  FA_F16 = 1,
  FA_BF16 = 2,
  FA_F32 = 3,
  FA_F64 = 4,
  FA_F8E4M3FN = 5,
  FA_F8E5M2 = 6,
  FA_I1 = 7, // one byte each, 0 or not
  FA_I8 = 8,
  FA_U8 = 9,
  FA_I16 = 10,
  FA_U16 = 11,
  FA_I32 = 12,
  FA_U32 = 13,
  FA_I64 = 14,
  FA_U64 = 15,
  FA_DTYPE_INT32 = -2147483647 - 1
} fa_dtype;

typedef struct fa_error fa_error;   // what went wrong
typedef struct fa_kernel fa_kernel; // a compiled program: manifest and PTX
typedef struct fa_run fa_run;       // what a launch came to

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

int32_t fa_abi_version(void);
// FA_ERROR_VERSION when a program built for `version` cannot use this library.
// To be called once, with FA_ABI_VERSION, before anything else.
fa_status fa_abi_check(int32_t version, fa_error **error);
const char *fa_version(void);                 // "0.1.0"
const char *fa_llvm_version(void);            // "22.1.8", "" without a compiler
const char *fa_status_name(fa_status status); // "input", "device", ...
const char *fa_dtype_name(fa_dtype dtype);    // as MLIR: "f16", "i1"; "" else
size_t fa_dtype_size(fa_dtype dtype);         // bytes of an element; 0 else

// {"devices": [{"name", "description", "available", "reason", "runs_ptx",
//   "default_target", "checkers": [{"name", "description"}]}],
//  "default_device", "targets": ["sm_80", ...], "version", "llvm_version",
//  "options": [{"name", "help"}]}. Asked of the machine once.
fa_status fa_devices(const char **json, fa_error **error);

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

// On a handle that is no live error: FA_ERROR_HANDLE, or a text that says so.
fa_status fa_error_code(const fa_error *error);
// One lower-case sentence, without its place.
const char *fa_error_message(const fa_error *error);
// The argument, clause or option at fault ("key", "bias", "target"); "" else.
const char *fa_error_argument(const fa_error *error);
// "file:line:column" in a text that was read; "" else.
const char *fa_error_location(const fa_error *error);
// Of the compiler or of the device's checkers, one line each:
// "file:line:column: error: ...".
size_t fa_error_diagnostic_count(const fa_error *error);
const char *fa_error_diagnostic(const fa_error *error, size_t index);
// NULL is fine. FA_ERROR_HANDLE for what is no live error.
fa_status fa_error_free(fa_error *error);

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

typedef struct fa_compile_options {
  size_t struct_size;
  const char *target;   // NULL: "sm_80"
  const char *schedule; // "tile_q=64,stages=3" as in #fa.schedule; NULL: chosen
  const char *entry;    // of a text: the function; NULL: each with attention
  const char *name;     // of a text, in messages; NULL: "<text>"
  int32_t keep_stages;  // not 0: fa_kernel_stage() has the program's stages
  int32_t trace_state;  // not 0: a launch may ask for m, l, u of one row
} fa_compile_options;

typedef enum fa_mask_kind {
  FA_MASK_CAUSAL = 0,
  FA_MASK_WINDOW = 1,
  FA_MASK_CHUNK = 2,
  FA_MASK_KIND_INT32 = -2147483647 - 1
} fa_mask_kind;

// One structural mask; a key must pass all.
typedef struct fa_mask {
  fa_mask_kind kind;
  int32_t bottom_right; // 0: top_left
  int64_t prefix;       // causal: keys below it are visible; 0: none
  int64_t left, right;  // window: inclusive, -1 unbounded
  int64_t size;         // chunk
} fa_mask;

typedef enum fa_scale_kind {
  FA_SCALE_DEFAULT = 0, // 1/sqrt(head_dim), rounded to f32
  FA_SCALE_NUMBER = 1,
  FA_SCALE_OPERAND = 2, // an f32 that comes with each launch
  FA_SCALE_KIND_INT32 = -2147483647 - 1
} fa_scale_kind;

// A dense operand that broadcasts to [B, Hq, Sq, Sk] from the right. Each
// extent of `shape` is 1 (broadcast), FA_DYNAMIC (the full extent, known at the
// launch) or the full extent. dtype FA_NONE: there is no such operand.
typedef struct fa_broadcast {
  fa_dtype dtype;
  int32_t rank;
  int64_t shape[4];
} fa_broadcast;

// One attention, clause by clause as the op fa.attention has them. The inputs
// of its kernel are, in this order and as far as they are there: query, key,
// value, scale, bias, mask, alibi, sink, q_lengths, kv_lengths, q_segments,
// kv_segments, q_scales, k_scales, v_scales, q_offsets, kv_offsets, pages,
// seed; its results are out and, with_lse, lse.
typedef struct fa_attention {
  size_t struct_size;
  fa_dtype dtype;     // of Q, K and V
  fa_dtype out_dtype; // FA_NONE: dtype
  int32_t with_lse;
  const char *layout; // "bhsd" (NULL) or "bshd"
  // Each FA_DYNAMIC or a number; the head dimensions are numbers.
  int64_t batch, q_heads, kv_heads, q_length, kv_length;
  int64_t head_dim;
  int64_t value_dim; // 0: head_dim
  fa_scale_kind scale_kind;
  double scale;
  const fa_mask *masks;
  size_t mask_count;
  int32_t has_softcap;
  double softcap;
  fa_broadcast bias;
  fa_broadcast mask; // dtype FA_I1
  // Not 0: there is such an operand.
  int32_t has_alibi;      // slopes f32 [Hq]
  int32_t has_sink;       // logits f32 [Hq]
  int32_t has_q_lengths;  // i32 [B]
  int32_t has_kv_lengths; // i32 [B]
  int32_t has_segments;   // two operands, i32 [B, Sq] and [B, Sk]
  int32_t has_scales;     // three operands, f32 [B, Hkv], for fp8
  int32_t is_packed;      // Q [Tq, Hq, D], K and V [Tk, Hkv, D]; two operands,
                          // offsets i32 [B+1]; q_length is Tq, kv_length Tk
  int64_t page_size;   // not 0: K and V are [pages, Hkv, page_size, D] with a
                       // table i32 [B, pages of a sequence]
  int32_t has_dropout; // and an operand, seed i64
  double dropout;
  const char *score;     // text of a region, "{ ^bb0(...): ... }"; NULL: none
  const char *visible;   // likewise
  const char *precision; // "ieee" (NULL), "tf32x3" or "tf32"
  const char *empty_row; // "zero" (NULL), "nan" or "uniform"
} fa_attention;

// `options` may be NULL in all three.
fa_status fa_compile_text(const char *text, const fa_compile_options *options,
                          fa_kernel **kernel, fa_error **error);
fa_status fa_compile_file(const char *path, const fa_compile_options *options,
                          fa_kernel **kernel, fa_error **error);
fa_status fa_compile_attention(const fa_attention *attention,
                               const fa_compile_options *options,
                               fa_kernel **kernel, fa_error **error);
// How often this process has compiled: what a cache of kernels saves.
uint64_t fa_compile_count(void);

// A package, NAME.fapkg or NAME.ptx, as fa-compile writes it; load reads the
// folder form.
fa_status fa_kernel_save(const fa_kernel *kernel, const char *path,
                         fa_error **error);
fa_status fa_kernel_load(const char *path, fa_kernel **kernel,
                         fa_error **error);
fa_status fa_kernel_free(fa_kernel *kernel); // NULL is fine

//===----------------------------------------------------------------------===//
// Looking at a kernel
//===----------------------------------------------------------------------===//

fa_status fa_kernel_target(const fa_kernel *kernel, const char **target,
                           fa_error **error);
fa_status fa_kernel_ptx(const fa_kernel *kernel, const char **ptx,
                        fa_error **error);
fa_status fa_kernel_manifest(const fa_kernel *kernel, const char **json,
                             fa_error **error);
// The attention as text.
fa_status fa_kernel_source(const fa_kernel *kernel, const char **text,
                           fa_error **error);
// Warnings of the compiler, one line each.
fa_status fa_kernel_warning_count(const fa_kernel *kernel, size_t *count,
                                  fa_error **error);
fa_status fa_kernel_warning(const fa_kernel *kernel, size_t index,
                            const char **line, fa_error **error);
// "0-input.mlir" to "5-kernel.ptx", when they were kept.
fa_status fa_kernel_stage_count(const fa_kernel *kernel, size_t *count,
                                fa_error **error);
fa_status fa_kernel_stage(const fa_kernel *kernel, size_t index,
                          const char **name, const char **text,
                          fa_error **error);

typedef struct fa_entry_info {
  size_t struct_size;
  const char *name;
  size_t operand_count; // inputs, then results
  size_t input_count;
  size_t result_count;
  size_t parameter_count;
  size_t launch_count;
  // Bytes, as a number or an expression for fa_evaluate().
  const char *shared_bytes; // of the largest launch
  const char *workspace_bytes;
} fa_entry_info;

typedef enum fa_operand_kind {
  FA_OPERAND_INPUT = 0,
  FA_OPERAND_RESULT = 1,
  FA_OPERAND_SCALAR = 2, // an input of rank 0
  FA_OPERAND_KIND_INT32 = -2147483647 - 1
} fa_operand_kind;

typedef struct fa_operand_info {
  size_t struct_size;
  const char *role; // "query", "mask", "out", ...; "query, key" has two
  fa_operand_kind kind;
  fa_dtype dtype;
  int32_t rank;
  const int64_t *shape;    // FA_DYNAMIC where open
  const char *const *dims; // "B", "Hq", "Sq", "D", ...; "1" broadcasts
} fa_operand_info;

typedef struct fa_parameter_info {
  size_t struct_size;
  const char *kind;   // "pointer", "extent", "stride", "scalar", "workspace",
                      // "tensormap" or "trace"
  int32_t operand;    // index; -1: none
  int32_t dim;        // of a stride or an extent; -1: none
  const char *extent; // its name, where dim is -1; "" else
  const char *type;   // "ptr", "i32", "i64", "f32"
} fa_parameter_info;

typedef struct fa_launch_info {
  size_t struct_size;
  const char *kernel; // the function in the PTX
  size_t argument_count;
  const int32_t *arguments; // indices of parameters
  // Numbers or expressions. A launch whose grid has a 0 is skipped.
  const char *grid[3];
  const char *block[3];
  const char *cluster[3];
  const char *shared_bytes;
} fa_launch_info;

fa_status fa_kernel_entry_count(const fa_kernel *kernel, size_t *count,
                                fa_error **error);
fa_status fa_kernel_find_entry(const fa_kernel *kernel, const char *name,
                               size_t *entry, fa_error **error);
fa_status fa_kernel_entry(const fa_kernel *kernel, size_t entry,
                          fa_entry_info *info, fa_error **error);
fa_status fa_kernel_operand(const fa_kernel *kernel, size_t entry, size_t index,
                            fa_operand_info *info, fa_error **error);
fa_status fa_kernel_parameter(const fa_kernel *kernel, size_t entry,
                              size_t index, fa_parameter_info *info,
                              fa_error **error);
fa_status fa_kernel_launch_info(const fa_kernel *kernel, size_t entry,
                                size_t index, fa_launch_info *info,
                                fa_error **error);
// The value of a grid or a byte count: "ceildiv(Sq, 128) * Hq" over extents,
// and over SMs, the multiprocessors of the device that is launched on.
fa_status fa_evaluate(const char *expression, const char *const *names,
                      const int64_t *values, size_t count, int64_t *value,
                      fa_error **error);

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

typedef enum fa_memory {
  FA_MEMORY_HOST = 0,
  FA_MEMORY_DEVICE = 1, // of the device that the launch names, "cuda"
  FA_MEMORY_INT32 = -2147483647 - 1
} fa_memory;

// Somebody's elements. Of an input nothing is written.
typedef struct fa_array {
  void *data; // the element whose indices are all 0; may be NULL when empty
  fa_dtype dtype;
  fa_memory memory;
  int32_t rank;           // 0 to FA_MAX_RANK
  const int64_t *shape;   // may be NULL at rank 0
  const int64_t *strides; // in elements, 0 and negative ones too; NULL: dense
} fa_array;

// Called by the launching thread at least every 50 ms while a kernel is
// emulated, with the blocks of the grid that are done and those there are.
// Anything but 0 stops the kernel: results stay as they were, and the launch
// gives FA_ERROR_CANCELLED.
typedef int32_t (*fa_progress)(void *data, uint64_t done, uint64_t total);

typedef struct fa_launch_options {
  size_t struct_size;
  const char *device; // NULL: "auto"; "emulator", "cuda", "reference"; the
                      // second GPU is "cuda:1"
  // As the tools have them: "sanitize=all", "order=random:7", "threads=2",
  // "max-instructions=1000000", "counters", ...
  const char *const *options;
  size_t option_count;
  int32_t check; // not 0: compare with the oracle; fa_run_comparison() says how
  int32_t trace; // not 0: keep m, l, u of row trace_row (b, h, i row-major)
  int64_t trace_row;
  fa_progress progress; // may be NULL
  void *progress_data;
  void *stream; // a CUstream, for arrays in device memory; NULL: the default
} fa_launch_options;

// Runs one entry (NULL: the only one) on arrays in the order of its operands.
// Results must not overlap an input, each other or themselves. `options` and
// `run` may be NULL.
//
// In host memory results are written when the kernel has run to its end, and
// else not at all.
//
// In device memory nothing is copied. The kernel is put into the stream, and
// the call returns; results are there, and a fault of the kernel shows, when
// the stream comes to it. With `run` the call waits for that. All arrays then
// lie in memory of the launch's device, but for scalars, which are read at once
// and lie in host memory; `check` and `trace` are for host memory, and
// `progress` is not called.
fa_status fa_kernel_launch(const fa_kernel *kernel, const char *entry,
                           const fa_array *inputs, size_t input_count,
                           const fa_array *results, size_t result_count,
                           const fa_launch_options *options, fa_run **run,
                           fa_error **error);

// A result beside what it must be.
typedef struct fa_comparison {
  size_t struct_size;
  int32_t ok;
  // At the element whose error is largest beside its bound.
  double max_error, bound, found, expected;
  int32_t rank;
  int64_t at[8];
  int64_t wrong, count; // elements outside their bound, and all
  char problem[256];    // a difference of kind (shape, a NaN); "" else
} fa_comparison;

// Everything about a run as JSON, as fa-run --report writes it.
fa_status fa_run_report(const fa_run *run, const char **json, fa_error **error);
// The counters alone, when they were asked for.
fa_status fa_run_counters(const fa_run *run, const char **json,
                          fa_error **error);
// Of result `index`, when the launch was to check.
fa_status fa_run_comparison(const fa_run *run, size_t index,
                            fa_comparison *comparison, fa_error **error);
fa_status fa_run_free(fa_run *run); // NULL is fine

//===----------------------------------------------------------------------===//
// The oracle
//===----------------------------------------------------------------------===//

// Attention in f64 from the stored inputs, and how far a kernel of these types
// may be from it. `results` and `bounds` are arrays of any float type in the
// order of the results; `bounds` may be NULL with count 0.
fa_status fa_attention_reference(const fa_attention *attention,
                                 const fa_array *inputs, size_t input_count,
                                 const fa_array *results, size_t result_count,
                                 const fa_array *bounds, size_t bound_count,
                                 fa_error **error);
// Likewise for what an entry of a kernel computes.
fa_status fa_kernel_reference(const fa_kernel *kernel, const char *entry,
                              const fa_array *inputs, size_t input_count,
                              const fa_array *results, size_t result_count,
                              const fa_array *bounds, size_t bound_count,
                              fa_error **error);

// Element by element: |found - expected| <= bound, NaN and infinities in place.
// Without `bounds` all is exact. A difference is no error.
fa_status fa_compare(const fa_array *found, const fa_array *expected,
                     const fa_array *bounds, fa_comparison *comparison,
                     fa_error **error);

// cffi: end

#ifdef __cplusplus
}
#endif

#endif // FA_C_FA_H
