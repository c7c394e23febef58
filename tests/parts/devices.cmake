ropewalk_test(device_test SOURCES harness/devices/choices_test.cpp harness/devices/device_test.cpp
  LIBRARIES ropewalk_devices)
