// A check with a text, which is called otherwise in each C++ ABI.
#include <string>
namespace c10 {
namespace detail {
[[noreturn]] void torchInternalAssertFail(
    const char *, const char *, unsigned, const char *, const std::string &);
}
}
extern "C" void checked() {
  static volatile bool never = false;
  if (never) c10::detail::torchInternalAssertFail("", "", 0, "", std::string());
}
