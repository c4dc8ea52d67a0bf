# SPDX-License-Identifier: Apache-2.0
"""Training with torch: windows of rasters as a dataset for DataLoader, and batches that arrive ahead of time.

>>> from terrazzo.torch import WindowDataset, collate
>>> chips = WindowDataset([("dem.tif", (0, 0, 64, 64)), ("dem.tif", (350, 250, 64, 64))], dtype="float32", fill=0)
>>> batch = collate(chips.__getitems__([1, 0]))
>>> tuple(batch["image"].shape), batch["index"].tolist()
((2, 1, 64, 64), [1, 0])

`import terrazzo` does not import torch, and this module imports it when it makes the first tensor.
"""
from __future__ import annotations

import os
import queue
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ._dataset import Dataset, open
from ._sources import path_of
from ._windows import read_windows
from .errors import DeviceError

Sample = dict[str, Any]


class Batch(list[Sample]):
    """The samples of a batch. Their images are views of `tensors["image"]`, which collate() returns as it is."""

    def __init__(self, tensors: Sample):
        self.tensors = tensors
        super().__init__({name: tensor[i] for name, tensor in tensors.items()} for i in range(len(tensors["index"])))


def collate(samples: Sequence[Any]) -> Any:
    """For DataLoader(collate_fn=collate): a batch of a WindowDataset without a copy, other samples as torch does it."""
    if isinstance(samples, Batch):
        return samples.tensors
    from torch.utils.data import default_collate

    return default_collate(list(samples))


class WindowDataset:
    """Windows of rasters, as a map-style dataset of torch: `{"image": (bands, rows, columns), "valid", "index"}`.

    `items` and the keywords are those of terrazzo.read_windows(); `size` is needed if places have several sizes.
    DataLoader reads a batch by one call, which decodes each tile once. Workers may start by fork, spawn or forkserver;
    each opens its files itself and keeps the `max_open` last ones open. `transform` is called with each batch of
    samples, a dict of tensors, and returns it.

        loader = DataLoader(WindowDataset(items, size=256), batch_size=32, shuffle=True, num_workers=4,
                            collate_fn=terrazzo.torch.collate)
    """

    def __init__(
        self,
        items: Iterable[tuple[Any, Any]],
        *,
        transform: Callable[[Sample], Sample] | None = None,
        max_open: int = 128,
        **keywords: Any,
    ):
        self.items = list(items)
        self.transform, self.max_open, self.keywords = transform, max_open, keywords
        self._datasets: OrderedDict[str, Dataset] = OrderedDict()
        self._process = os.getpid()
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["_datasets"], state["_process"], state["_lock"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget_files()

    def _forget_files(self) -> None:
        self._datasets, self._process, self._lock = OrderedDict(), os.getpid(), threading.Lock()

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> Sample:
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> Batch:
        """Reads many items by one call."""
        import torch

        if self._process != os.getpid():  # forked: the lock may be held, by a thread of the parent
            self._forget_files()
        chosen = [self.items[index] for index in indices]
        images, valid = read_windows(
            [(self._opened(source), place) for source, place in chosen],
            **{"like": "torch", **self.keywords},
            return_valid=True,
        )
        tensors = {"image": images, "valid": torch.from_numpy(valid), "index": torch.tensor([int(i) for i in indices])}
        return Batch(tensors if self.transform is None else self.transform(tensors))

    def _opened(self, source: Any) -> Any:
        """The dataset of a path, if it can be opened; read_windows() has the rules for the others."""
        path = path_of(source)
        if path is None:
            return source
        with self._lock:
            dataset = self._datasets.pop(path, None)
        if dataset is None:
            try:
                dataset = open(path)
            except Exception:  # read_windows() meets it again
                return source
        with self._lock:
            self._datasets[path] = dataset
            while len(self._datasets) > self.max_open:
                self._datasets.popitem(last=False)
        return dataset


class Prefetcher:
    """Iterates over batches that a thread makes ahead: `depth` of them wait, on `device` if one is given.

    `batches` is a DataLoader or any iterable of tensors, or of dicts, lists and tuples of tensors. With a CUDA device,
    host tensors are pinned and copied on a side stream, and the consumer's stream waits for the copy: kernels and
    copies overlap. Each iteration starts anew. An exception of the thread is raised where the batch would have come.

        for batch in terrazzo.torch.Prefetcher(loader, "cuda"):
            train(batch["image"])
    """

    def __init__(self, batches: Iterable[Any], device: Any = None, *, depth: int = 2):
        self.batches, self.device, self.depth = batches, device, depth

    def __len__(self) -> int:
        return len(self.batches)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Any]:
        import torch

        device = None if self.device is None else torch.device(self.device)
        if device is not None and device.type == "cuda" and not torch.cuda.is_available():
            raise DeviceError("torch finds no GPU that it can use: leave out the device, or see terrazzo.doctor()")
        copier = _StreamCopier(device) if device is not None and device.type == "cuda" else _Copier(device)
        return _Ahead(self.batches, copier, self.depth)


class _Copier:
    """Copies batches to a device; None leaves them where they are."""

    def __init__(self, device: Any):
        self.device = device

    def context(self) -> AbstractContextManager[Any]:
        """In which the thread makes batches."""
        return nullcontext()

    def copy(self, batch: Any) -> tuple[Any, Any]:
        """(the batch on the device, what receive() needs). In the thread that makes batches."""
        if self.device is None:
            return batch, None
        return _each_tensor(batch, lambda tensor: tensor.to(self.device)), None

    def receive(self, batch: Any, ready: Any) -> Any:
        """In the thread of the consumer."""
        return batch


class _StreamCopier(_Copier):
    """Copies on a stream of its own, from pinned memory."""

    def __init__(self, device: Any):
        import torch

        super().__init__(device)
        self.cuda = torch.cuda
        self.stream = torch.cuda.Stream(device)

    def context(self) -> AbstractContextManager[Any]:
        return self.cuda.stream(self.stream)  # which makes its device current, too

    def copy(self, batch: Any) -> tuple[Any, Any]:
        return _each_tensor(batch, self._move), self.stream.record_event()

    def _move(self, tensor: Any) -> Any:
        if tensor.is_cuda:
            return tensor
        pinned = tensor if tensor.is_pinned() else tensor.pin_memory()
        return pinned.to(self.device, non_blocking=True)  # torch keeps `pinned` until the copy is done

    def receive(self, batch: Any, ready: Any) -> Any:
        stream = self.cuda.current_stream(self.device)
        stream.wait_event(ready)
        _each_tensor(batch, lambda tensor: tensor.record_stream(stream))
        return batch


def _each_tensor(batch: Any, change: Callable[[Any], Any]) -> Any:
    """The batch with changed tensors."""
    if hasattr(batch, "is_cuda"):
        return change(batch)
    if isinstance(batch, Batch):
        return _each_tensor(batch.tensors, change)
    if isinstance(batch, Mapping):
        return {key: _each_tensor(value, change) for key, value in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(_each_tensor(value, change) for value in batch))
    if isinstance(batch, (list, tuple)):
        return type(batch)(_each_tensor(value, change) for value in batch)
    return batch


_END = object()


class _Ahead:
    """An iterator whose items a thread makes ahead. The thread ends with the iterator."""

    def __init__(self, batches: Iterable[Any], copier: _Copier, depth: int):
        self._copier = copier
        self._waiting: queue.Queue[tuple[Any, Any, BaseException | None]] = queue.Queue(max(1, depth))
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=_produce, args=(batches, copier, self._waiting, self._stop), name="terrazzo-prefetch", daemon=True
        )
        self._thread.start()

    def __iter__(self) -> _Ahead:
        return self

    def __next__(self) -> Any:
        if self._stop.is_set():
            raise StopIteration
        batch, ready, error = self._waiting.get()
        if error is not None:
            self.close()
            raise error
        if batch is _END:
            self.close()
            raise StopIteration
        return self._copier.receive(batch, ready)

    def close(self) -> None:
        """Ends the thread; batches that wait are dropped."""
        self._stop.set()
        while not self._waiting.empty():  # the thread may wait for room
            self._waiting.get_nowait()

    def __del__(self) -> None:
        self._stop.set()


def _produce(batches: Iterable[Any], copier: _Copier, waiting: queue.Queue[Any], stop: threading.Event) -> None:
    """The thread. It has no reference to the iterator, so that dropping the iterator ends it."""

    def put(entry: tuple[Any, Any, BaseException | None]) -> bool:
        while not stop.is_set():
            try:
                waiting.put(entry, timeout=0.1)
                return True
            except queue.Full:
                pass
        return False

    try:
        with copier.context():
            for batch in batches:
                if not put((*copier.copy(batch), None)):
                    return
        put((_END, None, None))
    except BaseException as error:
        put((None, None, error))
