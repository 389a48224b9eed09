// Work in fixed blocks of rows. The blocks depend only on the shape, so that the result is the same for every number of
// threads.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

namespace suffice {

// Rows per block if blocks are merged. Many classes need long blocks, since merging costs classes x columns per block.
inline int64_t block_rows(int64_t classes) { return std::max<int64_t>(4096, 16 * classes); }

// Doubles aligned to a cache line, so that no vector crosses two lines.
class Buffer {
  public:
    explicit Buffer(int64_t size) : store_(static_cast<size_t>(size) + 8) {}
    double *data() {
        const auto at = reinterpret_cast<uintptr_t>(store_.data());
        return store_.data() + (64 - at % 64) % 64 / sizeof(double);
    }

  private:
    std::vector<double> store_;
};

// Number of threads to use for this many tasks.
int thread_count(int64_t tasks);

// Sets the largest number of threads for calls from the caller's thread.
void limit_threads(int64_t count);

// Runs task(i, seat) for each i, in the caller's thread and up to `threads` - 1 others; each has its own seat, below
// `threads`. An exception is rethrown when all tasks have ended.
void run_tasks(int64_t tasks, int threads, const std::function<void(int64_t, int)> &task);

// Runs work(i, part) for tasks that write to separate memory. Each thread has one part, made by `make` before they
// start.
template <typename Make, typename Work> void for_tasks(int64_t tasks, Make make, Work work) {
    const int threads = thread_count(tasks);
    std::vector<decltype(make())> parts;
    parts.reserve(threads);
    for (int i = 0; i < threads; ++i) parts.push_back(make());
    run_tasks(tasks, threads, [&](int64_t i, int seat) { work(i, parts[seat]); });
}

// Runs work(first, last, part) for blocks of `step` rows that write to separate memory.
template <typename Make, typename Work> void for_blocks(int64_t rows, int64_t step, Make make, Work work) {
    for_tasks((rows + step - 1) / step, make,
              [&](int64_t i, auto &part) { work(i * step, std::min(rows, (i + 1) * step), part); });
}

// Runs work(block, part) for each block, and merge(part) in the order of the blocks. A part has about `bytes` bytes.
// Unless parts are large, there are more of them than threads, so that a thread can continue while an earlier block is
// unfinished.
template <typename Make, typename Work, typename Merge>
void reduce_blocks(int64_t blocks, int64_t bytes, Make make, Work work, Merge merge) {
    const int threads = thread_count(blocks);
    if (threads <= 1) {
        auto part = make();
        for (int64_t block = 0; block < blocks; ++block) {
            work(block, part);
            merge(part);
        }
        return;
    }
    constexpr int64_t SPARE = 16, SPARE_BYTES = int64_t{1} << 22;
    const int64_t spare = std::min({SPARE, blocks - threads, SPARE_BYTES / std::max<int64_t>(bytes, 1)});
    std::vector<decltype(make())> parts;
    std::vector<int64_t> free;
    for (int64_t i = 0; i < threads + spare; ++i) {
        parts.push_back(make());
        free.push_back(i);
    }
    std::map<int64_t, int64_t> done;  // the part of each finished block that waits for an earlier one
    std::mutex guard;
    std::condition_variable freed;
    int64_t next = 0, merged = 0;
    bool failed = false;
    run_tasks(blocks, threads, [&](int64_t, int) {
        std::unique_lock<std::mutex> lock(guard);
        // A thread that waits here has no block yet. So all blocks before the next one have a part and will finish.
        freed.wait(lock, [&] { return failed || !free.empty(); });
        if (failed) return;  // a block threw, and later blocks would wait forever
        const int64_t block = next++, part = free.back();
        free.pop_back();
        lock.unlock();
        try {
            work(block, parts[part]);
            lock.lock();
            done[block] = part;
        } catch (...) {
            if (!lock.owns_lock()) lock.lock();
            failed = true;
            freed.notify_all();
            throw;
        }
        for (auto first = done.begin(); first != done.end() && first->first == merged; first = done.begin()) {
            merge(parts[first->second]);
            free.push_back(first->second);
            done.erase(first);
            ++merged;
        }
        freed.notify_all();
    });
}

}  // namespace suffice
