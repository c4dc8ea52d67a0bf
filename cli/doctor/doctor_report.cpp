// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor_report.hpp"

#include "output/format.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>

namespace terrazzo::cli {
namespace {

constexpr char kReadKernels[] = "uncompressed, LZW and PackBits";
constexpr char kWriteKernels[] = "the same, Deflate and ZSTD";

// CUDA's encoding: 13020 is 13.2.
std::string cuda_version(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string compute_capability(DeviceState const& device) {
  return std::to_string(device.compute_major) + "." + std::to_string(device.compute_minor);
}

// "... install the package NAME ...": only the hint contains the name.
std::string package_in(std::string_view hint) {
  constexpr std::string_view kBefore = "install the package ";
  std::size_t const at = hint.find(kBefore);
  if (at == std::string_view::npos) { return {}; }
  std::string_view const rest = hint.substr(at + kBefore.size());
  return std::string(rest.substr(0, rest.find_first_of(" ,;")));
}

// The Debian and Ubuntu package that a build needs. For a library that is loaded at run time, a package of any version
// that brings the library to a machine.
std::string debian_package(std::string_view library, bool loaded) {
  if (loaded) { return std::string(library) + "-tools"; }
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kPackages{{
      {"zlib", "zlib1g-dev"},
      {"libdeflate", "libdeflate-dev"},
      {"libzstd", "libzstd-dev"},
      {"liblzma", "liblzma-dev"},
      {"liblz4", "liblz4-dev"},
      {"liblerc", "liblerc-dev"},
      {"libjpeg-turbo", "libjpeg-dev"},
      {"OpenJPEG", "libopenjp2-7-dev"},
      {"libwebp", "libwebp-dev"},
      {"libjxl", "libjxl-dev"},
      {"libtiff", "libtiff-dev"},
  }};
  for (auto const& [name, package] : kPackages) {
    if (name == library) { return std::string(package); }
  }
  return {};
}

// Codecs grouped by their decoding library, in the order of their numbers.
struct LibraryCodecs {
  std::string library;             // "terrazzo": our own code
  std::vector<std::string> names;  // two numbers may share one name
  bool available = true, trusted_only = false, loaded = false;
};

std::vector<LibraryCodecs> by_library(std::vector<CodecInfo> const& codecs) {
  std::vector<LibraryCodecs> libraries;
  for (CodecInfo const& codec : codecs) {
    std::string const name = codec.library.empty() ? "terrazzo" : codec.library;
    auto known = std::find_if(libraries.begin(), libraries.end(), [&](LibraryCodecs const& l) {
      return l.library == name && l.available == codec.available && l.trusted_only == codec.trusted_only;
    });
    if (known == libraries.end()) {
      known = libraries.insert(known, {name, {}, codec.available, codec.trusted_only, codec.loaded});
    }
    if (std::find(known->names.begin(), known->names.end(), codec.name) == known->names.end()) {
      known->names.push_back(codec.name);
    }
  }
  return libraries;
}

std::string joined(std::vector<std::string> const& words) {
  std::string text;
  for (std::string const& word : words) { text += (text.empty() ? "" : ", ") + word; }
  return text;
}

std::optional<std::string> value_of(DoctorFacts const& facts, std::string_view name) {
  for (EnvironmentSetting const& setting : facts.environment) {
    if (setting.name == name && !setting.value.empty()) { return setting.value; }
  }
  return std::nullopt;
}

std::uint64_t device_budget(DoctorFacts const& facts) {
  return facts.device_budget_bytes != 0 ? facts.device_budget_bytes : facts.device.default_budget_bytes;
}

Json text_or_null(std::string const& text) { return text.empty() ? Json() : Json(text); }

Json device_to_json(DoctorFacts const& facts) {
  DeviceState const& device = facts.device;
  Json libraries = Json::array();
  for (DeviceLibrary const& library : device.libraries) {
    libraries.push_back({{"name", library.name},
                         {"purpose", library.purpose},
                         {"found", library.found},
                         {"path", text_or_null(library.path)},
                         {"version", text_or_null(library.version)},
                         {"hint", text_or_null(library.hint)},
                         {"refused", text_or_null(library.refused)},
                         {"package", text_or_null(library.found ? "" : package_in(library.hint))}});
  }
  bool const usable = device.usable;
  return {{"built", device.built},
          {"usable", usable},
          {"reason", text_or_null(usable ? "" : device.reason)},
          {"index", usable ? Json(device.device) : Json()},
          {"name", text_or_null(device.name)},
          {"driver", device.driver_version > 0 ? Json(cuda_version(device.driver_version)) : Json()},
          {"runtime", device.runtime_version > 0 ? Json(cuda_version(device.runtime_version)) : Json()},
          {"compute_capability", usable ? Json(compute_capability(device)) : Json()},
          {"multiprocessors", usable ? Json(device.multiprocessors) : Json()},
          {"total_bytes", usable ? Json(device.total_bytes) : Json()},
          {"free_bytes", usable ? Json(device.free_bytes) : Json()},
          {"budget_bytes", device_budget(facts) != 0 ? Json(device_budget(facts)) : Json()},
          {"gds", device.gds},
          {"libraries", std::move(libraries)}};
}

Json host_to_json(DoctorFacts const& facts) {
  Json codecs = Json::array();
  for (CodecInfo const& codec : facts.codecs) {
    codecs.push_back({{"compression", codec.compression},
                      {"name", codec.name},
                      {"library", text_or_null(codec.library)},
                      {"available", codec.available},
                      {"trusted_only", codec.trusted_only}});
  }
  return {{"cores", facts.cores},
          {"threads", facts.threads},
          {"memory_bytes", facts.memory_bytes},
          {"memory_limit_bytes", facts.memory_limit_bytes},
          {"tile_cache_bytes", facts.tile_cache_bytes},
          {"proj", facts.proj},
          {"codecs", std::move(codecs)}};
}

void print_device(DoctorFacts const& facts, std::ostream& out) {
  DeviceState const& device = facts.device;
  out << "\nGPU\n";
  if (!device.built) {
    out << "  engine      none: this build was made without CUDA\n";
    return;
  }
  out << "  engine      built in, CUDA runtime " << cuda_version(device.runtime_version) << '\n'
      << "  driver      " << (device.driver_version > 0 ? "for CUDA " + cuda_version(device.driver_version) : "none")
      << '\n';
  if (!device.usable) {
    out << "  device      none: " << device.reason << '\n';
  } else {
    out << "  device      " << device.name << ", compute capability " << compute_capability(device) << ", "
        << device.multiprocessors << " multiprocessors\n"
        << "  memory      " << format_bytes(device.total_bytes) << ", " << format_bytes(device.free_bytes)
        << " of it free\n"
        << "  budget      " << format_bytes(device_budget(facts))
        << " for scratch of a read or write (TERRAZZO_DEVICE_BUDGET, --device-budget)\n"
        << "  storage     "
        << (device.gds ? "GPUDirect Storage is to be had" : "no GPUDirect Storage: bytes pass pinned memory") << '\n';
  }
  out << "  kernels     our own for reading " << kReadKernels << ", writing " << kWriteKernels
      << ", predictors, types and overviews\n";
}

void print_libraries(DeviceState const& device, std::ostream& out) {
  if (device.libraries.empty()) { return; }
  out << "\nGPU libraries\n";
  Table table({"library", "for", "version", "where"});
  bool any_package = false;
  for (DeviceLibrary const& library : device.libraries) {
    std::string const package = library.found ? "" : package_in(library.hint);
    any_package = any_package || !package.empty();
    table.add({library.name, library.purpose, library.found ? library.version : "-",
               library.found              ? library.path
               : !library.refused.empty() ? "refused, see below"
               : package.empty()          ? library.hint
                                          : "not found; it is in the package " + package});
  }
  table.print(out, "  ");
  for (DeviceLibrary const& library : device.libraries) {
    if (!library.refused.empty()) { out << "  " << library.refused << '\n'; }
  }
  if (any_package) { out << "  Libraries that lie somewhere else: name their folders in TERRAZZO_VENDOR_PATH.\n"; }
}

void print_host(DoctorFacts const& facts, std::ostream& out) {
  out << "\nHost\n"
      << "  cores       " << facts.cores << ", of which a read uses " << facts.threads
      << (facts.threads == 1 ? " thread" : " threads") << " (TERRAZZO_THREADS, --threads)\n"
      << "  memory      " << format_bytes(facts.memory_bytes) << ", of which a read takes "
      << format_bytes(facts.memory_limit_bytes) << " at most (TERRAZZO_MEMORY_LIMIT, --memory-limit)\n"
      << "  tile cache  " << (facts.tile_cache_bytes == 0 ? "off" : format_bytes(facts.tile_cache_bytes))
      << " (TERRAZZO_TILE_CACHE)\n"
      << "  PROJ        "
      << (facts.proj ? "found: names and WKT of coordinate systems" : "not found: coordinate systems by EPSG code only")
      << "\n\nHost decoders\n";
  Table table({"library", "decodes"});
  for (LibraryCodecs const& library : by_library(facts.codecs)) {
    table.add({library.library, (library.available ? "" : "missing: ") + joined(library.names) +
                                    (library.trusted_only ? " (trusted files only)" : "")});
  }
  table.print(out, "  ");
}

void print_settings(DoctorFacts const& facts, std::ostream& out) {
  out << "\nSettings from the environment\n";
  if (facts.environment.empty()) {
    out << "  none: defaults all over\n";
    return;
  }
  Table table({"variable", "value", "meaning"});
  for (EnvironmentSetting const& setting : facts.environment) {
    table.add({setting.name, printable(setting.value),
               setting.meaning.empty() ? "no setting of the library" : setting.meaning});
  }
  table.print(out, "  ");
}

void print_summary(DoctorFacts const& facts, std::ostream& out) {
  out << "\nSummary\n  default     " << default_engine(facts) << '\n';
  std::vector<MissingPart> const missing = missing_parts(facts);
  if (missing.empty()) { out << "  missing     nothing\n"; }
  for (MissingPart const& part : missing) {
    out << "  missing     " << part.what << "\n              "
        << (part.command.empty() ? part.advice : "type: " + part.command) << '\n';
  }
}

}  // namespace

std::vector<MissingPart> missing_parts(DoctorFacts const& facts) {
  std::vector<MissingPart> missing;
  DeviceState const& device = facts.device;
  if (!device.built) {
    missing.push_back({"the device engine: reading and writing on the GPU", "",
                       "build with a CUDA toolkit: cmake -S . -B build -DTERRAZZO_CUDA=ON && cmake --build build"});
  } else if (device.driver_version == 0) {
    missing.push_back({"an NVIDIA driver: reading and writing on the GPU", "",
                       "where there is an NVIDIA GPU, install its driver; `nvidia-smi` lists the GPU when it works"});
  } else if (!device.usable && device.driver_version < device.runtime_version) {
    missing.push_back({"a newer NVIDIA driver: reading and writing on the GPU", "",
                       "this build needs a driver for CUDA " + std::to_string(device.runtime_version / 1000) + "." +
                           std::to_string(device.runtime_version % 1000 / 10)});
  } else if (!device.usable && device.compute_major > 0) {  // there is a GPU, but the build has no kernels for it
    std::string const number = std::to_string(device.compute_major) + std::to_string(device.compute_minor);
    missing.push_back(
        {"kernels for compute capability " + compute_capability(device) + ": reading and writing on the GPU", "",
         "build with -DTERRAZZO_CUDA_ARCHITECTURES=" + number});
  }
  std::vector<std::string> names;
  std::string packages;
  for (DeviceLibrary const& library : device.libraries) {
    std::string const package = library.found ? "" : package_in(library.hint);
    if (package.empty()) { continue; }
    names.push_back(library.name + " (" + library.purpose + ")");
    packages += " " + package;
  }
  if (!packages.empty()) { missing.push_back({joined(names) + " on the GPU", "pip install" + packages, ""}); }
  for (LibraryCodecs const& library : by_library(facts.codecs)) {
    if (library.available) { continue; }
    std::string const what = library.library + ": " + joined(library.names) + " on the host";
    std::string const package = debian_package(library.library, library.loaded);
    if (library.loaded) {
      missing.push_back({what, "apt-get install " + package, ""});
    } else if (package.empty()) {
      missing.push_back({what, "", "build with its development files installed"});
    } else {
      missing.push_back({what, "", "apt-get install " + package + ", then build again"});
    }
  }
  if (!facts.proj) { missing.push_back({"PROJ: names and WKT of coordinate systems", "apt-get install proj-bin", ""}); }
  return missing;
}

std::string default_engine(DoctorFacts const& facts) {
  DeviceState const& device = facts.device;
  std::string const host =
      "the host decodes, on " + std::to_string(facts.threads) + (facts.threads == 1 ? " thread" : " threads");
  std::string const forced = value_of(facts, "TERRAZZO_ENGINE").value_or("auto");
  if (forced == "host") { return host + ", as TERRAZZO_ENGINE asks"; }
  if (forced == "device") {
    return device.usable ? "the " + device.name + " decodes, as TERRAZZO_ENGINE asks"
                         : "reads fail: TERRAZZO_ENGINE asks for the device engine, but " + device.reason;
  }
  if (forced != "auto" && !forced.empty()) {
    return "reads fail: TERRAZZO_ENGINE=" + forced + " is none of auto, host, device";
  }
  if (!device.built) { return host + "; this build has no device engine"; }
  if (!device.usable) { return host + "; no GPU: " + device.reason; }
  return host + "; results for GPU memory and --device are decoded on the " + device.name;
}

Json to_json(DoctorFacts const& facts) {
  Json settings = Json::array();
  for (EnvironmentSetting const& setting : facts.environment) {
    settings.push_back({{"name", setting.name}, {"value", setting.value}, {"meaning", text_or_null(setting.meaning)}});
  }
  Json missing = Json::array();
  for (MissingPart const& part : missing_parts(facts)) {
    missing.push_back(
        {{"what", part.what}, {"command", text_or_null(part.command)}, {"advice", text_or_null(part.advice)}});
  }
  return {{"version", facts.version},        {"device", device_to_json(facts)},  {"host", host_to_json(facts)},
          {"settings", std::move(settings)}, {"default", default_engine(facts)}, {"missing", std::move(missing)}};
}

void print(DoctorFacts const& facts, std::ostream& out) {
  out << "terrazzo " << facts.version << '\n';
  print_device(facts, out);
  print_libraries(facts.device, out);
  print_host(facts, out);
  print_settings(facts, out);
  print_summary(facts, out);
}

}  // namespace terrazzo::cli
