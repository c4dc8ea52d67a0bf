# SPDX-License-Identifier: Apache-2.0

PRESETS="release debug asan tsan fuzz cpu-only cuda cuda-shared"

# configure_and_build PRESET [TARGET...]: all targets unless some are named.
configure_and_build() {
  local preset=$1
  shift
  # Another clone of the same commit then finds its objects in the cache.
  export CCACHE_BASEDIR=$ROOT CCACHE_NOHASHDIR=1
  local log=build/$preset.configure.log
  mkdir -p build
  if ! cmake --preset "$preset" >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    return 1
  fi
  local -a targets=()
  (($#)) && targets=(--target "$@")
  cmake --build --preset "$preset" -j "$JOBS" "${targets[@]}"
}

run_build() {
  local preset=${1:-release}
  [[ " $PRESETS " == *" $preset "* ]] || die "no preset $preset; there are: $PRESETS"
  local steps="build"
  case $preset in asan | tsan | fuzz) steps="build test" ;; esac
  # shellcheck disable=SC2086
  need_packages $steps
  tell_what_is_missing
  configure_and_build "$preset"
  [[ -x build/$preset/terrazzo ]] && say "built build/$preset/terrazzo"
}
