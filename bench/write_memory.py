# SPDX-License-Identifier: Apache-2.0
"""`write_peers.py --memory`: peak memory of whole processes that make a COG of a file, which gets larger and larger."""

import os
import subprocess
import sys
import tempfile
import time

from write_contenders import rio_cogeo

MAKE_SOURCE = """
import sys
sys.path[:0] = {path!r}
import make_rasters, numpy as np, rasterio
from rasterio.windows import Window
side, block = {side}, min({side}, 4096)
# Whole metres, so that 16 GiB fit the disk; the surface is periodic, so it can be laid side by side.
strip = np.tile(np.round(make_rasters.elevation(block)), (1, 1, side // block))
with rasterio.open({out!r}, "w", driver="GTiff", width=side, height=side, count=1, dtype="float32", tiled=True,
                   blockxsize=512, blockysize=512, compress="zstd", zstd_level=1, predictor=3, bigtiff="yes",
                   num_threads="all_cpus", crs="EPSG:32633",
                   transform=rasterio.transform.from_origin(4e5, 5e6, 1, 1)) as out:
    for row in range(0, side, block):
        out.write(strip, window=Window(0, row, side, block))
"""

GDAL_COG = """
import rasterio.shutil
rasterio.shutil.copy({source!r}, {out!r}, driver="COG", compress="zstd", level=1, predictor="yes", blocksize=512,
                     overview_resampling="average", num_threads={threads}, bigtiff="yes")
"""

COGEO_COG = """
import sys
sys.path[:0] = {path!r}
from rio_cogeo.cogeo import cog_translate
cog_translate({source!r}, {out!r}, {{"driver": "GTiff", "compress": "zstd", "zstd_level": 1, "predictor": 3,
    "tiled": True, "blockxsize": 512, "blockysize": 512, "bigtiff": "yes", "num_threads": {threads}}},
    overview_resampling="average",
    quiet=True, add_mask=False, in_memory={in_memory},
    config={{"GDAL_NUM_THREADS": "{threads}", "GDAL_TIFF_OVR_BLOCKSIZE": "512"}})
"""


def run_child(command, limit_s):
    """Seconds and peak resident bytes of a process by itself; None when it did not end in time or failed."""
    with tempfile.TemporaryFile("w+", errors="replace") as errors:  # a pipe that nobody reads would stop the child
        started = time.perf_counter()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid != 0:
                break
            if time.perf_counter() - started > limit_s:
                child.kill()
                os.wait4(child.pid, 0)
                return None, f"stopped after {limit_s} s"
            time.sleep(0.02)
        seconds = time.perf_counter() - started
        if status != 0:
            errors.seek(0)
            return None, (errors.read().strip().splitlines() or [f"status {status}"])[-1]
    return {"seconds": seconds, "peak_bytes": usage.ru_maxrss * 1024}, None


def measure_memory(arguments, results):
    """Peak resident memory of whole processes that make a COG of a file."""
    path = [p for p in sys.path if p]
    print("peak resident MiB (seconds) of making a COG, zstd 1, predictor 3; every process by itself")
    for gib in arguments.gib:
        side = {1: 16384, 4: 32768, 16: 65536}[gib]
        source, out = arguments.folder / f"memory_{gib}gib.tif", arguments.folder / "memory_out.tif"
        if not source.exists():
            partial = source.with_suffix(".partial")
            program = MAKE_SOURCE.format(path=path, side=side, out=str(partial))
            made, why = run_child([sys.executable, "-c", program], 3600)
            if made is None:
                raise SystemExit(why)
            partial.rename(source)
        fill = {"source": str(source), "out": str(out), "threads": arguments.threads, "path": path}
        commands = {
            "terrazzo": [arguments.binary, "cog", "--buffer", "256M", "--spool", "256M", "--compression", "zstd",
                         "--compression-level", "1", "--threads", str(arguments.threads), "-o", str(out), str(source)],
            "gdal": [sys.executable, "-c", GDAL_COG.format(**fill)],
        }
        if rio_cogeo is not None and not arguments.no_cogeo:
            commands["cogeo on disk"] = [sys.executable, "-c", COGEO_COG.format(**fill, in_memory=False)]
            if gib <= arguments.cogeo_memory_gib:
                commands["cogeo in memory"] = [sys.executable, "-c", COGEO_COG.format(**fill, in_memory=True)]
        row = {"gib": gib, "source_bytes": source.stat().st_size}
        cells = []
        for who, command in commands.items():
            out.unlink(missing_ok=True)
            row[who], why = run_child([str(word) for word in command], arguments.limit)
            figures = row[who]
            cells.append(f"{who} {figures['peak_bytes'] / 2**20:.0f} ({figures['seconds']:.0f} s)" if figures else
                         f"{who}: {why}")
            print(f"  {gib:3d} GiB ({row['source_bytes'] / 2**20:.0f} MiB compressed)  {cells[-1]}", flush=True)
        out.unlink(missing_ok=True)
        if not arguments.keep:
            source.unlink()
        results["memory"].append(row)
