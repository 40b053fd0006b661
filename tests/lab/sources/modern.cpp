// Uses what only a newer libstdc++ has: waiting for a condition is GLIBCXX_3.4.30 since GCC 12,
// a path's parts are GLIBCXX_3.4.26.
#include <condition_variable>
#include <filesystem>
#include <mutex>

extern "C" void modern() {
  static std::condition_variable condition;
  static std::mutex mutex;
  std::unique_lock<std::mutex> lock(mutex);
  static volatile bool waits = false;
  if (waits) condition.wait(lock);
  std::filesystem::path path("a/b");
  if (path.filename() != "b") throw 1;
}
