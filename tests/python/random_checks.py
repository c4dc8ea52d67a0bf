# SPDX-License-Identifier: Apache-2.0
"""Compares the outputs of random_options.py's commands with the results of GDAL and NumPy."""

import harness
import numpy as np
import rasterio
from corpus_facts import EXCEPTIONS
from gdal_model import Facts, Selection, gdal_levels, holds, levels_of, rescale, result_dtype, values_of
from pixels import INTEGERS
from random_options import NOT_IN_GDAL


def check(case, folder, result):
    """`folder` has the outputs of the command."""
    {"convert": check_conversion, "cog": check_conversion, "read": check_read, "overviews": check_overviews,
     "edit": check_edit, "stats": check_stats, "checksum": check_checksum, "preview": check_preview}[case.command](
         case, folder, result)


def assert_same(ours, theirs, where=None, what="pixels"):
    """To the last bit, but any NaN equals any other."""
    assert ours.shape == theirs.shape, f"{what}: shape {ours.shape}, expected {theirs.shape}"
    assert ours.dtype == theirs.dtype, f"{what}: {ours.dtype}, expected {theirs.dtype}"
    parts = [(ours.real, theirs.real), (ours.imag, theirs.imag)] if ours.dtype.kind == "c" else [(ours, theirs)]
    both_nan = np.isnan(ours) & np.isnan(theirs) if ours.dtype.kind in "fc" else np.zeros(ours.shape, bool)
    different = np.zeros(ours.shape, bool)
    for a, b in parts:
        bits = f"u{a.dtype.itemsize}"
        different |= np.ascontiguousarray(a).view(bits) != np.ascontiguousarray(b).view(bits)
    different &= ~both_nan
    if where is not None:
        different &= where
    report(different, ours, theirs, what)


def report(different, ours, theirs, what):
    if different.any():
        at = tuple(int(i) for i in np.argwhere(different)[0])
        raise AssertionError(f"{what}: {different.sum()} of {different.size} differ, the first at {at}: "
                             f"{ours[at]!r}, expected {theirs[at]!r}")


# -- convert and cog --------------------------------------------------------------------------------------------------


def check_conversion(case, folder, result):
    facts, selection, chosen, out = case.facts, case.selection, case.chosen, folder / "out.tif"
    assert sorted(p.name for p in folder.iterdir() if p.name != "out.tif.aux.xml") == ["out.tif"]
    pixels, valid, known = values_of(facts, selection)
    pixels, known = with_marker(case, pixels, valid, known)
    in_gdal = chosen["compression"] not in NOT_IN_GDAL
    written, marked = read_back(out, folder, in_gdal)
    assert_same(written, pixels, known)
    check_missing(case, pixels, valid, marked)
    if case.command == "cog":
        verdict = harness.run_json("validate", "--json", out)
        assert verdict["valid_cog"], verdict
    if not in_gdal:
        return
    check_marker(case, out, valid, known.all())
    check_description(case, out)
    check_layout(case, out)
    if "statistics" in chosen:
        check_statistics(out, written, marked, result)
    check_levels(case, out, folder)


def read_back(out, folder, in_gdal):
    """Pixels, and which of them are valid."""
    if in_gdal:
        with rasterio.open(out) as file:
            return file.read(), file.read_masks() != 0
    pixels, marked = harness.read(out, folder=folder), harness.read(out, "--mask", folder=folder) != 0
    return (pixels[..., 0] + 1j * pixels[..., 1]).astype("c8") if pixels.ndim == 4 else pixels, marked


def option_value(case):
    """The number of --nodata, or None."""
    text = case.chosen.get("nodata", "none")
    return None if text == "none" else float(text)


def with_marker(case, pixels, valid, known):
    """--nodata V: NaN becomes V, and so do missing pixels where they have no other way to say so."""
    value = option_value(case)
    if pixels.dtype.kind == "c" and case.selection.changes_values:
        return pixels, valid  # a marker is real, and complex integers have no NaN
    if value is None or pixels.dtype.kind == "c":
        return pixels, known
    pixels, known = pixels.copy(), known.copy()
    if pixels.dtype.kind == "f":
        pixels[np.isnan(pixels) & known] = value
    # If values are only rescaled, a mask image or alpha marks missing pixels.
    by_value = not case.facts.has_mask_image and case.facts.nodata[0] is not None
    if case.selection.masked or (case.selection.unpack and by_value):
        pixels[~valid] = value
        known[:] = True
    return pixels, known


def one_marker(nodata):
    """Whether all bands have the same nodata value, or none."""
    return len({str(value) for value in nodata}) == 1


def check_missing(case, pixels, valid, marked):
    """The missing pixels are those of the source."""
    facts, selection, chosen = case.facts, case.selection, case.chosen
    if "mask" in chosen:
        only_alpha = selection.bands and {b - 1 for b in selection.bands} == {facts.alpha}
        if not only_alpha:
            expected = facts.dataset_valid(selection, valid)
            report(marked[0] != expected, marked[0], expected, "--mask")
        return
    if facts.has_mask_image and not selection.masked:
        if "nodata" not in chosen:
            report(marked != valid, marked, valid, "the mask")
        return
    if chosen.get("nodata") == "none" or not one_marker(facts.nodata):
        return
    dtype = result_dtype(facts, selection)
    by_alpha = facts.alpha is not None and facts.nodata[0] is None
    if by_alpha and not selection.masked and selection.bands:
        return
    if not selection.changes_values:
        if "nodata" not in chosen and selection.dtype in (None, facts.dtype):
            report(marked != valid, marked, valid, "valid pixels")
        return
    if not selection.masked and not by_alpha and facts.nodata[0] is not None and not holds(dtype, facts.nodata[0]):
        return
    if by_alpha and not selection.masked and "nodata" in chosen:
        return
    if by_alpha and not selection.masked and str(dtype) not in ("uint8", "uint16"):
        return  # the alpha band is there, and GDAL takes alpha of these two types only for a mask
    report(marked & ~valid, marked, valid, "missing pixels that became data")
    if "nodata" not in chosen and pixels.dtype.kind in "fc":
        lost = valid & ~marked & ~np.isnan(pixels)
        report(lost, marked, valid, "data that became missing")


def check_marker(case, out, valid, all_known):
    facts, selection, chosen = case.facts, case.selection, case.chosen
    with rasterio.open(out) as file:
        nodata = file.nodata
    if "mask" in chosen or chosen.get("nodata") == "none":
        assert nodata is None
    elif "nodata" in chosen:
        assert same_value(nodata, option_value(case), result_dtype(facts, selection)), nodata
    elif selection.masked:
        if result_dtype(facts, selection) not in (*INTEGERS, "complex_int16"):
            assert nodata is not None and np.isnan(nodata), nodata
    elif not selection.unpack:
        first = facts.nodata[facts.bands_of(selection)[0] - 1]
        dtype = result_dtype(facts, selection)
        expected = first if holds(facts.dtype, first) and holds(dtype, first) else None
        assert same_value(nodata, expected, dtype), f"nodata {nodata}, expected {expected}"


def same_value(ours, theirs, dtype):
    if ours is None or theirs is None:
        return ours is theirs
    if dtype in ("float16", "float32"):
        with np.errstate(over="ignore"):
            ours, theirs = np.float32(ours), np.float32(theirs)
    return ours == theirs or (np.isnan(ours) and np.isnan(theirs))


def check_description(case, out):
    facts, selection = case.facts, case.selection
    bands = facts.bands_of(selection)
    with rasterio.open(out) as file:
        assert file.dtypes[0] == result_dtype(facts, selection)
        crs = case.chosen.get("crs")
        if crs is None and not facts.gcps and facts.crs is not None and not has_odd_crs(case.source):
            assert file.crs == facts.crs
        elif crs == "none" and facts.tags.get("AREA_OR_POINT") != "Point":  # its key alone is a local CRS to GDAL
            assert file.crs is None
        elif crs not in (None, "none") and not facts.gcps:
            assert file.crs == rasterio.crs.CRS.from_string(crs)
        if facts.transform != rasterio.Affine.identity() and facts.transform.determinant != 0:
            expected = facts.transform_of(selection)
            scale = max(abs(v) for v in expected)
            assert file.transform.almost_equals(expected, 1e-9 * max(1, scale)), f"{file.transform}\n{expected}"
        assert len(file.gcps[0]) == len(facts.gcps)
        if selection.unpack:
            assert set(file.scales) == {1.0} and set(file.offsets) == {0.0}
        else:
            assert list(file.scales) == [facts.scales[b - 1] for b in bands]
            assert list(file.offsets) == [facts.offsets[b - 1] for b in bands]
        assert [u or None for u in file.units] == [facts.units[b - 1] or None for b in bands]
        assert list(file.descriptions) == [facts.descriptions[b - 1] for b in bands]
        keeps_classes = result_dtype(facts, selection) == facts.dtype and facts.count == 1 and len(bands) == 1
        if not selection.bands and (keeps_classes or not facts.palette):
            assert list(file.colorinterp) == facts.colours


def has_odd_crs(path):
    """A file of the corpus whose CRS is not GDAL's, for the reasons that corpus_facts.py gives."""
    return any(name.endswith(path.name) and {"crs", "epsg"} & set(facets) for name, facets in EXCEPTIONS.items())


def check_layout(case, out):
    chosen = case.chosen
    with rasterio.open(out) as file:
        if "tile" in chosen:
            assert file.block_shapes[0] == (chosen["tile"][1], chosen["tile"][0])
        elif "strips" in chosen and chosen["compression"] != "none":  # GDAL cuts large strips of bare samples itself
            assert file.block_shapes[0] == (min(chosen["strips"], file.height), file.width)
        if file.count > 1:
            assert file.profile["interleave"] == chosen.get("interleave", "pixel")
        compression = file.profile.get("compress", "none").lower().replace("_", "-")
        assert compression == chosen["compression"]
    with open(out, "rb") as file:
        big = file.read(4) == b"II+\0"
    assert big == (chosen.get("bigtiff") == "yes")


def check_statistics(out, written, marked, result):
    with rasterio.open(out) as file:
        for band, (values, valid) in enumerate(zip(written, marked), 1):
            tags = file.tags(band)
            if values.dtype.kind == "c":
                told = b"statistics" in result.stderr.lower() or {"--json", "--quiet"} & set(result.args)
                assert "STATISTICS_MINIMUM" in tags or told, f"no statistics of complex samples, nor a word: {result}"
                if "STATISTICS_MINIMUM" not in tags:
                    continue
                values = values.real  # as GDAL counts them
            values = values.astype(np.longdouble)
            keep = valid & ~np.isnan(values)
            if file.nodata is not None:  # beside a mask too, where GDAL's masks do not look at it
                keep &= values != file.nodata
            if not keep.any():
                assert "STATISTICS_MINIMUM" not in tags
                continue
            values = values[keep]
            assert float(tags["STATISTICS_MINIMUM"]) == float(values.min())
            assert float(tags["STATISTICS_MAXIMUM"]) == float(values.max())
            assert np.isclose(float(tags["STATISTICS_VALID_PERCENT"]), 100 * keep.mean(), rtol=1e-4)
            if np.isfinite(values).all() and np.abs(values).max() < 1e100:
                spread = float(np.abs(values).max())
                assert np.isclose(float(tags["STATISTICS_MEAN"]), float(values.mean()), rtol=1e-9, atol=1e-12 * spread)
                assert np.isclose(float(tags["STATISTICS_STDDEV"]), float(values.std()), rtol=1e-6, atol=1e-9 * spread)


# -- overviews --------------------------------------------------------------------------------------------------------


def cog_sizes(width, height, tile):
    sizes = []
    while max(width, height) > max(tile):
        width, height = max(width // 2, 1), max(height // 2, 1)
        sizes.append((width, height))
    return sizes


def factor_sizes(width, height, factors):
    return [(-(-width // factor), -(-height // factor)) for factor in factors]


def overview_method(case):
    default = "nearest" if case.facts.palette else "average"
    return case.chosen.get("overview-resampling", case.chosen.get("resampling", default))


def check_levels(case, out, folder):
    facts, chosen = case.facts, case.chosen
    _, (width, height) = facts.area_of(case.selection)
    factors = None
    if "overviews" in chosen:
        factors = [] if chosen["overviews"] == "none" else [int(f) for f in chosen["overviews"].split(",")]
        sizes = factor_sizes(width, height, factors)
    else:
        sizes = cog_sizes(width, height, chosen["tile"]) if case.command == "cog" else []
    levels = levels_of(out)
    assert [(pixels.shape[2], pixels.shape[1]) for pixels, _ in levels] == sizes
    method = overview_method(case)
    if levels:
        compare_levels(Facts(out), levels, method, factors, folder, chosen.get("tile"))


def has_other_masks(facts, method, level):
    """Whether GDAL's mask of a level is another: nearest ones belong to another pixel, those of complex samples count
    pixels that are covered in part, and GDAL does not look for masks in .ovr files."""
    is_external = facts.path.with_name(facts.path.name + ".ovr").exists()
    is_other = is_external or facts.is_complex or (method == "nearest" and level > 1)
    return facts.has_mask_image and is_other


# One unit of the last place may differ.
NEARLY_GDALS = ("bilinear", "cubic", "cubic-spline", "lanczos", "mode", "rms")


def assert_close(ours, theirs, where, what):
    assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
    if ours.dtype.kind == "f":
        ordinary = np.isfinite(theirs) & (np.abs(theirs) < 1e30)
        different = ordinary & ~np.isclose(ours, theirs, rtol=1e-5, atol=1e-3)
    else:
        different = np.abs(ours.astype(np.int64) - theirs) > 1
    report(different if where is None else different & where, ours, theirs, what)


def compare_levels(facts, levels, method, factors, folder, tile=None):
    """Overviews of a file against GDAL's of the same pixels, by the rules of docs/writing.md."""
    exact = method in ("nearest", "average")
    if method not in (*NEARLY_GDALS, "nearest", "average") or (facts.palette and method != "nearest"):
        return
    if not exact and (facts.alpha is not None or facts.dtype not in ("uint8", "uint16", "int16", "float32")):
        return
    if method == "average" and facts.dtype in ("int64", "uint64"):
        return  # GDAL 3.12 leaves levels out, or does not end, where there is nodata
    if factors is None and (tile is None or tile[0] != tile[1] or tile[0] < 128):
        return  # GDAL's COG driver makes no such tiles
    shorter = min(facts.width, facts.height)
    if factors and (max(factors) > shorter or (shorter <= 20 and any(f & (f - 1) for f in factors))):
        return  # of rasters of a few pixels GDAL leaves some levels empty, or out
    expected = gdal_levels(facts.path, folder, factors, method, tile[0] if tile else None)
    if facts.is_complex:
        levels, expected = levels[:1], expected[:1]  # GDAL makes each of them from full resolution
    assert len(levels) == len(expected)
    for level, ((ours, our_mask), (theirs, their_mask)) in enumerate(zip(levels, expected), 1):
        seen = our_mask != 0 if facts.has_mask_image else None
        if exact:
            assert_same(ours, theirs, seen, f"level {level}")
        else:
            assert_close(ours, theirs, seen, f"level {level}")
        if not has_other_masks(facts, method, level):
            report(our_mask != their_mask, our_mask, their_mask, f"mask of level {level}")


def check_overviews(case, folder, result):
    facts, path = case.facts, folder / case.source.name
    after = Facts(path)
    whole = Selection()
    for before, now in zip(facts.read(whole), after.read(whole)):
        assert_same(now, before)
    for name in ("crs", "transform", "nodata", "scales", "offsets", "colours", "units", "descriptions", "tags"):
        assert str(getattr(after, name)) == str(getattr(facts, name)), name
    factors = case.chosen["factors"]
    if factors is None:  # nothing here is larger than 256 pixels: there are none to make, and none to remove
        if max(facts.width, facts.height) <= 256:
            assert after.level_sizes == facts.level_sizes, f"levels {after.level_sizes} now: {result}"
        return
    factors = [] if factors == "none" else factors
    had_external = case.source.with_name(case.source.name + ".ovr").exists()
    if had_external and not factors and "external" not in case.chosen:
        return  # --external removes those
    assert after.level_sizes == factor_sizes(facts.width, facts.height, factors)
    if not had_external:
        assert (folder / (path.name + ".ovr")).exists() == ("external" in case.chosen and bool(factors))
    if factors:
        method = overview_method(case)
        compare_levels(after, levels_of(path), method, factors, folder)


# -- read, stats, checksum, preview -----------------------------------------------------------------------------------


def as_file_has_it(array, dtype):
    """NumPy has no complex integers: they get a last axis of two."""
    return np.stack([array.real, array.imag], axis=-1).astype(np.int16) if dtype == "complex_int16" else array


def check_read(case, folder, result):
    ours = np.load(folder / "out.npy")
    facts, selection = case.facts, case.selection
    if "mask" in case.chosen:
        _, valid = facts.read(selection)
        assert_same(ours, np.where(valid, 255, 0).astype(np.uint8), what="the mask")
        return
    pixels, valid, known = values_of(facts, selection)
    dtype = result_dtype(facts, selection)
    pixels = as_file_has_it(pixels, dtype)
    known = known[..., None].repeat(2, axis=-1) if dtype == "complex_int16" else known
    if "interleave" in case.chosen:
        pixels, known = np.moveaxis(pixels, 0, 2), np.moveaxis(known, 0, 2)
    assert_same(ours, np.ascontiguousarray(pixels), known)


def check_stats(case, folder, result):
    facts, selection = case.facts, case.selection
    stored, valid = facts.read(selection)
    bands = facts.bands_of(selection)
    answers = result.json()["bands"]
    assert [answer["band"] for answer in answers] == bands
    for band, answer, values, keep in zip(bands, answers, stored, valid):
        scale, offset = facts.scales[band - 1], facts.offsets[band - 1]
        if selection.unpack and (scale != 1 or offset != 0):
            with np.errstate(invalid="ignore", over="ignore"):
                values = rescale(values[None], scale, offset)[0]
        if values.dtype.kind == "c":
            with np.errstate(over="ignore"):
                values = np.abs(values.astype(np.complex128))
        keep = keep & ~np.isnan(values)
        assert answer["total"] == keep.size and answer["valid"] == keep.sum()
        if not keep.any():
            continue
        values = values[keep].astype(np.longdouble)
        close = 1e-15 if facts.is_complex else 0
        assert np.isclose(float(answer["minimum"]), float(values.min()), rtol=close, atol=0)
        assert np.isclose(float(answer["maximum"]), float(values.max()), rtol=close, atol=0)
        spread = float(np.abs(values).max())
        if np.isfinite(spread) and spread < 1e100:
            assert np.isclose(float(answer["mean"]), float(values.mean()), rtol=1e-9, atol=1e-12 * spread)
            assert np.isclose(float(answer["stddev"]), float(values.std()), rtol=1e-6, atol=1e-9 * spread)
        if case.chosen["bins"]:
            assert sum(answer["histogram"]["counts"]) == np.isfinite(values).sum()


def check_checksum(case, folder, result):
    stored, valid = case.facts.read(case.selection)
    wanted = as_file_has_it(stored, case.facts.dtype)
    if "mask" in case.chosen:
        wanted = np.where(valid, 255, 0).astype(np.uint8)
    assert [band["sha256"] for band in result.json()["bands"]] == [harness.sha256(band) for band in wanted]


def check_preview(case, folder, result):
    with rasterio.open(folder / "out.png") as file:
        longer = max(case.facts.width, case.facts.height)
        assert max(file.width, file.height) == min(longer, case.chosen["max-size"])
        assert file.count in (1, 2, 3, 4) and file.read().size > 0


# -- edit -------------------------------------------------------------------------------------------------------------


def check_edit(case, folder, result):
    facts, chosen, path = case.facts, case.chosen, folder / case.source.name
    after = Facts(path)
    stored, valid = facts.read(Selection())
    now, marked = after.read(Selection())
    assert_same(now, stored)
    assert after.level_sizes == facts.level_sizes
    for (ours, _), (theirs, _) in zip(levels_of(path), levels_of(case.source)):
        assert_same(ours, theirs, what="an overview")
    hidden = (folder / (path.name + ".aux.xml")).exists()
    if "nodata" not in chosen:
        report(marked != valid, marked, valid, "valid pixels")
        assert str(after.nodata) == str(facts.nodata)
    elif not hidden:
        expected = None if chosen["nodata"] == "none" else float(chosen["nodata"])
        assert all(same_value(value, expected, facts.dtype) for value in after.nodata), after.nodata
    if "crs" not in chosen:
        assert after.crs == facts.crs
    elif chosen["crs"] != "none" and not hidden and not facts.gcps:
        assert after.crs == rasterio.crs.CRS.from_string(chosen["crs"])
    if "transform" not in chosen:
        assert after.transform.almost_equals(facts.transform, 1e-9)
    elif not hidden and chosen["transform"] != "none":
        numbers = [float(number) for number in chosen["transform"].split(",")]
        assert after.transform.almost_equals(rasterio.Affine.from_gdal(*numbers), 1e-12)
    tags = dict(facts.tags)
    if "set" in chosen:
        key, _, value = chosen["set"].partition("=")
        tags[key] = value
    if not hidden and not ("transform" in chosen or "crs" in chosen):  # they decide whether the file has AREA_OR_POINT
        assert after.tags == tags
    scales, descriptions = list(facts.scales), list(facts.descriptions)
    if "band" in chosen:
        scales[chosen["band"] - 1], descriptions[chosen["band"] - 1] = chosen["scale"], chosen["description"]
    if not hidden:
        assert after.scales == scales and after.descriptions == descriptions
        assert after.offsets == facts.offsets and after.units == facts.units and after.colours == facts.colours
