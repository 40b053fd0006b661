// What an extension needs of an earlier torch, as its compiled file has it: a function that took
// torch's own view of a text until 2.5, and the standard library's since 2.6.
#include <optional>
namespace c10 {
template <class Letter> class basic_string_view { const Letter *begin; unsigned long size; };
}
namespace at {
class Tensor { void *implementation = nullptr; };
namespace _ops {
struct div_Tensor_mode {
  static Tensor call(const Tensor &, const Tensor &, std::optional<c10::basic_string_view<char>>);
};
}
}
extern "C" void earlier() {
  static volatile bool never = false;
  if (never) at::_ops::div_Tensor_mode::call({}, {}, std::nullopt);
}
