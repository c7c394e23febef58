// A plug-in that is loaded into this process.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/adapters/ropewalk_plugin.h"
#include "harness/tensors/tensor.hpp"

namespace ropewalk {

class Plugin {
 public:
  // Throws std::runtime_error: no shared library, no ropewalk_describe, a description that is none.
  explicit Plugin(const std::string& path);

  // The answer to the protocol's "describe": what the plug-in says of itself, and the operations that it exports.
  const nlohmann::ordered_json& description() const { return description_; }

  struct Answer {
    int status = ROPEWALK_ERROR;
    std::string message;
    std::map<std::string, Tensor> outputs;
  };
  // Throws std::invalid_argument for an operation that is not offered and for outputs that are no tensors.
  Answer call(const std::string& operation, const std::string& request, std::map<std::string, Tensor>& inputs) const;

 private:
  using Function = int (*)(ropewalk_call*);
  std::map<std::string, Function> operations_;
  nlohmann::ordered_json description_;
};

}  // namespace ropewalk
