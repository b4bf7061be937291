#!/usr/bin/env bash
# What a change means, as files: OUT/preview.md for people, OUT/valid and OUT/fresh with true or false.
# Findings go to stdout as annotations. Exits 0 whatever it finds; the caller decides what fails.
#   BASE  commit to compare with
#   OUT   folder to write to
set -euo pipefail

mkdir -p "$OUT"
echo true >"$OUT/valid"
echo true >"$OUT/fresh"

if ! berth validate -o github; then
  echo false >"$OUT/valid"
fi
berth diff "$BASE" -o markdown >"$OUT/preview.md" || true
if [ "$(cat "$OUT/valid")" = true ] && ! berth render --check; then
  echo false >"$OUT/fresh"
fi
if [ "$(cat "$OUT/fresh")" = false ]; then
  printf '\n**rendered/ is not up to date.** Run `berth render` and commit what it writes.\n' >>"$OUT/preview.md"
fi
