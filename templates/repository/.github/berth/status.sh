#!/usr/bin/env bash
# Sets the status CONTEXT of a commit. Require this status: it is set on the last commit of the branch.
#   REPOSITORY      owner/name
#   SHA             the commit
#   CONTEXT         its name
#   BASE_BRANCH     the branch that the commit was judged for
#   DEFAULT_BRANCH  of the repository. For any other branch, the status is called "CONTEXT (BASE_BRANCH)": one
#                   commit may be in pull requests to several branches, and other branches have other policies
#   GOOD            true for success, anything else for failure
#   BODY            file with the text of the comment, whose headline is the description; may be missing
set -euo pipefail

state=failure headline=""
if [ "$GOOD" = true ]; then state=success; fi
branch=${BASE_BRANCH#refs/heads/}
if [ "$branch" != "$DEFAULT_BRANCH" ]; then CONTEXT="$CONTEXT ($branch)"; fi
if [ -f "$BODY" ]; then headline=$(sed -n '/^### Berth: /{s///p;q}' "$BODY" | tr -d '\\'); fi
gh api --silent --method POST "repos/$REPOSITORY/statuses/$SHA" -f "context=$CONTEXT" -f "state=$state" \
  ${headline:+-f "description=${headline:0:140}"}
