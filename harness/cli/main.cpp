#include <fmt/format.h>

#include <cstdio>
#include <new>

#include "harness/bad_input.hpp"
#include "harness/cli/commands.hpp"
#include "reference/self_check.hpp"

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
  add_inventory(app, action);
  try {
    app.parse(argc, argv);
    if (const std::string wrong = reference::self_check(); !wrong.empty())
      throw std::runtime_error("this build's arithmetic cannot be trusted: " + wrong);
    return action();
  } catch (const CLI::ParseError& e) {
    const int code = app.exit(e);
    return code == 0 ? kAsExpected : kBadInput;
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
