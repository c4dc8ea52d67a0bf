# SPDX-License-Identifier: Apache-2.0
"""Command lines as users of GDAL, rio and rio-cogeo type them."""

import shlex

import harness
import pytest
import rasterio

DEM = harness.ROOT / "tests/data/dem_deflate_p3.tif"


def refused(*args):
    """The first line of the error, without the program's name."""
    result = harness.run(*args)
    assert result.code == harness.USAGE, str(result)
    return result.stderr.decode().splitlines()[0].removeprefix("terrazzo: error: ")


def typed_in(message):
    """The options between the quotes after the last `type`."""
    return shlex.split(message.rsplit('type "', 1)[1].split('"')[0])


# What is typed, and the options that the answer shows. Each answer is a command line that works.
ANSWERS = (
    ("convert", "-srcwin 8 16 64 32", ["--window", "8,16,64,32"]),
    ("convert", "--srcwin 8 16 64 32", ["--window", "8,16,64,32"]),
    ("convert", "-ot Float64", ["--dtype", "float64"]),
    ("convert", "-outsize 64 32", ["--target-size", "64,32"]),
    ("convert", "-b 1", ["--bands", "1"]),
    ("convert", "-a_srs EPSG:32633", ["--crs", "EPSG:32633"]),
    ("convert", "-a_nodata -9999", ["--nodata", "-9999"]),
    ("convert", "-stats", ["--statistics"]),
    ("convert", "-co COMPRESS=DEFLATE -co ZLEVEL=9 -co PREDICTOR=3",
     ["--compression", "deflate", "--compression-level", "9", "--predictor", "3"]),
    ("convert", "-co COMPRESS=LERC_ZSTD -co MAX_Z_ERROR=0.5", ["--compression", "lerc-zstd", "--max-error", "0.5"]),
    ("convert", "-co BLOCKXSIZE=128 -co BLOCKYSIZE=64", ["--tile-size", "128x64"]),
    ("convert", "-co BIGTIFF=YES -co SPARSE_OK=TRUE", ["--bigtiff", "yes", "--sparse"]),
    ("convert", "--co compress=lzw", ["--compression", "lzw"]),
    ("convert", "--profile zstd", ["--compression", "zstd"]),
    ("cog", "-r near -co LEVEL=3", ["--resampling", "nearest", "--compression-level", "3"]),
    ("cog", "-p lzw", ["--compression", "lzw"]),
    ("mosaic", "--method max -n 0", ["--rule", "max", "--nodata", "0"]),
    ("mosaic", "-of COG -tr 20 20", ["--cog", "--target-resolution", "20,20"]),
    ("convert", "-ot Byte -scale 0 1000", ["--dtype", "uint8", "--scale", "0,1000,0,255"]),
    ("convert", "-tap -co COMPRESS=LZW -co TFW=YES", ["--compression", "lzw"]),
    ("mosaic", "-addalpha -resolution highest -r bilinear", ["--mask"]),
    ("cog", "--with-complement --bounds '400000 4999900 400100 5000010'",
     ["--boundless", "--bbox", "400000,4999900,400100,5000010"]),
)


@pytest.mark.parametrize("command, theirs, ours", ANSWERS, ids=[" ".join(a[:2]) for a in ANSWERS])
def test_a_habit_is_answered_by_options_that_work(tmp_path, command, theirs, ours):
    out = tmp_path / "out.tif"
    message = refused(command, DEM, "-o", out, *shlex.split(theirs))
    assert typed_in(message) == ours
    assert not out.exists()
    harness.run_ok(command, DEM, "-o", out, *typed_in(message))
    with rasterio.open(out) as written:
        assert written.count == 1


def test_names_with_the_same_meaning_are_accepted(tmp_path):
    out = tmp_path / "out.tif"
    harness.run_ok("cog", DEM, "--output", out, "--bidx", "1", "--blocksize=128", "-quiet")
    with rasterio.open(out) as written:
        assert written.block_shapes == [(128, 128)]


@pytest.mark.parametrize("line, told", (
    (["convert", DEM, "-t_srs", "EPSG:3857", "-o", "b.tif"], "Terrazzo does not warp; type \"gdalwarp -t_srs EPSG:3857 "),
    (["cog", DEM, "--t_srs", "EPSG:3857", "-o", "b.tif"], "Terrazzo does not warp"),
    (["convert", DEM, "-of", "COG", "-o", "b.tif"], "type \"terrazzo cog "),
    (["convert", DEM, "-of", "netCDF", "-o", "b.nc"], "use gdal_translate -of netCDF"),
    (["info", DEM, "-stats"], "type \"terrazzo stats "),
    (["info", DEM, "-mm"], "type \"terrazzo stats "),
    (["info", DEM, "-json"], "type \"--json\""),
    (["info", DEM, "-srcwin", "0", "0", "8", "8"], "\"--window 0,0,8,8\" is an option of these commands: read"),
    (["convert", DEM, "-projwin", "0", "9", "8", "-1", "-o", "b.tif"], "type \"--bbox 0,-1,8,9\""),
    (["read", DEM, "-te", "-3", "1", "8", "9", "-te_srs", "EPSG:4326", "-o", "b.npy"], "type \"--bbox -3,1,8,9 --bbox-crs EPSG:4326\""),
    (["sample", DEM, "-wgs84", "--at", "9,45"], "type \"--crs EPSG:4326\""),
    (["sample", DEM, "-geoloc", "--at", "9,45"], "leave out \"-geoloc\", the default here"),
    (["overviews", DEM, "-clean"], "type \"--factors none\""),
    (["overviews", DEM, "-r", "average", "2", "4"], "type \"--resampling average\""),
    (["edit", DEM, "-unsetnodata"], "type \"--nodata none\""),
    (["edit", DEM, "-mo", "A=B"], "type \"--set A=B\""),
    (["convert", DEM, "--config", "GDAL_NUM_THREADS", "2", "-o", "b.tif"], "type \"--threads 2\""),
    (["convert", DEM, "--config", "GDAL_NUM_THREADS=2", "-o", "b.tif"], "type \"--threads 2\""),
    (["info", DEM, "--format=json"], "type \"--json\""),
    (["info", DEM, "--indent", "2"], "has no option --indent"),
    (["preview", DEM, "-outsize", "500", "0", "-o", "b.png"], "type \"--max-size 500\""),
    (["preview", DEM, "b.png"], "type \"--out b.png\""),
    (["cog", DEM, "--web-optimized", "-o", "b.tif"], "type \"--tiling-scheme GoogleMapsCompatible\""),
    (["cog", "create", DEM, "b.tif"], "type \"terrazzo cog FILE --out PATH\""),
    (["overviews", "delete", DEM], "type \"terrazzo overviews FILE --factors none\""),
    (["overviews", DEM, "-minsize", "256"], "type \"--factors LIST\""),
    (["mosaic", DEM, "-hidenodata", "-o", "b.tif"], "has no option -hidenodata"),
    (["edit", DEM, "-scale", "0.1", "-offset", "5"], "type \"--band 1 --scale 0.1 --offset 5\""),
    (["edit", DEM, "-unsetgt"], "type \"--transform none\""),
    (["convert", DEM, "-o", "/vsistdout/"], "type \"--out -\""),
))
def test_other_answers_name_the_command_or_tool(line, told):
    assert told in refused(*line)


@pytest.mark.parametrize("name, told", (
    ("translate", "terrazzo convert FILE --out PATH"),
    ("gdal_translate", "terrazzo cog FILE --out PATH"),
    ("addo", "terrazzo overviews FILE"),
    ("build", "terrazzo overviews FILE"),
    ("merge", "terrazzo mosaic FILE... --out PATH"),
    ("gdalbuildvrt", "terrazzo mosaic FILE... --out PATH"),
    ("gdal_merge.py", "terrazzo mosaic FILE... --out PATH"),
    ("warp", "gdalwarp -t_srs"),
    ("gdalwarp", "gdalwarp -t_srs"),
    ("rasterize", "gdal_rasterize"),
    ("gdalinfo", "terrazzo info FILE"),
    ("gdallocationinfo", "terrazzo sample FILE --at X,Y"),
    ("clip", "terrazzo convert FILE --out PATH --bbox XMIN,YMIN,XMAX,YMAX"),
    ("dem.tif", "terrazzo info dem.tif"),
))
def test_commands_of_other_programs_are_answered(name, told):
    message = refused(name, DEM)
    assert message.startswith(f'there is no command "{name}"; ')
    assert told in message


# -- names of outputs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ("convert", "cog"))
@pytest.mark.parametrize("end, told", (
    ("png", "terrazzo preview FILE --out NAME.png"),
    ("jpg", "gdal_translate -of JPEG"),
    ("jp2", "gdal_translate -of JP2OpenJPEG"),
    ("txt", "terrazzo read FILE --out NAME.npy"),
    ("csv", "terrazzo read FILE --out NAME.npy"),
    ("json", "terrazzo info FILE --json"),
    ("nc", "gdal_translate -of netCDF"),
    ("zip", "pack it with zip"),
    ("vrt", "gdalbuildvrt"),
    ("npy", "terrazzo read FILE --out"),
))
def test_a_tiff_has_no_name_of_another_format(tmp_path, command, end, told):
    out = tmp_path / f"a.{end}"
    assert told in refused(command, DEM, "-o", out)
    assert not out.exists()


def test_read_writes_a_picture_name_only_with_raw(tmp_path):
    assert "terrazzo preview" in refused("read", DEM, "-o", tmp_path / "a.png")
    harness.run_ok("read", DEM, "-o", tmp_path / "a.png", "--raw")


def test_preview_writes_png_only(tmp_path):
    assert 'a.png"' in refused("preview", DEM, "-o", tmp_path / "a.jpg")


@pytest.mark.parametrize("command, name", (("convert", "a.tif"), ("cog", "a.tif"), ("read", "a.npy"), ("preview", "a.png")))
def test_no_clobber_keeps_an_existing_file(tmp_path, command, name):
    out = tmp_path / name
    harness.run_ok(command, DEM, "-o", out, "--no-clobber")
    out.write_bytes(b"mine")
    assert "exists, and --no-clobber keeps it" in refused(command, DEM, "-o", out, "--no-clobber")
    assert out.read_bytes() == b"mine"
    harness.run_ok(command, DEM, "-o", "/dev/null" if command != "preview" else "-", "--no-clobber", "-q")
    harness.run_ok(command, DEM, "-o", out)
    assert out.read_bytes() != b"mine"


def test_no_clobber_comes_before_the_source_is_opened(tmp_path):
    out = tmp_path / "a.tif"
    out.write_bytes(b"mine")
    assert "--no-clobber" in refused("convert", tmp_path / "missing.tif", "-o", out, "--no-clobber")


def test_no_clobber_of_a_folder_refuses_all_work(tmp_path):
    source, folder = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    folder.mkdir()
    for name in ("a.tif", "b.tif"):
        (source / name).write_bytes(DEM.read_bytes())
    (folder / "b.tif").write_bytes(b"mine")
    assert "--no-clobber" in refused("cog", source, "--out-dir", folder, "--no-clobber")
    assert sorted(p.name for p in folder.iterdir()) == ["b.tif"]
    assert "exclude each other" in refused("cog", source, "--out-dir", folder, "--no-clobber", "--overwrite")


def test_no_clobber_keeps_external_overviews(tmp_path):
    path = tmp_path / "a.tif"
    path.write_bytes(DEM.read_bytes())
    harness.run_ok("overviews", path, "--external", "--factors", "2", "--no-clobber")
    assert "--no-clobber keeps it" in refused("overviews", path, "--external", "--no-clobber")
    assert "--no-clobber needs --external" in refused("overviews", path, "--no-clobber")
