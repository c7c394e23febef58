#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>
#include <system_error>

#include "harness/bad_input.hpp"
#include "harness/cli/commands.hpp"
#include "reference/self_check.hpp"

namespace {

// Results that nobody got are no success; a closed standard output is somebody's wish.
int delivered(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  if (errno == EBADF || code != ropewalk::kAsExpected) return code;
  fmt::print(stderr, "ropewalk: standard output cannot be written: {}\n", std::generic_category().message(errno));
  return ropewalk::kCouldNotRun;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace ropewalk;
  CLI::App app("ropewalk: is this RoPE right, how far off is it, and where does the error enter?");
  app.set_version_flag("--version", "ropewalk " ROPEWALK_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  Action action;
  add_run(app, action);
  add_list(app, action);
  add_validate(app, action);
  add_compare(app, action);
  add_golden(app, action);
  add_record(app, action);
  add_check(app, action);
  add_explain(app, action);
  add_inventory(app, action);
  try {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
    if (const std::string word = argc > 1 ? argv[1] : "-";
        word[0] != '-' && std::find(names.begin(), names.end(), word) == names.end())
      throw BadInput("ropewalk", "command", word, fmt::format("one of {}", fmt::join(names, ", ")));
    app.parse(argc, argv);
    if (const std::string wrong = reference::self_check(); !wrong.empty())
      throw std::runtime_error("this build's arithmetic cannot be trusted: " + wrong);
    return delivered(action());
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return delivered(app.exit(e));  // help and version
    fmt::print(stderr, "ropewalk: {}\n", e.what());
    return kBadInput;
  } catch (const BadInput& e) {
    fmt::print(stderr, "{}\n", e.what());
    return kBadInput;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "ropewalk: out of memory\n");
    return kCouldNotRun;
  } catch (const std::exception& e) {
    fmt::print(stderr, "ropewalk: {}\n", e.what());
    return kCouldNotRun;
  }
}
