#include "harness/plugin_host/plugin.hpp"

#include <dlfcn.h>

#include <array>
#include <exception>
#include <stdexcept>
#include <vector>

#include "harness/plugin_host/dlpack.hpp"

namespace ropewalk {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kOperations{"rope_table", "rope_call", "rope_apply", "attention", "lora_pad"};

void* load(const std::string& path) {
  // Never unloaded: threads and exit handlers of the library may outlive any moment to do so.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(std::string("the plug-in cannot be loaded: ") + dlerror());
  return library;
}

Json described(const std::string& path, const char* text) {
  const auto refuse = [&](const std::string& why) { throw std::runtime_error(path + ": ropewalk_describe " + why); };
  if (text == nullptr) refuse("returns no text");
  const Json description = Json::parse(text, nullptr, false);
  if (!description.is_object()) refuse("returns no JSON object");
  if (!description.contains("protocol") || description["protocol"] != ROPEWALK_PLUGIN_PROTOCOL)
    refuse("has not \"protocol\": " + std::to_string(ROPEWALK_PLUGIN_PROTOCOL));
  return description;
}

// What the outputs of a call go into; an exception must not pass through the plug-in's own frames.
struct Collected {
  std::map<std::string, Tensor> outputs;
  std::exception_ptr failure;
};

void collect(ropewalk_call* call, const char* name, const DLTensor* tensor) {
  auto& collected = *static_cast<Collected*>(call->host);
  try {
    if (name == nullptr || tensor == nullptr) throw std::invalid_argument("an output without a name or a tensor");
    try {
      if (!collected.outputs.emplace(name, copied(*tensor)).second) throw std::invalid_argument("given twice");
    } catch (const std::invalid_argument& why) {
      throw std::invalid_argument("output " + std::string(name) + ": " + why.what());
    }
  } catch (...) {
    if (!collected.failure) collected.failure = std::current_exception();
  }
}

}  // namespace

Plugin::Plugin(const std::string& path) {
  void* library = load(path);
  const auto describe = reinterpret_cast<const char* (*)()>(dlsym(library, "ropewalk_describe"));
  if (describe == nullptr) throw std::runtime_error(path + ": the plug-in exports no ropewalk_describe");
  for (const char* operation : kOperations)
    if (void* function = dlsym(library, (std::string("ropewalk_") + operation).c_str()))
      operations_.emplace(operation, reinterpret_cast<Function>(function));
  const Json said = described(path, describe());
  description_ = {{"status", "ok"}, {"protocol", ROPEWALK_PLUGIN_PROTOCOL}};
  for (const char* field : {"name", "version", "dtypes"})
    if (said.contains(field)) description_[field] = said[field];
  description_["ops"] = Json::array();
  for (const auto& [operation, function] : operations_) description_["ops"].push_back(operation);
}

Plugin::Answer Plugin::call(const std::string& operation, const std::string& request,
                            std::map<std::string, Tensor>& inputs) const {
  const auto function = operations_.find(operation);
  if (function == operations_.end()) throw std::invalid_argument("the plug-in does not offer " + operation);
  std::vector<DLTensor> tensors;
  std::vector<ropewalk_tensor> named;
  std::vector<Shape> shapes;
  tensors.reserve(inputs.size());  // pointers into these are given away
  shapes.reserve(inputs.size());
  for (auto& [name, tensor] : inputs) {
    const auto type = dlpack_type(tensor.dtype());
    if (!type) throw std::invalid_argument("input " + name + " is " + std::string(name_of(tensor.dtype())));
    Shape& shape = shapes.emplace_back(tensor.shape());
    tensors.push_back(
        {tensor.bytes().data(), {kDLCPU, 0}, static_cast<std::int32_t>(shape.size()), *type, shape.data(), nullptr, 0});
    named.push_back({name.c_str(), &tensors.back()});
  }
  Collected collected;
  std::array<char, 1024> message{};
  ropewalk_call call{request.c_str(), named.data(), named.size(), collect, message.data(), message.size(), &collected};
  Answer answer;
  answer.status = function->second(&call);
  message.back() = '\0';
  answer.message = message.data();
  if (collected.failure) std::rethrow_exception(collected.failure);
  answer.outputs = std::move(collected.outputs);
  return answer;
}

}  // namespace ropewalk
