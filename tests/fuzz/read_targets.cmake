# SPDX-License-Identifier: Apache-2.0
#
# Header, directories and tags by themselves; then whole files, opened and read, validated, and changed.
terrazzo_fuzz_target(NAME tiff_chain SOURCE tiff_chain_fuzz.cpp FOLDERS tiff io)
terrazzo_fuzz_target(NAME open_read SOURCE open_read_fuzz.cpp FOLDERS read)
terrazzo_fuzz_target(NAME validate SOURCE validate_fuzz.cpp FOLDERS ops)
terrazzo_fuzz_target(NAME edit SOURCE edit_fuzz.cpp FOLDERS ops)
terrazzo_fuzz_target(NAME rewrite SOURCE rewrite_fuzz.cpp FOLDERS ops)
terrazzo_fuzz_target(NAME overviews SOURCE overviews_fuzz.cpp FOLDERS ops)
