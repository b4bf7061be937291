#!/usr/bin/env bash
# Creates or updates the comment of Berth on a pull request. Comments of other people are never changed.
#   REPOSITORY  owner/name
#   NUMBER      of the pull request
#   BODY        file with the text of the comment
#   DIRECTORY   of the project in the repository; each project has a separate comment
set -euo pipefail

marker="<!-- berth preview of $(printf '%s' "${DIRECTORY:-.}" | tr -c 'A-Za-z0-9_./' '_') -->"
{
  printf '%s\n' "$marker"
  cat -- "$BODY"
} >"$BODY.marked"
mine="select(.user.login == \"github-actions[bot]\" and (.body | startswith(\"$marker\")))"
found=$(gh api --paginate "repos/$REPOSITORY/issues/$NUMBER/comments" --jq ".[] | $mine | .id" | sed -n 1p)
if [ -n "$found" ]; then
  gh api --silent --method PATCH "repos/$REPOSITORY/issues/comments/$found" -F "body=@$BODY.marked"
else
  gh api --silent --method POST "repos/$REPOSITORY/issues/$NUMBER/comments" -F "body=@$BODY.marked"
fi
