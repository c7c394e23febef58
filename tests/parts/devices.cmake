ropewalk_test(device_test SOURCES harness/devices/device_test.cpp LIBRARIES ropewalk_devices)
