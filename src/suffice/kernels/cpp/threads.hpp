// Work in fixed blocks of rows: a function of the shape alone, so that the blocks, and with them the result, are
// the same for every number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace suffice {

// Rows per block where blocks are merged. Many classes want long blocks, since merging costs classes x columns per block.
inline int64_t block_rows(int64_t classes) { return std::max<int64_t>(4096, 16 * classes); }

// How many threads to use for so many blocks.
int thread_count(int64_t blocks);

// Runs work(block, part) for each block, and merge(part) in the order of the blocks. Each thread has
// one part, made by calling `make` (before the threads start: an exception could not leave them).
template <typename Make, typename Work, typename Merge>
void in_order(int64_t blocks, Make make, Work work, Merge merge) {
    const int threads = thread_count(blocks);
    std::vector<decltype(make())> parts;
    for (int i = 0; i < std::max(threads, 1); ++i) parts.push_back(make());
#ifdef _OPENMP
    if (threads > 1) {
#pragma omp parallel num_threads(threads)
        {
            auto &part = parts[omp_get_thread_num()];
#pragma omp for ordered schedule(static, 1)
            for (int64_t block = 0; block < blocks; ++block) {
                work(block, part);
#pragma omp ordered
                merge(part);
            }
        }
        return;
    }
#endif
    for (int64_t block = 0; block < blocks; ++block) {
        work(block, parts[0]);
        merge(parts[0]);
    }
}

// Runs work(first, last, part) for blocks of `step` rows that write to places of their own.
template <typename Make, typename Work> void apart(int64_t rows, int64_t step, Make make, Work work) {
    const int64_t blocks = (rows + step - 1) / step;
    const int threads = thread_count(blocks);
    std::vector<decltype(make())> parts;
    for (int i = 0; i < std::max(threads, 1); ++i) parts.push_back(make());
#ifdef _OPENMP
    if (threads > 1) {
#pragma omp parallel num_threads(threads)
        {
            auto &part = parts[omp_get_thread_num()];
#pragma omp for schedule(static)
            for (int64_t block = 0; block < blocks; ++block)
                work(block * step, std::min(rows, (block + 1) * step), part);
        }
        return;
    }
#endif
    for (int64_t block = 0; block < blocks; ++block)
        work(block * step, std::min(rows, (block + 1) * step), parts[0]);
}

// Runs work(i, part) for each of so many tasks of unequal length that write to places of their own.
template <typename Make, typename Work> void in_turn(int64_t tasks, Make make, Work work) {
    const int threads = thread_count(tasks);
    std::vector<decltype(make())> parts;
    for (int i = 0; i < std::max(threads, 1); ++i) parts.push_back(make());
#ifdef _OPENMP
    if (threads > 1) {
#pragma omp parallel num_threads(threads)
        {
            auto &part = parts[omp_get_thread_num()];
#pragma omp for schedule(dynamic, 1)
            for (int64_t i = 0; i < tasks; ++i) work(i, part);
        }
        return;
    }
#endif
    for (int64_t i = 0; i < tasks; ++i) work(i, parts[0]);
}

}  // namespace suffice
