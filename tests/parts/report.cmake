ropewalk_test(report_test
  SOURCES harness/report/accepted_test.cpp harness/report/sample_reports.cpp harness/report/json_test.cpp harness/report/json_file_test.cpp
          harness/report/schema_test.cpp harness/report/report_schema_test.cpp harness/report/console_test.cpp
          harness/report/junit_test.cpp harness/report/compare_test.cpp harness/report/progress_test.cpp
          harness/report/text_test.cpp
  LIBRARIES ropewalk_report fmt::fmt-header-only)
