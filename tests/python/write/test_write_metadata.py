# SPDX-License-Identifier: Apache-2.0
"""Conversions keep CRS, transform, metadata and colours; also of whole files of the corpus."""

import base64
import json

import harness
import numpy as np
import pytest
import rasterio
import rasterio.shutil
import rasters
import tifffile
from pixels import assert_same
from test_write import write_source


CRSS = {
    "projected": "EPSG:32633",
    "geographic": "EPSG:4326",
    "web": "EPSG:3857",
    "feet": "EPSG:2263",
    "compound": "EPSG:32632+5773",
    "geographic-3d": "EPSG:4979",
    "user-defined": "+proj=lcc +lat_1=30 +lat_2=50 +lat_0=40 +lon_0=10 +x_0=1000 +y_0=2000 +ellps=GRS80 +no_defs",
    "user-ellipsoid": "+proj=utm +zone=33 +a=6378000 +b=6356000 +units=m +no_defs",
    "laea": "+proj=laea +lat_0=52 +lon_0=10 +x_0=4321000 +y_0=3210000 +ellps=GRS80 +units=m +no_defs",
    "sinusoidal": "+proj=sinu +lon_0=0 +x_0=0 +y_0=0 +R=6371007.181 +units=m +no_defs",
}


@pytest.mark.parametrize("crs", CRSS)
def test_gdal_reads_the_crs_of_the_source(crs, tmp_path):
    array = rasters.make("uint8", 1, 20, 30)
    write_source(tmp_path / "source.tif", array, "uint8", crs=CRSS[crs])
    for command in ("convert", "cog"):
        harness.run_ok(command, tmp_path / "source.tif", "-o", tmp_path / "out.tif")
        with rasterio.open(tmp_path / "source.tif") as a, rasterio.open(tmp_path / "out.tif") as b:
            assert a.crs is not None
            assert a.crs == b.crs, f"{a.crs.to_wkt()}\n{b.crs.to_wkt()}"
            assert a.crs.to_epsg() == b.crs.to_epsg()


@pytest.mark.parametrize("crs", ("EPSG:25832", "4258", "wkt", "projjson"))
def test_a_crs_can_be_given(crs, tmp_path):
    expected = rasterio.CRS.from_epsg(4258 if crs == "4258" else 25832)
    text = {"wkt": expected.to_wkt(version="WKT2_2019"), "projjson": json.dumps(expected.to_dict(projjson=True))}
    write_source(tmp_path / "source.tif", rasters.make("uint8", 1, 20, 30), "uint8", crs=None)
    harness.run_ok("convert", tmp_path / "source.tif", "-o", tmp_path / "out.tif", "--crs", text.get(crs, crs))
    with rasterio.open(tmp_path / "out.tif") as file:
        assert file.crs == expected


@pytest.mark.parametrize("command", ("convert", "cog"))
def test_a_crs_can_be_left_out(command, tmp_path):
    source, out = tmp_path / "source.tif", tmp_path / "out.tif"
    write_source(source, rasters.make("uint8", 1, 20, 30), "uint8", crs="EPSG:32633")
    harness.run_ok(command, source, "-o", out, "--crs", "none")
    with rasterio.open(source) as a, rasterio.open(out) as b:
        assert b.crs is None
        assert a.transform == b.transform


@pytest.mark.parametrize("command", ("convert", "cog"))
def test_a_code_that_nobody_knows_stays(command, tmp_path):
    source, out = tmp_path / "source.tif", tmp_path / "out.tif"
    write_source(source, rasters.make("uint8", 1, 20, 30), "uint8", crs="EPSG:32633")
    new_code = 900  # EPSG numbers CRSs from 1024 on
    with tifffile.TiffFile(source, mode="r+") as file:
        tag = file.pages[0].tags["GeoKeyDirectoryTag"]
        tag.overwrite([new_code if value == 32633 else value for value in tag.value])
    note = harness.run_ok(command, source, "-o", out).stderr.decode()
    assert f"PROJ does not know EPSG:{new_code}" in note
    for path in (source, out):
        shown = harness.run_json("info", "--json", path)
        assert (shown["georeference"]["kind"], shown["georeference"]["epsg"]) == ("projected", new_code)
        assert any(str(new_code) in warning for warning in shown["warnings"])
        with tifffile.TiffFile(path) as file:
            keys = file.pages[0].tags["GeoKeyDirectoryTag"].value
            assert dict(zip(keys[4::4], keys[7::4]))[3072] == new_code


@pytest.mark.parametrize("command", ("convert", "cog"))
@pytest.mark.parametrize("kind", ("Area", "Point"))
def test_what_a_pixel_stands_for_is_no_crs(command, kind, tmp_path):
    source, out = tmp_path / "source.tif", tmp_path / "out.tif"
    write_source(source, rasters.make("uint8", 1, 20, 30), "uint8", crs=None)
    with rasterio.open(source, "r+") as file:
        file.update_tags(AREA_OR_POINT=kind)
    harness.run_ok(command, source, "-o", out)
    with rasterio.open(source) as a, rasterio.open(out) as b:
        assert a.crs == b.crs
        assert a.tags().get("AREA_OR_POINT") == b.tags().get("AREA_OR_POINT")
        assert a.transform == b.transform


TRANSFORMS = {
    "north-up": rasterio.Affine(0.1, 0, 7, 0, -0.1, 50),
    "rotated": rasterio.Affine(3, 1, 7, 2, -4, 50),
    "south-up": rasterio.Affine(10, 0, 0, 0, 10, 0),
    "none": None,
}


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("kind", ("Area", "Point"))
def test_the_transform_goes_along(name, kind, tmp_path):
    transform = TRANSFORMS[name]
    write_source(tmp_path / "source.tif", rasters.make("uint8", 1, 20, 30), "uint8", transform=transform)
    with rasterio.open(tmp_path / "source.tif", "r+") as file:
        file.update_tags(AREA_OR_POINT=kind)
    harness.run_ok("cog", tmp_path / "source.tif", "-o", tmp_path / "out.tif")
    harness.run_ok("convert", tmp_path / "source.tif", "-o", tmp_path / "part.tif", "--window", "4,5,10,11")
    with rasterio.open(tmp_path / "source.tif") as a, rasterio.open(tmp_path / "out.tif") as b, \
            rasterio.open(tmp_path / "part.tif") as part:
        assert a.transform.almost_equals(b.transform, 1e-12)
        assert a.tags().get("AREA_OR_POINT") == b.tags().get("AREA_OR_POINT")
        if transform is not None:
            assert part.transform.almost_equals(a.transform @ rasterio.Affine.translation(4, 5), 1e-9)


TEXTS = {"PLAIN": "value", "UTF8": "Höhe über dem Meer — 高度", "MARKUP": "<a href=\"x\">&amp; ' \" </a>",
         "LINES": "one\ntwo", "SPACES": " lead and trail ", "TIFFTAG_SOFTWARE": "a test",
         "TIFFTAG_DATETIME": "2026:11:15 10:00:00", "TIFFTAG_IMAGEDESCRIPTION": "described",
         "TIFFTAG_ARTIST": "Jörg", "LONG": "x" * 5000}


@pytest.mark.parametrize("command", ("convert", "cog"))
def test_metadata_goes_along(command, tmp_path):
    array = rasters.make("int16", 3, 40, 50)
    source = tmp_path / "source.tif"
    write_source(source, array, "int16", nodata=-1)
    with rasterio.open(source, "r+") as file:
        file.update_tags(**TEXTS)
        file.update_tags(ns="MINE", ONE="1", TWO="zwei ä")
        for band in (1, 2, 3):
            file.update_tags(band, KIND=f"band {band}", UTF8="ß")
            file.set_band_description(band, f"Höhe {band}")
            file.set_band_unit(band, "m")
        file.update_tags(2, ns="OTHER", A="B")
        file.scales, file.offsets = (0.1, 2, 1), (0, -5.25, 100)
    out = tmp_path / "out.tif"
    harness.run_ok(command, source, "-o", out)
    assert not (tmp_path / "out.tif.aux.xml").exists()
    with rasterio.open(source) as a, rasterio.open(out) as b:
        assert a.tags() == b.tags()
        assert a.tags(ns="MINE") == b.tags(ns="MINE")
        for band in (1, 2, 3):
            assert a.tags(band) == b.tags(band)
        assert a.tags(2, ns="OTHER") == b.tags(2, ns="OTHER")
        for name in ("descriptions", "units", "scales", "offsets", "nodatavals", "colorinterp", "dtypes"):
            assert getattr(a, name) == getattr(b, name), name


def test_statistics_come_beside_other_metadata(tmp_path):
    source, out = tmp_path / "source.tif", tmp_path / "out.tif"
    write_source(source, rasters.make("uint8", 2, 40, 50), "uint8")
    with rasterio.open(source, "r+") as file:
        file.update_tags(**TEXTS)
        file.update_tags(1, STATISTICS_MINIMUM="1" * 60, OTHER="kept")
    harness.run_ok("cog", source, "-o", out, "--statistics")
    with rasterio.open(source) as a, rasterio.open(out) as b:
        assert a.tags() == b.tags()
        tags = b.tags(1)
        assert tags["OTHER"] == "kept"
        assert float(tags["STATISTICS_MINIMUM"]) == b.read(1).min()


# The text of nodata has often lost digits that the pixels have; statistics leave such pixels out, as GDAL's do.
@pytest.mark.parametrize("dtype, text, pixel", (("float32", "-3.40282306e+38", np.finfo("float32").min),
                                                ("float32", "-3.4028e+38", np.finfo("float32").min),
                                                ("float32", "-3.4028235e+38", np.finfo("float32").min),
                                                ("float32", "-9999", -9999.001), ("float64", "-9999", -9999.001),
                                                ("float64", "-3.40282306e+38", np.finfo("float32").min)))
def test_statistics_leave_out_nodata_that_lost_digits(dtype, text, pixel, tmp_path):
    source, out = tmp_path / "source.tif", tmp_path / "out.tif"
    array = np.random.default_rng(5).normal(100, 20, (40, 50)).astype(dtype)
    array[10:20, 5:30] = pixel
    tag = text.encode() + b"\0"
    tifffile.imwrite(source, array, photometric="minisblack", extratags=[(42113, 2, len(tag), tag, True)])
    harness.run_ok("cog", source, "-o", out, "--statistics")
    with rasterio.open(source) as file:
        valid = array[file.read_masks(1) != 0].astype("float64")
        theirs = file.stats(indexes=1)[0]
    with rasterio.open(out) as file:
        tags = file.tags(1)
    for name, key in (("min", "MINIMUM"), ("max", "MAXIMUM"), ("mean", "MEAN"), ("std", "STDDEV")):
        ours = float(tags[f"STATISTICS_{key}"])
        assert ours == pytest.approx(getattr(valid, name)(), rel=1e-9), name
        if dtype == "float32":  # in float64 GDAL 3.12 counts pixels that its masks, its overviews and GDAL 3.6 leave out
            assert ours == pytest.approx(getattr(theirs, name), rel=1e-9), name
    assert float(tags["STATISTICS_VALID_PERCENT"]) == 100 * (2000 - 250) / 2000
    band = harness.run_json("stats", "--json", source)["bands"][0]
    assert band["valid"] == 2000 - 250
    assert float(tags["STATISTICS_MINIMUM"]) == band["minimum"]


def test_ground_control_points_go_along(tmp_path):
    from rasterio.control import GroundControlPoint
    points = [GroundControlPoint(row=r, col=c, x=10 + c / 7, y=50 - r / 9, z=r + c, id=f"p{r}{c}")
              for r in (0, 20) for c in (0, 30)]
    source = tmp_path / "source.tif"
    with rasterio.open(source, "w", driver="GTiff", width=30, height=20, count=1, dtype="uint8") as out:
        out.write(rasters.make("uint8", 1, 20, 30))
        out.gcps = (points, rasterio.CRS.from_epsg(4326))
    for command in ("convert", "cog"):
        harness.run_ok(command, source, "-o", tmp_path / "out.tif")
        with rasterio.open(source) as a, rasterio.open(tmp_path / "out.tif") as b:
            assert a.gcps[1] == b.gcps[1]
            key = [(p.row, p.col, p.x, p.y, p.z) for p in a.gcps[0]]
            assert len(key) == 4 and key == [(p.row, p.col, p.x, p.y, p.z) for p in b.gcps[0]]


def test_rational_polynomials_go_along(tmp_path):
    source = tmp_path / "source.tif"
    coefficients = [float(f"{i}.{i}e-3") for i in range(1, 21)]
    rpcs = rasterio.rpc.RPC(height_off=100, height_scale=50, lat_off=45.5, lat_scale=0.25, line_den_coeff=coefficients,
                            line_num_coeff=coefficients[::-1], line_off=10.5, line_scale=11, long_off=9,
                            long_scale=0.125, samp_den_coeff=coefficients, samp_num_coeff=coefficients, samp_off=15,
                            samp_scale=16, err_bias=0.5, err_rand=0.25)
    with rasterio.open(source, "w", driver="GTiff", width=30, height=20, count=1, dtype="uint8") as out:
        out.write(rasters.make("uint8", 1, 20, 30))
        out.rpcs = rpcs
    for command in ("convert", "cog"):
        harness.run_ok(command, source, "-o", tmp_path / "out.tif")
        with rasterio.open(source) as a, rasterio.open(tmp_path / "out.tif") as b:
            assert a.rpcs is not None and a.rpcs.to_dict() == b.rpcs.to_dict()


@pytest.mark.parametrize("dtype", ("uint8", "uint16"))
def test_colour_tables_go_along_and_give_nearest_overviews(dtype, tmp_path):
    array = rasters.make("uint8", 1, 300, 300).astype(dtype)
    source, out = tmp_path / "source.tif", tmp_path / "out.tif"
    write_source(source, array, dtype, photometric="palette")
    with rasterio.open(source, "r+") as file:
        file.write_colormap(1, {i: (i, 255 - i, (i * 7) % 256, 255) for i in range(256)})
    harness.run_ok("cog", source, "-o", out, "--tile-size", "128")
    with rasterio.open(source) as a, rasterio.open(out) as b:
        assert a.colormap(1) == b.colormap(1)
        assert [c.name for c in b.colorinterp] == ["palette"]
    with rasterio.open(out, overview_level=0) as file:
        assert_same(file.read(), array[:, ::2, ::2])


@pytest.mark.parametrize("command", ("convert", "cog"))
@pytest.mark.parametrize("bands", (2, 4))
@pytest.mark.parametrize("alpha", ("PREMULTIPLIED", "NON-PREMULTIPLIED"))
def test_alpha_is_of_the_kind_of_the_source(command, bands, alpha, tmp_path):
    source, out = tmp_path / "source.tif", tmp_path / "out.tif"
    write_source(source, rasters.make("uint8", bands, 40, 50), "uint8", alpha=alpha,
                 photometric="RGB" if bands == 4 else "MINISBLACK")
    harness.run_ok(command, source, "-o", out)
    with rasterio.open(source) as a, rasterio.open(out) as b:
        assert a.colorinterp == b.colorinterp
        kind = {"ALPHA": alpha} if alpha == "PREMULTIPLIED" else {}
        assert a.tags(bands, ns="IMAGE_STRUCTURE") == b.tags(bands, ns="IMAGE_STRUCTURE") == kind
    shown = harness.run_json("info", "--json", out)["bands"][-1]
    assert shown["color"] == "alpha"
    assert shown["metadata"] == ({"IMAGE_STRUCTURE": kind} if kind else {})


@pytest.mark.parametrize("colors", (("red", "green", "blue", "alpha"), ("gray", "alpha"),
                                    ("gray", "undefined", "undefined"), ("blue", "green", "red", "undefined"),
                                    ("red", "green", "blue", "nir")), ids="-".join)
def test_colours_of_bands_go_along(colors, tmp_path):
    from rasterio.enums import ColorInterp
    if any(not hasattr(ColorInterp, color) for color in colors):
        pytest.skip("this GDAL does not know the colour")
    source, out = tmp_path / "source.tif", tmp_path / "out.tif"
    write_source(source, rasters.make("uint16", len(colors), 40, 50), "uint16")
    with rasterio.open(source, "r+") as file:
        file.colorinterp = [ColorInterp[color] for color in colors]
    harness.run_ok("convert", source, "-o", out)
    with rasterio.open(source) as a, rasterio.open(out) as b:
        assert a.colorinterp == b.colorinterp


def test_names_of_classes_go_along_in_a_sidecar(tmp_path):
    source, out = tmp_path / "source.tif", tmp_path / "out.tif"
    array = rasters.make("uint8", 1, 300, 300) % 3
    write_source(source, array, "uint8")
    (tmp_path / "source.tif.aux.xml").write_text(
        "<PAMDataset><PAMRasterBand band=\"1\"><CategoryNames><Category>none</Category>"
        "<Category>Wald &amp; Wiese</Category><Category>Fluß</Category></CategoryNames></PAMRasterBand></PAMDataset>")
    harness.run_ok("cog", source, "-o", out, "--tile-size", "128")
    bands = [harness.run_json("info", "--json", path)["bands"] for path in (source, out)]
    names = [band[0].get("category_names") or band[0].get("categories") for band in bands]
    assert names[0] == ["none", "Wald & Wiese", "Fluß"] and names[1] == names[0]
    # Classes are not averaged.
    with rasterio.open(out, overview_level=0) as file:
        assert_same(file.read(), array[:, ::2, ::2])


def test_sidecars_of_the_old_file_go(tmp_path):
    source, out = tmp_path / "source.tif", tmp_path / "out.tif"
    write_source(source, rasters.make("uint8", 1, 300, 300), "uint8")
    write_source(out, rasters.make("uint8", 1, 200, 200), "uint8")
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=False, TIFF_USE_OVR=True), rasterio.open(out, "r+") as file:
        file.write_mask(rasters.make("uint8", 1, 200, 200)[0])
        file.build_overviews([2])
    (tmp_path / "out.tif.aux.xml").write_text("<PAMDataset><Metadata><MDI key=\"OLD\">1</MDI></Metadata></PAMDataset>")
    assert {path.name for path in tmp_path.iterdir()} >= {"out.tif.ovr", "out.tif.msk"}
    harness.run_ok("convert", source, "-o", out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.tif", "source.tif"]


def test_an_external_mask_becomes_an_internal_one(tmp_path):
    source = tmp_path / "source.tif"
    array = rasters.make("uint8", 1, 200, 200)
    write_source(source, array, "uint8")
    mask = (array[0] > 100).astype("uint8") * 255
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=False), rasterio.open(source, "r+") as file:
        file.write_mask(mask)
    assert (tmp_path / "source.tif.msk").exists()
    harness.run_ok("cog", source, "-o", source)  # onto itself
    with rasterio.open(source) as file:
        assert (file.read_masks(1) == mask).all()
        assert_same(file.read(), array)
    assert [path.name for path in tmp_path.iterdir()] == ["source.tif"]


def write_picture(path, extra, **options):
    """Three bands of bytes by tifffile, with tags that GDAL does not write."""
    array = np.moveaxis(rasters.make("uint8", 3, 40, 50), 0, -1)
    tifffile.imwrite(path, array, photometric="rgb", extratags=extra, metadata=None, **options)


PROFILE = b"\0\0\2\xbc" + bytes(8) + b"mntrRGB XYZ " + bytes(12) + b"acsp" + bytes(i * 7 % 256 for i in range(660))
XMP = b"<x:xmpmeta xmlns:x='adobe:ns:meta/'/>"


@pytest.mark.parametrize("byteorder", "<>")
@pytest.mark.parametrize("command", ("convert", "cog"))
def test_icc_profile_and_xmp_go_along_as_with_gdal(command, byteorder, tmp_path):
    source, out, theirs = tmp_path / "source.tif", tmp_path / "out.tif", tmp_path / "theirs.tif"
    write_picture(source, [(700, "B", len(XMP), XMP, True), (33723, "B", 9, b"\x1c\2\5\0\4iptc", True)],
                  iccprofile=PROFILE, byteorder=byteorder)
    rasterio.shutil.copy(source, theirs, driver="COG" if command == "cog" else "GTiff")
    harness.run_ok(command, source, "-o", out, "--compression", "jpeg")
    with rasterio.open(source) as a, rasterio.open(out) as b, rasterio.open(theirs) as c:
        assert base64.b64decode(a.tags(ns="COLOR_PROFILE")["SOURCE_ICC_PROFILE"]) == PROFILE
        for domain in ("COLOR_PROFILE", "xml:XMP"):
            assert a.tags(ns=domain) == b.tags(ns=domain) == c.tags(ns=domain) != {}
    for path in (out, theirs):
        with tifffile.TiffFile(path) as file:
            assert 33723 not in file.pages[0].tags  # IPTC: neither GDAL nor we carry it
    # A window keeps the colour profile; other bands or types drop it, because it does not describe them.
    for options, kept in ((["--window", "0,0,16,16"], True), (["--bands", "1"], False), (["--dtype", "uint16"], False)):
        harness.run_ok("convert", source, "-o", out, *options)
        with rasterio.open(out) as file:
            assert bool(file.tags(ns="COLOR_PROFILE")) == kept, options


@pytest.mark.parametrize("byteorder", "<>")
def test_colorimetry_goes_along_as_with_gdal(byteorder, tmp_path):
    source, out = tmp_path / "source.tif", tmp_path / "out.tif"
    curves = [value * value // 255 * 257 for value in range(256)] * 3
    write_picture(source, [(301, "H", 768, curves, True), (318, "2I", 2, (3127, 10000, 329, 1000), True),
                           (319, "2I", 6, (64, 100, 33, 100, 30, 100, 60, 100, 15, 100, 6, 100), True)],
                  byteorder=byteorder)
    harness.run_ok("convert", source, "-o", out)
    with rasterio.open(source) as a, rasterio.open(out) as b:
        assert len(a.tags(ns="COLOR_PROFILE")) == 7
        assert a.tags(ns="COLOR_PROFILE") == b.tags(ns="COLOR_PROFILE")


def test_bands_with_different_nodata_get_that_of_the_first_and_a_note(tmp_path):
    source, out = tmp_path / "source.tif", tmp_path / "out.tif"
    write_source(source, rasters.make("int16", 2, 20, 30), "int16")
    (tmp_path / "source.tif.aux.xml").write_text(
        "<PAMDataset><PAMRasterBand band=\"1\"><NoDataValue>-1</NoDataValue></PAMRasterBand>"
        "<PAMRasterBand band=\"2\"><NoDataValue>-2</NoDataValue></PAMRasterBand></PAMDataset>")
    result = harness.run_ok("convert", source, "-o", out)
    assert b"bands have different nodata values (-1, -2)" in result.stderr
    with rasterio.open(out) as file:
        assert file.nodatavals == (-1, -1)
    result = harness.run_ok("convert", source, "-o", out, "--bands", "2")
    assert not result.stderr
    with rasterio.open(out) as file:
        assert file.nodatavals == (-2,)


def test_a_transform_that_places_nothing_is_left_out_with_a_note(tmp_path):
    source, out = tmp_path / "source.tif", tmp_path / "out.tif"
    matrix = (10.0, 20.0, 0.0, 5.0, 1.0, 2.0, 0.0, 7.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    write_picture(source, [(34264, "d", 16, matrix, True)])
    result = harness.run_ok("convert", source, "-o", out)
    assert b"the transform puts all pixels on one line" in result.stderr
    assert harness.run_json("info", "--json", out)["georeference"]["transform"] is None
    # Given by hand it is refused, and the file stays as it is.
    before = out.read_bytes()
    result = harness.run("edit", out, "--transform", "0,1,0,0,1,0")
    assert result.code == harness.USAGE and b"on one line" in result.stderr, str(result)
    assert out.read_bytes() == before


def test_a_crs_that_nobody_understands_is_left_out_with_a_note(tmp_path):
    source, out = tmp_path / "source.tif", tmp_path / "out.tif"
    write_picture(source, [])
    rubbish = 'PROJCS["rubbish",GEOGCS["x"'
    source.with_name("source.tif.aux.xml").write_text(f"<PAMDataset><SRS>{rubbish}</SRS></PAMDataset>")
    result = harness.run_ok("convert", source, "-o", out)
    assert b"source.tif: the CRS cannot be written and is left out" in result.stderr, str(result)
    assert harness.run_json("info", "--json", out)["georeference"]["wkt"] is None
    pixels = [harness.run_json("checksum", "--json", path)["bands"] for path in (source, out)]
    assert pixels[0] == pixels[1]
    # Given by hand it is refused, and the file stays as it is.
    before = out.read_bytes()
    result = harness.run("edit", out, "--crs", rubbish)
    assert result.code == harness.USAGE and b"does not understand" in result.stderr, str(result)
    assert out.read_bytes() == before


def test_resolution_that_is_no_number_stays_metadata(tmp_path):
    """TIFF holds a fraction there; a text is kept beside it, where GDAL finds it under the same name."""
    source, out = tmp_path / "source.tif", tmp_path / "out.tif"
    write_source(source, rasters.make("uint8", 1, 20, 30), "uint8")
    (tmp_path / "source.tif.aux.xml").write_text(
        "<PAMDataset><Metadata><MDI key=\"TIFFTAG_XRESOLUTION\">many</MDI>"
        "<MDI key=\"TIFFTAG_YRESOLUTION\">72.5</MDI></Metadata></PAMDataset>")
    harness.run_ok("convert", source, "-o", out)
    with tifffile.TiffFile(out) as file:
        assert 282 not in file.pages[0].tags
        assert file.pages[0].tags[283].value == (145, 2)
    with rasterio.open(out) as file:
        assert file.tags()["TIFFTAG_XRESOLUTION"] == "many"
        assert file.tags()["TIFFTAG_YRESOLUTION"] == "72.5"


@pytest.mark.parametrize("bands", (2, 4))
def test_alpha_becomes_the_mask_of_a_jpeg_cog_as_by_gdal(bands, tmp_path):
    array = rasters.make("uint8", bands, 600, 700)
    array[-1] = rasters.make("uint8", 1, 600, 700, seed=9)[0] * (np.indices((600, 700)).sum(0) % 5 > 1)
    source, ours, theirs = tmp_path / "source.tif", tmp_path / "ours.tif", tmp_path / "theirs.tif"
    write_source(source, array, "uint8", photometric="RGB" if bands == 4 else "MINISBLACK", alpha="YES")
    result = harness.run_ok("cog", source, "-o", ours, "--compression", "jpeg")
    assert not result.stderr
    rasterio.shutil.copy(source, theirs, driver="COG", COMPRESS="JPEG", OVERVIEW_RESAMPLING="AVERAGE")
    with rasterio.open(ours) as a, rasterio.open(theirs) as b:
        assert a.count == b.count == bands - 1
        assert a.photometric == b.photometric and a.colorinterp == b.colorinterp
        assert a.mask_flag_enums == b.mask_flag_enums and a.overviews(1) == b.overviews(1) != []
        np.testing.assert_array_equal(a.read_masks(1), b.read_masks(1))
        np.testing.assert_array_equal(a.read_masks(1) != 0, array[-1] != 0)
    for wish in (["--bands", f"1-{bands}"], ["--mask"], ["--interleave", "band"]):
        harness.run_ok("cog", source, "-o", ours, "--compression", "jpeg", *wish)
        with rasterio.open(ours) as file:
            assert file.count == bands, wish


def test_alpha_beside_a_lossy_codec_is_told(tmp_path):
    source, out = tmp_path / "source.tif", tmp_path / "out.tif"
    array = rasters.make("uint8", 4, 64, 64)
    write_source(source, array, "uint8", photometric="RGB", alpha="YES")
    result = harness.run_ok("convert", source, "-o", out, "--compression", "jpeg")
    assert b"alpha" in result.stderr and b"(--bands 1-3 and --mask)" in result.stderr
    with rasterio.open(out) as file:
        assert file.count == 4
    assert not harness.run_ok("convert", source, "-o", out, "--compression", "webp", "--lossy").stderr
    with rasterio.open(out) as file:
        np.testing.assert_array_equal(file.read(4), array[3])


@pytest.mark.parametrize("command", ("convert", "cog"))
def test_nodata_beside_a_lossy_codec_is_told_and_a_mask_keeps_it(command, tmp_path):
    array = rasters.make("uint8", 3, 200, 200) // 2 + 60
    array[:, 50:90, 30:111] = 0
    source, out = tmp_path / "source.tif", tmp_path / "out.tif"
    write_source(source, array, "uint8", nodata=0)
    result = harness.run_ok(command, source, "-o", out, "--compression", "jpeg")
    assert b"jpeg is lossy" in result.stderr and b"--mask" in result.stderr
    with rasterio.open(out) as file:
        assert file.nodata == 0
    result = harness.run_ok(command, source, "-o", out, "--compression", "jpeg", "--mask")
    assert not result.stderr
    with rasterio.open(out) as file:
        assert file.nodata is None
        assert ((file.read_masks(1) == 0) == (array[0] == 0)).all()
    assert harness.run(command, source, "-o", out, "--mask", "--nodata", "0").code == harness.USAGE
    result = harness.run_ok(command, source, "-o", out, "--compression", "webp")  # without loss
    assert not result.stderr


def test_nodata_that_no_pixel_can_have_is_left_out_and_told(tmp_path):
    source, out = tmp_path / "source.tif", tmp_path / "out.tif"
    write_source(source, rasters.make("float32", 1, 300, 300), "float32")
    (tmp_path / "source.tif.aux.xml").write_text(
        '<PAMDataset><PAMRasterBand band="1"><NoDataValue>1e300</NoDataValue></PAMRasterBand></PAMDataset>')
    result = harness.run_ok("convert", source, "-o", out)
    assert b"nodata 1e300 is no value of float32" in result.stderr
    with rasterio.open(out) as made:
        assert made.nodata is None


def test_projections_over_a_base_in_grads_keep_their_angles(tmp_path):
    """Lambert II: the key of its base makes it more than its code."""
    source, out = tmp_path / "source.tif", tmp_path / "out.tif"
    keys = (1, 1, 0, 3, 1024, 0, 1, 1, 2048, 0, 1, 4807, 3072, 0, 1, 27572)
    tifffile.imwrite(source, np.zeros((8, 8), np.uint8), extratags=[
        (33550, 12, 3, (1.0, 1.0, 0.0), True), (33922, 12, 6, (0.0, 0.0, 0.0, 6e5, 2.2e6, 0.0), True),
        (34735, 3, len(keys), keys, True)])
    assert harness.run_json("info", "--json", source)["georeference"]["epsg"] == 27572
    harness.run_ok("convert", source, "-o", out)
    with rasterio.open(source) as a, rasterio.open(out) as b:
        assert a.crs.to_epsg() == b.crs.to_epsg() == 27572


@pytest.mark.corpus
def test_files_of_the_corpus_keep_what_they_are(tmp_path, note):
    names = [name for name, entry in harness.manifest().items() if entry["kind"] == "tiff" and not entry["bad"]]
    if not names:
        pytest.skip(f"no corpus at {harness.CORPUS}: set TERRAZZO_CORPUS")
    compared = 0
    for index, name in enumerate(names if harness.FULL else names[::24]):
        source, out = harness.CORPUS / name, tmp_path / f"{index}.tif"
        before = harness.run("checksum", "--json", source)
        if before.code != harness.OK:
            continue
        for command in ("convert", "cog"):
            harness.run_ok(command, source, "-o", out, "--quiet", "--compression", "lzw")
            assert before.json()["bands"] == harness.run_json("checksum", "--json", out)["bands"], (name, command)
            try:
                with rasterio.open(source) as a, rasterio.open(out) as b:
                    for what in ("dtypes", "scales", "offsets", "units", "descriptions", "colorinterp",
                                 "mask_flag_enums"):
                        assert getattr(a, what) == getattr(b, what), (name, command, what)
                    assert a.transform.almost_equals(b.transform, 1e-9), (name, command)
                    compared += 1
            except rasterio.errors.RasterioIOError:
                pass  # GDAL cannot open the source
    note(f"write: {compared} conversions of files of the corpus compared by GDAL")
    assert compared > 25
