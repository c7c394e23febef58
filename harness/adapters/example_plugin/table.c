/* A rope table in single precision, as most models compute it: frequencies, angles, cos and sin in float. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ropewalk_plugin.h"

const char* ropewalk_describe(void) {
  return "{\"protocol\": 1, \"name\": \"example-table\", \"version\": \"1\", \"dtypes\": [\"float32\"]}";
}

/* The number after "key": in the request. A plug-in that needs more than this takes a JSON library. */
static double number(const ropewalk_call* call, const char* key) {
  const char* found = strstr(call->request, key);
  return found == NULL ? NAN : strtod(found + strlen(key), NULL);
}

static const DLTensor* input(const ropewalk_call* call, const char* name) {
  for (size_t i = 0; i < call->input_count; ++i)
    if (strcmp(call->inputs[i].name, name) == 0) return call->inputs[i].tensor;
  return NULL;
}

static int refused(ropewalk_call* call, int status, const char* why) {
  snprintf(call->message, call->message_size, "%s", why);
  return status;
}

static void deliver(ropewalk_call* call, const char* name, float* data, int32_t axes, int64_t* shape) {
  const DLTensor tensor = {data, {kDLCPU, 0}, axes, {kDLFloat, 32, 1}, shape, NULL, 0};
  call->output(call, name, &tensor);
}

int ropewalk_rope_table(ropewalk_call* call) {
  const DLTensor* positions = input(call, "positions");
  const double base = number(call, "\"base\":"), width = number(call, "\"rotary_dim\":");
  if (strstr(call->request, "\"scaling\"") != NULL && strstr(call->request, "\"scaling\":null") == NULL)
    return refused(call, ROPEWALK_UNSUPPORTED, "no scaled frequencies");
  if (strstr(call->request, "\"axes\"") != NULL && strstr(call->request, "\"axes\":null") == NULL)
    return refused(call, ROPEWALK_UNSUPPORTED, "positions of one axis only");
  if (positions == NULL || positions->ndim != 1 || !(base > 0) || !(width >= 2))
    return refused(call, ROPEWALK_ERROR, "needs positions [seq], base and rotary_dim");

  int64_t shape[2] = {positions->shape[0], (int64_t)width / 2};
  const size_t rows = (size_t)shape[0], pairs = (size_t)shape[1];
  float *inv_freq = malloc(pairs * sizeof(float)), *angle = malloc(rows * pairs * sizeof(float)),
        *cosine = malloc(rows * pairs * sizeof(float)), *sine = malloc(rows * pairs * sizeof(float));
  if (inv_freq == NULL || angle == NULL || cosine == NULL || sine == NULL) {
    free(inv_freq), free(angle), free(cosine), free(sine);
    return refused(call, ROPEWALK_ERROR, "no memory");
  }
  const int64_t* position = positions->data;
  for (size_t i = 0; i < pairs; ++i) inv_freq[i] = 1.0F / powf((float)base, (float)(2 * i) / (float)width);
  for (size_t row = 0; row < rows; ++row)
    for (size_t i = 0; i < pairs; ++i) {
      const size_t at = row * pairs + i;
      angle[at] = (float)position[row] * inv_freq[i];
      cosine[at] = cosf(angle[at]);
      sine[at] = sinf(angle[at]);
    }
  deliver(call, "inv_freq", inv_freq, 1, shape + 1);
  deliver(call, "angle", angle, 2, shape);
  deliver(call, "cos", cosine, 2, shape);
  deliver(call, "sin", sine, 2, shape);
  free(inv_freq), free(angle), free(cosine), free(sine);
  return ROPEWALK_OK;
}
