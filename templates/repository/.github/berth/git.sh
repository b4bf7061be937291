#!/usr/bin/env bash
# Runs git as the workflow: with its name, and for the server of the repository with its token.
#   GH_TOKEN  the token; without it, git uses what the checkout left
set -euo pipefail

token=${GH_TOKEN:-}
unset GH_TOKEN
if [ -n "$token" ]; then
  basic=$(printf 'x-access-token:%s' "$token" | base64 | tr -d '\n')
  export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0="http.${GITHUB_SERVER_URL:-https://github.com}/.extraheader"
  export GIT_CONFIG_VALUE_0="Authorization: Basic $basic"
fi
exec git -c user.name="github-actions[bot]" \
  -c user.email="41898282+github-actions[bot]@users.noreply.github.com" "$@"
