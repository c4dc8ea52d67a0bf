# SPDX-License-Identifier: Apache-2.0
#
# Packages of the command line: a tarball and a .deb of one binary, and a container file. The binary links the codec
# libraries statically, needs glibc 2.34 and libstdc++ 11 from the system, and loads PROJ, libtiff and libjxl if they are
# there. Both packages are tried in a clean Debian.

RELEASE=$ROOT/out/release
# Debian's packages of the libraries in the binary; their licences come along.
STATIC_PACKAGES=(zlib1g-dev libdeflate-dev libzstd-dev liblzma-dev liblz4-dev liblerc-dev libjpeg62-turbo-dev
  libopenjp2-7-dev libwebp-dev libpugixml-dev libcli11-dev nlohmann-json3-dev)

release_version() {
  sed -n 's/#define TERRAZZO_VERSION_[A-Z]* \([0-9]*\).*/\1/p' include/terrazzo/version.hpp | paste -sd .
}

# Fills FOLDER with bin/ and share/ of a build.
stage_release() {
  local build=$1 folder=$2 package
  local doc=$folder/share/doc/terrazzo
  mkdir -p "$folder/bin" "$doc/libraries"
  install -m 755 "$build/terrazzo" "$folder/bin/"
  strip --strip-unneeded "$folder/bin/terrazzo"
  cp -r "$build/share/." "$folder/share/"
  cp LICENSE CHANGELOG.md "$doc/"
  for package in "${STATIC_PACKAGES[@]}"; do
    cp "/usr/share/doc/$package/copyright" "$doc/libraries/$package"
  done
  find "$folder" -type d -exec chmod 755 {} +
  find "$folder/share" -type f -exec chmod 644 {} +
}

# The binary must start on the oldest system: only glibc, libstdc++ and libgcc from it, and no newer symbols.
check_release_binary() {
  local binary=$1 others
  others=$(libraries_of "$binary" | grep -v -E '/(libstdc\+\+|libgcc_s)\.so' || true)
  [[ -z $others ]] || die "the binary needs libraries that other systems may lack: $others"
  "$(system_python)" tests/lint/portable_symbols.py "$binary" || die "the binary needs symbols that older systems lack"
}

make_tarball() {
  local name=$1 tree=$2
  cat >"$tree/README.txt" <<TEXT
Terrazzo $(release_version) for Linux x86-64 with glibc 2.34 and libstdc++ 11, or later: RHEL 9, Ubuntu 22.04, Debian 12.

bin/terrazzo runs from any folder. To install it with its manual pages and completions for all users:
  cp -r bin share /usr/local/
Libraries that it uses if they are installed: PROJ (names and definitions of coordinate systems, boxes of other systems),
libtiff (CCITT and other old codecs), libjxl (JPEG XL). \`bin/terrazzo doctor\` lists them.
TEXT
  tar --create --xz --file "$RELEASE/$name.tar.xz" --directory "$(dirname "$tree")" --sort=name \
    --owner=0 --group=0 --numeric-owner "$name"
}

# The packages that the binary's libraries come from, as dpkg-shlibdeps finds them.
shared_dependencies() {
  local binary=$1 folder
  folder=$(mktemp -d)
  mkdir "$folder/debian"
  printf 'Source: terrazzo\n\nPackage: terrazzo\nArchitecture: amd64\n' >"$folder/debian/control"
  (cd "$folder" && dpkg-shlibdeps -O "$binary" 2>/dev/null) | sed -n 's/^shlibs:Depends=//p'
  rm -rf "$folder"
}

make_deb() {
  local name=$1 tree=$2 root depends
  root=$(mktemp -d)
  chmod 755 "$root"
  mkdir -p "$root/usr" "$root/DEBIAN"
  cp -r "$tree/bin" "$tree/share" "$root/usr/"
  local doc=$root/usr/share/doc/terrazzo
  { printf 'Terrazzo\n\n' && cat LICENSE && printf '\nThe binary contains libraries; libraries/ has their licences.\n'; } >"$doc/copyright"
  rm "$doc/LICENSE"
  gzip -9n "$doc/CHANGELOG.md"
  mv "$doc/CHANGELOG.md.gz" "$doc/changelog.gz"
  find "$root/usr/share/man" -name '*.1' -exec gzip -9n {} +
  depends=$(shared_dependencies "$root/usr/bin/terrazzo")
  [[ -n $depends ]] || die "dpkg-shlibdeps found no dependencies"
  cat >"$root/DEBIAN/control" <<TEXT
Package: terrazzo
Version: $(release_version)
Section: science
Priority: optional
Architecture: amd64
Maintainer: The Terrazzo authors <terrazzo@localhost>
Installed-Size: $(du -sk "$root/usr" | cut -f 1)
Depends: $depends
Recommends: libproj25 | libproj22 | proj-bin, libtiff6 | libtiff5
Suggests: libjxl-tools, bash-completion
Description: reads and writes GeoTIFF and Cloud-Optimized GeoTIFF
 terrazzo converts, describes, samples, previews and validates GeoTIFF files, with all
 cores of the machine and, in builds with CUDA, with an NVIDIA GPU.
TEXT
  (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
  dpkg-deb --root-owner-group --build -Zxz "$root" "$RELEASE/$name.deb" >/dev/null
  rm -rf "$root"
}

# No container engine runs here: the file is made, not built.
make_container_file() {
  local deb=$1
  cat >"$RELEASE/Containerfile" <<TEXT
# Terrazzo's command line. Build it in this folder: podman build -t terrazzo .
# Use: podman run --rm -v "\$PWD:/data" terrazzo info a.tif
FROM debian:12-slim
COPY $deb /tmp/terrazzo.deb
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/terrazzo.deb libproj25 proj-data libtiff6 libjxl0.7 \\
    && rm -rf /var/lib/apt/lists/* /tmp/terrazzo.deb
WORKDIR /data
ENTRYPOINT ["terrazzo"]
TEXT
}

# The mirror from which this machine installs packages.
debian_mirror() {
  awk '/^URIs:/ { print $2; exit }' /etc/apt/sources.list.d/*.sources 2>/dev/null | grep . ||
    awk '$1 == "deb" { print $2; exit }' /etc/apt/sources.list
}

# A Debian with nothing but its base, kept for later runs.
make_clean_root() {
  local root=$1 log=build/debootstrap.log
  [[ -x $root/usr/bin/dpkg ]] && return
  rm -rf "$root"
  say "making a clean Debian in ${root#"$ROOT/"} (debootstrap; a minute)"
  if ! debootstrap --variant=minbase bookworm "$root" "$(debian_mirror)" >"$log" 2>&1; then
    show_end_of "$log"
    die "debootstrap failed; its whole output is in $log"
  fi
}

# try_in ROOT BINARY: the first uses of a stranger, in the clean root.
try_in() {
  local root=$1 binary=$2 info
  run_there() { chroot "$root" "$@"; }
  info=$(run_there "$binary" --version)
  say "in the clean root: $info"
  run_there "$binary" info /try/dem.tif >/dev/null
  run_there "$binary" cog /try/dem.tif -o /try/cog.tif --quiet
  run_there "$binary" validate /try/cog.tif >/dev/null
  [[ $(run_there "$binary" checksum /try/dem.tif | awk '{ print $1 }') == \
    $(run_there "$binary" checksum /try/cog.tif | awk '{ print $1 }') ]] || die "the pixels of a conversion differ"
  run_there "$binary" doctor >/dev/null
}

try_packages() {
  local name=$1 root=$ROOT/build/clean-root
  make_clean_root "$root"
  rm -rf "$root/try" "$root/opt/terrazzo"
  mkdir -p "$root/try" "$root/opt/terrazzo"
  cp tests/data/dem_deflate_p3.tif "$root/try/dem.tif"
  tar --extract --file "$RELEASE/$name.tar.xz" --directory "$root/opt/terrazzo" --strip-components 1
  try_in "$root" /opt/terrazzo/bin/terrazzo
  cp "$RELEASE/$name.deb" "$root/try/terrazzo.deb"
  chroot "$root" dpkg --install /try/terrazzo.deb >/dev/null
  try_in "$root" terrazzo
  chroot "$root" test -f /usr/share/man/man1/terrazzo.1.gz || die "the package has no manual page"
  chroot "$root" dpkg --purge terrazzo >/dev/null
  say "tarball and .deb work in a clean Debian"
}

run_release() {
  local preset=package suffix="" name
  case ${1:-} in
    --no-cuda) preset=package-cpu suffix=-cpu ;;
    "") ;;
    *) die "release has no option $1; type ./dev release or ./dev release --no-cuda" ;;
  esac
  need_packages build release
  if ((EUID != 0)); then die "release tries its packages with chroot: run it as root"; fi
  configure_and_build "$preset"
  name=terrazzo-$(release_version)-linux-x86_64$suffix
  mkdir -p "$RELEASE"
  local tree=$RELEASE/stage/$name
  rm -rf "$RELEASE/stage"
  mkdir -p "$tree"
  stage_release "build/$preset" "$tree"
  check_release_binary "$tree/bin/terrazzo"
  make_tarball "$name" "$tree"
  make_deb "$name" "$tree"
  make_container_file "$name.deb"
  if [[ $preset == package ]]; then
    say "bytes of kernels in the binary:"
    "$(system_python)" tools/dev/kernel_sizes.py "$tree/bin/terrazzo"
  fi
  rm -rf "$RELEASE/stage"
  try_packages "$name"
  (cd "$RELEASE" && sha256sum "$name.tar.xz" "$name.deb" Containerfile >"$name.sha256")
  ls -l "$RELEASE"
}
