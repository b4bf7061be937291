#!/usr/bin/env bash
# Renders, and pushes what changed to BRANCH. The work tree is at the commit that the branch is at then.
# Where somebody pushes at the same moment, it renders again on top of theirs: never over it.
#   BRANCH     branch of the pull request
#   DIRECTORY  of the project in the repository
set -euo pipefail

DIRECTORY=${DIRECTORY:-.}
for attempt in 1 2 3; do
  berth -C "$DIRECTORY" render >&2
  git add -- "$DIRECTORY/rendered"
  if git diff --cached --quiet; then
    exit 0
  fi
  git -c user.name="${COMMIT_NAME:-berth}" -c user.email="${COMMIT_EMAIL:-berth@users.noreply.github.com}" \
    commit --quiet -m "Render" >&2
  if git push --quiet origin "HEAD:refs/heads/$BRANCH" >&2; then
    exit 0
  fi
  echo "push $attempt was refused; rendering on top of what is there now" >&2
  git reset --quiet --hard HEAD~1 >&2 # what could not be pushed is not there
  git fetch --quiet origin "refs/heads/$BRANCH" >&2
  git reset --quiet --hard FETCH_HEAD >&2
done
exit 1
