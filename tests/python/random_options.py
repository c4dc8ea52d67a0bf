# SPDX-License-Identifier: Apache-2.0
"""Random files and random options of the command line, from a seed.

    python tests/python/random_options.py SEED FOLDER

writes the source of a case of test_random_options.py into FOLDER and prints its command.
"""

import dataclasses
import pathlib
import random
import sys

import numpy as np
from gdal_model import Facts, Selection, holds, result_dtype
from pixels import COMPLEX, FLOATS, INTEGERS, LERC_TYPES
from random_sources import copy_with_sidecars, make_source

COMMANDS = ("convert",) * 9 + ("cog",) * 6 + ("read",) * 5 + ("overviews",) * 3 + ("edit",) * 3 + ("stats", "checksum",
                                                                                                     "preview")
CODECS = ("none", "packbits", "lzw", "deflate", "zstd", "lerc", "lerc-deflate", "lerc-zstd", "jpeg2000", "webp", "lzma",
          "lz4")
WITH_PREDICTOR = ("lzw", "deflate", "zstd", "lzma")
# GDAL 3.12 as rasterio ships it has no codec for these inside TIFF.
NOT_IN_GDAL = ("jpeg2000", "lz4")
TILES = ((16, 16), (32, 32), (64, 64), (64, 32), (128, 128), (256, 128))
WRONG = 0.04  # share of choices that may be wrong
METHODS = ("nearest", "average") * 3 + ("bilinear", "cubic", "cubic-spline", "lanczos", "mode", "min", "max",
                                           "median", "rms")


@dataclasses.dataclass
class Case:
    seed: int
    command: str
    source: pathlib.Path
    facts: Facts
    selection: Selection = dataclasses.field(default_factory=Selection)
    words: list = dataclasses.field(default_factory=list)  # options
    chosen: dict = dataclasses.field(default_factory=dict)  # values of the options, by name
    must_fail: list = dataclasses.field(default_factory=list)  # why the command is a usage error
    may_fail: list = dataclasses.field(default_factory=list)  # why it may be refused

    def add(self, name, *values):
        """`--name values`; an option without values is a flag."""
        self.words += [f"--{name}", *map(str, values)]
        self.chosen[name] = values[0] if values else True

    def __str__(self):
        return f"seed {self.seed}: {self.command} {self.source} {' '.join(self.words)}"


def make_case(seed, folder):
    """The source is in `folder` or in the corpus; commands that change their file get a copy in `folder`."""
    rng = random.Random(seed)
    folder = pathlib.Path(folder)
    command = rng.choice(COMMANDS)
    source = make_source(rng, folder)
    if command in ("edit", "overviews") and source.parent != folder:
        source = copy_with_sidecars(source, folder)
    case = Case(seed, command, source, Facts(source))
    choose = {"convert": choose_conversion, "cog": choose_conversion, "read": choose_read, "stats": choose_stats,
              "overviews": choose_overviews, "edit": choose_edit, "checksum": choose_checksum,
              "preview": choose_preview}
    choose[command](rng, case)
    return case


def chance(rng, probability):
    return rng.random() < probability


# -- reading ----------------------------------------------------------------------------------------------------------


def choose_area(rng, case, targets=True):
    facts, selection = case.facts, case.selection
    if facts.level_sizes and chance(rng, 0.3):
        selection.level = rng.randrange(1, len(facts.level_sizes) + 1)
        case.add("level", selection.level)
    width, height = facts.level_sizes[selection.level - 1] if selection.level else (facts.width, facts.height)
    if chance(rng, 0.3):
        column, row = rng.randrange(width), rng.randrange(height)
        selection.window = (column, row, rng.randint(1, width - column), rng.randint(1, height - row))
        if chance(rng, 0.05):
            selection.window = (column, row, width, height + 1)
            case.must_fail.append("the window is outside")
        case.add("window", ",".join(map(str, selection.window)))
    if chance(rng, 0.25):
        selection.bands = [rng.randint(1, facts.count) for _ in range(rng.choice((1, 1, 2, 3)))]
        if chance(rng, 0.5):
            selection.bands = sorted(set(selection.bands))
        if chance(rng, 0.04):
            selection.bands = [facts.count + 1]
            case.must_fail.append("there is no such band")
        case.add("bands", ",".join(map(str, selection.bands)))
    if targets and selection.level == 0 and chance(rng, 0.12):
        selection.target_size = (rng.randint(1, 2 * width), rng.randint(1, 2 * height))
        case.add("target-size", ",".join(map(str, selection.target_size)))


def choose_values(rng, case):
    selection = case.selection
    if chance(rng, 0.3):
        selection.dtype = rng.choice(INTEGERS + FLOATS + FLOATS + (COMPLEX if chance(rng, 0.3) else ()))
        case.add("dtype", selection.dtype)
    if chance(rng, 0.25):
        selection.masked = True
        case.add("masked")
    packed = any(s != 1 or o != 0 for s, o in zip(case.facts.scales, case.facts.offsets))
    if chance(rng, 0.45 if packed else 0.1):
        selection.unpack = True
        case.add("unpack")
    dtype = result_dtype(case.facts, selection)
    if selection.changes_values and (case.facts.is_complex or dtype in COMPLEX):
        case.may_fail.append("--masked and --unpack of complex samples")
    return dtype


def choose_read(rng, case):
    choose_area(rng, case)
    if chance(rng, 0.2):
        case.add("mask")
        return
    dtype = choose_values(rng, case)
    if case.selection.masked and dtype in INTEGERS:
        case.may_fail.append("integers have no NaN for what is missing")
    if chance(rng, 0.2):
        case.add("interleave", "pixel")


# -- writing ----------------------------------------------------------------------------------------------------------


def choose_conversion(rng, case):
    choose_area(rng, case)
    dtype = choose_values(rng, case)
    choose_missing(rng, case, dtype)
    choose_codec(rng, case, dtype)
    choose_layout(rng, case)
    choose_levels(rng, case)
    for flag, probability in (("sparse", 0.15), ("statistics", 0.2)):
        if chance(rng, probability):
            case.add(flag)
    if chance(rng, 0.1):
        case.add("crs", rng.choice(("EPSG:3035", "none", "EPSG:4326")))
    if chance(rng, 0.15):
        case.add("bigtiff", rng.choice(("yes", "no", "auto")))
    if chance(rng, 0.1):
        case.add("buffer", rng.choice(("1", "10K")))
    if case.command == "cog" and chance(rng, 0.1):
        case.add("spool", "1")


def choose_missing(rng, case, dtype):
    draw = rng.random()
    if draw < 0.1:
        case.add("mask")
    elif draw < 0.4:
        choose_nodata(rng, case, dtype)
    if case.selection.changes_values and dtype in INTEGERS and case.chosen.get("nodata", "none") == "none":
        case.may_fail.append("integers have no NaN for what is missing")
    if dtype in COMPLEX and "nodata" in case.chosen:
        case.may_fail.append("nodata of complex samples")


def choose_nodata(rng, case, dtype):
    """--nodata; now and then a value that the type does not have."""
    values = ("none", "nan", "0", "7", "-9999", "255", "1.5")
    good = [value for value in values if value == "none" or holds(dtype, float(value))]
    value = mostly(rng, good, values)
    case.add("nodata", value)
    if value not in good:
        case.must_fail.append(f"{dtype} has no {value}")
    elif dtype == "float16" and value not in ("none", "nan") and float(np.float16(value)) != float(value):
        case.may_fail.append(f"the float16 next to {value} is another number")


def mostly(rng, good, all_of_them):
    return rng.choice(all_of_them if chance(rng, WRONG) else good)


def takes(codec, dtype, bands, apart):
    if codec.startswith("lerc"):
        return dtype in LERC_TYPES
    if codec == "webp":
        return dtype == "uint8" and bands in (3, 4) and not apart
    return codec != "jpeg2000" or dtype in ("uint8", "int8", "uint16", "int16")


def choose_codec(rng, case, dtype):
    bands = len(case.facts.bands_of(case.selection))
    apart = chance(rng, 0.25)
    if apart:
        case.add("interleave", "band")
    elif chance(rng, 0.2):
        case.add("interleave", "pixel")
    case.chosen["compression"] = "zstd"
    if chance(rng, 0.85):
        good = [codec for codec in CODECS if takes(codec, dtype, bands, apart)]
        case.add("compression", mostly(rng, good, CODECS))
    codec = case.chosen["compression"]
    if not takes(codec, dtype, bands, apart):
        case.must_fail.append(f"{codec} does not take these samples")
    if codec == "jpeg2000" and bands > 4 and not apart:
        case.may_fail.append("JPEG 2000 of many bands")
    if chance(rng, 0.3):
        predicts = codec in WITH_PREDICTOR
        good = ["auto", "none"] + ["2"] * (predicts and dtype not in COMPLEX) + ["3"] * (predicts and dtype in FLOATS)
        case.add("predictor", mostly(rng, good, ("2", "3")))
        if case.chosen["predictor"] not in good:
            case.must_fail.append("the predictor does not go with codec or type")
    if codec in ("deflate", "zstd", "lzma") and chance(rng, 0.2):
        case.add("compression-level", rng.choice((1, 3, 9)))


def choose_layout(rng, case):
    case.chosen["tile"] = (512, 512)
    draw = rng.random()
    if draw < 0.25 and case.command == "convert":
        case.add("strips", rng.choice((1, 7, 16, 1000)))
        del case.chosen["tile"]
    elif draw < 0.97 or case.command == "cog":
        tile = rng.choice(TILES)
        case.add("tile-size", f"{tile[0]}x{tile[1]}" if tile[0] != tile[1] else tile[0])
        case.chosen["tile"] = tile
    else:
        case.add("tile-size", 20)
        case.must_fail.append("tiles are multiples of 16")


def choose_levels(rng, case):
    """Overviews: a plain file gets those of the options, a COG also its default ones."""
    if not chance(rng, 0.4 if case.command == "convert" else 0.3):
        if case.command == "cog" and chance(rng, 0.5):
            choose_method(rng, case)
        return
    _, size = case.facts.area_of(case.selection)
    choices = ([2], [2, 4], [2, 4, 8], [3], [3, 5], [2, 3], [16], [])
    factors = mostly(rng, [factors for factors in choices if levels_fit(size, factors)], choices)
    case.add("overviews", ",".join(map(str, factors)) if factors else "none")
    if chance(rng, 0.6):
        choose_method(rng, case)
    if not levels_fit(size, factors):
        case.must_fail.append("a level after one of one pixel")


def choose_method(rng, case):
    # With a target size, --resampling is the method of the read.
    name = "overview-resampling" if case.selection.target_size else "resampling"
    case.add(name, rng.choice(METHODS))
    is_complex = result_dtype(case.facts, case.selection) in COMPLEX
    if is_complex and case.chosen[name] not in ("nearest", "average", "rms"):
        case.may_fail.append("overviews of complex samples")  # where there is any level


def levels_fit(size, factors):
    """Only the last level may have one pixel."""
    return all(any(-(-side // factor) > 1 for side in size) for factor in factors[:-1])


def choose_overviews(rng, case):
    facts = case.facts
    factors = rng.choice(([2], [2, 4], [2, 4, 8], [3], [3, 5], "none", None, None))
    if factors is not None:
        case.add("factors", factors if factors == "none" else ",".join(map(str, factors)))
        if factors != "none" and not levels_fit((facts.width, facts.height), factors):
            case.must_fail.append("a level after one of one pixel")
    case.chosen["factors"] = factors
    if factors != "none" and chance(rng, 0.7):
        choose_method(rng, case)
    if chance(rng, 0.25):
        case.add("external")
        if facts.overviews:
            case.may_fail.append("a file with overviews gets no .ovr")
    case.may_fail.append("files that cannot be changed in place")


# -- changing and counting --------------------------------------------------------------------------------------------


def choose_edit(rng, case):
    facts = case.facts
    draws = rng.sample(("nodata", "crs", "transform", "set", "band", "rewrite"), rng.choice((1, 1, 2, 3)))
    if "nodata" in draws:
        choose_nodata(rng, case, facts.dtype)
    if "crs" in draws:
        case.add("crs", rng.choice(("EPSG:3035", "EPSG:32633", "none")))
    if "transform" in draws:
        case.add("transform", rng.choice(("100,2,0,200,0,-2", "7,1,0.5,8,0.25,-1", "none", "1,0,0,1,0,0")))
        if case.chosen["transform"].startswith("1,0"):
            case.must_fail.append("all pixels on one line")
    if "set" in draws:
        case.add("set", f"HISTORY={'x' * rng.choice((1, 50, 3000))}")
    if "band" in draws:
        band = rng.randint(1, facts.count + (1 if chance(rng, 0.1) else 0))
        case.add("band", band)
        case.add("description", "a new name")
        case.add("scale", rng.choice((0.5, 2)))
        if band > facts.count:
            case.must_fail.append("there is no such band")
    if "rewrite" in draws:
        case.add("rewrite")
    case.may_fail.append("a COG without room, or a file that cannot be rewritten")


def choose_stats(rng, case):
    choose_area(rng, case, targets=False)
    case.add("bins", rng.choice((0, 4, 64)))
    if chance(rng, 0.4):
        case.selection.unpack = True
        case.add("unpack")
        if case.facts.is_complex:
            case.may_fail.append("--unpack of complex samples")


def choose_checksum(rng, case):
    choose_area(rng, case, targets=False)
    if chance(rng, 0.3):
        case.add("mask")


def choose_preview(rng, case):
    case.add("max-size", rng.choice((1, 16, 100)))
    if chance(rng, 0.6):
        case.add("style", rng.choice(("auto", "gray", "rgb", "colormap", "hillshade")))
    if chance(rng, 0.3):
        case.add("colormap", rng.choice(("viridis", "magma", "terrain", "gray")))
    if case.facts.is_complex or case.chosen.get("style") in ("rgb", "colormap", "hillshade"):
        case.may_fail.append("a style that the bands cannot have")


if __name__ == "__main__":
    print(make_case(int(sys.argv[1]), sys.argv[2]))
