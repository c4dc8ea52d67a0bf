# SPDX-License-Identifier: Apache-2.0

# Arguments are the benchmark's own; relative paths in them are the caller's.
# `bench write ...` measures writing; tools/requirements-bench.txt names what it can compare with beyond rasterio.
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
