// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace terrazzo {

namespace {

struct Job {
  std::function<void(unsigned)> const* body;
  unsigned next_worker = 1;  // 0 is the caller
  unsigned max_workers;
  unsigned running = 0;      // pool threads inside the body
  std::exception_ptr failure{};
};

class Pool {
 public:
  void run(unsigned threads, std::function<void(unsigned)> const& body) {
    Job job{.body = &body, .max_workers = threads};
    std::list<Job*>::iterator place;
    {
      std::lock_guard const lock(mutex_);
      grow(threads - 1);
      place = open_jobs_.insert(open_jobs_.end(), &job);
    }
    // One by one: waking more threads than there is work for costs more than a small read does.
    for (unsigned i = 1; i < threads; ++i) { work_available_.notify_one(); }

    std::exception_ptr own_failure;
    try {
      body(0);
    } catch (...) { own_failure = std::current_exception(); }

    std::unique_lock lock(mutex_);
    open_jobs_.erase(place);  // nobody joins from here on
    job_done_.wait(lock, [&] { return job.running == 0; });
    if (own_failure) { std::rethrow_exception(own_failure); }
    if (job.failure) { std::rethrow_exception(job.failure); }
  }

 private:
  // REQUIRES: mutex_ held. A machine out of threads is served by fewer.
  void grow(std::size_t wanted) {
    try {
      while (thread_count_ < wanted) {
        std::thread([this] { serve(); }).detach();  // lives as long as the process; see pool()
        ++thread_count_;
      }
    } catch (std::system_error const&) {}
  }

  Job* take() {  // REQUIRES: mutex_ held
    for (Job* job : open_jobs_) {
      if (job->next_worker < job->max_workers) { return job; }
    }
    return nullptr;
  }

  void serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      Job* job = nullptr;
      work_available_.wait(lock, [&] { return (job = take()) != nullptr; });
      unsigned const worker = job->next_worker++;
      ++job->running;
      lock.unlock();
      std::exception_ptr failure{};
      try {
        (*job->body)(worker);
      } catch (...) { failure = std::current_exception(); }
      lock.lock();
      if (failure && !job->failure) { job->failure = failure; }
      if (--job->running == 0) { job_done_.notify_all(); }
    }
  }

  std::mutex mutex_;
  std::condition_variable work_available_, job_done_;
  std::list<Job*> open_jobs_;
  std::size_t thread_count_ = 0;
};

Pool& pool() {
  static Pool* const p = new Pool;  // never destroyed: its threads outlive static destruction
  return *p;
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
