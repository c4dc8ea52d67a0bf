// SPDX-License-Identifier: Apache-2.0
#include "read/arrays/dlpack.hpp"

#include "base/text.hpp"
#include "terrazzo/error.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace terrazzo::reading {

namespace {

DLDataType dlpack_type(DType dtype) {
  auto const bits = static_cast<std::uint8_t>(size_bytes(dtype) * 8);
  switch (dtype) {
    case DType::u8:
    case DType::u16:
    case DType::u32:
    case DType::u64: return {kDLUInt, bits, 1};
    case DType::i8:
    case DType::i16:
    case DType::i32:
    case DType::i64: return {kDLInt, bits, 1};
    case DType::f16:
    case DType::f32:
    case DType::f64: return {kDLFloat, bits, 1};
    case DType::cf32:
    case DType::cf64: return {kDLComplex, bits, 1};
    default: throw Error(ErrorKind::unsupported, text("DLPack has no type for ", to_string(dtype)));
  }
}

// The receiver frees it through the deleter.
template <class Managed>
struct Export {
  Managed tensor{};
  std::shared_ptr<void> memory;
  std::vector<std::int64_t> shape, strides;
};

template <class Managed>
Managed* export_tensor(DlpackSource source) {
  auto exported = std::make_unique<Export<Managed>>();
  DLTensor& tensor = exported->tensor.dl_tensor;
  tensor.data = source.data;
  tensor.device = source.device;
  tensor.ndim = static_cast<std::int32_t>(source.shape.size());
  tensor.dtype = dlpack_type(source.dtype);
  exported->shape = std::move(source.shape);
  exported->strides.resize(exported->shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = exported->shape.size(); i-- > 0;) {
    exported->strides[i] = stride;
    stride *= exported->shape[i];
  }
  tensor.shape = exported->shape.data();
  tensor.strides = exported->strides.data();
  exported->memory = std::move(source.memory);
  exported->tensor.manager_ctx = exported.get();
  exported->tensor.deleter = [](Managed* self) { delete static_cast<Export<Managed>*>(self->manager_ctx); };
  return &exported.release()->tensor;
}

}  // namespace

DLManagedTensor* export_dlpack(DlpackSource source) { return export_tensor<DLManagedTensor>(std::move(source)); }

DLManagedTensorVersioned* export_dlpack_versioned(DlpackSource source, DlpackFlags flags) {
  auto* const managed = export_tensor<DLManagedTensorVersioned>(std::move(source));
  managed->version = kDlpackVersion;
  managed->flags = (flags.read_only ? kDlpackReadOnly : 0) | (flags.copied ? kDlpackIsCopied : 0);
  return managed;
}

}  // namespace terrazzo::reading
