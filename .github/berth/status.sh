#!/usr/bin/env bash
# Sets the status CONTEXT of a commit: the one to require, as it is on the commit that a branch ends at.
#   REPOSITORY  owner/name
#   SHA         the commit
#   CONTEXT     its name
#   GOOD        true or anything else
set -euo pipefail

state=failure
if [ "$GOOD" = true ]; then state=success; fi
gh api --silent --method POST "repos/$REPOSITORY/statuses/$SHA" -f "context=$CONTEXT" -f "state=$state"
