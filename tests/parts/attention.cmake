ropewalk_test(attention_test
  SOURCES
    reference/attention_data.cpp
    reference/attention_oracle.cpp
    reference/attention_test.cpp
    reference/attention_total_test.cpp
    reference/attention_variants.cpp
    reference/attention_variants_test.cpp
    reference/exponential_test.cpp
    reference/rotation_test.cpp
  LIBRARIES ropewalk_reference)
