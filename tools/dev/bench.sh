# SPDX-License-Identifier: Apache-2.0

# Passes its arguments to the benchmark, such as --real FOLDER (or TERRAZZO_REAL); relative paths start at the caller's
# folder. `bench write ...` measures writing; tools/requirements-bench.txt lists further libraries for comparison.
run_bench() {
  local script=peers.py
  if [[ ${1:-} == write ]]; then
    script=write_peers.py
    shift
  fi
  need_packages build python
  need_venv
  tell_what_is_missing
  configure_and_build release
  (cd "$CALLER_DIR" && TERRAZZO_BIN=$ROOT/build/release/terrazzo "$VENV/bin/python" "$ROOT/bench/$script" "$@")
}
