// SPDX-License-Identifier: Apache-2.0
#include "base/settings.hpp"
#include "base/text.hpp"
#include "terrazzo/convert.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <filesystem>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

namespace terrazzo {
namespace {

namespace fs = std::filesystem;

std::optional<fs::file_time_type> time_of(std::string const& path) {
  std::error_code error;
  auto const time = fs::last_write_time(path, error);
  return error ? std::nullopt : std::optional(time);
}

// An output that cannot be opened was not written by convert().
bool has_options(std::string const& path, std::string const& wanted) {
  try {
    Dataset const output = open(path, {.sidecars = false});
    auto const& domains = output.info().metadata.domains;
    auto const items = domains.find("");
    return items != domains.end() && std::ranges::any_of(items->second, [&](auto const& item) {
             return item.first == kOptionsItem && item.second == wanted;
           });
  } catch (Error const&) { return false; }
}

void store_options(std::string const& text, Metadata& metadata) {
  MetadataItems& items = metadata.domains[""];
  std::erase_if(items, [](auto const& item) { return item.first == kOptionsItem; });
  items.emplace_back(kOptionsItem, text);
}

// Equal times do not count as newer: timestamps of file systems are coarse.
bool is_newer(ConvertJob const& job) {
  std::error_code error;
  if (!fs::is_regular_file(job.out, error)) { return false; }
  auto const out = time_of(job.out), source = time_of(job.source);
  if (!out || !source || *out <= *source) { return false; }
  return std::ranges::all_of(std::array{".aux.xml", ".msk"}, [&](char const* suffix) {
    auto const sidecar = time_of(job.source + suffix);
    return !sidecar || *sidecar < *out;
  });
}

void make_folder_of(std::string const& path) {
  fs::path const folder = fs::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) { fs::create_directories(folder, error); }
  if (error) {
    throw Error(ErrorKind::io, text("cannot make the folder: ", error.message()), {.source = folder.string()});
  }
}

bool is_finished(ConvertJob const& job, ConvertManyOptions const& options) {
  return is_newer(job) && (options.options_text.empty() || has_options(job.out, options.options_text));
}

ConvertSetup cog_setup(Dataset const& dataset) {
  ConvertSetup setup;
  setup.write = conversion_options(dataset);
  setup.write.cog = true;
  return setup;
}

class Batch {
 public:
  Batch(std::vector<ConvertJob> const& jobs, ConvertManyOptions const& options)
      : jobs_(jobs), options_(options), outcomes_(jobs.size()), sizes_(jobs.size()), shares_(jobs.size()) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      outcomes_[i].index = i;
      if (!options.overwrite && is_finished(jobs[i], options)) {
        outcomes_[i].state = ConvertState::skipped;
        tell(outcomes_[i]);
        continue;
      }
      std::error_code error;
      std::uintmax_t const size = fs::file_size(jobs[i].source, error);
      sizes_[i] = error ? 0 : size;
      progress_.bytes_total += sizes_[i];
      waiting_.push_back(i);
    }
    progress_.files_total = waiting_.size();
  }

  std::vector<ConvertOutcome> run() {
    std::size_t const workers = std::min<std::size_t>(std::max(1u, options_.jobs), waiting_.size());
    unsigned const threads = resolve_threads(options_.threads);
    threads_each_ = workers > 1 ? std::max(1u, threads / static_cast<unsigned>(workers)) : options_.threads;
    {
      std::vector<std::jthread> others;
      for (std::size_t i = 1; i < workers; ++i) {
        others.emplace_back([this] { work(); });
      }
      work();
    }
    if (defect_) { std::rethrow_exception(defect_); }
    return std::move(outcomes_);
  }

 private:
  [[nodiscard]] bool is_stopped() const {
    return stopped_ || (options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed));
  }

  void work() noexcept {
    try {
      for (std::size_t next = next_++; next < waiting_.size() && !is_stopped(); next = next_++) {
        run_job(waiting_[next]);
      }
    } catch (...) {
      std::lock_guard const lock(mutex_);
      stopped_ = true;
      if (!defect_) { defect_ = std::current_exception(); }
    }
  }

  void run_job(std::size_t index) {
    auto const started = std::chrono::steady_clock::now();
    ConvertOutcome outcome;
    outcome.index = index;
    try {
      outcome.report = convert_one(index);
      outcome.state = ConvertState::done;
    } catch (Error const& error) {
      outcome.state = error.kind() == ErrorKind::cancelled ? ConvertState::cancelled : ConvertState::failed;
      if (outcome.state == ConvertState::failed) { outcome.error = error.located({.source = jobs_[index].source}); }
    } catch (std::bad_alloc const&) {
      outcome.state = ConvertState::failed;
      outcome.error = Error(ErrorKind::limit, "out of memory", {.source = jobs_[index].source});
    }
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    std::lock_guard const lock(mutex_);
    if (outcome.state == ConvertState::cancelled) {
      stopped_ = true;
    } else {
      ++progress_.files_done;
    }
    set_share(index, sizes_[index]);
    outcomes_[index] = std::move(outcome);
    tell(outcomes_[index]);
    if (options_.progress && !options_.progress(progress_)) { stopped_ = true; }
  }

  ConvertReport convert_one(std::size_t index) {
    ConvertJob const& job = jobs_[index];
    Dataset const dataset = options_.open ? options_.open(job.source) : open(job.source);
    ConvertSetup setup = options_.setup ? options_.setup(dataset) : cog_setup(dataset);
    setup.write.threads = threads_each_;
    setup.write.cancel = options_.cancel;
    setup.write.progress = [&](std::uint64_t done, std::uint64_t total) { return advance(index, done, total); };
    if (!options_.options_text.empty()) { store_options(options_.options_text, setup.write.metadata); }
    make_folder_of(job.out);
    return convert(dataset, job.out, setup);
  }

  bool advance(std::size_t index, std::uint64_t done, std::uint64_t total) {
    std::lock_guard const lock(mutex_);
    if (stopped_) { return false; }
    double const part = total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total);
    set_share(index, static_cast<std::uint64_t>(part * static_cast<double>(sizes_[index])));
    if (options_.progress && !options_.progress(progress_)) { stopped_ = true; }
    return !stopped_;
  }

  // REQUIRES: mutex_ is held.
  void set_share(std::size_t index, std::uint64_t bytes) {
    progress_.bytes_done += bytes - shares_[index];
    shares_[index] = bytes;
  }

  void tell(ConvertOutcome const& outcome) const {
    if (options_.finished) { options_.finished(outcome); }
  }

  std::vector<ConvertJob> const& jobs_;
  ConvertManyOptions const& options_;
  std::vector<ConvertOutcome> outcomes_;
  std::vector<std::uint64_t> sizes_, shares_;  // bytes of the sources, and the finished part of each
  std::vector<std::size_t> waiting_;
  std::atomic<std::size_t> next_{0};
  unsigned threads_each_ = 0;
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  ConvertProgress progress_{};
  std::exception_ptr defect_{};
};

}  // namespace

std::string_view to_string(ConvertState state) noexcept {
  switch (state) {
    case ConvertState::done: return "done";
    case ConvertState::skipped: return "skipped";
    case ConvertState::failed: return "failed";
    case ConvertState::cancelled: return "cancelled";
  }
  return "unknown";
}

std::vector<ConvertOutcome> convert_many(std::vector<ConvertJob> const& jobs, ConvertManyOptions const& options) {
  return Batch(jobs, options).run();
}

}  // namespace terrazzo
