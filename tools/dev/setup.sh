# SPDX-License-Identifier: Apache-2.0
#
# Brings a bare Debian 12 to where a step can run: system packages, and a private Python environment in build/venv.
# Nothing else on the machine is touched. Checks cost milliseconds when all is there.

VENV=$ROOT/build/venv

# The end of a log, without the names of the servers it speaks of: those are the machine's business.
show_end_of() { tail -n 20 "$1" | sed -E 's#(https?://)[^/ ]+#\1...#g; s/host=.[^,)]*/host=.../g' >&2; }

# need_packages STEP...: installs what tools/apt-packages.txt lists for these steps and the machine lacks.
need_packages() {
  local steps=" $* " package step reason
  local -a wanted=() missing=()
  while read -r package step reason; do
    [[ $package == \#* || -z $package || $steps != *" $step "* ]] && continue
    wanted+=("$package")
  done <tools/apt-packages.txt

  if ! have dpkg-query || ! have apt-get; then
    loud "this is not a Debian system: make sure that it has the likes of ${wanted[*]}"
    return
  fi
  local installed
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null | sed -n 's/^installed //p' || true)
  while read -r package step reason; do
    [[ " ${wanted[*]} " == *" $package "* ]] || continue
    grep -qx -- "$package" <<<"$installed" && continue
    ((${#missing[@]})) || say "installing with apt:"
    missing+=("$package")
    printf '        %-20s %s\n' "$package" "$reason"
  done <tools/apt-packages.txt
  ((${#missing[@]})) || return 0

  local -a as_root=()
  if ((EUID != 0)); then
    have sudo || die "not root and no sudo; as root, run: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  local log=build/apt.log
  mkdir -p build
  if ! { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } \
    >"$log" 2>&1; then
    show_end_of "$log"
    die "apt-get failed; its whole output is in $log"
  fi
}

# A Python of 3.12 or later that can make environments, or nothing. Names on PATH may be shims of versions that are not
# active, so each candidate is run.
find_new_python() {
  local candidate
  for candidate in python3.12 python3.13 python3.14 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3 python3 /usr/bin/python3; do
    if "$candidate" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 12))' >/dev/null 2>&1; then
      command -v "$candidate"
      return
    fi
  done
}

# need_venv: build/venv with what tools/requirements-*.txt pin, made anew when the list or the interpreter changes.
need_venv() {
  need_packages python
  local python requirements
  python=$(find_new_python)
  if [[ -n $python ]]; then
    requirements=tools/requirements-py312.txt
  else
    python=/usr/bin/python3
    requirements=tools/requirements-py311.txt
    loud "no Python 3.12 here -> rasterio 1.4 (GDAL 3.9) instead of 1.5 (GDAL 3.12): no LIBERTIFF rows"
  fi
  local key
  key="$python $("$python" --version) $(sha256sum <"$requirements")"
  if [[ -f $VENV/.stamp && $(<"$VENV/.stamp") == "$key" ]]; then return; fi

  say "making build/venv with $("$python" --version): numpy, tifffile, imagecodecs and rasterio make and check test files"
  local log=build/venv.log
  mkdir -p build
  rm -rf "$VENV"
  if ! { "$python" -m venv "$VENV" && "$VENV/bin/python" -m pip install --disable-pip-version-check -r "$requirements"; } >"$log" 2>&1; then
    show_end_of "$log"
    die "could not make build/venv; the whole output is in $log"
  fi
  printf '%s\n' "$key" >"$VENV/.stamp"
}

# Said once a run, so that nobody takes a missing part for a tested one.
tell_what_is_missing() {
  have nvcc || [[ -x /usr/local/cuda/bin/nvcc ]] || loud "no nvcc -> CPU only"
  [[ -f $CORPUS/manifest.json ]] || loud "no corpus at $CORPUS (TERRAZZO_CORPUS) -> its tests are skipped, and counted so"
}
