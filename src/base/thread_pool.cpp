// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.hpp"

#include "base/condition.hpp"

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace terrazzo {

namespace {

struct Job {
  std::function<void(unsigned)> const* body;
  unsigned max_workers;
  unsigned next_worker = 1;  // 0 is the caller
  unsigned running = 0;      // pool threads that run the job
  std::exception_ptr failure{};
};

// A thread of the pool. It sleeps on its own word: waking it wakes no other thread, and it starts without the pool's
// mutex.
struct Worker {
  static constexpr int kNotCalled = 0, kNotNeeded = -1;
  std::atomic<int> call{kNotCalled};  // one of these, or a number that is unique to the call
  Job* job = nullptr;  // the job of the call
  unsigned number = 0;
  Worker* next_idle = nullptr;
};

class Pool {
 public:
  void run(unsigned threads, std::function<void(unsigned)> const& body) {
    Job job{.body = &body, .max_workers = threads};
    std::list<Job*>::iterator place;
    std::vector<Worker*> called;
    called.reserve(threads - 1);
    int call = 0;
    {
      std::lock_guard const lock(mutex_);
      grow(threads - 1);
      call = last_call_ = last_call_ % std::numeric_limits<int>::max() + 1;
      place = open_jobs_.insert(open_jobs_.end(), &job);  // for threads that are busy, or not started yet
      while (idle_ != nullptr && job.next_worker < job.max_workers) {
        Worker* const worker = std::exchange(idle_, idle_->next_idle);
        worker->job = &job;
        worker->number = join(job);
        called.push_back(worker);
      }
    }
    for (Worker* const worker : called) {
      worker->call.store(call, std::memory_order_release);
      worker->call.notify_one();
    }

    std::exception_ptr own_failure;
    try {
      body(0);
    } catch (...) { own_failure = std::current_exception(); }

    // Don't wait for workers that have not started: on a busy machine that could take long.
    unsigned not_needed = 0;
    for (Worker* const worker : called) {
      int expected = call;
      not_needed += worker->call.compare_exchange_strong(expected, Worker::kNotNeeded) ? 1 : 0;
    }
    std::unique_lock lock(mutex_);
    open_jobs_.erase(place);  // no thread joins from here on
    job.running -= not_needed;
    wait_until(job_done_, lock, [&] { return job.running == 0; });
    if (own_failure) { std::rethrow_exception(own_failure); }
    if (job.failure) { std::rethrow_exception(job.failure); }
  }

 private:
  // REQUIRES: mutex_ is held. If no more threads can be started, fewer do the work.
  void grow(std::size_t wanted) {
    try {
      while (thread_count_ < wanted) {
        std::thread([this] { serve(); }).detach();  // lives as long as the process; see pool()
        ++thread_count_;
      }
    } catch (std::system_error const&) {}
  }

  static unsigned join(Job& job) {  // REQUIRES: mutex_ is held
    ++job.running;
    return job.next_worker++;
  }

  // Gives the worker an open job, if there is one. REQUIRES: mutex_ is held.
  bool find_open(Worker& worker) {
    for (Job* const job : open_jobs_) {
      if (job->next_worker == job->max_workers) { continue; }
      worker.job = job;
      worker.number = join(*job);
      return true;
    }
    return false;
  }

  // Sleeps until it is called. Returns false if the job was done before it woke.
  static bool wait_for_call(Worker& worker) {
    worker.call.wait(Worker::kNotCalled);
    return worker.call.exchange(Worker::kNotCalled) != Worker::kNotNeeded;
  }

  void serve() {
    Worker self;
    std::unique_lock lock(mutex_);
    while (true) {
      bool has_job = find_open(self);
      if (!has_job) { self.next_idle = std::exchange(idle_, &self); }
      lock.unlock();
      if (!has_job) { has_job = wait_for_call(self); }
      std::exception_ptr failure{};
      if (has_job) {
        try {
          (*self.job->body)(self.number);
        } catch (...) { failure = std::current_exception(); }
      }
      lock.lock();
      if (!has_job) { continue; }
      if (failure && !self.job->failure) { self.job->failure = failure; }
      if (--self.job->running == 0) { job_done_.notify_all(); }
    }
  }

  std::mutex mutex_;  // guards the members below, jobs except their body, and idle workers
  std::condition_variable job_done_;
  std::list<Job*> open_jobs_;
  Worker* idle_ = nullptr;  // most recently idle first
  int last_call_ = 0;
  std::size_t thread_count_ = 0;
};

std::atomic<Pool*> the_pool{nullptr};

Pool& pool() {
  static bool const made = [] {
    the_pool = new Pool;  // never destroyed: its threads outlive static destruction
    // A child of fork() has none of the threads, and another thread may have held the mutex: it gets a new pool.
    ::pthread_atfork(nullptr, nullptr, [] { the_pool = new Pool; });
    return true;
  }();
  static_cast<void>(made);
  return *the_pool;
}

}  // namespace

void run_on_pool(unsigned threads, std::function<void(unsigned)> const& body) {
  if (threads <= 1) {
    body(0);
    return;
  }
  pool().run(threads, body);
}

}  // namespace terrazzo
