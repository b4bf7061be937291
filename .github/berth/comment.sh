#!/usr/bin/env bash
# Puts a text into the one comment of ours on a pull request: a new one, or in the place of the last.
#   REPOSITORY  owner/name
#   NUMBER      of the pull request
#   BODY        file with the text
#   DIRECTORY   of the project in the repository; each has a comment of its own
set -euo pipefail

marker="<!-- berth preview of $(printf '%s' "${DIRECTORY:-.}" | tr -c 'A-Za-z0-9_./' '_') -->"
{
  printf '%s\n' "$marker"
  cat -- "$BODY"
} >"$BODY.marked"
found=$(gh api --paginate "repos/$REPOSITORY/issues/$NUMBER/comments" \
  --jq ".[] | select(.body | startswith(\"$marker\")) | .id" | sed -n 1p)
if [ -n "$found" ]; then
  gh api --silent --method PATCH "repos/$REPOSITORY/issues/comments/$found" -F "body=@$BODY.marked"
else
  gh api --silent --method POST "repos/$REPOSITORY/issues/$NUMBER/comments" -F "body=@$BODY.marked"
fi
