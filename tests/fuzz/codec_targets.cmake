# SPDX-License-Identifier: Apache-2.0
#
# A target for each host codec; the number is its TIFF compression.
foreach(codec IN ITEMS lzw:5 jpeg:7 deflate:8 packbits:32773 jpeg2000:34712 lerc:34887 lzma:34925 zstd:50000 webp:50001
                       jxl:50002 lz4:50004)
  string(REPLACE ":" ";" codec "${codec}")
  list(GET codec 0 name)
  list(GET codec 1 number)
  terrazzo_fuzz_target(NAME codec_${name} SOURCE codec_fuzz.cpp FOLDERS codec
                       DEFINITIONS TERRAZZO_FUZZ_CODEC=${number})
endforeach()

terrazzo_fuzz_target(NAME deflate_pair SOURCE deflate_pair_fuzz.cpp FOLDERS codec)
terrazzo_fuzz_target(NAME encode SOURCE encode_fuzz.cpp FOLDERS codec)
terrazzo_fuzz_target(NAME inflate SOURCE inflate_fuzz.cpp FOLDERS codec)
terrazzo_fuzz_target(NAME noise_zstd SOURCE noise_zstd_fuzz.cpp FOLDERS codec)
terrazzo_fuzz_target(NAME zstd_decoder SOURCE zstd_decoder_fuzz.cpp FOLDERS codec)
terrazzo_fuzz_target(NAME zstd_team SOURCE zstd_team_fuzz.cpp FOLDERS codec)
