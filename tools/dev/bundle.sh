# SPDX-License-Identifier: Apache-2.0
#
# Packs the release binaries with all their libraries except glibc, for a bare Linux x86-64 machine.

PART_BYTES=$((60 * 1024 * 1024))

# The libraries that a file needs, except those of glibc, which must be the machine's.
libraries_of() {
  ldd "$1" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' |
    grep -v -E '/(libc|libm|libdl|librt|libpthread|libresolv|libutil|libanl|libmvec|libnsl|ld-linux[^/]*)\.so' || true
}

# The path at which the dynamic loader finds a library that is loaded at run time.
library_path() { ldconfig -p | awk -v name="$1" '$1 == name && /x86-64/ { print $NF; exit }'; }

# Fills one part after the other, in the given order: out/bundle/part-N holds the files of part N under their path in
# the bundle.
split_into_parts() {
  local stage=$1 part=1 used=0 file size
  while IFS= read -r file; do
    size=$(stat -c %s "$stage/$file")
    ((size <= PART_BYTES)) || die "$file alone is larger than a part may be"
    if ((used + size > PART_BYTES)); then
      part=$((part + 1))
      used=0
    fi
    used=$((used + size))
    mkdir -p "out/bundle/part-$part/$(dirname "$file")"
    mv "$stage/$file" "out/bundle/part-$part/$file"
  done < <(cd "$stage" && find . -type f -printf '%P\n' | sort)
}

run_bundle() {
  need_packages build bundle
  configure_and_build release
  local stage=out/bundle/stage binary library found
  rm -rf out/bundle
  mkdir -p "$stage/lib" "$stage/share/proj"

  local -a binaries=(build/release/terrazzo)
  for binary in build/release/tests/test_* build/release/bench/*; do
    [[ -f $binary && -x $binary ]] && binaries+=("$binary")
  done
  cp "${binaries[@]}" "$stage/"

  local -a loaded=()
  for library in libproj.so.25 libtiff.so.6 libjxl.so.0.7; do
    found=$(library_path "$library")
    if [[ -n $found ]]; then loaded+=("$found"); else loud "no $library here -> the bundle goes without it"; fi
  done
  {
    for binary in "${binaries[@]}" "${loaded[@]}"; do libraries_of "$binary"; done
    printf '%s\n' "${loaded[@]}"
  } | sort -u | while IFS= read -r library; do cp -L "$library" "$stage/lib/"; done
  # PROJ searches its database in ../share/proj, relative to the library.
  found=/usr/share/proj/proj.db
  if [[ -f $found ]]; then cp "$found" "$stage/share/proj/"; else loud "no proj.db here -> no names of coordinate systems"; fi

  for binary in "${binaries[@]}"; do
    strip --strip-unneeded "$stage/$(basename "$binary")"
    patchelf --set-rpath '$ORIGIN/lib' "$stage/$(basename "$binary")"
  done
  for library in "$stage"/lib/*; do
    strip --strip-unneeded "$library"
    patchelf --set-rpath '$ORIGIN' "$library"
  done

  cat >"$stage/README.txt" <<TEXT
$(build/release/terrazzo --version 2>/dev/null | head -n 1) for Linux x86-64 with glibc $(ldd --version | awk 'NR == 1 { print $NF }') or later.
Copy the contents of every part-N into one folder (cp -r part-*/. somewhere/), then run somewhere/terrazzo.
TEXT
  split_into_parts "$stage"
  rm -rf "$stage"

  # Check: unpacked again, the bundle needs only glibc from the machine.
  local whole
  whole=$(mktemp -d)
  cp -r out/bundle/part-*/. "$whole/"
  if libraries_of "$whole/terrazzo" | grep -v -F "$whole/"; then
    rm -rf "$whole"
    die "the bundle still needs the libraries above from the system"
  fi
  "$whole/terrazzo" --version >/dev/null
  rm -rf "$whole"
  du -sh out/bundle/part-*
}
