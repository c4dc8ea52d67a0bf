# SPDX-License-Identifier: Apache-2.0
#
# Makes a sample raster and reads it with most commands of the command line, and from Python. Builds nothing else.

DEMO=$ROOT/out/demo
MODULE_FOLDER=$ROOT/build/demo-module

# shown NAME ARGS...: prints and runs a terrazzo command in out/demo, and records its time. A failure fails the demo.
shown() {
  local name=$1 start
  shift
  printf '\n$ terrazzo %s\n' "$*"
  start=$(now)
  (cd "$DEMO" && "$ROOT/build/$DEMO_PRESET/terrazzo" "$@")
  DEMO_TIMES+=("$(since_ms "$start")"$'\t'"$name")
}

# The kernels take most of the compile time, so they are built only if a GPU can run them, or with --cuda.
choose_demo_preset() {
  case ${1:-} in
    --cuda) DEMO_PRESET=demo-cuda ;;
    "") if has_gpu && has_nvcc; then DEMO_PRESET=demo-cuda; else DEMO_PRESET=demo; fi ;;
    *) die "demo has no option $1; type ./dev demo or ./dev demo --cuda" ;;
  esac
}

# need_demo_module: builds the Python package into MODULE_FOLDER, against the library of the demo's build.
need_demo_module() {
  local prefix=$ROOT/build/demo-install log=build/demo-module.log
  if ! { cmake --install "build/$DEMO_PRESET" --prefix "$prefix" &&
    CXX=c++ CCACHE_BASEDIR=$ROOT CCACHE_NOHASHDIR=1 CMAKE_BUILD_PARALLEL_LEVEL=$JOBS \
      "$DEMO_PYTHON" -m pip install . --disable-pip-version-check --no-deps --no-build-isolation --upgrade --target "$MODULE_FOLDER" \
      -C "build-dir=build/demo-python" -C cmake.source-dir=python -C "cmake.define.CMAKE_PREFIX_PATH=$prefix" \
      -C cmake.define.CMAKE_CXX_COMPILER_LAUNCHER=ccache; } >"$log" 2>&1; then
    show_end_of "$log"
    die "could not build the Python module; the whole output is in $log"
  fi
}

run_demo() {
  choose_demo_preset "$@"
  need_packages build python
  need_demo_python
  say "building the command line in build/$DEMO_PRESET"
  configure_and_build "$DEMO_PRESET" terrazzo_cli
  say "building the Python module in ${MODULE_FOLDER#"$ROOT/"}"
  need_demo_module
  mkdir -p "$DEMO"

  local terrain=$DEMO/terrain.tif key start
  key=$(sha256sum <tools/dev/make_terrain.py)
  if [[ ! -f $terrain || ! -f $DEMO/.terrain-key || $(<"$DEMO/.terrain-key") != "$key" ]]; then
    say "making an island with mountains, rivers and a lake: 4096 x 4096 float32, Deflate, predictor 3 (half a minute)"
    "$DEMO_PYTHON" tools/dev/make_terrain.py "$terrain"
    printf '%s\n' "$key" >"$DEMO/.terrain-key"
  fi

  DEMO_TIMES=()
  shown "description" info --codecs terrain.tif
  shown "decode every tile of every level" info --check terrain.tif
  shown "plan of a window" plan --window 1800,1200,512,512 terrain.tif
  shown "SHA-256 of the pixels" checksum terrain.tif
  shown "SHA-256 of the mask" checksum --mask terrain.tif
  shown "the whole raster, to NumPy" read --out whole.npy terrain.tif
  shown "a window of 512 x 512" read --window 1800,1200,512,512 --out window.npy terrain.tif
  shown "the second overview, NaN for the sea" read --overview 2 --masked --out overview.npy terrain.tif
  shown "1000 x 1000, from the best overview" read --target-size 1000,1000 --out thousand.npy terrain.tif
  shown "pixels of 100 m, as int16" read --target-resolution 100 --dtype int16 --out coarse.npy terrain.tif
  shown "minimum, maximum, mean, histogram" stats terrain.tif
  shown "a shaded relief" preview --style hillshade --colormap terrain --max-size 1600 --out relief.png terrain.tif
  shown "the same in gray" preview --style gray --max-size 1600 --out gray.png terrain.tif
  shown "speed, one thread" bench read --host --threads 1 terrain.tif
  shown "speed, all threads" bench read --host terrain.tif
  shown "speed, 200 random windows" bench read --host --random-windows 200 terrain.tif
  if has_gpu && [[ $DEMO_PRESET == demo-cuda ]]; then shown "speed, GPU" bench read --device terrain.tif; fi

  printf '\n$ python   # the example of README.md\n'
  ln -sf terrain.tif "$DEMO/dem.tif"
  start=$(now)
  (cd "$DEMO" && PYTHONPATH=$MODULE_FOLDER "$DEMO_PYTHON" "$ROOT/tools/dev/readme_example.py")
  DEMO_TIMES+=("$(since_ms "$start")"$'\t'"Python: a window, written as a COG")

  printf '\n%10s  %s\n' "ms" "whole command, from start to end of the process"
  local row
  for row in "${DEMO_TIMES[@]}"; do printf '%10s  %s\n' "${row%%$'\t'*}" "${row#*$'\t'}"; done
  printf '\n'
  say "look at out/demo/relief.png"
}
