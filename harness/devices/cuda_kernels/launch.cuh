// A body for every element on a GPU.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace ropewalk::kernels {

inline void check(cudaError_t code, const char* what) {
  if (code != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + what + ": " + cudaGetErrorString(code));
}

template <class Body>
__global__ void each(Body body, std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) body(i);
}

struct Launch {
  cudaStream_t stream = nullptr;

  template <class Body>
  void operator()(const Body& body, std::int64_t count) const {
    if (count == 0) return;
    constexpr unsigned threads = 256;
    each<<<static_cast<unsigned>((count + threads - 1) / threads), threads, 0, stream>>>(body, count);
    check(cudaGetLastError(), "launch");
  }
};

// Device memory for as long as it lives.
class Buffer {
 public:
  explicit Buffer(std::int64_t bytes) { check(cudaMalloc(&memory_, bytes > 0 ? bytes : 1), "cudaMalloc"); }
  Buffer(const void* from, std::int64_t bytes) : Buffer(bytes) {
    check(cudaMemcpy(memory_, from, bytes, cudaMemcpyHostToDevice), "copy to the device");
  }
  ~Buffer() { cudaFree(memory_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* get() const { return memory_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(memory_);
  }
  void copy_to(void* to, std::int64_t bytes) const {
    check(cudaMemcpy(to, memory_, bytes, cudaMemcpyDeviceToHost), "copy from the device");
  }

 private:
  void* memory_ = nullptr;
};

}  // namespace ropewalk::kernels
