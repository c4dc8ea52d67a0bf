// SPDX-License-Identifier: Apache-2.0
//
// The exported part of DLPack's stable ABI, before and since version 1.0. Names and layout follow the standard.
#pragma once

#include "terrazzo/dtype.hpp"
#include "terrazzo/read.hpp"

#include <cstdint>
#include <memory>
#include <vector>

extern "C" {

enum DLDeviceType : std::int32_t { kDLCPU = 1, kDLCUDA = 2 };
enum DLDataTypeCode : std::uint8_t { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLComplex = 5 };

struct DLDevice {
  DLDeviceType device_type;
  std::int32_t device_id;
};

struct DLDataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements
  std::uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};

struct DLPackVersion {
  std::uint32_t major;
  std::uint32_t minor;
};

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  std::uint64_t flags;
  DLTensor dl_tensor;
};

}  // extern "C"

namespace terrazzo::reading {

inline constexpr DLPackVersion kDlpackVersion{1, 0};
inline constexpr std::uint64_t kDlpackReadOnly = 1, kDlpackIsCopied = 2;

// Memory to export: `shape` in C order. `memory` stays alive until the receiver calls the deleter.
struct DlpackSource {
  std::shared_ptr<void> memory;
  void* data = nullptr;
  DType dtype = DType::u8;
  DLDevice device{kDLCPU, 0};
  std::vector<std::int64_t> shape{};
};

// Both throw `unsupported` for types that DLPack lacks.
[[nodiscard]] DLManagedTensor* export_dlpack(DlpackSource source);
[[nodiscard]] DLManagedTensorVersioned* export_dlpack_versioned(DlpackSource source, DlpackFlags flags);

}  // namespace terrazzo::reading
