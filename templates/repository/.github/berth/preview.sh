#!/usr/bin/env bash
# Judges a commit, and what its base becomes when it is merged. Writes what changes to OUT/preview.md, and
# findings to stdout as annotations. Exits with 1 if the change is refused, not valid, or not rendered.
#   HEAD       the commit
#   BASE       what to compare with: a commit, or a branch of the remote by its full name. Its policies count
#   BRANCH     full name of the branch of HEAD, if that is to be merged into BASE
#   COMMIT     true: push a fresh rendered/ to BRANCH
#   DIRECTORY  of the project in the repository; default: the repository
#   FORM       json: write OUT/preview.json instead
#   OUT        folder to write to
#   GH_TOKEN   for git alone; without it, git uses what the checkout left
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
token=${GH_TOKEN:-}
unset GH_TOKEN # Berth reads what strangers wrote, and needs no token
now=$(date -u +%Y-%m-%dT%H:%M:%SZ) # the clock of this run: authors choose the time of a commit
good=true

refuse() {
  good=false
  echo "::error title=$1::$2"
}
# Git names files as they are, and GitHub carries out what looks like a command in a log.
plain() { "$@" 2>&1 | LC_ALL=C tr -c '\n -~' '?' | sed -e 's/^/| /' -e 's/##\[/##(/g' >&2; }
remote() { GH_TOKEN=$token bash "$here/git.sh" "$@"; }
project() { berth -C "${DIRECTORY:-.}" "$@"; }

# From here on, each commit is its id: somebody else may choose what a branch, a tag or a folder is called.
names=("+$HEAD:refs/berth/head")
if ! [[ "$BASE" =~ ^0*$ ]]; then names+=("+$BASE:refs/berth/base"); fi # else it is the first push of a branch
remote fetch --quiet --no-tags --depth=2147483647 origin "${names[@]}"
head=$(git rev-parse --verify "refs/berth/head^{commit}")
base=$head
if [ ${#names[@]} -eq 2 ]; then base=$(git rev-parse --verify "refs/berth/base^{commit}"); fi

# Judge what git stores: by the attributes of a branch, git may check out something else.
mkdir -p "$OUT"
repository=$PWD work=$(mktemp -d)
attributes=$(git rev-parse --path-format=absolute --git-path info/attributes)
trap 'rm -f "$attributes"; git -C "$repository" worktree remove --force "$work" || true' EXIT
mkdir -p "$(dirname -- "$attributes")"
echo "* -text !ident !filter !working-tree-encoding" >"$attributes"
plain git worktree add --quiet --detach "$work" "$head"
cd "$work" # findings are at the files of the repository

code=0
project render --check >&2 || code=$?
if [ "$code" -eq 4 ] && [ "${COMMIT:-false}" = true ]; then
  project render >&2
  git add --force -- "${DIRECTORY:-.}/rendered" # also what the author lets git ignore
  if plain remote commit --quiet -m Render && plain remote push --quiet origin "HEAD:$BRANCH"; then
    code=0
  else
    git reset --quiet --hard "$head"
  fi
fi
if [ "$code" -ne 0 ]; then good=false; fi # the log says why
if [ "$code" -eq 4 ]; then
  refuse "rendered/ is not up to date" \
    "Run: berth render && git add --force rendered && git commit -m Render && git push"
fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then echo "sha=$(git rev-parse HEAD)" >>"$GITHUB_OUTPUT"; fi

if [ -n "${BRANCH:-}" ] && ! plain remote merge --quiet --no-edit "$base"; then
  plain git merge --abort
  refuse "This branch cannot be merged" "Merge its base branch into it, and resolve the conflicts."
fi
if [ "$code" -eq 0 ] && ! project render --check >&2; then
  refuse "rendered/ is not up to date after the merge" \
    "Update this branch from its base branch, then render. Remove attributes of git that change these files."
fi
project validate -o github --now "$now" || good=false
# Also a valid change fails here: if a policy refuses it, it costs more than the budget, or cannot be compared.
if [ "${FORM:-}" = json ]; then
  project diff "$base" -o json --now "$now" >"$OUT/preview.json" || good=false
else
  project diff "$base" -o markdown --now "$now" >"$OUT/preview.md" || good=false
  if [ ! -s "$OUT/preview.md" ]; then echo "Berth could not create the preview; see the log." >"$OUT/preview.md"; fi
  cat "$OUT/preview.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
fi
test "$good" = true
