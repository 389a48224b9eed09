// Work in fixed blocks of rows: a function of the shape alone, so that the blocks, and with them the result, are
// the same for every number of threads.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

namespace suffice {

// Rows per block where blocks are merged. Many classes want long blocks, since merging costs classes x columns per
// block.
inline int64_t block_rows(int64_t classes) { return std::max<int64_t>(4096, 16 * classes); }

// Numbers that begin where a cache line does, so that no vector of them lies across two.
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

// How many threads to use for so many tasks.
int thread_count(int64_t tasks);

// Runs task(i, seat) for each i, in the caller's thread and up to `threads` - 1 others; each has a seat of its own,
// below `threads`. What a task throws is thrown again when all have ended.
void run_tasks(int64_t tasks, int threads, const std::function<void(int64_t, int)> &task);

// Runs work(i, part) for each of so many tasks that write to places of their own. Each thread has one part, made by
// calling `make` before they start.
template <typename Make, typename Work> void for_tasks(int64_t tasks, Make make, Work work) {
    const int threads = thread_count(tasks);
    std::vector<decltype(make())> parts;
    parts.reserve(threads);
    for (int i = 0; i < threads; ++i) parts.push_back(make());
    run_tasks(tasks, threads, [&](int64_t i, int seat) { work(i, parts[seat]); });
}

// Runs work(first, last, part) for blocks of `step` rows that write to places of their own.
template <typename Make, typename Work> void for_blocks(int64_t rows, int64_t step, Make make, Work work) {
    for_tasks((rows + step - 1) / step, make,
              [&](int64_t i, auto &part) { work(i * step, std::min(rows, (i + 1) * step), part); });
}

// Runs work(block, part) for each block, and merge(part) in the order of the blocks. A part has about so many bytes;
// there are more of them than threads, unless they are large, so that a thread can go on while an earlier block is not
// done.
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
    std::map<int64_t, int64_t> done;  // the part of each block that waits for an earlier one
    std::mutex guard;
    std::condition_variable freed;
    int64_t next = 0, merged = 0;
    bool failed = false;
    run_tasks(blocks, threads, [&](int64_t, int) {
        std::unique_lock<std::mutex> lock(guard);
        // Who waits here has no block yet, so that all blocks before the next one have a part, and come to an end.
        freed.wait(lock, [&] { return failed || !free.empty(); });
        if (failed) return;  // some block has thrown, and those after it wait for ever
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
