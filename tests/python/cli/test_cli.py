# SPDX-License-Identifier: Apache-2.0
"""The command line as scripts and people meet it."""

import json
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import time

import harness
import numpy as np
import png
import pytest
import rasterio
import rasters

DATA = harness.ROOT / "tests/data"
DEM = DATA / "dem_deflate_p3.tif"
COMMANDS = ("info", "checksum", "read", "plan", "stats", "preview", "convert", "cog", "overviews", "edit", "validate", "bench", "doctor", "help")


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Some 190 MB of pixels that take a second or so to read."""
    path = tmp_path_factory.mktemp("large") / "large.tif"
    block = rasters.make("uint16", 1, 512, 4096)[0]
    with rasterio.open(path, "w", driver="GTiff", width=4096, height=512 * 24, count=2, dtype="uint16", tiled=True,
                       blockxsize=256, blockysize=256, compress="zstd", zstd_level=1, interleave="band") as out:
        for band in (1, 2):
            for i in range(24):
                out.write(block, band, window=rasterio.windows.Window(0, 512 * i, 4096, 512))
    return path


# -- help -------------------------------------------------------------------------------------------------------------


def test_help_lists_every_command():
    text = harness.run_ok("--help").stdout.decode()
    for command in COMMANDS:
        assert command in text


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_teaches(command):
    text = harness.run_ok(command, "--help").stdout.decode()
    assert len(text.splitlines()) >= 5
    assert "terrazzo" in text


def test_help_of_bench_shows_a_whole_command():
    assert "terrazzo bench read dem.tif" in harness.run_ok("bench", "--help").stdout.decode()


def test_no_arguments_show_how_to_start():
    result = harness.run()
    assert result.code in (harness.OK, harness.USAGE)
    assert b"info" in result.stdout + result.stderr


@pytest.mark.parametrize("words", ("--version", "-V", "info --version", "bench read -V", "convert a.tif -V"))
def test_version_is_three_numbers(words):
    text = harness.run_ok(*words.split()).stdout.decode()
    assert text.startswith("terrazzo ") and text.count(".") >= 2 and text.count("\n") == 1


@pytest.mark.parametrize("command", ("", *COMMANDS, "bench read", "bench write"))
def test_help_command_prints_the_help_of_a_command(command):
    text = harness.run_ok("help", *command.split()).stdout
    assert text == harness.run_ok(*command.split(), "--help").stdout


def test_help_of_an_unknown_command_names_the_nearest():
    result = harness.run("help", "valdate")
    assert result.code == harness.USAGE
    assert 'terrazzo has no command "valdate"; type "terrazzo help validate"' in result.stderr.decode()


def test_unknown_command_is_usage():
    result = harness.run("teleport", DEM)
    assert result.code == harness.USAGE
    assert result.stderr


def test_unknown_option_is_usage():
    assert harness.run("info", "--no-such-option", DEM).code == harness.USAGE


def test_missing_file_argument_is_usage():
    assert harness.run("info").code == harness.USAGE


@pytest.mark.parametrize("line, told", (
    (["info"], 'FILE is missing; type "terrazzo info FILE"'),
    (["read", DEM], '--out is missing; type "terrazzo read FILE --out PATH"'),
    (["info", DEM, "--tag"], 'terrazzo info has no option --tag; type "--tags"'),
    (["--colour", DEM], "terrazzo has no option --colour;"),
    (["bench"], "terrazzo bench needs one of: read"),
    (["bench", "read", DEM, "--repeat", "0"], '--repeat "0": expected a whole number, 1 to 100000'),
    (["bench", "read", DEM, "--seed", "2"], '--seed needs --random-windows'),
    (["info", DEM, "--threads", "two"], '--threads "two": expected a whole number'),
    (["info", DEM, "--trust", "me"], '--trust "me": expected auto, trusted or untrusted'),
    (["plan", DEM, "--level", "1", "--target-size", "9,9"], "--level and --target-size exclude each other"),
    (["plan", DEM, "--strict"], "terrazzo plan has no option --strict"),
    (["plan", DEM, "--fill-bad"], "terrazzo plan has no option --fill-bad"),
    (["valdate", DEM], 'there is no command "valdate"; type "terrazzo validate", or one of'),
    (["convert", DEM, "b.tif"], '--out is missing; type "--out b.tif"'),
    (["convert", DEM, "b.png"], '--out "b.png": this command writes TIFF, not .png; type "terrazzo preview FILE --out NAME.png"'),
    (["convert", DEM, "-o", "b.tif", "--target-size", "4,4", "--resampling", "near"],
     '--resampling "near": expected nearest, average, bilinear, cubic, cubic-spline, lanczos, mode, min, max, median or rms; '
     'type "--resampling nearest"'),
    (["sample", DEM, "200000", "2700000"], 'terrazzo sample does not take "200000"; type "--at 200000,2700000"'),
    (["mosaic", DEM, DEM], '--out is missing; type "terrazzo mosaic FILE --out PATH"'),
    (["sample", DEM, "200000,2700000"], 'terrazzo sample does not take "200000,2700000"; type "--at 200000,2700000"'),
    (["read", DEM, "--window", "0", "0", "10", "10"],
     '--window "0": expected COLUMN,ROW,WIDTH,HEIGHT in pixels, joined by commas, such as 0,0,512,512'),
    (["convert", DEM, "-o", "b.tif", "--cog"], 'terrazzo convert has no option --cog; type "terrazzo cog"'),
    (["convert", DEM, "-o", "b.tif", "-ot", "Int16"], 'terrazzo convert has no option -ot; type "--dtype int16"'),
    (["convert", DEM, "-o", "b.tif", "-co", "X=Y"], 'terrazzo convert has no option -co; -co X=Y: no option'),
    (["convert", DEM, "-o", "b.tif", "--compression", "jpg"], '--compression "jpg": expected none, packbits'),
    (["convert", DEM, "-o", "b.tif", "--compression-level", "high"], '--compression-level "high": expected a number'),
    (["convert", DEM, "-o", "b.tif", "--quality", "80"], "--quality is for jpeg and webp, and the compression is zstd"),
    (["convert", DEM, "-o", "b.tif", "--resampling", "mode"], "--resampling needs a target (--target-size"),
    (["convert", DEM, "-o", "b.tif", "--overviews", "4,2"], "overview factors go up, such as 2,4,8"),
    (["convert", DEM, "-o", "b.tif", "--crs", ""], '--crs "": expected EPSG:4326'),
    (["convert", DEM, "-o", "b.tif", "--crs", "here"], 'PROJ does not understand the CRS "here"; give EPSG:CODE'),
    (["convert", DEM, "-o", "b.tif", "--crs", "X[1]"], 'PROJ does not understand the CRS "X[1]"; give EPSG:CODE'),
    (["cog", DEM], "an output is missing: type -o PATH for one file, --out-dir FOLDER for any number"),
    (["cog", DEM, "-o", "b.tif", "--strips", "8"], 'terrazzo cog has no option --strips; type "--tile-size N"'),
    (["overviews", DEM, "2", "4"], 'terrazzo overviews does not take "2"; type "--factors 2,4"'),
    (["overviews", DEM, "2,4"], 'terrazzo overviews does not take "2,4"; type "--factors 2,4"'),
    (["overviews", DEM, "--clean"], 'terrazzo overviews has no option --clean; type "--factors none"'),
    (["edit", DEM], "nothing to change: type --nodata VALUE"),
    (["edit", DEM, "KEY=VALUE"], 'terrazzo edit does not take "KEY=VALUE"; type "--set KEY=VALUE"'),
    (["edit", DEM, "--band", "1", "--scale", "ten"], '--scale "ten": expected a number'),
    (["edit", DEM, "--transform", "1", "2", "3"], 'terrazzo edit does not take "2"; separate numbers of one option'),
    (["validate", DEM, "--strikt"], 'terrazzo validate has no option --strikt; type "--strict"'),
))
def test_usage_error_says_what_is_wrong_and_what_to_type(line, told):
    result = harness.run(*line)
    assert result.code == harness.USAGE
    assert result.stderr.decode().splitlines()[0].startswith("terrazzo: error: " + told), str(result)


def test_names_of_codecs_and_types_may_be_gdals(tmp_path):
    harness.run_ok("convert", DEM, "-o", tmp_path / "a.tif", "--compression", "LZW", "--dtype", "Float64", "-q")
    with rasterio.open(tmp_path / "a.tif") as file:
        assert file.profile["compress"] == "lzw" and file.dtypes == ("float64",)
    harness.run_ok("convert", DEM, "-o", tmp_path / "a.tif", "--dtype", "Byte", "--nodata", "0", "-q")


def test_info_lists_every_codec_of_the_build():
    codecs = {c["name"]: c for c in harness.run_json("info", "--codecs", "--json", DEM)["build_codecs"]}
    assert codecs["zstd"]["library"] == "libzstd" and codecs["zstd"]["available"]
    assert codecs["lzw"]["library"] is None and codecs["ccitt-g4"]["trusted_only"]
    text = harness.run_ok("info", "--codecs", DEM).stdout.decode()
    for name in ("zstd", "libzstd", "webp", "libwebp", "jpeg2000", "OpenJPEG", "lerc", "ccitt-g4", "libtiff"):
        assert name in text, name


def test_threads_and_memory_limit_of_zero_are_the_default(large):
    env = {"TERRAZZO_THREADS": "1", "TERRAZZO_MEMORY_LIMIT": "2K"}
    for option in ([], ["--threads", "0"]):
        assert harness.run_json("plan", "--json", large, *option, env={"TERRAZZO_THREADS": "1"})["threads"] == 1
    assert harness.run_json("plan", "--json", large, "--threads", "2", env={"TERRAZZO_THREADS": "1"})["threads"] == 2
    for option in ([], ["--memory-limit", "0"]):
        assert harness.run("checksum", DEM, *option, env=env).code == harness.EXIT_CODES["limit"]
    harness.run_ok("checksum", DEM, "--memory-limit", "1G", env=env)


# -- errors -----------------------------------------------------------------------------------------------------------


def failing(tmp_path):
    """(arguments, kinds that are right)"""
    empty, short, text = tmp_path / "empty.tif", tmp_path / "short.tif", tmp_path / "text.tif"
    empty.write_bytes(b"")
    short.write_bytes(b"II*\0")
    text.write_text("this is no raster\n" * 20)
    return [
        (["info", tmp_path / "no-such-file.tif"], {"io"}),
        (["info", tmp_path], {"io", "usage"}),
        (["info", empty], {"malformed"}),
        (["info", short], {"malformed"}),
        (["info", text], {"malformed", "unsupported"}),
        (["read", DEM, "--window", "90,70,50,50", "--out", tmp_path / "x.npy"], {"usage"}),
        (["read", DEM, "--window", "0,0,0,5", "--out", tmp_path / "x.npy"], {"usage"}),
        (["read", DEM, "--window", "1,2,3", "--out", tmp_path / "x.npy"], {"usage"}),
        (["read", DEM, "--window=-1,0,5,5", "--out", tmp_path / "x.npy"], {"usage"}),
        (["read", DEM, "--bands", "2", "--out", tmp_path / "x.npy"], {"usage"}),
        (["read", DEM, "--bands", "0", "--out", tmp_path / "x.npy"], {"usage"}),
        (["read", DEM, "--overview", "9", "--out", tmp_path / "x.npy"], {"usage"}),
        (["read", DEM, "--dtype", "float7", "--out", tmp_path / "x.npy"], {"usage"}),
        (["read", DEM, "--target-size", "0,5", "--out", tmp_path / "x.npy"], {"usage"}),
        (["read", DEM, "--memory-limit", "1K", "--out", tmp_path / "x.npy"], {"limit"}),
        (["read", DEM, "--out", tmp_path / "no-such-folder" / "x.npy"], {"io"}),
        (["checksum", DEM, "--page", "7"], {"usage"}),
    ]


@pytest.mark.parametrize("index", range(17))
def test_error_has_its_kind_its_code_and_a_text(index, tmp_path):
    args, kinds = failing(tmp_path)[index]
    plain = harness.run(*args)
    assert plain.code in {harness.EXIT_CODES[kind] for kind in kinds}, str(plain)
    assert plain.stderr.startswith(b"terrazzo"), str(plain)
    machine = harness.run(*args, "--json")
    error = machine.error()
    assert error["kind"] in kinds
    assert harness.EXIT_CODES[error["kind"]] == machine.code == plain.code
    assert error["message"]
    assert len(machine.stderr.splitlines()) == 1, "a script reads one line of JSON"


@pytest.mark.parametrize("url", ("http://example.com/a.tif", "https://example.com/a.tif", "s3://bucket/a.tif",
                                 "gs://bucket/a.tif"))
def test_url_is_unsupported_not_missing(url):
    result = harness.run("info", "--json", url)
    assert result.code == harness.UNSUPPORTED, str(result)
    assert "remote" in result.error()["message"]


def test_file_url_opens_a_local_file(tmp_path):
    path = tmp_path / "a b.tif"
    path.write_bytes(DEM.read_bytes())
    for url in (path.as_uri(), path.as_uri().replace("file:///", "file://localhost/")):
        assert "%20" in url
        assert harness.run_json("info", "--json", url) == harness.run_json("info", "--json", path) | {"file": url}
    other_host = harness.run("info", "--json", path.as_uri().replace("file:///", "file://elsewhere/"))
    assert other_host.error()["kind"] == "usage", str(other_host)


def test_unreadable_file_is_io(tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    path = tmp_path / "a.tif"
    path.write_bytes(DEM.read_bytes())
    path.chmod(0)
    assert harness.run("info", path).code == harness.IO


def test_failed_read_leaves_no_output_behind(tmp_path):
    broken = tmp_path / "broken.tif"
    broken.write_bytes(DEM.read_bytes()[:-3000])
    out = tmp_path / "x.npy"
    result = harness.run("read", broken, "--out", out)
    assert result.code in (harness.MALFORMED, harness.IO), str(result)
    assert not out.exists()


# -- JSON -------------------------------------------------------------------------------------------------------------


def test_checksum_json_has_the_promised_shape():
    out = harness.run_json("checksum", "--json", DEM)
    assert out["file"] == str(DEM)
    assert (out["width"], out["height"], out["dtype"]) == (101, 75, "float32")
    with rasterio.open(DEM) as file:
        assert [band["sha256"] for band in out["bands"]] == [harness.sha256(file.read(1))]


def test_info_json_has_the_promised_shape():
    out = harness.run_json("info", "--json", DATA / "scaled.tif")
    assert {"file", "width", "height", "bands", "georeference", "layout", "overviews", "pages", "metadata",
            "warnings"} <= set(out)
    band = out["bands"][0]
    assert {"dtype", "bits", "nodata", "color", "scale", "offset", "unit", "description", "metadata", "statistics",
            "mask"} <= set(band)
    assert (band["dtype"], band["bits"], band["nodata"], band["scale"], band["offset"]) == (
        "int16", 16, -32768, 0.01, -100.0)
    assert (out["bands"][1]["unit"], out["bands"][1]["description"]) == ("°C", "température")
    assert out["metadata"][""]["title"] == "Größe"
    assert out["metadata"]["EXTRA"] == {"key": "value"}
    assert {"transform", "epsg", "wkt", "pixel_is_point", "gcps", "rpc"} <= set(out["georeference"])
    assert out["georeference"]["epsg"] == 32633


def test_info_check_counts_bad_tiles(tmp_path):
    assert harness.run("info", "--check", "--json", DEM).code == harness.OK
    damaged = bytearray(DEM.read_bytes())
    damaged[-400:-300] = b"\xff" * 100
    path = tmp_path / "damaged.tif"
    path.write_bytes(damaged)
    result = harness.run("info", "--check", "--json", path)
    assert result.code == harness.MALFORMED, str(result)


def test_plan_json_tells_what_would_be_read():
    out = harness.run_json("plan", "--json", DEM, "--window", "0,0,33,32")
    text = json.dumps(out)
    assert "deflate" in text
    assert out["tile_count"] == 2


def test_stats_json_equals_numpy():
    out = harness.run_json("stats", "--json", DEM)
    with rasterio.open(DEM) as file:
        values = file.read(1, masked=True).compressed().astype(np.float64)
    band = out["bands"][0]
    assert band["valid"] == values.size
    assert (band["minimum"], band["maximum"]) == (values.min(), values.max())
    assert band["mean"] == pytest.approx(values.mean(), rel=1e-12)
    assert band["stddev"] == pytest.approx(values.std(), rel=1e-9)


def test_stats_histogram_counts_every_valid_pixel():
    out = harness.run_json("stats", "--json", "--histogram", "16", DEM)
    band = out["bands"][0]
    counts = band["histogram"]["counts"] if isinstance(band["histogram"], dict) else band["histogram"]
    assert len(counts) == 16
    assert sum(counts) == band["valid"]


@pytest.mark.parametrize("dtype, low, high", (("uint8", 1, 197), ("int16", -300, 300), ("int32", -70_000, 70_000),
                                              ("float64", -0.3, 0.7), ("float64", 1e15, 1e15 + 1000)))
@pytest.mark.parametrize("bins", (8, 14, 49, 100))
def test_stats_histogram_is_numpys(dtype, low, high, bins, tmp_path):
    edges = np.linspace(low, high, bins + 1)
    values = np.unique(np.concatenate([edges, np.nextafter(edges, low), np.linspace(low, high, 197)]).astype(dtype))
    path = tmp_path / "x.tif"
    with rasterio.open(path, "w", driver="GTiff", width=values.size, height=1, count=1, dtype=dtype) as out:
        out.write(values[None, None, :])
    band = harness.run_json("stats", "--json", "--bins", str(bins), path)["bands"][0]
    assert band["histogram"]["counts"] == np.histogram(values, bins)[0].tolist()


def test_bench_json_has_the_promised_shape():
    out = harness.run_json("bench", "read", "--host", "--threads", "2", "--json", DEM)
    assert out["file"] == str(DEM)
    assert out["seconds"] > 0
    assert out["gb_per_s"] == pytest.approx(101 * 75 * 4 / out["seconds"] / 1e9, rel=1e-2)


def test_json_output_is_only_json():
    for args in (["info"], ["checksum"], ["stats"], ["plan"]):
        result = harness.run_ok(args[0], "--json", DEM)
        json.loads(result.stdout)
        assert not result.stderr


# -- output -----------------------------------------------------------------------------------------------------------


def test_npy_is_numpys(tmp_path):
    out = tmp_path / "x.npy"
    harness.run_ok("read", DEM, "--out", out)
    array = np.load(out, allow_pickle=False)
    with rasterio.open(DEM) as file:
        assert np.array_equal(array, file.read())
    assert array.flags.c_contiguous


def test_a_result_is_never_written_over_its_source_nor_as_a_tiff(tmp_path):
    source = tmp_path / "source.tif"
    shutil.copy(DEM, source)
    before = source.read_bytes()
    (tmp_path / "link.npy").symlink_to(source)
    for out, told in [("source.tif", b"the file that is read"), ("link.npy", b"the file that is read"),
                      ("new.tif", b"terrazzo convert"), ("new.TIFF", b"terrazzo convert"), ("", b"--out is empty")]:
        result = harness.run("read", source, "--out", str(tmp_path / out) if out else "")
        assert result.code == harness.USAGE and told in result.stderr, str(result)
    assert source.read_bytes() == before and sorted(os.listdir(tmp_path)) == ["link.npy", "source.tif"]
    harness.run_ok("read", source, "--out", tmp_path / "new.tif", "--raw")
    harness.run_ok("read", source, "--out", tmp_path / "A.NPY")
    assert np.load(tmp_path / "A.NPY").nbytes == (tmp_path / "new.tif").stat().st_size


def test_raw_output_is_the_bare_samples(tmp_path):
    out = tmp_path / "x.bin"
    harness.run_ok("read", DEM, "--out", out, "--raw")
    with rasterio.open(DEM) as file:
        assert out.read_bytes() == file.read().tobytes()


def test_output_to_a_pipe_is_the_same_npy(tmp_path):
    harness.run_ok("read", DEM, "--out", tmp_path / "x.npy")
    piped = subprocess.run([harness.BINARY, "read", DEM, "--out", "-"], capture_output=True, timeout=60)
    assert piped.returncode == harness.OK, piped.stderr
    assert piped.stdout == (tmp_path / "x.npy").read_bytes()


def test_json_of_a_result_on_standard_output_is_a_line_of_standard_error(tmp_path):
    harness.run_ok("read", DEM, "--out", tmp_path / "x.npy")
    for args, expected in ((["read", DEM], (tmp_path / "x.npy").read_bytes()), (["preview", DEM], None)):
        piped = subprocess.run([harness.BINARY, *args, "--out", "-", "--json"], capture_output=True, timeout=60)
        assert piped.returncode == harness.OK, piped.stderr
        (line,) = piped.stderr.splitlines()
        assert json.loads(line)["out"] == "-"
        assert piped.stdout == expected if expected else piped.stdout.startswith(b"\x89PNG")


def test_broken_pipe_ends_quietly(large):
    process = subprocess.Popen([harness.BINARY, "read", large, "--out", "-"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    process.stdout.read(100)
    process.stdout.close()
    process.wait(timeout=60)
    assert process.returncode == -signal.SIGPIPE
    assert process.stderr.read() == b""


def test_full_disk_is_an_io_error():
    result = harness.run("read", DEM, "--out", "/dev/full", "--json")
    assert result.code == harness.IO, str(result)


def test_preview_is_a_png_with_transparent_nodata(tmp_path):
    out = tmp_path / "x.png"
    harness.run_ok("preview", DEM, "--out", out)
    picture = png.decode(out.read_bytes())
    assert picture.shape[:2] == (75, 101)
    assert picture.shape[2] in (2, 4)
    with rasterio.open(DEM) as file:
        mask = file.read_masks(1)
    assert np.array_equal(picture[..., -1] == 0, mask == 0)
    assert picture[..., 0][mask != 0].std() > 10, "a picture with contrast"


@pytest.mark.parametrize("name", ("x.jpg", "x", "png", "folder.png/x"))
def test_preview_refuses_a_name_that_is_not_of_a_png(name, tmp_path):
    result = harness.run("preview", DEM, "--out", tmp_path / name)
    assert result.code == harness.USAGE, str(result)
    assert b"PNG only" in result.stderr and b'.png"' in result.stderr
    assert not (tmp_path / name).exists()


def test_preview_takes_png_in_any_case(tmp_path):
    harness.run_ok("preview", DEM, "--out", tmp_path / "X.PNG")
    png.decode((tmp_path / "X.PNG").read_bytes())


@pytest.mark.parametrize("options", (["--style", "hillshade"], ["--style", "colormap"], ["--style", "gray"]))
def test_preview_styles_are_pngs(options, tmp_path):
    out = tmp_path / "x.png"
    harness.run_ok("preview", DEM, "--out", out, *options)
    assert png.decode(out.read_bytes()).shape[:2] == (75, 101)


@pytest.mark.parametrize("name", ("rgb_jpeg.tif", "palette_lzw.tif", "rgba_webp.tif", "nbits1_deflate.tif",
                                  "complex64_none.tif", "i8x7_packbits.tif", "u64_lzw_p2_bigtiff.tif"))
def test_preview_of_every_kind_of_file_is_a_png(name, tmp_path):
    out = tmp_path / "x.png"
    harness.run_ok("preview", DATA / name, "--out", out)
    png.decode(out.read_bytes())


@pytest.mark.parametrize("bits", range(1, 9))
def test_preview_of_colours_of_few_bits_has_their_contrast(bits, tmp_path):
    largest = 2**bits - 1
    samples = np.random.default_rng(bits).integers(0, largest, (3, 20, 30), "uint8", endpoint=True)
    path, out = tmp_path / "x.tif", tmp_path / "x.png"
    with rasterio.open(path, "w", driver="GTiff", width=30, height=20, count=3, dtype="uint8", nbits=bits,
                       photometric="rgb") as file:
        file.write(samples)
    harness.run_ok("preview", path, "--out", out)
    shown = png.decode(out.read_bytes())[..., :3].transpose(2, 0, 1)
    assert np.array_equal(shown, np.floor(samples * 255.0 / largest + 0.5))


def test_preview_is_no_larger_than_asked(large, tmp_path):
    out = tmp_path / "x.png"
    harness.run_ok("preview", large, "--out", out, "--max-size", "100")
    assert max(png.decode(out.read_bytes()).shape[:2]) == 100


# -- terminals and signals --------------------------------------------------------------------------------------------


def run_on_a_terminal(args):
    """Everything the command wrote to a terminal that is its stderr."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
    os.close(ours)
    process.wait(timeout=120)
    return process.returncode, seen


def test_progress_is_for_terminals_only(large):
    result = harness.run_ok("checksum", large, timeout=120)
    assert b"\r" not in result.stderr and b"%" not in result.stderr
    started = time.monotonic()
    code, seen = run_on_a_terminal([harness.BINARY, "checksum", "--threads", "1", large])
    assert code == harness.OK
    if time.monotonic() - started > 1.5:  # the bar waits half a second before it shows
        assert b"%" in seen
    code, seen = run_on_a_terminal([harness.BINARY, "checksum", "--quiet", large])
    assert code == harness.OK and not seen


def test_interrupt_cancels(large, tmp_path):
    out = tmp_path / "x.npy"
    process = subprocess.Popen([harness.BINARY, "stats", "--threads", "1", large], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    time.sleep(0.15)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=30)
    assert process.returncode in (harness.CANCELLED, harness.OK)
    assert not out.exists()


def handles(pid, number):
    """Whether the process has a handler for the signal: before, it would just die."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught, 16) >> (number - 1) & 1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("waits_for", ["a reader", "a reader who reads no more"])
def test_signal_ends_the_wait_for_a_pipe(tmp_path, waits_for, number):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK) if waits_for != "a reader" else None
    process = subprocess.Popen([harness.BINARY, "read", DEM, "--target-size", "2000,2000", "--out", pipe],
                               stderr=subprocess.PIPE,
                               preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))  # we may be nohup's
    deadline = time.monotonic() + 30
    while not handles(process.pid, number) and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.3)  # until it waits; a signal that comes before ends it too
    assert process.poll() is None
    process.send_signal(number)
    assert process.wait(timeout=30) == harness.CANCELLED, process.stderr.read()
    if reader is not None:
        os.close(reader)


@pytest.mark.parametrize("command", [["read", "--raw"], ["preview"], ["convert"], ["cog"]])
def test_links_to_standard_output_are_followed_and_kept(tmp_path, command):
    link = tmp_path / "link.png"
    link.symlink_to("/proc/self/fd/1")
    plain = harness.run_ok(*command, DEM, "-o", "-").stdout
    for name in (link, "/dev/stdout"):
        assert harness.run_ok(*command, DEM, "-o", name).stdout == plain  # nothing else is printed there
        with open(tmp_path / "out", "wb") as out:
            subprocess.run([harness.BINARY, *command, DEM, "-o", name], stdout=out, check=True)
        assert (tmp_path / "out").read_bytes() == plain
    assert link.is_symlink()


def test_mask_is_not_converted(tmp_path):
    for option in (["--dtype", "uint8"], ["--masked"], ["--unpack"]):
        result = harness.run("read", DEM, "--mask", *option, "-o", tmp_path / "a.npy")
        assert result.code == harness.USAGE and b"exclude each other" in result.stderr, result


def test_file_that_shrinks_is_an_error_not_a_crash(large, tmp_path):
    path = tmp_path / "shrinking.tif"
    path.write_bytes(large.read_bytes())
    process = subprocess.Popen([harness.BINARY, "checksum", "--threads", "1", "--json", path], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    time.sleep(0.05)
    os.truncate(path, 1 << 20)
    process.wait(timeout=60)
    assert process.returncode in (harness.IO, harness.MALFORMED, harness.OK), process.stderr.read()
