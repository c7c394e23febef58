// Compiled with the options that CMakeLists.txt gives this file.
#define ROPEWALK_KERNELS attention_avx2
#define ROPEWALK_KERNELS_NAME "avx2"
#define Eigen Eigen_attention_avx2
#include "reference/attention_kernels_body.hpp"
