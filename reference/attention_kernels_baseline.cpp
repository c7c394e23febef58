// Compiled with the options that CMakeLists.txt gives this file.
#define ROPEWALK_KERNELS attention_baseline
#define ROPEWALK_KERNELS_NAME "baseline"
#define Eigen Eigen_attention_baseline
#include "reference/attention_kernels_body.hpp"
