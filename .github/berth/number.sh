#!/usr/bin/env bash
# The number of the pull request that a run of a fork speaks of: what it says, if that pull request is at the
# very commit of the run. So a fork cannot write into the comment of another.
#   $1          file that the run wrote
#   REPOSITORY  owner/name
#   SHA         commit of the run
set -euo pipefail

number=$(head -c 20 -- "$1" | tr -d '\n')
case "$number" in
  '' | *[!0-9]*)
    echo "what the run says is no number" >&2
    exit 1
    ;;
esac
if [ "$(gh api "repos/$REPOSITORY/pulls/$number" --jq .head.sha)" != "$SHA" ]; then
  echo "pull request $number is not at $SHA" >&2
  exit 1
fi
echo "$number"
