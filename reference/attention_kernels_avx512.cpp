// Compiled with the options that CMakeLists.txt gives this file.
#define ROPEWALK_KERNELS attention_avx512
#define ROPEWALK_KERNELS_NAME "avx512"
#define Eigen Eigen_attention_avx512
#include "reference/attention_kernels_body.hpp"
