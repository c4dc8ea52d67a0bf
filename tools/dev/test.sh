# SPDX-License-Identifier: Apache-2.0
#
# The steps of CI. Every runner writes its counts to build/test-results; tally.py adds them up and prints the last line.

RESULTS=$ROOT/build/test-results

# record OUTCOME NAME [REASON]: records one check that is neither a GoogleTest nor a pytest.
record() { printf '%s\t%s\t%s\n' "$1" "$2" "${3:-}" >>"$RESULTS/checks.tsv"; }

# Reads lines "PASS name" and "FAIL name", shows them, and counts them.
record_lines() {
  local line
  while IFS= read -r line; do
    printf '%s\n' "$line"
    case $line in
      "PASS "*) record passed "${line#PASS }" ;;
      "FAIL "*) record failed "${line#FAIL }" ;;
    esac
  done
}

# stage NAME FUNCTION [ARGS...]: runs and times the function, records a failure, and sets STAGE_OK for stages that
# depend on it. The stage is a separate process that ends at its first failing command; bash ignores failures inside
# `if` and `||`, so do not call stage there.
stage() {
  local name=$1 start status
  shift
  printf '\n== %s\n' "$name"
  start=$(now)
  set +e
  (
    set -e
    "$@"
  )
  status=$?
  set -e
  STAGE_OK=$((status == 0))
  ((STAGE_OK)) || record failed "stage $name"
  printf '%s\t%s\n' "$(since "$start")" "$name" >>"$RESULTS/stages.tsv"
}

setup_stage() {
  need_packages build python test format
  need_venv
  tell_what_is_missing
}

lint_stage() {
  # The rules print their own results; the exit status is redundant.
  { "$(system_python)" tests/lint/include_rules.py || true; } | record_lines
  if have clang-format-16; then
    local wrong
    if wrong=$(format_check); then record passed "format"; else record failed "format"; fi
    printf '%s\n' "${wrong:-PASS format}"
  else
    record skipped "format" "no clang-format-16"
  fi
  if cmake --build --preset release --target all_verify_interface_header_sets -j "$JOBS" >build/headers.log 2>&1; then
    echo "PASS every public header compiles on its own" | record_lines
  else
    tail -n 20 build/headers.log
    echo "FAIL every public header compiles on its own" | record_lines
  fi
}

# unit_stage PRESET [CTEST ARGS...]
unit_stage() {
  local preset=$1
  shift
  mkdir -p "$RESULTS/gtest-$preset"
  # The counts come from the XML of each binary; CTest's XML has the binaries that crash before writing theirs.
  GTEST_OUTPUT="xml:$RESULTS/gtest-$preset/" TERRAZZO_CORPUS=$CORPUS \
    ctest --preset "$preset" -j "$JOBS" -L unit --output-junit "$RESULTS/gtest-$preset/ctest.junit" "$@" || true
  [[ -f $RESULTS/gtest-$preset/ctest.junit ]]  # missing if no test ran, and no count would show it
}

# The decoders of teams on the host: a program that prints lines of its own instead of GoogleTest's report.
team_decoders_stage() {
  local program=build/release/tests/device_team_decoders
  if [[ ! -x $program ]]; then
    record skipped "team decoders" "no nvcc"
    return
  fi
  { "$program" --host || echo "FAIL team decoders: exit code $?"; } | record_lines
}

asan_options() {
  export ASAN_OPTIONS="detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1"
  export UBSAN_OPTIONS="print_stacktrace=1"
}

# The folders that parse untrusted bytes, and those whose threads share memory with manual bookkeeping.
SANITISED=(base tiff geo tile coding codec io read write ops)

asan_build_stage() { configure_and_build fuzz terrazzo_cli fuzz_targets "${SANITISED[@]/#/test_}"; }

asan_unit_stage() {
  asan_options
  unit_stage fuzz -R "^($(IFS='|' && printf '%s' "${SANITISED[*]}"))\$"
}

tsan_stage() {
  configure_and_build tsan test_threads
  # With many random address bits, the Linux kernel leaves ThreadSanitizer no room for its shadow memory.
  local -a fixed_addresses=()
  setarch "$(uname -m)" -R true 2>/dev/null && fixed_addresses=(setarch "$(uname -m)" -R)
  mkdir -p "$RESULTS/gtest-tsan"
  GTEST_OUTPUT="xml:$RESULTS/gtest-tsan/" TERRAZZO_CORPUS=$CORPUS TSAN_OPTIONS=halt_on_error=1 \
    "${fixed_addresses[@]}" ctest --preset tsan -R '^threads$' \
    --output-junit "$RESULTS/gtest-tsan/ctest.junit" || true
  [[ -f $RESULTS/gtest-tsan/ctest.junit ]]
}

python_stage() {
  TERRAZZO_BIN=$ROOT/build/release/terrazzo TERRAZZO_ASAN_BIN=$ROOT/build/fuzz/terrazzo \
    TERRAZZO_CORPUS=$CORPUS TERRAZZO_FULL=$FULL \
    "$VENV/bin/python" -m pytest tests/python -q -n "$JOBS" --junitxml "$RESULTS/pytest.xml" || true
  [[ -f $RESULTS/pytest.xml ]]
}

# install_release: the library of the release build in build/install.
install_release() {
  rm -rf build/install
  cmake --install build/release --prefix build/install >build/install.log
}

# check_types NAME ARGS...: mypy, with the package as installed in the fresh environment.
check_types() {
  local name=$1
  shift
  if "$VENV/bin/python" -m mypy --python-executable build/package-venv/bin/python --cache-dir build/mypy --no-error-summary "$@"; then
    echo "PASS $name"
  else
    echo "FAIL $name"
  fi
}

# Makes the wheel of the Python package, and tests it in a fresh environment. The module links the library of the
# release build: compiling the library again would take most of CI's time. The environment has the packages of build/venv
# by a path file, because installing them again would take as long as the tests.
package_stage() {
  install_release
  rm -rf build/wheel build/package-venv
  "$VENV/bin/python" -m pip wheel . --quiet --disable-pip-version-check --no-deps --no-build-isolation \
    -w build/wheel -C build-dir=build/package -C cmake.source-dir=python -C cmake.define.CMAKE_PREFIX_PATH="$ROOT/build/install"
  "$VENV/bin/python" -m venv build/package-venv
  build/package-venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-index build/wheel/*.whl
  local packages='import sysconfig; print(sysconfig.get_path("purelib"))'
  "$VENV/bin/python" -c "$packages" >"$(build/package-venv/bin/python -c "$packages")/test-packages.pth"
  record passed "the Python package installs: $(basename build/wheel/*.whl), $(stat -c %s build/wheel/*.whl) bytes"
  { "$(system_python)" tools/dev/check_wheel.py build/wheel/*.whl || true; } | record_lines
  { check_types "the Python package has sound types (mypy)" -p terrazzo
    check_types "a typed program passes mypy --strict" --strict tests/python_api/typed_program.py; } | record_lines
  (cd tests/python_api && ../../build/package-venv/bin/python -m pytest . -q -n "$JOBS" \
    --junitxml "$RESULTS/pytest-package.xml") || true
  [[ -f $RESULTS/pytest-package.xml ]]
}

fuzz_stage() {
  [[ -n $(fuzz_targets) ]]
  fuzz_all "$1" | record_lines
}

# Builds example programs against the installed package; each takes a raster. Their target has the folder's name.
examples_stage() {
  local example name
  install_release
  rm -rf build/examples
  mkdir -p build/examples
  "$VENV/bin/python" tools/dev/make_terrain.py --size 256 build/examples/terrain.tif >/dev/null
  for example in examples/*/CMakeLists.txt; do
    name=$(basename "$(dirname "$example")")
    cmake -S "examples/$name" -B "build/examples/$name" -G Ninja -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_PREFIX_PATH="$ROOT/build/install" >"build/examples/$name.log"
    cmake --build "build/examples/$name" >>"build/examples/$name.log"
    record passed "examples/$name builds against the installed package"
    "build/examples/$name/$name" build/examples/terrain.tif
    record passed "examples/$name runs"
  done
}

run_tests() {
  FULL=0
  local fuzz_seconds=5
  case ${1:-} in
    "") ;;
    --full)
      FULL=1
      fuzz_seconds=60
      ;;
    *) die "usage: ./dev test [--full]" ;;
  esac
  rm -rf "$RESULTS"
  mkdir -p "$RESULTS"
  touch "$RESULTS/checks.tsv" "$RESULTS/stages.tsv"

  stage "setup" setup_stage
  ((STAGE_OK)) && stage "build: release, g++" configure_and_build release
  # The tests need the release build.
  if ((STAGE_OK)); then
    stage "lint" lint_stage
    stage "unit tests: release" unit_stage release
    stage "team decoders, lane after lane" team_decoders_stage
    # One sanitised build is for the unit tests, the fuzzers and the bad files.
    stage "build: ASan + UBSan + libFuzzer, clang" asan_build_stage
    if ((STAGE_OK)); then
      stage "unit tests: ASan + UBSan" asan_unit_stage
      stage "fuzz: $fuzz_seconds s a target" fuzz_stage "$fuzz_seconds"
    fi
    stage "python tests: corpus, generated files, bad files, command line" python_stage
    stage "python package: wheel, fresh environment, tests" package_stage
    stage "TSan: pool, engine, writers" tsan_stage
    stage "examples: programs against the installed package" examples_stage
    if ((FULL)); then stage "documentation: executed pages, API reference" run_docs; fi
  fi
  "$(system_python)" tools/dev/tally.py "$RESULTS"
}
