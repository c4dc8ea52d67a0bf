# SPDX-License-Identifier: Apache-2.0
#
# The GPU suite. Without a GPU it builds the binaries and packs them with their files into out/device-test. With a GPU
# it runs the packed binaries, and neither builds nor installs anything.

DEVICE_DIR=out/device-test
DEVICE_STAGES="quick full sanitize bench"

run_device_test() {
  local stage=${1:-quick}
  if [[ $stage == pack ]] || ! nvidia-smi >/dev/null 2>&1; then
    pack_device_tests
    say "no GPU is used here; copy the tree with $DEVICE_DIR to a machine that has one and run ./dev device-test STAGE there"
    say "stages: $DEVICE_STAGES; libraries of NVIDIA are looked for in TERRAZZO_VENDOR_PATH (docs/device.md)"
    return
  fi
  [[ -x $DEVICE_DIR/device_equality ]] || die "$DEVICE_DIR is empty: run ./dev device-test pack where the tree can be built"
  export TERRAZZO_VENDOR_PATH=${TERRAZZO_VENDOR_PATH:-$ROOT/$DEVICE_DIR/vendor}
  case $stage in
    quick) device_quick ;;
    full)
      device_quick || true
      device_full
      ;;
    sanitize) device_sanitize ;;
    bench) device_bench_stage ;;
    *) die "unknown stage $stage; there are: $DEVICE_STAGES" ;;
  esac
}

# The CUDA build's tests, benchmarks and small programs, with their libraries and files.
pack_device_tests() {
  need_packages build bundle
  need_venv
  configure_and_build cuda
  configure_and_build cuda-shared device_equality test_read default_stream_guard
  ninja -C build/cuda device_findings device_write_findings >/dev/null 2>&1 || loud "device_findings cannot be built here -> no findings"
  ninja -C build/cuda vendor_device_test >/dev/null 2>&1 || loud "vendor_device_test cannot be built here -> no vendor stage"
  rm -rf "$DEVICE_DIR"
  mkdir -p "$DEVICE_DIR/lib"
  local binary library
  local -a binaries=(build/cuda/terrazzo)
  for binary in build/cuda/tests/{test_gpu_*,test_io,test_read,test_write,test_ops,device_*,vendor_device_test} build/cuda/bench/device_*; do
    [[ -f $binary && -x $binary ]] && binaries+=("$binary")
  done
  cp "${binaries[@]}" "$DEVICE_DIR/"
  # With a shared runtime, so that a preloaded library can check the use of streams.
  cp build/cuda-shared/tests/device_equality "$DEVICE_DIR/guarded_equality"
  cp build/cuda-shared/tests/test_read "$DEVICE_DIR/guarded_read"
  cp build/cuda-shared/tests/libdefault_stream_guard.so "$DEVICE_DIR/lib/"
  binaries+=("$DEVICE_DIR/guarded_equality" "$DEVICE_DIR/guarded_read")
  for binary in "${binaries[@]}"; do libraries_of "$binary"; done | sort -u |
    while IFS= read -r library; do cp -L "$library" "$DEVICE_DIR/lib/"; done
  for binary in "${binaries[@]}"; do
    strip --strip-unneeded "$DEVICE_DIR/$(basename "$binary")"
    patchelf --set-rpath '$ORIGIN/lib' "$DEVICE_DIR/$(basename "$binary")"
  done
  for library in "$DEVICE_DIR"/lib/*; do patchelf --set-rpath '$ORIGIN' "$library"; done
  pack_generated_files
  du -sh "$DEVICE_DIR"
}

# Files that GDAL and tifffile write for the tests of reading: runs the host's tests and keeps their files.
pack_generated_files() {
  local log=$DEVICE_DIR/generated.log
  TERRAZZO_BIN=$ROOT/build/cuda/terrazzo "$VENV/bin/python" -m pytest tests/python/read/test_generated.py -q -k wrote \
    --basetemp "$DEVICE_DIR/generated" >"$log" 2>&1 || loud "the host reads some generated files wrongly, see $log"
  # Only files: pytest leaves links to its latest folders too.
  find "$DEVICE_DIR/generated" ! -type d ! -name '*.tif' -delete
}

# device_step NAME COMMAND...: runs a test and prints one line: PASS with its own summary, or FAIL with its log.
device_step() {
  local name=$1 started
  shift
  started=$(now)
  if "$@" >"$DEVICE_DIR/$name.log" 2>&1; then
    printf 'PASS %s (%s s): %s\n' "$name" "$(since "$started")" "$(grep -a -E 'PASSED|equals host|^PASS|parts' "$DEVICE_DIR/$name.log" | tail -n 1)"
  else
    printf 'FAIL %s (%s s): %s\n' "$name" "$(since "$started")" "$DEVICE_DIR/$name.log"
    grep -a -E 'FAIL|Failure|ERROR' "$DEVICE_DIR/$name.log" | head -n 10 | sed 's/^/     /'
    DEVICE_FAILED=1
  fi
}

device_quick() {
  DEVICE_FAILED=0
  local binary started
  started=$(now)
  for binary in "$DEVICE_DIR"/test_*; do
    [[ $binary == *.log ]] && continue
    TERRAZZO_TEST_DATA_FOLDER=tests/data device_step "$(basename "$binary")" timeout 120 "$binary" --gtest_brief=1
  done
  local guard=$ROOT/$DEVICE_DIR/lib/libdefault_stream_guard.so
  device_step default_stream timeout 60 env LD_PRELOAD="$guard" "$DEVICE_DIR/guarded_equality" \
    tests/data/{half_lzw_p3,dem_deflate_p3,u16x4_separate_p2_big_endian,lerc_zstd,sparse_bigtiff}.tif
  # Only these tests: others of the binary use the default stream themselves.
  device_step waits timeout 60 env LD_PRELOAD="$guard" TERRAZZO_EXPECT_STREAM_GUARD=1 "$DEVICE_DIR/guarded_read" \
    '--gtest_filter=PipelineUnderGuard.*'
  device_step equality_own timeout 120 "$DEVICE_DIR/device_equality" tests/data/*.tif
  device_step equality_trusted timeout 120 "$DEVICE_DIR/device_equality" --trusted tests/data/*.tif
  device_step team_decoders timeout 200 "$DEVICE_DIR/device_team_decoders" --device --no-rates --tiles 100000 --seconds 60
  device_step damaged_zstd timeout 300 python3 tests/device/damaged_zstd.py "$DEVICE_DIR/terrazzo"
  say "quick took $(since "$started") s"
  return $DEVICE_FAILED
}

# Runs over every file of the generated table and of the corpus.
device_full() {
  local -a files
  [[ -d $DEVICE_DIR/generated ]] || die "$DEVICE_DIR/generated is missing: run ./dev device-test pack where the tree can be built"
  mapfile -t files < <(find "$DEVICE_DIR/generated" "$CORPUS" -type f \( -iname '*.tif' -o -iname '*.tiff' \) 2>/dev/null | sort)
  [[ -d $CORPUS ]] || loud "no corpus at $CORPUS -> generated files only; set TERRAZZO_CORPUS"
  device_step equality_all timeout 500 "$DEVICE_DIR/device_equality" "${files[@]}"
  # Again without the libraries: the host decodes instead, and the results are equal.
  TERRAZZO_DISABLE=nvcomp,nvjpeg,nvjpeg2k,kvikio device_step equality_without_libraries timeout 120 "$DEVICE_DIR/device_equality" tests/data/*.tif
  [[ -x $DEVICE_DIR/vendor_device_test ]] && device_step vendor timeout 200 "$DEVICE_DIR/vendor_device_test"
  TERRAZZO_DISABLE=gpu device_step without_gpu timeout 30 "$DEVICE_DIR/terrazzo" doctor
  return $DEVICE_FAILED
}

device_sanitize() {
  DEVICE_FAILED=0
  local tool checker pieces
  export TERRAZZO_DEVICE_GUARD=600  # kernels take a hundred times as long under a checker
  checker=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
  local -a own=(tests/data/{half_lzw_p3,i8x7_packbits,complex64_none}.tif)
  local -a vendors=(tests/data/{nbits12_deflate,u16x4_separate_p2_big_endian,dem_deflate_p3,lerc_zstd,sparse_bigtiff}.tif)
  # Excludes tests that are slow under a checker: 250 files, large images, and budgets, which only count.
  local writers='Device*:Appending*:FailingSinks*:-*.WritesTheHostsFileButForCompressedBytes:*.GivesTheSameBytesWhateverTheBudgetAndTheBands'
  writers+=':*.BringsABatchBackInOneCopyAndNeverItsPixels:*.KeepsToItsBudget*'
  for tool in memcheck racecheck; do
    device_step "$tool-kernels" timeout 200 "$checker" --tool "$tool" --error-exitcode 9 "$DEVICE_DIR/test_gpu_kernels" \
      --gtest_brief=1 '--gtest_filter=-*Tiny*:*LongStrings*:*Large*:*PieceEncode*'
    # The encoders of Deflate and ZSTD; racecheck takes ten times as long.
    pieces='*PieceEncode*:-*Huge*:*MorePiecesThanBlocks*:*ManySmallTiles*'
    [[ $tool == racecheck ]] && pieces='*PieceEncode*Alignment:*PieceEncode*Noise*:*PieceEncode*Literal*:*PieceEncode*Constant'
    device_step "$tool-pieces" timeout 200 "$checker" --tool "$tool" --error-exitcode 9 "$DEVICE_DIR/test_gpu_kernels" \
      --gtest_brief=1 "--gtest_filter=$pieces"
    device_step "$tool-reads" timeout 200 "$checker" --tool "$tool" --error-exitcode 9 "$DEVICE_DIR/device_equality" "${own[@]}"
  done
  device_step memcheck-writer timeout 300 "$checker" --tool memcheck --error-exitcode 9 "$DEVICE_DIR/test_write" \
    --gtest_brief=1 "--gtest_filter=$writers"
  # Without racecheck: nvCOMP's own inflate has hazards (docs/performance.md).
  device_step memcheck-vendors timeout 200 "$checker" --tool memcheck --error-exitcode 9 "$DEVICE_DIR/device_equality" --trusted "${vendors[@]}"
  return $DEVICE_FAILED
}

device_bench_stage() {
  local folder=${TERRAZZO_RASTERS:-/tmp/rasters}
  python3 tools/make_rasters.py "$folder" --size 16384
  python3 bench/device_peers.py "$folder" --bench "$DEVICE_DIR/device_bench" --repeat 15
  python3 bench/device_write_peers.py "$folder/dem_f32_none_512.tif" --bench "$DEVICE_DIR/device_write_bench" --folder "$folder/written" --studies
  "$DEVICE_DIR/device_findings" "$folder/dem_f32_zstd_p3_512.tif"
  "$DEVICE_DIR/device_write_findings"
}
