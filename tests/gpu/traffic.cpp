// Synchronisations and copies as CUPTI's activity records have them.
#include <cuda_runtime_api.h>

#include "tests/gpu/checks.hpp"

#ifdef ROPEWALK_CUPTI

#include <cupti.h>

#include <cstdlib>

namespace ropewalk::gpu_checks {
namespace {

constexpr std::size_t buffer_size = std::size_t{1} << 20;
Traffic counted;  // CUPTI's callbacks take no argument of ours

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, buffer_size));
  *size = buffer_size;
  *records = 0;
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    counted.synchronisations += record->kind == CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
    counted.copies += record->kind == CUPTI_ACTIVITY_KIND_MEMCPY;
  }
  std::free(buffer);
}

}  // namespace

Traffic traffic_of(const std::function<void()>& work) {
  work();
  cudaDeviceSynchronize();
  if (cuptiActivityRegisterCallbacks(give_buffer, take_buffer) != CUPTI_SUCCESS ||
      cuptiActivityEnable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) != CUPTI_SUCCESS ||
      cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY) != CUPTI_SUCCESS)
    return {};
  cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  counted = {0, 0};
  work();
  // Disabled before anything else waits, so that only work()'s own waits are counted.
  cuptiActivityDisable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  cudaDeviceSynchronize();
  cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMCPY);
  return counted;
}

}  // namespace ropewalk::gpu_checks

#else

namespace ropewalk::gpu_checks {

Traffic traffic_of(const std::function<void()>& work) {
  work();
  cudaDeviceSynchronize();
  return {};
}

}  // namespace ropewalk::gpu_checks

#endif
