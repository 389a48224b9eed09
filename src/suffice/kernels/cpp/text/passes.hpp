// Parallel passes over documents.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>

#include "../threads.hpp"
#include "reader.hpp"

namespace suffice::text {

// The first document that is not UTF-8, and the position of the invalid byte.
struct BadText {
    int64_t row, at;
};

// Whether a pass should end early. The bindings set it; the caller's thread asks about twenty times a second.
inline bool (*interrupted)() = nullptr;

// A pass ended early.
struct Interrupted {};

// Bounds of the portions of documents that one thread reads at a time. Depends only on their sizes.
inline std::vector<int64_t> portions(const Documents &documents) {
    constexpr int64_t UNITS = 1 << 17, MOST = 4096;
    std::vector<int64_t> starts{0};
    int64_t units = 0;
    for (int64_t i = 0; i < documents.size(); ++i) {
        units += documents.texts[static_cast<size_t>(i)].length;
        if (units >= UNITS || i + 1 - starts.back() >= MOST) {
            starts.push_back(i + 1);
            units = 0;
        }
    }
    if (starts.back() < documents.size()) starts.push_back(documents.size());
    return starts;
}

// Runs work(row, worker) for every document, and ended(portion, worker) after each portion. Every thread has its own
// worker, made by `make` before they start.
template <typename Worker, typename Make, typename Work, typename Ended>
std::vector<Worker> read_all(const Documents &documents, Make make, Work work, Ended ended) {
    const std::vector<int64_t> starts = portions(documents);
    const auto tasks = static_cast<int64_t>(starts.size()) - 1;
    const int threads = std::max(1, thread_count(tasks));
    std::vector<Worker> workers;
    workers.reserve(static_cast<size_t>(threads));
    for (int i = 0; i < threads; ++i) workers.push_back(make());
    std::mutex guard;
    BadText bad{-1, 0};
    std::atomic<bool> stopped{false};
    auto asked = std::chrono::steady_clock::now();
    run_tasks(tasks, threads, [&](int64_t task, int at) {
        if (at == 0 && interrupted) {  // the first seat is the caller's
            const auto now = std::chrono::steady_clock::now();
            if (now - asked > std::chrono::milliseconds(50)) {
                asked = now;
                if (!stopped && interrupted()) stopped = true;
            }
        }
        if (stopped) return;
        Worker &worker = workers[static_cast<size_t>(at)];
        for (int64_t row = starts[task]; row < starts[task + 1]; ++row) {
            try {
                work(row, worker);
            } catch (const BadBytes &fault) {
                const std::lock_guard<std::mutex> lock(guard);
                if (bad.row < 0 || row < bad.row) bad = {row, fault.at};
            }
        }
        ended(task, worker);
    });
    if (stopped) throw Interrupted{};
    if (bad.row >= 0) throw bad;
    return workers;
}

}  // namespace suffice::text
