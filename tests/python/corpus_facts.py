# SPDX-License-Identifier: Apache-2.0
"""Compares what the binary says of one corpus file with the manifest, fact by fact.

The manifest holds what GDAL 3.12.2 made of each file (through rasterio): a SHA-256 per band of the little-endian
samples, rows top-down, in the band's native type (complex integers as two integers); `pixels_sha256` is of all bands
one after another.
"""

import math

import harness
import numpy as np
from rasterio.crs import CRS

# Largest difference allowed between our decoder of a lossy codec and GDAL's. JPEG and WebP decoders of one family
# agree exactly on nearly every file; the tolerance serves decoders whose inverse transforms round differently.
LOSSY_TOLERANCE = {"jpeg": 2, "webp": 1, "ojpeg": 2, "jxl": 1, "jxl-dng": 1, "jpeg2000": 0}

# Files that differ from GDAL, the facet that differs, and why. A listed facet that agrees is a failure too: then the
# line is out of date.
_KNOWN_BY_NAME = "the CRS is given by its parameters; our look-up finds its code, GDAL's does not"
_NO_ELLIPSOID = "the manifest's GDAL did not find the ellipsoid of the datum and took another"
EXCEPTIONS = {
    "OSGeo+gdal/autotest/gcore/data/md_dg.tif": {
        "rpc": "they are in DigitalGlobe's .RPB file beside it, which we do not read",
        "metadata": "likewise, from the .IMD file",
    },
    "OSGeo+gdal/autotest/gdrivers/data/wcs/ArcGIS-2.0.1-non_scaled.tiff": {"epsg": _KNOWN_BY_NAME},
    "OSGeo+gdal/autotest/gcore/data/ycbcr_with_mask.tif": {
        "crs": "azimuthal equidistant is the modified method to PROJ 9.1, which is ours, and not to the manifest's",
    },
    "chai2010+tiff/testdata/geotiff/intergraph/geoc.tif": {"epsg": _KNOWN_BY_NAME, "crs": _NO_ELLIPSOID},
    "chai2010+tiff/testdata/geotiff/intergraph/nz_map_grid.tif": {"epsg": _KNOWN_BY_NAME, "crs": _NO_ELLIPSOID},
}

MANIFEST_TEXT_LIMIT = 200     # characters; longer metadata values are cut off in the manifest
MANIFEST_PATH = "(a path)"    # stands for values that are a path on somebody's machine

IDENTITY = [0, 1, 0, 0, 0, 1]
TRANSFORM_TOLERANCE = 1e-12  # relative: the last bits of sums done in another order


class Facts:
    """Collects differences by facet, so that one run of a file shows all of them."""

    def __init__(self, name, entry, folder, root=harness.CORPUS):
        self.name = name
        self.entry = entry
        self.gdal = entry["gdal"]
        self.path = root / name
        self.folder = folder
        self.differences = {}
        self.by_samples = False  # a lossy file that agreed within the tolerance and not bit by bit

    def differ(self, facet, text):
        self.differences.setdefault(facet, []).append(text)

    def equal(self, facet, what, ours, theirs):
        if ours != theirs:
            self.differ(facet, f"{what}: ours {ours!r}, manifest {theirs!r}")

    def call(self, facet, *args):
        """JSON of a command, or None after noting the failure."""
        result = harness.run(*args)
        if result.code != harness.OK:
            self.differ(facet, str(result))
            return None
        return result.json()

    def array(self, facet, *options):
        out = self.folder / "x.npy"
        result = harness.run("read", self.path, "--out", out, *options)
        if result.code != harness.OK:
            self.differ(facet, str(result))
            return None
        return np.load(out)

    # -- facets ------------------------------------------------------------------------------------------------------

    def check(self):
        self.check_pixels()
        info = self.call("info", "info", "--json", self.path)
        if info is None:
            return
        self.check_bands(info)
        self.check_georeference(info["georeference"])
        self.check_overviews(info)
        self.check_pages(info)
        self.check_mask()

    def check_pixels(self):
        ours = self.call("pixels", "checksum", "--json", self.path)
        if ours is None:
            return
        self.equal("size", "size", [ours["width"], ours["height"]], [self.gdal["width"], self.gdal["height"]])
        self.equal("size", "band count", len(ours["bands"]), self.gdal["count"])
        self.equal("dtype", "dtype", ours["dtype"], native_dtype(self.gdal))
        wrong = [i for i, (a, b) in enumerate(zip(ours["bands"], self.gdal["bands"]), 1) if a["sha256"] != b["sha256"]]
        if wrong and not self.within_tolerance(self.gdal.get("samples")):
            self.differ("pixels", f"bands {wrong} differ")

    def within_tolerance(self, samples):
        """True where the file is lossy and its listed samples (row, column, values) agree well enough."""
        if not self.entry.get("lossy_codec") or not samples:
            return False
        tolerance = LOSSY_TOLERANCE[self.entry["tiff"]["compression_name"]]
        pixels = self.array("pixels")
        if pixels is None:
            return False
        worst = max(abs(int(ours) - int(theirs)) for row, column, values in samples
                    for ours, theirs in zip(pixels[:, row, column], values))
        self.by_samples = worst <= tolerance
        if not self.by_samples:
            self.differ("pixels", f"samples differ by up to {worst}, allowed {tolerance}")
        return self.by_samples

    def check_bands(self, info):
        gdal, bands = self.gdal, info["bands"]
        listed = min(len(bands), len(gdal["nodata"]))
        for i in range(listed):
            # rasterio hides some values that the band's type cannot hold; we show them all, and say so.
            hidden = gdal["nodata"][i] is None and bands[i]["nodata_representable"] is False
            if not hidden and not same_nodata(bands[i]["nodata"], gdal["nodata"][i]):
                self.differ("nodata", f"band {i + 1}: ours {bands[i]['nodata']!r}, manifest {gdal['nodata'][i]!r}")
        self.equal("color", "colour interpretation", [b["color"] for b in bands[:listed]], gdal["colorinterp"][:listed])
        for key, name, default in (("scales", "scale", 1.0), ("offsets", "offset", 0.0)):
            theirs = gdal.get(key, [default] * listed)[:listed]
            self.equal("scale", name, [float(b[name]) for b in bands[:listed]], theirs)
        if "units" in gdal:
            self.equal("unit", "units", [b["unit"] for b in bands[:listed]], [u or "" for u in gdal["units"]])
        if "descriptions" in gdal:
            self.equal("description", "descriptions", [b["description"] for b in bands[:listed]],
                       [d or "" for d in gdal["descriptions"]])
        ours = [mask_flags(b["mask"]) for b in bands[:listed]]
        self.equal("mask-kind", "mask flags", ours, [sorted(f) for f in gdal["mask_flags"][:listed]])
        for key, value in gdal.get("tags", {}).items():
            found = info["metadata"].get("", {}).get(key)
            if value == MANIFEST_PATH or len(value) == MANIFEST_TEXT_LIMIT:
                value = found if found is not None and (value == MANIFEST_PATH or found.startswith(value)) else value
            self.equal("metadata", key, found, value)

    def check_georeference(self, ours):
        theirs = self.gdal["geotransform"]
        transform = ours["transform"]
        if theirs is None and transform == IDENTITY:  # rasterio does not tell it from none at all
            transform = None
        if theirs is None or transform is None:
            self.equal("transform", "transform", transform, theirs)
        else:
            for a, b in zip(transform, theirs):
                if abs(a - b) > TRANSFORM_TOLERANCE * max(abs(a), abs(b)):
                    self.differ("transform", f"ours {transform}, manifest {theirs}")
                    break
        if "gcps" not in self.gdal:
            self.equal("epsg", "EPSG", ours["epsg"], self.gdal["crs_epsg"])
            self.check_crs(ours["wkt"], self.gdal["crs_wkt"])
        else:
            self.equal("epsg", "EPSG of the control points", ours["epsg"], self.gdal["gcps"]["crs_epsg"])
        self.equal("gcps", "control points", len(ours["gcps"]), self.gdal.get("gcps", {}).get("count", 0))
        if "gcps" in self.gdal and ours["gcps"]:
            first = ours["gcps"][0]
            row_first = [first["row"], first["column"], first["x"], first["y"], first["z"]]
            self.equal("gcps", "first control point", row_first, self.gdal["gcps"]["first"])
        self.equal("rpc", "has RPCs", bool(ours["rpc"]), bool(self.gdal.get("rpc")))

    def check_crs(self, ours, theirs):
        """Compares the meaning of the texts: ours is WKT 2, the manifest's mostly WKT 1."""
        if not ours or not theirs:
            self.equal("crs", "CRS", ours or None, theirs or None)
        elif CRS.from_wkt(ours) != CRS.from_wkt(theirs):
            self.differ("crs", f"ours {ours}, manifest {theirs}")

    def check_overviews(self, info):
        theirs = self.gdal.get("overviews", [])
        sizes = [(o["width"], o["height"]) for o in info["overviews"]]
        self.equal("overviews", "sizes", sorted(sizes), sorted((o["width"], o["height"]) for o in theirs))
        for overview in theirs:
            size = (overview["width"], overview["height"])
            if "pixels_sha256" not in overview or size not in sizes:
                continue
            pixels = self.array("overviews", "--overview", sizes.index(size) + 1)
            if pixels is not None and harness.sha256(pixels) != overview["pixels_sha256"]:
                self.differ("overviews", f"pixels of {size[0]} x {size[1]} differ")

    def check_pages(self, info):
        pages = [p for p in self.gdal.get("pages", []) if "pixels_sha256" in p]
        if not pages:
            return
        for page in pages:
            ifd = int(page["dir"]) - 1
            pixels = self.array("pages", "--page", ifd)
            if pixels is None:
                continue
            shape = (page["count"], page["height"], page["width"])
            self.equal("pages", f"shape of IFD {ifd}", pixels.shape[:3], shape)
            if harness.sha256(pixels) != page["pixels_sha256"]:
                self.differ("pages", f"pixels of IFD {ifd} differ")

    def check_mask(self):
        if "mask" not in self.gdal:
            return
        pixels = self.array("mask", "--mask")
        if pixels is not None:
            self.equal("mask", "mask pixels", harness.sha256(pixels[0]), self.gdal["mask"]["sha256"])


def native_dtype(gdal):
    """The manifest gives rasterio's name, which has none for CInt32 and says complex64; our name is the true type."""
    return "complex_int32" if gdal.get("native_type") == "CInt32" else gdal["dtypes"][0]


def same_nodata(ours, theirs):
    if ours is None or theirs is None:
        return ours is theirs
    ours, theirs = float(ours), float(theirs)  # the manifest writes nan and inf as text
    return ours == theirs or (math.isnan(ours) and math.isnan(theirs))


def mask_flags(kind):
    """rasterio's flags for our kind of mask."""
    return {
        "all_valid": ["all_valid"],
        "nodata": ["nodata"],
        "alpha": ["alpha", "per_dataset"],
        "internal": ["per_dataset"],
        "external": ["per_dataset"],
    }[kind]
