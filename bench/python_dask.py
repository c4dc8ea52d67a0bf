#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dask: read a raster, compute, write the result. Time and peak memory of terrazzo and of rioxarray.

  python_dask.py [--gib N] [--chunk PIXELS] [--workers N] [--rounds N] [--folder FOLDER]

The raster is a float32 surface of tools/make_rasters.py (COG for terrazzo's and rioxarray's reads alike: ZSTD, 512 px
tiles). The computation is elementwise. Schedulers: dask's threads, and a LocalCluster of N processes with one thread
each. Every run is a process of its own, with the file in the page cache; the outputs are compared before the figures
are printed. CPU and memory (peak of resident memory) are sums over the client and its workers.

Writes: "tif" is a tiled GeoTIFF with ZSTD. terrazzo also writes a COG ("cog"), which rioxarray can only make from an
array in memory. The clock starts after the imports, also those of the workers.
"""

import argparse
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
CONTENDERS = (("terrazzo", "tif"), ("terrazzo", "cog"), ("rioxarray", "tif"))


def make_source(path, gib):
    sys.path.insert(0, str(ROOT / "tools"))
    import make_rasters
    import numpy as np
    import terrazzo

    block = 2048
    side = max(block, int((gib * 2**30 / 4) ** 0.5) // block * block)
    strip = np.tile(np.round(make_rasters.elevation(block)).astype(np.float32).reshape(block, block), (1, side // block))
    with terrazzo.Writer(path, side, side, dtype="float32", crs=32633, transform=(1, 0, 4e5, 0, -1, 5e6), cog=True,
                         compression="zstd", level=1, nodata=-9999) as out:  # fmt: skip
        for _ in range(side // block):
            out.write_rows(strip)
    return side


def usage():
    """(CPU seconds, peak resident bytes) of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def run(library, kind, scheduler, source, target, chunk):
    """One measurement, in this process: (seconds, CPU seconds, peak bytes)."""
    import contextlib
    import threading

    import dask
    import xarray as xr

    _import_engine(library)
    client, lock = None, threading.Lock()
    with contextlib.ExitStack() as stack:
        if scheduler > 0:
            import distributed

            stack.enter_context(dask.config.set({"distributed.logging.distributed": "error"}))
            cluster = distributed.LocalCluster(n_workers=scheduler, threads_per_worker=1, dashboard_address=":0")
            client = stack.enter_context(distributed.Client(stack.enter_context(cluster)))
            lock = distributed.Lock("write")
            client.run(_import_engine, library)

        def usages():
            return [usage(), *(client.run(_usage_of_worker).values() if client else ())]

        cpu_before, start = sum(cpu for cpu, _ in usages()), time.perf_counter()
        chunks = {"band": 1, "y": chunk, "x": chunk}
        ds = xr.open_dataset(source, engine="terrazzo" if library == "terrazzo" else "rasterio", chunks=chunks)
        result = ((ds.band_data - 100) * 0.5).astype("float32")
        if library == "terrazzo":
            result.terrazzo.to_geotiff(target, cog=kind == "cog", compression="zstd", level=1)
        else:
            result.rio.to_raster(target, lock=lock, tiled=True, blockxsize=512, blockysize=512, compress="zstd",
                                 zstd_level=1, predictor=3, bigtiff="if_safer")  # fmt: skip
        seconds = time.perf_counter() - start
        after = usages()
        return seconds, sum(cpu for cpu, _ in after) - cpu_before, sum(peak for _, peak in after)


def _import_engine(library):
    import importlib

    importlib.import_module("terrazzo.xarray_engine" if library == "terrazzo" else "rioxarray")


def _usage_of_worker():
    import resource  # workers do not have this module

    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def child(arguments):
    command = [sys.executable, __file__, "--run", json.dumps(arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{arguments}: {done.stderr[-3000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def checksum(path):
    import terrazzo

    stats = terrazzo.stats(path)[0]
    return stats.minimum, stats.maximum, round(stats.mean, 6), stats.valid


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gib", type=float, default=1)
    parser.add_argument("--chunk", type=int, default=2048)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--folder", default=None)
    parser.add_argument("--run", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        print(json.dumps(run(*json.loads(arguments.run))))
        return
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        source, target = f"{folder}/source.tif", f"{folder}/target.tif"
        side = make_source(source, arguments.gib)
        print(f"{side} x {side} float32, {side * side * 4 / 2**30:.2f} GiB; chunks of {arguments.chunk} px; best of {arguments.rounds}")
        print("| library | file | scheduler | seconds | CPU s | peak MiB |\n|---|---|---|---|---|---|")
        seen = set()
        for scheduler in (0, arguments.workers):
            for library, kind in CONTENDERS:
                runs = [child([library, kind, scheduler, source, target, arguments.chunk]) for _ in range(arguments.rounds)]
                seen.add(checksum(target))
                seconds, cpu, peak = min(run[0] for run in runs), min(run[1] for run in runs), max(run[2] for run in runs)
                name = f"{scheduler} processes" if scheduler else "threads"
                print(f"| {library} | {kind} | {name} | {seconds:.2f} | {cpu:.2f} | {peak / 2**20:.0f} |", flush=True)
        if len(seen) != 1:
            sys.exit(f"the outputs differ: {seen}")


if __name__ == "__main__":
    main()
