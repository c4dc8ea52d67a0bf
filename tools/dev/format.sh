# SPDX-License-Identifier: Apache-2.0

our_sources() { git ls-files --cached --others --exclude-standard -- '*.hpp' '*.cpp' '*.cu' '*.cuh'; }

# Lists the files that clang-format would change; fails if there are any.
format_check() {
  local file wrong=0
  while read -r file; do
    clang-format-16 --dry-run -Werror "$file" >/dev/null 2>&1 && continue
    printf '     %s is not formatted: run ./dev format\n' "$file"
    wrong=1
  done < <(our_sources)
  return $wrong
}

run_format() {
  need_packages format
  if [[ ${1:-} == --check ]]; then
    format_check && say "all formatted"
  else
    our_sources | xargs -r clang-format-16 -i
  fi
}
