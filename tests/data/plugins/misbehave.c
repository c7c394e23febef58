/* A plug-in that breaks what ropewalk_plugin.h asks, in the way that MISBEHAVE names when it is compiled. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../harness/adapters/ropewalk_plugin.h"

enum {
  CRASH,
  ABORT,
  HANG,
  EXIT,
  PRINTS,
  NULL_DESCRIPTION,
  NO_JSON,
  OTHER_PROTOCOL,
  NO_OPERATIONS,
  UNSUPPORTED,
  FAILED,
  ODD_STATUS,
  TWICE,
  WRONG_SHAPE,
  WRONG_DTYPE,
  ODD_DTYPE,
  NEGATIVE_SIZE,
  NO_DATA,
  ON_A_GPU,
  NOTHING,
  STRIDED,
  NANS
};

const char* ropewalk_describe(void) {
  if (MISBEHAVE == NULL_DESCRIPTION) return NULL;
  if (MISBEHAVE == NO_JSON) return "a table";
  if (MISBEHAVE == OTHER_PROTOCOL) return "{\"protocol\": 2}";
  return "{\"protocol\": 1, \"name\": \"misbehave\", \"version\": \"1\", \"dtypes\": [\"float32\"]}";
}

static int say(ropewalk_call* call, int status, const char* why) {
  snprintf(call->message, call->message_size, "%s", why);
  return status;
}

#ifdef MISBEHAVE_NO_OPERATIONS
int ropewalk_lora_pad(ropewalk_call* call) {
#else
int ropewalk_rope_table(ropewalk_call* call) {
#endif
  static float ones[64];
  static int* volatile nowhere;
  int64_t shape[2] = {3, 2}, strides[2] = {1, 3};
  DLTensor table = {ones, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0};
  for (int i = 0; i < 64; ++i) ones[i] = 1;
  switch (MISBEHAVE) {
    case CRASH:
      *nowhere = 1;
      break;
    case ABORT:
      fputs("free(): invalid pointer\n", stderr);
      abort();
    case HANG:
      for (volatile int i = 0;; ++i) {
      }
    case EXIT:
      exit(0);
    case PRINTS:
      puts("{\"status\": \"ok\", \"id\": 1}");
      fflush(stdout);
      break;
    case UNSUPPORTED:
      return say(call, ROPEWALK_UNSUPPORTED, "not this base");
    case FAILED:
      return say(call, ROPEWALK_ERROR, "out of \"memory\"\nreally");
    case ODD_STATUS:
      return 7;
    case TWICE:
      call->output(call, "cos", &table);
      break;
    case WRONG_SHAPE:
      shape[0] = 2;
      break;
    case WRONG_DTYPE:
      table.dtype.code = kDLInt;
      break;
    case ODD_DTYPE:
      table.dtype.lanes = 4;
      break;
    case NEGATIVE_SIZE:
      shape[1] = -2;
      break;
    case NO_DATA:
      table.data = NULL;
      break;
    case ON_A_GPU:
      table.device.device_type = (DLDeviceType)2;
      break;
    case NOTHING:
      return ROPEWALK_OK;
    case STRIDED: /* column by column, after one float */
      for (int i = 0; i < 6; ++i) ones[i + 1] = (float)i;
      table.strides = strides;
      table.byte_offset = sizeof(float);
      break;
    case NANS:
      ones[3] = nanf("");
      break;
    default:
      break;
  }
  call->output(call, "cos", &table);
  return ROPEWALK_OK;
}
