ropewalk_test(tensors_test
  SOURCES
    harness/tensors/dtype_test.cpp
    harness/tensors/half_test.cpp
    harness/tensors/npy_test.cpp
    harness/tensors/npz_test.cpp
    harness/tensors/pickle_test.cpp
    harness/tensors/read_tensors_test.cpp
    harness/tensors/safetensors_test.cpp
    harness/tensors/tensor_test.cpp
    harness/tensors/torch_file_test.cpp
  LIBRARIES ropewalk_tensors ${ZIP_LIBRARY})
ropewalk_test(subjects_test
  SOURCES
    harness/subjects/adapter_test.cpp
    harness/subjects/process_test.cpp
    harness/subjects/program_test.cpp
    harness/subjects/tensor_file_test.cpp
  LIBRARIES ropewalk_external fmt::fmt-header-only)
