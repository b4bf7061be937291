#!/usr/bin/env bash
# Renders and pushes the changes to BRANCH. Afterward the work tree is at the last commit of the branch. If
# somebody else pushes at the same time, it renders again on top of that commit and never overwrites it.
#   BRANCH     branch of the pull request
#   DIRECTORY  of the project in the repository
#   GH_TOKEN   for git alone; without it, git uses what the checkout left
set -euo pipefail

DIRECTORY=${DIRECTORY:-.}
token=${GH_TOKEN:-}
unset GH_TOKEN
remote() { # git with the token
  if [ -z "$token" ]; then
    git "$@"
    return
  fi
  local basic
  basic=$(printf 'x-access-token:%s' "$token" | base64 | tr -d '\n')
  GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0="http.${GITHUB_SERVER_URL:-https://github.com}/.extraheader" \
    GIT_CONFIG_VALUE_0="Authorization: Basic $basic" git "$@"
}

for attempt in 1 2 3; do
  berth -C "$DIRECTORY" render >&2
  git add --force -- "$DIRECTORY/rendered" # also what the author lets git ignore
  if git diff --cached --quiet; then
    exit 0
  fi
  git -c user.name="${COMMIT_NAME:-github-actions[bot]}" \
    -c user.email="${COMMIT_EMAIL:-41898282+github-actions[bot]@users.noreply.github.com}" \
    commit --quiet -m "Render" >&2
  if remote push --quiet origin "HEAD:refs/heads/$BRANCH" >&2; then
    exit 0
  fi
  echo "push $attempt was refused; rendering again on top of the new commit" >&2
  git reset --quiet --hard HEAD~1 >&2 # remove the commit that could not be pushed
  remote fetch --quiet origin "refs/heads/$BRANCH" >&2
  git reset --quiet --hard FETCH_HEAD >&2
done
exit 1
