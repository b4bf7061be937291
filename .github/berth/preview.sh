#!/usr/bin/env bash
# Writes what a change means to files: OUT/preview.md for people, OUT/valid and OUT/fresh with true or false,
# OUT/sha with the commit. Findings go to stdout as annotations. Exits with 0 even if there are findings: the
# caller decides what fails.
#   BASE       commit or branch to compare with. Its policies count
#   MERGE      true: judge what BASE becomes when HEAD is merged into it, as for a pull request
#   DIRECTORY  of the project in the repository
#   OUT        folder to write to
#   COMMIT     true: push a fresh rendered/ to BRANCH, if the reservations are valid
#   GH_TOKEN   for that push; without it, git uses what the checkout left
set -euo pipefail

here=$(dirname -- "${BASH_SOURCE[0]}")
token=${GH_TOKEN:-}
unset GH_TOKEN # Berth reads what strangers wrote, and needs no token
DIRECTORY=${DIRECTORY:-.}
mkdir -p "$OUT"
valid=true fresh=true
now=$(date -u +%Y-%m-%dT%H:%M:%SZ) # the clock of this run: authors choose the time of a commit

refuse() { echo "::error title=$1::$2"; }
# Git names files as they are, and GitHub carries out what looks like a command in a log.
plain() { "$@" 2>&1 | LC_ALL=C tr -c '\n -~' '?' | sed -e 's/^/| /' -e 's/##\[/##(/g' >&2; }

code=0
berth -C "$DIRECTORY" render --check >&2 || code=$?
if [ "$code" -eq 4 ]; then
  fresh=false
  if [ "${COMMIT:-false}" = true ] && GH_TOKEN=$token plain bash "$here/commit.sh"; then
    fresh=true
  fi
elif [ "$code" -ne 0 ]; then
  valid=false
fi

if [[ "$BASE" =~ ^0*$ ]]; then # the first push of a branch
  BASE=$(git rev-parse HEAD)
fi
merged=$(mktemp -d)/merged
trap 'plain git worktree remove --force "$merged" || true' EXIT
# Judge what git stores, too: by the attributes of a branch, git may check out something else.
attributes=$(git rev-parse --git-path info/attributes)
mkdir -p "$(dirname -- "$attributes")"
echo "* -text !ident !filter !working-tree-encoding" >>"$attributes"
plain git worktree add --quiet --detach "$merged" HEAD
if [ "${MERGE:-false}" = true ]; then
  merge=(-c user.name=berth -c user.email=berth@localhost merge --quiet --no-edit)
  if ! plain git -C "$merged" "${merge[@]}" "$BASE"; then
    plain git -C "$merged" merge --abort || true
    valid=false
    refuse "This branch cannot be merged" "Merge its base branch into it, and resolve the conflicts."
  fi
fi
rm -- "$attributes"
if [ "$valid" = true ] && [ "$fresh" = true ] && ! berth -C "$merged/$DIRECTORY" render --check >&2; then
  fresh=false
  refuse "rendered/ is not up to date after the merge" \
    "Update this branch from its base branch, then render. Remove attributes of git that change these files."
fi
in_merged() { (cd "$merged" && berth -C "$DIRECTORY" "$@"); } # findings are at the files of the repository
in_merged validate -o github --now "$now" || valid=false
# Also a valid change fails here: if a policy refuses it, it costs more than the budget, or cannot be compared.
in_merged diff "$BASE" -o markdown --now "$now" >"$OUT/preview.md" || valid=false
if [ ! -s "$OUT/preview.md" ]; then
  valid=false
  echo "Berth could not create the preview; see the log." >"$OUT/preview.md"
fi
echo "$valid" >"$OUT/valid"
echo "$fresh" >"$OUT/fresh"
git rev-parse HEAD >"$OUT/sha"
