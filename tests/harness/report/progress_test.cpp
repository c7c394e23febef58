#include "harness/report/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace ropewalk {
namespace {

using ::testing::HasSubstr;

class ProgressTest : public ::testing::Test {
 protected:
  std::string written() {
    std::rewind(file_.get());
    std::string text;
    for (int c = std::fgetc(file_.get()); c != EOF; c = std::fgetc(file_.get())) text += static_cast<char>(c);
    return text;
  }
  std::function<double()> clock() {
    return [this] { return time_; };
  }

  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{std::tmpfile(), std::fclose};
  double time_ = 100;
};

TEST(ProgressBar, SaysHowManyHowFastAndHowLong) {
  EXPECT_EQ(progress_bar(0, 27, 0), "[..............................] 0/27 cells");
  EXPECT_EQ(progress_bar(9, 27, 3), "[##########....................] 9/27 cells  3.0/s  6 s left");
  EXPECT_EQ(progress_bar(27, 27, 2), "[##############################] 27/27 cells  14/s");
  EXPECT_EQ(progress_bar(1, 101, 1), "[..............................] 1/101 cells  1.0/s  1 min 40 s left");
  EXPECT_EQ(progress_bar(1, 2, 7200), "[###############...............] 1/2 cells  0.0/s  2 h 00 min left");
  EXPECT_EQ(progress_bar(0, 0, 1), "[##############################] 0/0 cells");
}

TEST_F(ProgressTest, WritesALineEveryFewSecondsElsewhere) {
  {
    Progress progress(file_.get(), 100, Progress::Style::lines, clock());
    for (int i = 0; i < 100; ++i) {
      time_ += 0.125;
      progress.advance();
    }
  }
  EXPECT_EQ(written(), "40/100 cells  8.0/s  8 s left\n80/100 cells  8.0/s  3 s left\n100 of 100 cells in 12.5 s\n");
}

TEST_F(ProgressTest, DrawsOverTheBarAndEndsWithALine) {
  Progress progress(file_.get(), 2, Progress::Style::bar, clock());
  time_ += 1;
  progress.advance();
  progress.advance();  // at once: not drawn
  progress.finish();
  progress.finish();
  progress.advance();
  EXPECT_EQ(written(),
            "\r\x1b[K[..............................] 0/2 cells"
            "\r\x1b[K[###############...............] 1/2 cells  1.0/s  1 s left"
            "\r\x1b[K2 of 2 cells in 1.0 s\n");
}

TEST_F(ProgressTest, IsSilentWhenQuiet) {
  {
    Progress progress(file_.get(), 2, Progress::Style::quiet, clock());
    time_ += 60;
    progress.advance(2);
  }
  EXPECT_EQ(written(), "");
}

TEST_F(ProgressTest, CountsFromManyThreads) {
  Progress progress(file_.get(), 400000, Progress::Style::lines);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 100000; ++i) progress.advance();
    });
  for (std::thread& thread : threads) thread.join();
  progress.finish();
  EXPECT_THAT(written(), HasSubstr("400000 of 400000 cells in "));
}

TEST_F(ProgressTest, AFileIsNoTerminal) {
  EXPECT_EQ(Progress::style_for(file_.get(), false), Progress::Style::lines);
  EXPECT_EQ(Progress::style_for(file_.get(), true), Progress::Style::quiet);
}

}  // namespace
}  // namespace ropewalk
