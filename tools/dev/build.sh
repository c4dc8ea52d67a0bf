# SPDX-License-Identifier: Apache-2.0

PRESETS="release debug asan tsan fuzz cpu-only cuda cuda-shared demo demo-cuda package package-cpu"

# configure_and_build PRESET [TARGET...]: all targets unless some are named.
configure_and_build() {
  local preset=$1
  shift
  # Lets another clone of the same commit use the cached objects.
  export CCACHE_BASEDIR=$ROOT CCACHE_NOHASHDIR=1
  # ccache requires this for precompiled headers: ignore their macros and __TIME__.
  export CCACHE_SLOPPINESS=pch_defines,time_macros
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
