# SPDX-License-Identifier: Apache-2.0
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import rasterio

import terrazzo


def test_32_threads_read_one_dataset(large):
    ds, whole = terrazzo.open(large), rasterio.open(large).read(1)

    def read(i):
        column, row = i * 53 % 1700, i * 97 % 1700
        return np.array_equal(ds.read(1, window=(column, row, 300, 300)), whole[row : row + 300, column : column + 300])

    with ThreadPoolExecutor(32) as pool:
        assert all(pool.map(read, range(128)))


def test_threads_open_read_and_write_at_once(tmp_path, dem):
    pixels = terrazzo.read(dem)

    def work(i):
        path = tmp_path / f"{i}.tif"
        terrazzo.write(path, pixels + i, like=dem, cog=True, progress=lambda done, total: True)
        return np.array_equal(terrazzo.read(path, progress=lambda done, total: True), pixels + i)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(16)))


def test_the_gil_is_free_while_pixels_are_decoded(large):
    """Another Python thread runs during a read; with the GIL held it would stand still for the whole read."""
    ds, ticks, stop = terrazzo.open(large), [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    for _ in range(5):
        ds.read(threads=1)
    end = time.perf_counter()
    stop.set()
    thread.join()
    during = [tick for tick in ticks if start < tick < end]
    assert len(during) > 5, f"{len(during)} ticks in {end - start:.3f} s"


INTERRUPTED = """
import signal, sys, threading, os, time, terrazzo
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells start background jobs with the signal ignored
ds = terrazzo.open(sys.argv[1])
request = dict(size=(30000, 30000), resampling="lanczos", threads=1, bands=1)
threading.Timer(0.4, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.time()
try:
    ds.read(**request)
except KeyboardInterrupt:
    print("interrupted after", time.time() - start)
"""


def test_ctrl_c_stops_a_read(large):
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, str(large)], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("interrupted"), done.stderr
    assert float(done.stdout.split()[-1]) < 5


def test_importing_takes_little_more_than_numpy():
    code = "import sys, terrazzo; print(*sorted(set(sys.modules) & {'xarray', 'dask', 'pyproj', 'fsspec', 'pandas', 'torch', 'cupy'}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


FORKED = """
import multiprocessing, sys, terrazzo
def total(path):
    return int(terrazzo.read(path, 1).sum(dtype="uint64"))
if __name__ == "__main__":
    expected = total(sys.argv[1])
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(total, [sys.argv[1]] * 4) == [expected] * 4)
"""


def test_reads_work_in_forked_processes(large):
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED, str(large)], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "True", done.stderr
