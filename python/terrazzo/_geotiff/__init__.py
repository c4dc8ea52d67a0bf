# SPDX-License-Identifier: Apache-2.0
"""open_geotiff() and to_geotiff(), with the contract of xrspatial.geotiff: reading, writing, and what both share."""
