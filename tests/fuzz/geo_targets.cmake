# SPDX-License-Identifier: Apache-2.0
terrazzo_fuzz_target(NAME geokeys SOURCE geokeys_fuzz.cpp)
terrazzo_fuzz_target(NAME gdal_metadata SOURCE gdal_metadata_fuzz.cpp)
terrazzo_fuzz_target(NAME pam SOURCE pam_fuzz.cpp)
terrazzo_fuzz_target(NAME wkt SOURCE wkt_fuzz.cpp)
