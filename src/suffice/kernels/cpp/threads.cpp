#include "threads.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#ifdef _OPENMP
#include <omp.h>
#endif
#ifndef _WIN32
#include <signal.h>
#include <unistd.h>
#endif

namespace suffice {
namespace {

// While it lives, new threads block signals, which are for Python's threads. Fault signals are not blocked.
class Masked {
#ifndef _WIN32
  public:
    Masked() {
        sigset_t most;
        sigfillset(&most);
        for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&most, fault);
        pthread_sigmask(SIG_SETMASK, &most, &before_);
    }
    ~Masked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  private:
    sigset_t before_;
#endif
};

// One call of `run_tasks`.
struct Job {
    int64_t tasks;
    int seats;  // threads that may still join
    const std::function<void(int64_t, int)> *run;
    int taken = 1;  // the first seat is the caller's
    std::atomic<int64_t> next{0}, done{0};
    std::exception_ptr failure = nullptr;  // the first one, rethrown by the caller
};

// Threads that wait for tasks. A thread that is scheduled late finds no tasks left, and nobody waits for it. At the end
// of an OpenMP parallel region all threads would wait for it, several milliseconds each time when other programs are
// busy.
class Pool {
  public:
    void run(int64_t tasks, int threads, const std::function<void(int64_t, int)> &task) {
        const auto job = std::make_shared<Job>();
        job->tasks = tasks;
        job->seats = threads - 1;
        job->run = &task;
        {
            std::lock_guard<std::mutex> lock(guard_);
            while (workers_ < threads - 1 && add_worker()) ++workers_;
            jobs_.push_back(job);
            ++published_;
        }
        wake_.notify_all();
        work(*job, 0);
        std::unique_lock<std::mutex> lock(guard_);
        finished_.wait(lock, [&] { return job->done.load() == job->tasks; });
        for (auto at = jobs_.begin(); at != jobs_.end(); ++at)
            if (*at == job) {
                jobs_.erase(at);
                break;
            }
        if (job->failure) std::rethrow_exception(job->failure);
    }

  private:
    // Runs tasks while there are any. Does not touch `run` afterwards: its caller may have returned.
    void work(Job &job, int seat) {
        for (int64_t i = job.next++; i < job.tasks; i = job.next++) {
            try {
                (*job.run)(i, seat);
            } catch (...) {
                std::lock_guard<std::mutex> lock(guard_);
                if (!job.failure) job.failure = std::current_exception();
            }
            if (++job.done == job.tasks) {
                std::lock_guard<std::mutex> lock(guard_);
                finished_.notify_all();
            }
        }
    }

    bool add_worker() {
        const Masked signals;
        try {
            std::thread([this] { serve(); }).detach();
            return true;
        } catch (const std::system_error &) {  // no more threads available: fewer do the work
            return false;
        }
    }

    // A job with tasks and a free seat, which is taken; null if there is none.
    std::shared_ptr<Job> open_job(int &seat) {
        for (const auto &job : jobs_)
            if (job->seats > 0 && job->next.load() < job->tasks) {
                --job->seats;
                seat = job->taken++;
                return job;
            }
        return nullptr;
    }

    void serve() {
        for (;;) {
            // Calls often follow each other closely, and waking up takes longer than a short spin.
            const int64_t seen = published_.load();
            for (int spin = 0; spin < 2000 && published_.load() == seen; ++spin) pause();
            std::shared_ptr<Job> job;
            int seat = 0;
            {
                std::unique_lock<std::mutex> lock(guard_);
                wake_.wait(lock, [&] { return (job = open_job(seat)) != nullptr; });
            }
            work(*job, seat);
        }
    }

    static void pause() {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }

    std::mutex guard_;
    std::condition_variable wake_, finished_;
    std::deque<std::shared_ptr<Job>> jobs_;
    std::atomic<int64_t> published_{0};
    int workers_ = 0;
};

}  // namespace

// As many threads as OpenMP would use, so that its limits apply here, too. A forked child has none of its parent's
// threads, and would wait for them forever.
int thread_count(int64_t tasks) {
#ifdef _OPENMP
#ifndef _WIN32
    static const pid_t home = getpid();
    if (getpid() != home) return 1;
#endif
    return static_cast<int>(std::max<int64_t>(1, std::min<int64_t>(tasks, omp_get_max_threads())));
#else
    (void)tasks;
    return 1;
#endif
}

void limit_threads(int64_t count) {
#ifdef _OPENMP
    omp_set_num_threads(static_cast<int>(std::max<int64_t>(1, count)));
#else
    (void)count;
#endif
}

void run_tasks(int64_t tasks, int threads, const std::function<void(int64_t, int)> &task) {
    if (threads <= 1) {
        for (int64_t i = 0; i < tasks; ++i) task(i, 0);
        return;
    }
    static Pool &pool = *new Pool;  // never destroyed: its threads may outlive static destructors
    pool.run(tasks, threads, task);
}

namespace {
// Called when the library is loaded, so that `home` is the process that loaded it.
[[maybe_unused]] const int loaded = thread_count(1);
}  // namespace

}  // namespace suffice
