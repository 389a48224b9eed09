#include "threads.hpp"

#ifndef _WIN32
#include <unistd.h>
#endif

namespace suffice {

// A forked child has none of its parent's threads, and waiting for them would be forever.
int thread_count(int64_t blocks) {
#ifdef _OPENMP
#ifndef _WIN32
    static const pid_t home = getpid();
    if (getpid() != home) return 1;
#endif
    return static_cast<int>(std::min<int64_t>(blocks, omp_get_max_threads()));
#else
    (void)blocks;
    return 1;
#endif
}

namespace {
// Calls it when the library is loaded, so that `home` is the process that loaded it.
[[maybe_unused]] const int loaded = thread_count(1);
}  // namespace

}  // namespace suffice
