#!/usr/bin/env bash
# Sets the status CONTEXT of a commit. Require this status: it is set on the last commit of the branch.
#   REPOSITORY  owner/name
#   SHA         the commit
#   CONTEXT     its name
#   GOOD        true for success, anything else for failure
set -euo pipefail

state=failure
if [ "$GOOD" = true ]; then state=success; fi
gh api --silent --method POST "repos/$REPOSITORY/statuses/$SHA" -f "context=$CONTEXT" -f "state=$state"
