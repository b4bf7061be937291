#!/usr/bin/env bash
# Writes what a change means to files: OUT/preview.md for people, OUT/valid and OUT/fresh with true or false,
# OUT/sha with the commit. Findings go to stdout as annotations. Exits with 0 even if there are findings: the
# caller decides what fails.
#   BASE       commit to compare with, from where the branch left it
#   DIRECTORY  of the project in the repository
#   OUT        folder to write to
#   COMMIT     true: push a fresh rendered/ to BRANCH, if the reservations are valid
set -euo pipefail

here=$(dirname -- "${BASH_SOURCE[0]}")
DIRECTORY=${DIRECTORY:-.}
mkdir -p "$OUT"
valid=true fresh=true
now=$(git log -1 --format=%cI) # the time of the commit: what is checked is the same in every run
berth -C "$DIRECTORY" validate -o github --now "$now" || valid=false
if [ "$valid" = true ] && ! berth -C "$DIRECTORY" render --check >&2; then
  fresh=false
  if [ "${COMMIT:-false}" = true ] && bash "$here/commit.sh"; then
    fresh=true
  fi
fi
base=$(git merge-base "$BASE" HEAD 2>/dev/null || git rev-parse HEAD)
code=0
berth -C "$DIRECTORY" diff "$base" -o markdown --now "$now" >"$OUT/preview.md" || code=$?
if [ "$code" -ne 0 ] && [ ! -s "$OUT/preview.md" ]; then
  echo "Berth could not create the preview; see the log." >"$OUT/preview.md"
elif [ "$code" -eq 1 ]; then # also if a policy refuses a valid change, or it costs more than the budget
  valid=false
fi
echo "$valid" >"$OUT/valid"
echo "$fresh" >"$OUT/fresh"
git rev-parse HEAD >"$OUT/sha"
