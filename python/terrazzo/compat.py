# SPDX-License-Identifier: Apache-2.0
"""Names of `xrspatial.geotiff` that programs catch and compare: exceptions, the warning, and the georeference states."""
from __future__ import annotations

import zlib

from .errors import MalformedError

GEOREF_STATUS_FULL = "full"
GEOREF_STATUS_TRANSFORM_ONLY = "transform_only"
GEOREF_STATUS_CRS_ONLY = "crs_only"
GEOREF_STATUS_NONE = "none"
GEOREF_STATUS_ROTATED_DROPPED = "rotated_dropped"
GEOREF_STATUS_VALUES = frozenset({
    GEOREF_STATUS_FULL, GEOREF_STATUS_TRANSFORM_ONLY, GEOREF_STATUS_CRS_ONLY, GEOREF_STATUS_NONE,
    GEOREF_STATUS_ROTATED_DROPPED,
})  # fmt: skip

# What the reference promises of each part: "stable", "advanced", "experimental" or "internal_only". The arguments that
# opt in to the last two are the same here.
SUPPORTED_FEATURES = {
    "codec.none": "stable", "codec.deflate": "stable", "codec.lzw": "stable", "codec.packbits": "stable",
    "codec.zstd": "stable", "codec.lerc": "experimental", "codec.jpeg2000": "experimental", "codec.j2k": "experimental",
    "codec.lz4": "experimental", "codec.jpeg": "internal_only",
    "reader.local_file": "stable", "reader.windowed": "stable", "reader.dask": "stable", "reader.fsspec": "advanced",
    "reader.http": "advanced", "reader.vrt": "advanced", "reader.sidecar_ovr": "advanced",
    "reader.allow_rotated": "experimental", "reader.allow_unparseable_crs": "experimental", "reader.local_cog": "stable",
    "reader.http_cog": "advanced", "reader.gpu": "experimental", "reader.unpack": "experimental",
    "reader.coregister": "experimental",
    "writer.local_file": "stable", "writer.cog": "stable", "writer.overviews": "advanced", "writer.bigtiff": "advanced",
    "writer.gpu": "experimental", "writer.gdal_metadata_xml": "experimental", "writer.extra_tags": "experimental",
    "writer.pack": "experimental", "writer.bigtiff_cog": "advanced",
}  # fmt: skip

# Version of the attributes that open_geotiff() sets.
ATTRS_CONTRACT = 5


class GeoTIFFFallbackWarning(UserWarning):
    """An argument has no effect, or another way was taken than the one asked for."""


class GeoTIFFAmbiguousMetadataError(ValueError):
    """Base class of errors about metadata that cannot be interpreted in one way."""


class InvalidCRSCodeError(GeoTIFFAmbiguousMetadataError): ...


class UnparseableCRSError(GeoTIFFAmbiguousMetadataError): ...


class RotatedTransformError(GeoTIFFAmbiguousMetadataError): ...


class DegeneratePixelSizeError(GeoTIFFAmbiguousMetadataError): ...


class NonUniformCoordsError(GeoTIFFAmbiguousMetadataError): ...


class MixedBandMetadataError(GeoTIFFAmbiguousMetadataError): ...


class ConflictingCRSError(GeoTIFFAmbiguousMetadataError): ...


class ConflictingNodataError(GeoTIFFAmbiguousMetadataError): ...


class InconsistentGeoKeysError(GeoTIFFAmbiguousMetadataError): ...


class InvalidIntegerNodataError(GeoTIFFAmbiguousMetadataError): ...


class MalformedScaleOffsetError(GeoTIFFAmbiguousMetadataError): ...


class VRTUnsupportedError(GeoTIFFAmbiguousMetadataError): ...


class VRTStableSourcesOnlyError(GeoTIFFAmbiguousMetadataError): ...


class RemoteStableSourcesOnlyError(GeoTIFFAmbiguousMetadataError): ...


class UnknownCRSModelTypeError(GeoTIFFAmbiguousMetadataError): ...


class NonRepresentableEPSGCRSError(GeoTIFFAmbiguousMetadataError): ...


class DuplicateIFDTagError(ValueError): ...


class UnsupportedGeoTIFFFeatureError(ValueError): ...


class PixelSafetyLimitError(ValueError): ...


class CloudSizeLimitError(ValueError): ...


class DamagedDeflateError(MalformedError, zlib.error):
    """A block is no valid Deflate stream: `xrspatial.geotiff` lets the error of zlib through."""


class UnsafeURLError(ValueError):
    """The URL leads to an address that is not public."""

    url: str | None = None
