# SPDX-License-Identifier: Apache-2.0
#
# libFuzzer over build/fuzz. Inputs that widen coverage are kept in build/fuzz-corpus, finds in out/fuzz.

fuzz_targets() {
  local binary
  for binary in build/fuzz/fuzz/fuzz_*; do
    [[ -x $binary && -f $binary ]] && basename "$binary" | sed 's/^fuzz_//'
  done
  return 0
}

# fuzz_one TARGET SECONDS: prints one PASS or FAIL line. A run stops at the first find.
fuzz_one() {
  local target=$1 seconds=$2
  local grown=build/fuzz-corpus/$target log=build/fuzz-logs/$target.log
  mkdir -p "$grown" build/fuzz-logs out/fuzz
  local -a inputs=("$grown")
  [[ -d tests/fuzz/seeds/$target ]] && inputs+=("tests/fuzz/seeds/$target")
  # Whole files are seeds for targets that take whole files; -max_len limits them, so that reading does not dominate.
  case $target in
    tiff* | open*)
      [[ -d $CORPUS ]] && inputs+=("$CORPUS")
      ;;
  esac
  # 2 GiB and 10 s per input: the most that a hostile file may cost.
  if build/fuzz/fuzz/fuzz_"$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
    -artifact_prefix=out/fuzz/"$target"- "${inputs[@]}" >"$log" 2>&1; then
    printf 'PASS fuzz %s: %s\n' "$target" "$(grep -a '^Done' "$log" | tail -n 1)"
  else
    printf 'FAIL fuzz %s: the input is in out/fuzz, the whole output in %s\n' "$target" "$log"
    grep -a -E 'ERROR:|runtime error|SUMMARY|libFuzzer: |Test unit written' "$log" | head -n 8 | sed 's/^/     /'
  fi
}

# fuzz_all SECONDS: runs every target, one per core at a time.
fuzz_all() {
  export -f fuzz_one
  export CORPUS
  fuzz_targets | xargs -r -P "$JOBS" -I '{}' bash -c 'fuzz_one "$1" "$2"' fuzz '{}' "$1"
}

run_fuzz() {
  local target=all seconds=60
  if [[ ${1:-} =~ ^[0-9]+$ ]]; then
    seconds=$1
  else
    target=${1:-all}
    seconds=${2:-60}
  fi
  need_packages build test
  configure_and_build fuzz fuzz_targets
  local output
  if [[ $target == all ]]; then
    output=$(fuzz_all "$seconds" | tee /dev/stderr)
  else
    [[ -x build/fuzz/fuzz/fuzz_$target ]] || die "no fuzz target $target; there are: $(fuzz_targets | tr '\n' ' ')"
    output=$(fuzz_one "$target" "$seconds" | tee /dev/stderr)
  fi
  ! grep -q '^FAIL' <<<"$output"
}
