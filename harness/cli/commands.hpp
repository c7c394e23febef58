// The commands: one file each. Each adds itself to the command line; what it returns is the exit code of the program.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace ropewalk {

// Exit codes that users rely on.
enum Exit { kAsExpected = 0, kUnexpected = 1, kBadInput = 2, kCouldNotRun = 3, kNothingCompared = 4 };

using Action = std::function<int()>;

// Each sets `action` when its command is on the command line.
void add_run(CLI::App& app, Action& action);
void add_list(CLI::App& app, Action& action);
void add_validate(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_golden(CLI::App& app, Action& action);
void add_record(CLI::App& app, Action& action);
void add_check(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);
void add_inventory(CLI::App& app, Action& action);  // devices, recipes, faults

}  // namespace ropewalk
