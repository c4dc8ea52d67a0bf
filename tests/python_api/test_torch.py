# SPDX-License-Identifier: Apache-2.0
"""terrazzo.torch: datasets of windows for DataLoader, and batches made ahead. On the CPU; test_device.py has the GPU."""
import pickle
import threading
import time

import numpy as np
import pytest

import terrazzo

torch = pytest.importorskip("torch")
from terrazzo.torch import Prefetcher, WindowDataset, collate  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

CORNERS = [(0, 0), (100, 900), (-20, 33), (2040, 2040), (640, 320)]


@pytest.fixture(scope="module")
def items(large):
    return [(str(large), (column, row, 64, 32)) for column, row in CORNERS]


@pytest.fixture(scope="module")
def expected(items):
    return terrazzo.read_windows(items, dtype="float32", fill=0)


def windows(items, **keywords):
    return WindowDataset(items, dtype="float32", fill=0, **keywords)


def test_like_torch_makes_tensors(packed, dem):
    ds = terrazzo.open(packed)
    tensor = ds.read(like="torch", window=(10, 20, 100, 90))
    assert isinstance(tensor, torch.Tensor) and tensor.dtype == torch.int16
    np.testing.assert_array_equal(tensor.numpy(), ds.read(window=(10, 20, 100, 90)))
    for keywords in ({"size": (40, 30)}, {"masked": True}, {"overview": 0}, {"window": (-5, -5, 20, 10), "boundless": True},
                     {"bbox": (500100, 4199000, 500200, 4199500), "dtype": "uint16"}):  # fmt: skip
        expected = ds.read(2, **keywords)
        tensor = ds.read(2, like=torch, **keywords)
        assert tuple(tensor.shape) == expected.shape and tensor.numpy().dtype == expected.dtype
        np.testing.assert_array_equal(tensor.numpy(), expected)
    batch = terrazzo.read_windows([(dem, (0, 0, 8, 8)), (dem, (-4, 0, 8, 8))], like="torch", masked=True, scale=2)
    np.testing.assert_array_equal(batch.numpy(), terrazzo.read_windows([(dem, (0, 0, 8, 8)), (dem, (-4, 0, 8, 8))], masked=True, scale=2))


def test_tensors_of_the_caller_are_filled(packed):
    ds = terrazzo.open(packed)
    out = torch.empty(ds.shape, dtype=torch.float32)
    assert ds.read(out=out) is out
    np.testing.assert_array_equal(out.numpy(), ds.read())
    pixels = torch.zeros((2, 3, 8, 8))
    assert terrazzo.read_windows([(ds, (0, 0, 8, 8)), (ds, (396, 0, 8, 8))], out=pixels, fill=-1) is pixels
    assert (pixels[1, :, :, 4:] == -1).all() and not (pixels[1, :, :, :4] == -1).any()


def test_samples_and_batches_are_the_windows(items, expected):
    chips = windows(items)
    assert len(chips) == 5
    sample = chips[3]
    np.testing.assert_array_equal(sample["image"].numpy(), expected[3])
    assert int(sample["index"]) == 3 and bool(sample["valid"])
    batch = chips.__getitems__([4, 0, 2])
    assert len(batch) == 3 and int(batch[2]["index"]) == 2
    tensors = collate(batch)
    np.testing.assert_array_equal(tensors["image"].numpy(), expected[[4, 0, 2]])
    assert tensors["image"].data_ptr() == batch[0]["image"].data_ptr()  # no copy
    assert collate([{"a": 1}, {"a": 2}])["a"].tolist() == [1, 2]


def test_a_batch_is_one_call(items, monkeypatch):
    import terrazzo.torch as module

    calls = []
    monkeypatch.setattr(module, "read_windows", lambda given, **keywords: calls.append(given) or terrazzo.read_windows(given, **keywords))
    loader = DataLoader(windows(items), batch_size=3, collate_fn=collate)
    assert [len(batch["index"]) for batch in loader] == [3, 2]
    assert [len(given) for given in calls] == [3, 2]
    assert calls[0][0][0] is calls[1][0][0]  # the file stays open


def test_transforms_change_batches_and_files_that_fail_are_marked(items, folder, expected):
    broken = [*items[:2], (folder / "nowhere.tif", (0, 0, 64, 32))]
    chips = windows(broken, on_error="fill", transform=lambda batch: {**batch, "image": batch["image"] + 1})
    batch = collate(chips.__getitems__([0, 1, 2]))
    assert batch["valid"].tolist() == [True, True, False]
    np.testing.assert_array_equal(batch["image"][:2].numpy(), expected[:2] + 1)
    assert (batch["image"][2] == 1).all()
    with pytest.raises(terrazzo.MissingFileError):
        windows(broken)[2]


def test_the_number_of_open_files_is_bounded(items, large, dem):
    chips = WindowDataset([(large, (0, 0, 8, 8)), (dem, (0, 0, 8, 8))], max_open=1, dtype="float32")
    for index in (0, 1, 0):
        chips[index]
    assert list(chips._datasets) == [str(large)]


def test_datasets_are_pickled_without_their_open_files(items, expected):
    chips = windows(items)
    chips[0]
    again = pickle.loads(pickle.dumps(chips))
    assert not again._datasets and chips._datasets
    np.testing.assert_array_equal(again[1]["image"].numpy(), expected[1])


@pytest.mark.parametrize("start", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_workers_of_data_loaders_read(items, expected, start):
    chips = windows(items)
    chips[0]  # an open file, and a pool of threads that fork does not copy
    loader = DataLoader(chips, batch_size=3, num_workers=1, collate_fn=collate, multiprocessing_context=start)
    batches = list(loader)
    np.testing.assert_array_equal(np.concatenate([batch["image"].numpy() for batch in batches]), expected)
    assert np.concatenate([batch["index"] for batch in batches]).tolist() == [0, 1, 2, 3, 4]


def test_prefetched_batches_are_those_of_the_loader(items, expected):
    loader = DataLoader(windows(items), batch_size=2, collate_fn=collate)
    for device in (None, "cpu"):
        ahead = Prefetcher(loader, device)
        assert len(ahead) == 3
        for _ in range(2):  # every iteration starts anew
            np.testing.assert_array_equal(np.concatenate([batch["image"].numpy() for batch in ahead]), expected)
    nested = list(Prefetcher([(torch.ones(1), {"a": [torch.zeros(2), "text"]})], "cpu"))
    assert nested[0][1]["a"][1] == "text" and nested[0][1]["a"][0].tolist() == [0, 0]


def test_prefetching_makes_a_bounded_number_of_batches_ahead():
    made = []

    def batches():
        for i in range(50):
            made.append(i)
            yield i

    ahead = iter(Prefetcher(batches(), depth=3))
    assert next(ahead) == 0
    deadline = time.monotonic() + 5
    while len(made) < 5 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.05)
    assert len(made) == 5  # one taken, three that wait, one in the hands of the thread
    assert list(ahead) == list(range(1, 50))
    with pytest.raises(StopIteration):
        next(ahead)


def test_an_error_of_the_thread_arrives_after_the_batches_before_it():
    def batches():
        yield 1
        raise OSError("no more")

    ahead = iter(Prefetcher(batches()))
    assert next(ahead) == 1
    with pytest.raises(OSError, match="no more"):
        next(ahead)


def test_a_loop_that_ends_early_ends_the_thread():
    def endless():
        while True:
            yield 0

    for _ in Prefetcher(endless()):
        break
    deadline = time.monotonic() + 5
    while any(thread.name == "terrazzo-prefetch" for thread in threading.enumerate()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(thread.name == "terrazzo-prefetch" for thread in threading.enumerate())


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_prefetcher_without_a_gpu_names_the_reason(items):
    with pytest.raises(terrazzo.DeviceError, match="no GPU"):
        iter(Prefetcher(DataLoader(windows(items), collate_fn=collate), "cuda"))
