/* A shared library that exports these functions can be the subject of a ropewalk case: {"plugin": "libmine.so"}.
 * C11. docs/plugins.md tells how to build and run one; docs/protocol.md has the tensors of each operation.
 *
 * A child process of ropewalk's loads the library and calls it from one thread, so a crash is a verdict and no more. */
#ifndef ROPEWALK_PLUGIN_H
#define ROPEWALK_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The part of DLPack 1.0 that tensors in CPU memory need, with DLPack's own names and layout; include dlpack.h first if
 * you have it, then its types are these. https://dmlc.github.io/dlpack/latest/c_api.html */
#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_
typedef enum { kDLCPU = 1 } DLDeviceType;
typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;
typedef enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLComplex = 5, kDLBool = 6 } DLDataTypeCode;
typedef struct {
  uint8_t code; /* DLDataTypeCode */
  uint8_t bits;
  uint16_t lanes; /* 1 */
} DLDataType;
typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides; /* in elements; NULL: row-major */
  uint64_t byte_offset;
} DLTensor;
#endif

#define ROPEWALK_PLUGIN_PROTOCOL 1

typedef struct {
  const char* name;
  const DLTensor* tensor;
} ropewalk_tensor;

typedef struct ropewalk_call {
  const char* request;           /* the JSON object of docs/protocol.md, without inputs and outputs */
  const ropewalk_tensor* inputs; /* row-major, in CPU memory; theirs until the function returns, not to be written to */
  size_t input_count;
  /* Delivers one output by its name. The tensor is copied: it stays yours, also to free. Call it as often as needed. */
  void (*output)(struct ropewalk_call* call, const char* name, const DLTensor* tensor);
  char* message; /* room for a line that says why the status is not ROPEWALK_OK; empty at first */
  size_t message_size;
  void* host; /* ropewalk's own */
} ropewalk_call;

/* ROPEWALK_UNSUPPORTED: this implementation does not do that; the check is skipped. ROPEWALK_ERROR: it failed. */
enum { ROPEWALK_OK = 0, ROPEWALK_UNSUPPORTED = 1, ROPEWALK_ERROR = 2 };

#if defined(__GNUC__)
#define ROPEWALK_EXPORT __attribute__((visibility("default")))
#else
#define ROPEWALK_EXPORT
#endif

/* Needed: a JSON object, {"protocol": 1, "name": "mine", "version": "1.0", "dtypes": ["float32", "bfloat16"]}. The text
 * must stay where it is. */
ROPEWALK_EXPORT const char* ropewalk_describe(void);

/* Any of these; an operation whose function is missing is not offered. */
ROPEWALK_EXPORT int ropewalk_rope_table(ropewalk_call* call);
ROPEWALK_EXPORT int ropewalk_rope_call(ropewalk_call* call);
ROPEWALK_EXPORT int ropewalk_rope_apply(ropewalk_call* call);
ROPEWALK_EXPORT int ropewalk_attention(ropewalk_call* call);
ROPEWALK_EXPORT int ropewalk_lora_pad(ropewalk_call* call);

#ifdef __cplusplus
}
#endif

#endif
