#!/usr/bin/env bash
# Prints the number of the pull request that the run of a fork belongs to. It accepts the number that the run
# wrote only if that pull request is at the commit of the run: a fork cannot write into another comment.
#   $1          file that the run wrote
#   REPOSITORY  owner/name
#   SHA         commit of the run
set -euo pipefail

number=$(head -c 20 -- "$1" | tr -d '\n')
case "$number" in
  '' | *[!0-9]*)
    echo "the file of the run does not contain a number" >&2
    exit 1
    ;;
esac
if [ "$(gh api "repos/$REPOSITORY/pulls/$number" --jq .head.sha)" != "$SHA" ]; then
  echo "pull request $number is not at $SHA" >&2
  exit 1
fi
echo "$number"
