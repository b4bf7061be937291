#!/usr/bin/env bash
# Renders, and pushes what changed to BRANCH. Prints the commit that the branch is at then.
# Where somebody pushes at the same moment, it renders again on top of theirs: never over it.
#   BRANCH  branch of the pull request
set -euo pipefail

for attempt in 1 2 3; do
  berth render >&2
  git add -- rendered
  if git diff --cached --quiet; then
    git rev-parse HEAD
    exit 0
  fi
  git -c user.name="${COMMIT_NAME:-berth}" -c user.email="${COMMIT_EMAIL:-berth@users.noreply.github.com}" \
    commit --quiet -m "Render" >&2
  if git push --quiet origin "HEAD:refs/heads/$BRANCH" >&2; then
    git rev-parse HEAD
    exit 0
  fi
  echo "push $attempt was refused; rendering on top of what is there now" >&2
  git fetch --quiet origin "refs/heads/$BRANCH" >&2
  git reset --quiet --hard FETCH_HEAD >&2
done
exit 1
