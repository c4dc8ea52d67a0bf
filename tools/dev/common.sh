# SPDX-License-Identifier: Apache-2.0
#
# Messages to the user, and time.

say() { printf '[dev] %s\n' "$*"; }
loud() { printf '[dev] NOTE: %s\n' "$*" >&2; }
die() {
  printf '[dev] error: %s\n' "$*" >&2
  exit 2
}

have() { command -v "$1" >/dev/null 2>&1; }

# EPOCHREALTIME, awk and printf depend on the locale, and a decimal comma ("1,5") is not a number to their readers.
export LC_ALL=C.UTF-8

# Seconds with three decimals, for differences.
now() { printf '%s' "$EPOCHREALTIME"; }
since() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }'; }
since_ms() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.0f", 1000 * (b - a) }'; }

# The interpreter for our own scripts, which need only the standard library. Prefers the system's: a shim on PATH may
# refer to a Python that is not installed.
system_python() {
  if [[ -x /usr/bin/python3 ]]; then echo /usr/bin/python3; else command -v python3; fi
}

JOBS=${TERRAZZO_JOBS:-$(nproc)}
CORPUS=${TERRAZZO_CORPUS:-$ROOT/../shared/corpus}
