# SPDX-License-Identifier: Apache-2.0
"""What a file says of its CRS is data: it opens no file, waits for nobody and reaches no network."""

import ctypes
import os
import socket
import struct
import threading
from xml.sax.saxutils import escape

import crafted
import harness
import pytest

WGS84 = ('GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],'
         'UNIT["degree",0.0174532925199433]{}]')
UTM = 'PROJCS["mine",' + WGS84.format("") + ',PROJECTION["Transverse_Mercator"],UNIT["metre",1]{}]'
WGS84_2 = ('GEOGCRS["WGS 84",DATUM["World Geodetic System 1984",ELLIPSOID["WGS 84",6378137,298.257223563]],'
           'CS[ellipsoidal,2],AXIS["latitude",north],AXIS["longitude",east],UNIT["degree",0.0174532925199433]]')


def proj4(text):
    return f',EXTENSION["PROJ4","{text}"]'


def projected(method, parameter):
    return ('PROJCRS["mine",BASE' + WGS84_2.replace("CS[ellipsoidal,2],AXIS[\"latitude\",north],AXIS[\"longitude\",east],", "")
            + f',CONVERSION["c",METHOD["{method}"],{parameter}],CS[Cartesian,2],AXIS["e",east],AXIS["n",north],UNIT["metre",1]]')


def operation(keyword, path):
    return (f'{keyword}["op",SOURCECRS[{WGS84_2}],TARGETCRS[{WGS84_2}],METHOD["NTv2"],'
            f'PARAMETERFILE["Latitude and longitude difference file","{path}"]]')


def bound(path):
    return (f'BOUNDCRS[SOURCECRS[{WGS84_2}],TARGETCRS[{WGS84_2}],ABRIDGEDTRANSFORMATION["t",METHOD["NTv2"],'
            f'PARAMETERFILE["Latitude and longitude difference file","{path}"]]]')


def projjson_operation(path):
    crs = '{"type":"GeographicCRS","name":"WGS 84","id":{"authority":"EPSG","code":4326}}'
    return ('{"type":"Transformation","name":"t","source_crs":%s,"target_crs":%s,"method":{"name":"NTv2"},"parameters":'
            '[{"name":"Latitude and longitude difference file","value":"%s"}]}' % (crs, crs, path))


# Texts that name a file; all of them opened it, or tried to, when PROJ was given them.
HOSTILE = {
    "init": lambda path: f"+init={path}:x",
    "bare-init": lambda path: f"init={path}:x +[",
    "init-behind-a-title": lambda path: f"+title=a[ +init={path}:x",
    "init-behind-a-bracket": lambda path: f"PROJCS +init={path}:x [",
    "pipeline": lambda path: f"+proj=pipeline +step +proj=hgridshift +grids={path} [",
    "operation": lambda path: f"+proj=hgridshift +grids={path}",
    "grids": lambda path: f"+proj=longlat +ellps=GRS80 +nadgrids={path} +type=crs",
    "geoid": lambda path: f"+proj=longlat +ellps=GRS80 +geoidgrids={path} +type=crs",
    "extension-of-projcs": lambda path: UTM.format(proj4(f"+proj=hgridshift +grids={path}")),
    "extension-with-init": lambda path: UTM.format(proj4(f"+proj=utm +init={path}:x")),
    "extension-of-ob-tran": lambda path: UTM.format(proj4(f"+proj=ob_tran +o_proj=longlat +nadgrids={path}")),
    "extension-in-small-letters": lambda path: UTM.format(proj4(f"+proj=hgridshift +grids={path}").replace("EXT", "ext")),
    "extension-in-printed-quotes":
        lambda path: UTM.format(proj4(f"+proj=hgridshift +grids={path}").replace('"', "\u201c", 1).replace('"', "\u201d", 1)
                                .replace('"', "\u201c", 1).replace('"', "\u201d", 1)),
    "wkt-operation": lambda path: operation("COORDINATEOPERATION", path),
    "wkt-bound": bound,
    "wkt-method": lambda path: projected(f"PROJ-based operation method: +proj=hgridshift +grids={path}",
                                         'PARAMETER["a",1]'),
    "projjson-operation": projjson_operation,
}
PLACES = ["citation", "aux.xml", "gcps"]
FEW_PLACES = ["citation", "aux.xml"]


def make(folder, place, definition):
    """A file that has that text for a CRS."""
    path = folder / "x.tif"
    tiff = crafted.Tiff()
    tags = crafted.image()
    if place == "citation":
        tags |= crafted.geo_citation("ESRI PE String = " + definition)
    tiff.chain(tags)
    tiff.write(path)
    if place == "aux.xml":
        (folder / "x.tif.aux.xml").write_text(f"<PAMDataset><SRS>{escape(definition)}</SRS></PAMDataset>")
    if place == "gcps":
        text = escape(definition, {'"': "&quot;"})
        (folder / "x.tif.aux.xml").write_text(
            f'<PAMDataset><GCPList Projection="{text}"><GCP Id="1" Pixel="1" Line="1" X="0" Y="0"/></GCPList></PAMDataset>')
    return path


class Watch:
    """Counts how often a file is opened, by anyone (inotify)."""

    IN_OPEN = 0x20

    def __init__(self, path):
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.fd < 0 or libc.inotify_add_watch(self.fd, os.fsencode(path), self.IN_OPEN) < 0:
            pytest.skip("no inotify here")

    def opens(self):
        try:
            data = os.read(self.fd, 1 << 16)
        except BlockingIOError:
            return 0
        at = count = 0
        while at < len(data):
            count += 1
            at += 16 + struct.unpack_from("iIII", data, at)[3]
        return count


def proj_is_installed():
    return harness.run_json("doctor", "--json")["host"]["proj"]


COMMANDS = [["info", "--json"], ["info", "--json", "--trust", "untrusted"]]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_crs_opens_no_file(name, place, tmp_path):
    forbidden = tmp_path / "forbidden"
    forbidden.write_bytes(b"<x> +proj=longlat <>\n" * 100)
    path = make(tmp_path, place, HOSTILE[name](forbidden))
    watch = Watch(forbidden)
    forbidden.read_bytes()
    assert watch.opens() == 1  # the watch works
    for command in COMMANDS:
        result = harness.run_ok(*command, path, timeout=20)
        assert watch.opens() == 0, f"{command} opened a file that the CRS names"
        assert any("CRS" in warning for warning in result.json()["warnings"]), "nobody is told"
    harness.run("convert", path, tmp_path / "y.tif", "--overwrite", timeout=20)
    assert watch.opens() == 0


@pytest.mark.parametrize("place", FEW_PLACES)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_crs_waits_for_no_pipe(name, place, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    path = make(tmp_path, place, HOSTILE[name](pipe))
    result = harness.run("info", "--json", path, timeout=10)
    assert not result.timed_out, "info hangs on a pipe"
    assert result.code == harness.OK, str(result)


class Listener:
    """A port of loopback, and how often somebody came."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.visits = 0
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                visitor, _ = self.socket.accept()
            except OSError:
                return
            self.visits += 1
            visitor.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            visitor.close()

    def close(self):
        self.socket.close()


@pytest.fixture
def listener():
    made = Listener()
    yield made
    made.close()


@pytest.mark.parametrize("place", FEW_PLACES)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_crs_reaches_no_network(name, place, tmp_path, listener):
    for grid in ("nowhere_such.tif", listener.url + "/grid.tif"):
        path = make(tmp_path, place, HOSTILE[name](grid))
        env = {"PROJ_NETWORK": "ON", "PROJ_NETWORK_ENDPOINT": listener.url, "HOME": str(tmp_path)}
        harness.run_ok("info", "--json", path, env=env, timeout=20)
    assert listener.visits == 0


def test_a_grid_of_the_crs_in_proj_is_not_fetched(tmp_path, listener):
    """+datum=NAD27 names no file; PROJ's own table does."""
    path = make(tmp_path, "aux.xml", UTM.format(proj4("+proj=utm +zone=11 +datum=NAD27")))
    env = {"PROJ_NETWORK": "ON", "PROJ_NETWORK_ENDPOINT": listener.url, "HOME": str(tmp_path)}
    harness.run_ok("info", "--json", path, env=env, timeout=20)
    assert listener.visits == 0


@pytest.mark.parametrize("definition, epsg", [
    ("EPSG:32632", 32632),
    (" epsg:32632\n", 32632),
    ("ESRI:54009", None),
    ("urn:ogc:def:crs:EPSG::32632", 32632),
    ("EPSG:2393+5717", None),
    ("EPSG:2393+EPSG:5717", None),
    (WGS84.format(""), 4326),
    (WGS84_2, 4326),
    ('{"type":"GeographicCRS","name":"WGS 84","datum":{"type":"GeodeticReferenceFrame","name":"World Geodetic System 1984",'
     '"ellipsoid":{"name":"WGS 84","semi_major_axis":6378137,"inverse_flattening":298.257223563}},"coordinate_system":'
     '{"subtype":"ellipsoidal","axis":[{"name":"Geodetic latitude","abbreviation":"Lat","direction":"north","unit":"degree"},'
     '{"name":"Geodetic longitude","abbreviation":"Lon","direction":"east","unit":"degree"}]}}', 4326),
    ('PROJCS["WGS_1984_UTM_Zone_32N",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],'
     'PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],'
     'PARAMETER["False_Easting",500000.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",9.0],'
     'PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]', 32632),
    ('PROJCS["WGS 84 / Pseudo-Mercator",' + WGS84.format("") + ',PROJECTION["Mercator_1SP"],PARAMETER["central_meridian",0],'
     'PARAMETER["scale_factor",1],PARAMETER["false_easting",0],PARAMETER["false_northing",0],UNIT["metre",1],'
     'EXTENSION["PROJ4","+proj=merc +a=6378137 +b=6378137 +lat_ts=0 +lon_0=0 +x_0=0 +y_0=0 +k=1 +units=m +nadgrids=@null '
     '+wktext +no_defs"]]', 3857),
    (bound("egm96_15.gtx").replace("NTv2", "GravityRelatedHeight to Geographic3D"), None),
], ids=str)
def test_definitions_in_use_are_understood(definition, epsg, tmp_path):
    if not proj_is_installed():
        pytest.skip("no PROJ")
    path = make(tmp_path, "aux.xml", definition)
    info = harness.run_json("info", "--json", path)
    assert info["warnings"] == []
    assert info["georeference"]["wkt"], "PROJ was not asked"
    if epsg:
        assert info["georeference"]["epsg"] == epsg


@pytest.mark.parametrize("text", ["+proj=utm +zone=32 +datum=WGS84", "somewhere", "/etc/passwd", "http://www.opengis.net/def/crs/EPSG/0/4326",
                                  "urn:ogc:def:coordinateOperation:EPSG::1671", "EPSG:4326 +init=x:y", "AUTO:42001,9,0"])
def test_other_texts_stay_texts(text, tmp_path):
    path = make(tmp_path, "aux.xml", text)
    info = harness.run_json("info", "--json", path)
    assert info["georeference"]["wkt"] is None
    assert info["georeference"]["epsg"] is None
    assert info["georeference"]["name"] == text
    assert len(info["warnings"]) == 1 and text in info["warnings"][0]
    assert text in harness.run_ok("info", path).stdout.decode()


def test_a_long_or_deep_text_is_not_parsed(tmp_path):
    for text in ("GEOGCS[" * 100_000, '{"a":' * 50_000, '{"type":"GeographicCRS","name":"' + "x" * 300_000 + '"}',
                 'GEOGCS["' + "a" * 250_000 + '"]'):
        path = make(tmp_path, "aux.xml", text)
        result = harness.run_ok("info", "--json", path, timeout=20)
        assert result.cpu_seconds < 5
        assert len(result.json()["warnings"]) == 1 and len(result.json()["warnings"][0]) < 400


# What a user types may be any CRS that PROJ understands.
@pytest.mark.parametrize("text", ["+proj=utm +zone=32 +datum=WGS84", "+proj=utm +zone=32 +datum=WGS84 +type=crs",
                                  "+proj=longlat +datum=WGS84 +no_defs"])
def test_a_user_may_type_proj_strings(text, tmp_path):
    if not proj_is_installed():
        pytest.skip("no PROJ")
    path = make(tmp_path, "none", "")
    harness.run_ok("edit", path, "--crs", text)
    info = harness.run_json("info", "--json", path)
    assert info["georeference"]["wkt"]
    assert info["georeference"]["kind"] in ("projected", "geographic")


@pytest.mark.parametrize("text, epsg", [("WGS 84 / UTM zone 32N", 32632), ("wgs 84", 4326), ("ETRS89-extended / LAEA Europe", 3035)])
def test_a_user_may_type_the_exact_name_of_a_crs(text, epsg, tmp_path):
    if not proj_is_installed():
        pytest.skip("no PROJ")
    path = make(tmp_path, "none", "")
    harness.run_ok("edit", path, "--crs", text)
    assert harness.run_json("info", "--json", path)["georeference"]["epsg"] == epsg


@pytest.mark.parametrize("text", ["here", "UTM zone 32N", "WGS 84 / UTM", "{}", "@{}"])
def test_similar_names_and_paths_are_no_crs(text, tmp_path):
    """PROJ's own search would find "here" in "Sphere"."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    path = make(tmp_path, "none", "")
    before = path.read_bytes()
    result = harness.run("edit", "--json", path, "--crs", text.format(pipe), timeout=10)
    assert not result.timed_out, "edit hangs on a pipe"
    assert result.code == harness.USAGE, str(result)
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", [
    "+init={}:x", "+INIT={}:x", "+ init = {}:x", "init={}:x +[", "+proj=utm +zone=32 +init={}:x", "+title=[a +init={}:x",
    "+proj=pipeline +step +proj=hgridshift +grids={}", "+proj=hgridshift +grids={}", "EPSG:1671",
    "urn:ogc:def:coordinateOperation:EPSG::1671",
])
def test_a_user_may_not_type_init_or_an_operation(text, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    path = make(tmp_path, "none", "")
    before = path.read_bytes()
    result = harness.run("edit", "--json", path, "--crs", text.format(pipe), timeout=10)
    assert not result.timed_out, "edit hangs on a pipe"
    assert result.code == harness.USAGE, str(result)
    assert path.read_bytes() == before
