// A small extension as projects write them: bindings, tensors, checks with texts.
#include <torch/extension.h>

#include <string>

static at::Tensor scaled(const at::Tensor& input, double factor) {
  TORCH_CHECK(input.is_floating_point(), "expected a floating point tensor, got ", input.scalar_type());
  return input.contiguous() * factor;
}

static std::string described(const at::Tensor& input) {
  return input.toString() + " with " + std::to_string(input.numel()) + " elements";
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  module.def("scaled", &scaled);
  module.def("described", &described);
}
