# SPDX-License-Identifier: Apache-2.0
#
# Prepares a bare Debian 12 for a step: system packages, and a private Python environment in build/venv. Changes nothing
# else on the machine. If everything is installed, the checks take milliseconds.

VENV=$ROOT/build/venv

# Prints the end of a log without server names, which are private to the machine.
show_end_of() { tail -n 20 "$1" | sed -E 's#(https?://)[^/ ]+#\1...#g; s/host=.[^,)]*/host=.../g' >&2; }

# need_packages STEP...: installs the missing packages that tools/apt-packages.txt lists for these steps.
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

# Prints a Python of 3.12 or later that can make environments, or nothing. Names on PATH may be shims of inactive
# versions, so each candidate is run.
find_new_python() {
  local candidate
  for candidate in python3.12 python3.13 python3.14 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3 python3 /usr/bin/python3; do
    if "$candidate" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 12))' >/dev/null 2>&1; then
      command -v "$candidate"
      return
    fi
  done
}

# make_venv FOLDER PYTHON REQUIREMENTS [PACKAGE...]: makes a Python environment with the pinned packages, all or only
# the named ones. Makes it again if the list or the interpreter changes.
make_venv() {
  local folder=$1 python=$2 requirements=$3 pins key
  shift 3
  pins=$(grep -v '^#' "$requirements")
  (($#)) && pins=$(grep -E "^($(IFS='|' && echo "$*"))==" <<<"$pins")
  key="$python $("$python" --version) $(sha256sum <"$requirements")${*:+ $*}"
  if [[ -f $folder/.stamp && $(<"$folder/.stamp") == "$key" ]]; then return; fi

  say "making ${folder#"$ROOT/"} with $("$python" --version): $(sed 's/==.*//' <<<"$pins" | paste -sd' ')"
  local log=build/venv.log
  mkdir -p build
  rm -rf "$folder"
  # shellcheck disable=SC2086
  if ! { "$python" -m venv "$folder" && "$folder/bin/python" -m pip install --disable-pip-version-check $pins; } >"$log" 2>&1; then
    show_end_of "$log"
    die "could not make ${folder#"$ROOT/"}; the whole output is in $log"
  fi
  printf '%s\n' "$key" >"$folder/.stamp"
}

# need_venv: makes build/venv with all packages of tools/requirements-*.txt.
need_venv() {
  need_packages python
  local python
  python=$(find_new_python)
  if [[ -n $python ]]; then
    make_venv "$VENV" "$python" tools/requirements-py312.txt
  else
    loud "no Python 3.12 here -> rasterio 1.4 (GDAL 3.9) instead of 1.5 (GDAL 3.12): no LIBERTIFF rows"
    make_venv "$VENV" /usr/bin/python3 tools/requirements-py311.txt
  fi
}

# need_demo_python: sets DEMO_PYTHON to an interpreter with the packages for the sample raster and the Python module: that
# of build/venv if it exists, otherwise that of a small environment.
need_demo_python() {
  DEMO_PYTHON=$VENV/bin/python
  if [[ -f $VENV/.stamp ]]; then return; fi
  local python requirements=tools/requirements-py312.txt
  python=$(find_new_python)
  [[ -n $python ]] || { python=/usr/bin/python3 requirements=tools/requirements-py311.txt; }
  make_venv "$ROOT/build/demo-venv" "$python" "$requirements" numpy tifffile imagecodecs nanobind scikit-build-core
  DEMO_PYTHON=$ROOT/build/demo-venv/bin/python
}

has_nvcc() { have nvcc || [[ -x /usr/local/cuda/bin/nvcc ]]; }
has_gpu() { have nvidia-smi && nvidia-smi -L >/dev/null 2>&1; }

# Printed once per run, so that readers do not assume that a missing part was tested.
tell_what_is_missing() {
  has_nvcc || loud "no nvcc -> CPU only"
  [[ -f $CORPUS/manifest.json ]] || loud "no corpus at $CORPUS (TERRAZZO_CORPUS) -> its tests are skipped, and counted so"
}
