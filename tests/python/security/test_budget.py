# SPDX-License-Identifier: Apache-2.0
"""Small files that ask for much: what open, info, validate and edit hold counts in the memory limit, and takes no time.

Every command runs in an address space of 2 GiB. Time and peak are printed at the end of the run.
"""

import struct

import crafted
import harness
import pytest

ADDRESS_SPACE_BYTES = 2 << 30
MAX_SECONDS = 10  # of the processor; a second or less each on the machine of 2026
MAX_BYTES = 500 << 20


def run(note, *args, codes=(harness.OK,), env=None, max_bytes=MAX_BYTES):
    result = harness.run(*args, timeout=60, address_space=ADDRESS_SPACE_BYTES, env=env)
    name = " ".join([args[0], *(a for a in map(str, args[1:]) if a.startswith("--"))])
    note(f"{name}: {result.cpu_seconds:.2f} s, {result.peak_rss_bytes / 2**20:.0f} MiB, exit {result.code}")
    assert not result.timed_out and result.signal is None, str(result)
    assert result.code in codes, str(result)
    assert result.cpu_seconds < MAX_SECONDS, str(result)
    assert result.peak_rss_bytes < max_bytes, str(result)
    return result


def run_all(note, path, edit=(harness.OK,), **kwargs):
    run(note, "info", "--json", path, **kwargs)
    run(note, "validate", "--json", path, codes=(harness.OK, harness.MALFORMED), **kwargs)
    run(note, "edit", "--json", path, "--nodata", "7", codes=edit, **kwargs)
    run(note, "edit", "--json", path, "--set", "A=B", codes=edit, **kwargs)


TABLE = ('<GDALRasterAttributeTable><FieldDefn index="0"><Usage>5</Usage></FieldDefn><FieldDefn index="1"><Usage>2</Usage>'
         "</FieldDefn>{}</GDALRasterAttributeTable>")
ROW = '<Row index="0"><F>65535</F><F>x</F></Row>'


def pam(path, content):
    path.with_name(path.name + ".aux.xml").write_text(f"<PAMDataset>{content}</PAMDataset>")


def bands_file(folder, bands):
    tiff = crafted.Tiff()
    bits = tiff.array(crafted.SHORT, [8] * bands)
    tiff.chain(crafted.image(samples=bands) | {crafted.BITS: bits})
    return tiff.write(folder / "x.tif")


def test_sparse_attribute_tables_stay_sparse(tmp_path, note):
    """204 KB of XML made 4.1 GB of empty names in 9.8 s."""
    path = bands_file(tmp_path, 1000)
    pam(path, "".join(f'<PAMRasterBand band="{i + 1}">{TABLE.format(ROW)}</PAMRasterBand>' for i in range(1000)))
    info = run(note, "info", "--json", path).json()
    assert [len(band["category_names"]) for band in info["bands"][:2]] == [65536, 65536]
    assert info["bands"][0]["category_names"][65535] == "x"
    assert info["bands"][-1]["category_names"] == []
    assert any("category names" in warning for warning in info["warnings"])
    run(note, "info", path)
    run(note, "validate", path, codes=(harness.OK, harness.MALFORMED))


def test_a_table_that_is_repeated_costs_what_its_text_does(tmp_path, note):
    path = bands_file(tmp_path, 1)
    pam(path, f'<PAMRasterBand band="1">{TABLE.format(ROW)}</PAMRasterBand>' * 20_000)
    run(note, "info", "--json", path)


def shared_arrays(folder, directories, tags):
    """Directories of 65,535 samples whose arrays are the same bytes."""
    n = 65535
    tiff = crafted.Tiff()
    shared = {crafted.BITS: tiff.array(crafted.SHORT, [8] * n), crafted.SAMPLE_FORMAT: tiff.array(crafted.SHORT, [1] * n),
              crafted.EXTRA_SAMPLES: tiff.array(crafted.SHORT, [0] * n), crafted.STRIP_OFFSETS: tiff.array(crafted.LONG, [8] * n),
              crafted.STRIP_COUNTS: tiff.array(crafted.LONG, [1] * n)}
    for i in range(directories):
        tiff.chain({**crafted.image(samples=n), **shared, crafted.PLANAR: (crafted.SHORT, 2), **tags})
    return tiff.write(folder / "x.tif")


@pytest.mark.parametrize("kind", ["pages", "overviews"])
def test_directories_that_share_arrays(kind, tmp_path, note):
    """info took 11 s, edit 51 s and 12.9 GB."""
    tags = {"pages": {}, "overviews": {crafted.SUBFILE_TYPE: 1}}[kind]
    path = shared_arrays(tmp_path, 4000, tags)
    if kind == "overviews":  # each of them would get nodata, and arrays of its own
        error = run(note, "edit", "--json", path, "--nodata", "9", codes=(harness.LIMIT,)).error()
        assert "share values" in error["message"]
    else:
        run_all(note, path)


def test_arrays_that_overlap(tmp_path, note):
    """Not the same bytes, so that nothing can be remembered of them."""
    n = 65535
    tiff = crafted.Tiff()
    ones = tiff.add(struct.pack("<H", 8) * (n + 4000))
    for i in range(4000):
        bits = crafted.Values(crafted.SHORT, n, ones + 2 * i)
        tiff.chain({**crafted.image(samples=n), crafted.BITS: bits, crafted.EXTRA_SAMPLES: bits})
    run(note, "validate", "--json", tiff.write(tmp_path / "x.tif"), codes=(harness.OK, harness.MALFORMED))


def test_jpeg_tables_and_texts_that_are_shared(tmp_path, note):
    tiff = crafted.Tiff()
    tables = crafted.Values(crafted.BYTE, 60_000, tiff.add(b"\xff" * 60_000))
    words = crafted.Values(crafted.ASCII, 4 << 20, tiff.add(b"a" * (4 << 20)))
    texts = {tag: words for tag in (269, 270, 305, 306, 315, 316, 33432, 700)}
    for _ in range(4000):
        tiff.chain({**crafted.image(), crafted.COMPRESSION: (crafted.SHORT, 7), crafted.JPEG_TABLES: tables, **texts})
    run_all(note, tiff.write(tmp_path / "x.tif"), edit=(harness.OK, harness.LIMIT))


def test_sub_directories_that_are_one(tmp_path, note):
    tiff = crafted.Tiff()
    n = 65535
    bits = tiff.array(crafted.SHORT, [8] * n)
    sub = tiff.directory({**crafted.image(samples=n), crafted.BITS: bits, crafted.SUBFILE_TYPE: 1})
    tiff.chain({**crafted.image(samples=n), crafted.BITS: bits, crafted.SUB_IFDS: (crafted.LONG, [sub] * 1024)})
    run_all(note, tiff.write(tmp_path / "x.tif"))


def test_masks_beside_the_file_that_share_metadata(tmp_path, note):
    path = bands_file(tmp_path, 1)
    tiff = crafted.Tiff()
    words = crafted.Values(crafted.ASCII, 8 << 20, tiff.add(b"a" * (8 << 20)))
    for _ in range(4000):
        tiff.chain({**crafted.image(), crafted.SUBFILE_TYPE: 4, crafted.GDAL_METADATA: words})
    tiff.write(tmp_path / "x.tif.msk")
    run(note, "info", "--json", path)


def test_a_long_nodata_text_of_many_bands(tmp_path, note):
    n = 65535
    tiff = crafted.Tiff()
    bits = tiff.array(crafted.SHORT, [8] * n)
    tiff.chain({**crafted.image(samples=n), crafted.BITS: bits, crafted.GDAL_NODATA: crafted.text("1" * 4000)})
    run(note, "info", tiff.write(tmp_path / "x.tif"))


def test_points_in_units_of_a_long_number(tmp_path, note):
    """The number was parsed again for every point."""
    path = bands_file(tmp_path, 1)
    points = "<Double>1</Double>" * 100_000
    number = "1" * 1_000_000
    tiff = crafted.Tiff()
    items = "".join(f'<Item name="TIFFTAG_{name}">{value}</Item>' for name, value in
                    (("RESOLUTIONUNIT", "2"), ("XRESOLUTION", number), ("YRESOLUTION", number)))
    tiff.chain(crafted.image() | {crafted.GDAL_METADATA: crafted.text(f"<GDALMetadata>{items}</GDALMetadata>")})
    tiff.write(path)
    pam(path, '<Metadata domain="xml:ESRI" format="xml"><GeodataXform><SourceGCPs>' + points + "</SourceGCPs><TargetGCPs>"
        + points + "</TargetGCPs></GeodataXform></Metadata>")
    run(note, "info", path)


XML = {
    "elements": "<a/>" * 2_000_000,
    "items": "<Metadata>" + "".join(f'<MDI key="{i}">1</MDI>' for i in range(300_000)) + "</Metadata>",
    "points": "<GCPList>" + '<GCP Pixel="0" Line="0" X="0" Y="0"/>' * 150_000 + "</GCPList>",
    "categories": '<PAMRasterBand band="1"><CategoryNames>' + "<Category/>" * 500_000 + "</CategoryNames></PAMRasterBand>",
    "colours": '<PAMRasterBand band="1"><ColorTable>' + "<Entry/>" * 700_000 + "</ColorTable></PAMRasterBand>",
    "histogram": '<PAMRasterBand band="1"><Histograms><HistItem><HistCounts>' + "1|" * 2_000_000
                 + "</HistCounts></HistItem></Histograms></PAMRasterBand>",
    "nested": "<a>" * 500_000 + "</a>" * 500_000,
}


@pytest.mark.parametrize("name", XML)
def test_documents_count_in_the_limit(name, tmp_path, note):
    """What a document holds is reserved before it is parsed; the peak stays near the limit."""
    path = bands_file(tmp_path, 1)
    pam(path, XML[name])
    run(note, "info", path, max_bytes=1 << 30)
    limit = {"TERRAZZO_MEMORY_LIMIT": "24M"}
    result = run(note, "info", "--json", path, env=limit, codes=(harness.LIMIT, harness.OK), max_bytes=150 << 20)
    if result.code == harness.LIMIT:
        assert "PAM" in result.error()["message"]
    assert (result.code == harness.OK) == (name == "histogram")
    run(note, "info", "--no-sidecars", path, env=limit)


def test_directories_count_in_the_limit(tmp_path, note):
    tiff = crafted.Tiff()
    for _ in range(1000):
        tiff.chain({**crafted.image(), **{60_000 + i: 1 for i in range(1000)}})
    path = tiff.write(tmp_path / "x.tif")
    for command in (["info"], ["validate"], ["edit", "--nodata", "1"]):
        result = run(note, command[0], "--json", path, *command[1:], env={"TERRAZZO_MEMORY_LIMIT": "16M"}, codes=(harness.LIMIT,))
        assert "the directories" in result.error()["message"]
    run_all(note, path)
