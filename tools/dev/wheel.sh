# SPDX-License-Identifier: Apache-2.0
#
# The wheel of the Python package, for all Linux x86-64 systems with glibc 2.34 and libstdc++ 11: codec libraries inside,
# kernels for all GPUs, one wheel for Python 3.12 and later. It is tried in fresh environments with its declared packages.

WHEELS=$ROOT/out/wheel

# The licences of the libraries in the wheel, as Debian's packages and nanobind have them.
library_licences() {
  local folder=$1 package
  rm -rf "$folder"
  mkdir -p "$folder"
  for package in "${STATIC_PACKAGES[@]}"; do
    [[ $package == libcli11-dev || $package == nlohmann-json3-dev ]] && continue  # of the command line
    cp "/usr/share/doc/$package/copyright" "$folder/$package"
  done
  cp build/wheel-venv/lib/python*/site-packages/nanobind-*/licenses/LICENSE "$folder/nanobind"
}

# build_wheel PRESET FOLDER: makes the wheel with the environment build/wheel-venv.
build_wheel() {
  local preset=$1 folder=$2 log=build/$1.log
  # As in configure_and_build: lets ccache share objects with builds of the presets.
  if ! CXX=c++ CCACHE_BASEDIR=$ROOT CCACHE_NOHASHDIR=1 CMAKE_BUILD_PARALLEL_LEVEL=$JOBS \
    build/wheel-venv/bin/python -m pip wheel . --disable-pip-version-check --no-deps --no-build-isolation -w "$folder" \
    -C "cmake.args=--preset=$preset" -C "build-dir=build/$preset" \
    -C "cmake.define.TERRAZZO_LIBRARY_LICENCES=$ROOT/build/wheel-licences" >"$log" 2>&1; then
    show_end_of "$log"
    die "could not make the wheel; the whole output is in $log"
  fi
}

# try_wheel WHEEL PYTHON: the first uses of a stranger.
try_wheel() {
  local wheel=$1 python=$2 folder=build/try-wheel
  rm -rf "$folder"
  "$python" -m venv "$folder"
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel"
  cp tests/data/dem_deflate_p3.tif "$folder/dem.tif"
  say "in a fresh environment of $("$python" --version): $("$folder/bin/python" -m pip list --disable-pip-version-check --format freeze | paste -sd' ')"
  (cd "$folder" && bin/python "$ROOT/tools/dev/readme_example.py")
  "$folder/bin/python" -c 'import terrazzo; assert terrazzo.validate("'"$folder"'/part.tif").valid_cog'
}

run_wheel() {
  local preset=wheel python wheel
  case ${1:-} in
    --no-cuda) preset=wheel-cpu ;;
    "") ;;
    *) die "wheel has no option $1; type ./dev wheel or ./dev wheel --no-cuda" ;;
  esac
  need_packages build python
  python=$(find_new_python)
  [[ -n $python ]] || die "a wheel for Python 3.12 and later is made by Python 3.12 or later; there is none here"
  make_venv "$ROOT/build/wheel-venv" "$python" tools/requirements-wheel.txt
  library_licences build/wheel-licences
  rm -rf build/raw-wheel "$WHEELS"
  say "compiling the wheel in build/$preset"
  build_wheel "$preset" build/raw-wheel
  PATH=$ROOT/build/wheel-venv/bin:$PATH build/wheel-venv/bin/auditwheel repair --plat manylinux_2_34_x86_64 --only-plat \
    -w "$WHEELS" build/raw-wheel/*.whl >build/auditwheel.log 2>&1 || { show_end_of build/auditwheel.log; die "auditwheel failed"; }
  wheel=$(echo "$WHEELS"/*.whl)
  "$(system_python)" tools/dev/check_wheel.py --release "$wheel" || die "the wheel breaks a rule"
  if [[ $preset == wheel ]]; then
    say "bytes of kernels in the module:"
    "$(system_python)" tools/dev/kernel_sizes.py "$(find build/wheel -name '_core.abi3.so' | head -n 1)"
  fi
  for python in "$python" "$HOME"/.pyenv/versions/3.1[3-9]*/bin/python3; do
    if [[ -x $python ]]; then try_wheel "$wheel" "$python"; fi
  done
  ls -l "$WHEELS"
}
