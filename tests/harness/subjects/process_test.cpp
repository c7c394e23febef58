#include "harness/subjects/process.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>
#include <sstream>
#include <thread>

#include "harness/subjects/subject.hpp"

namespace ropewalk {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kTimeout = 20;

std::string complaint(const std::vector<std::string>& command, double timeout_s = kTimeout) {
  try {
    Process process(command, ".");
    return "no complaint, but " + process.ask("question", timeout_s);
  } catch (const SubjectError& error) {
    return error.what();
  }
}

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(Process, AnswersLineByLine) {
  Process process({"cat"}, ".");
  EXPECT_EQ(process.ask("one", kTimeout), "one");
  EXPECT_EQ(process.ask("", kTimeout), "");
  EXPECT_EQ(process.ask(std::string(500000, 'x'), kTimeout).size(), 500000U);  // more than a pipe holds
  EXPECT_EQ(process.last_words(), "");
}

TEST(Process, RunsInItsFolder) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  Process process({"sh", "-c", "pwd -P"}, folder);
  EXPECT_EQ(process.ask("where", kTimeout), std::filesystem::canonical(folder).string());
}

TEST(Process, FindsAProgramRelativeToItsFolder) {
  Process process({"./family.sh"}, ROPEWALK_TEST_DIR "/data/programs");
  EXPECT_NE(process.ask("who", kTimeout), "");
}

TEST(Process, SaysWhyItCannotStart) {
  EXPECT_THAT(complaint({"no-such-program-here"}), HasSubstr("cannot start \"no-such-program-here\": No such file"));
  EXPECT_THAT(complaint({"/etc/passwd"}), HasSubstr("cannot start \"/etc/passwd\": Permission denied"));
  EXPECT_THAT(complaint({}), HasSubstr("command line is empty"));
  EXPECT_THROW(Process({"cat"}, "/no/such/folder"), SubjectError);
}

TEST(Process, SaysHowItEnded) {
  EXPECT_THAT(complaint({"sh", "-c", "exit 7"}), HasSubstr("exited with code 7"));
  EXPECT_THAT(complaint({"sh", "-c", "kill -SEGV $$"}), HasSubstr("killed by SIGSEGV (signal 11)"));
  EXPECT_THAT(complaint({"sh", "-c", "echo one >&2; echo two >&2; echo >&2; exit 1"}), HasSubstr("stderr: \"two\""));
  EXPECT_THAT(complaint({"sh", "-c", "printf 'a\\377\\033b' >&2; exit 1"}), HasSubstr("\\u001b"));
}

TEST(Process, ReadsAnAnswerThatIsFollowedByItsEnd) {
  Process process({"sh", "-c", "echo done"}, ".");
  EXPECT_EQ(process.ask("question", kTimeout), "done");
}

TEST(Process, WaitsNoLongerThanItsTimeout) {
  std::string what;
  const double took = seconds([&] { what = complaint({"sh", "-c", "echo slow >&2; sleep 30"}, 1.5); });
  EXPECT_THAT(what, HasSubstr("no answer within 1.5 s; its last words on stderr: \"slow\""));
  EXPECT_GE(took, 1.5);
  EXPECT_LT(took, 5);
}

TEST(Process, DoesNotWaitForAGrandchildThatHoldsThePipes) {
  EXPECT_LT(seconds([] {
              EXPECT_THAT(complaint({"sh", "-c", "sleep 30 & exit 5"}), HasSubstr("exited with code 5"));
            }),
            5);
}

TEST(Process, KeepsOfStderrTheEnd) {
  const std::string what = complaint({"sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' a >&2; echo; echo end >&2"});
  EXPECT_EQ(what, "no complaint, but ");
  EXPECT_THAT(complaint({"sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' a >&2; echo >&2; echo end >&2; exit 2"}),
              HasSubstr("code 2 instead of an answer; its last words on stderr: \"end\""));
}

TEST(Process, SurvivesAProgramThatDoesNotRead) {
  struct sigaction before {};
  sigaction(SIGPIPE, nullptr, &before);
  EXPECT_EQ(before.sa_handler, SIG_DFL) << "the test is only worth something if SIGPIPE kills";
  Process process({"sh", "-c", "exec <&-; sleep 0.2; echo still here; sleep 0.2; exit 9"}, ".");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(process.ask(std::string(300000, 'x'), kTimeout), "still here");
  EXPECT_THROW(process.ask("more", kTimeout), SubjectError);
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
}

bool alive(pid_t pid) {  // a zombie counts as dead once somebody else has to reap it
  std::string state;
  std::ostringstream name;
  name << "/proc/" << pid << "/stat";
  FILE* file = std::fopen(name.str().c_str(), "r");
  if (file == nullptr) return false;
  char letter = 'X';
  const bool read = std::fscanf(file, "%*d (%*[^)]) %c", &letter) == 1;
  std::fclose(file);
  return read && letter != 'Z' && letter != 'X';
}

TEST(Process, LeavesNobodyBehind) {
  pid_t leader = 0, child = 0;
  {
    Process process({ROPEWALK_TEST_DIR "/data/programs/family.sh"}, ".");
    std::istringstream(process.ask("who", kTimeout)) >> leader >> child;
    ASSERT_TRUE(alive(leader));
    ASSERT_TRUE(alive(child));
  }
  for (int i = 0; i < 500 && alive(child); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(alive(leader));
  EXPECT_FALSE(alive(child));
  EXPECT_EQ(waitpid(leader, nullptr, WNOHANG), -1) << "not reaped";
}

TEST(Process, LetsAWellBehavedProgramFinish) {
  std::string name = (std::filesystem::temp_directory_path() / "ropewalk-test-XXXXXX").string();
  const std::filesystem::path folder = mkdtemp(name.data());
  {
    Process process({"sh", "-c", "while read -r line; do echo $line; done; sleep 0.1; echo bye > farewell"}, folder);
    process.ask("hello", kTimeout);
  }
  EXPECT_TRUE(std::filesystem::exists(folder / "farewell"));
  std::filesystem::remove_all(folder);
}

TEST(Process, WorksWithoutAStdinAndStdoutOfOurOwn) {
  std::fflush(stdout);
  const int kept[] = {dup(0), dup(1)};
  close(0);
  close(1);
  bool taken = true;
  std::string answer;
  {
    Process process({"cat"}, ".");
    answer = process.ask("hello", kTimeout);
    taken = fcntl(0, F_GETFD) != -1 || fcntl(1, F_GETFD) != -1;
  }
  for (const int end : {0, 1}) {
    dup2(kept[end], end);
    close(kept[end]);
  }
  EXPECT_EQ(answer, "hello");
  EXPECT_FALSE(taken) << "what we print would go into a pipe of the program";
}

TEST(Process, ManyInParallelDoNotHoldEachOthersPipes) {
  const double took = seconds([] {
    std::vector<std::jthread> threads;
    threads.reserve(8);
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([i] {
        for (int again = 0; again < 10; ++again) {
          Process process({"cat"}, ".");
          EXPECT_EQ(process.ask(std::to_string(i), kTimeout), std::to_string(i));
        }
      });
  });
  EXPECT_LT(took, 20);  // a pipe end inherited by another child would cost the grace second each time
}

TEST(Process, LeaksNoDescriptors) {
  const auto lowest_free = [] {
    const int end = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(end);
    return end;
  };
  const int before = lowest_free();
  complaint({"no-such-program-here"});
  complaint({"false"});
  complaint({"cat"});
  EXPECT_EQ(lowest_free(), before);
}

TEST(QuotedExcerpt, IsOneReadableLine) {
  EXPECT_EQ(quoted_excerpt("a\nb\"c"), R"("a\nb\"c")");
  EXPECT_EQ(quoted_excerpt(std::string(1000, 'x')).size(), 205U);
  EXPECT_THAT(quoted_excerpt("\xff"), Not(HasSubstr("\xff")));
}

TEST(Process, AQuestionIsGivenUpWhenTheRunIsToEnd) {
  std::atomic<bool> stop{false};
  Process::stop_when(&stop);
  Process process({"sleep", "30"}, ".");
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop = true;
  });
  EXPECT_THROW(process.ask("question", 20), Stopped);
  later.join();
  Process::stop_when(nullptr);
}

}  // namespace
}  // namespace ropewalk
