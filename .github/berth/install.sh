#!/usr/bin/env bash
# Installs Berth from a folder, and what it needs, by hash.
#   $1  folder with the source of Berth
set -euo pipefail

install=(python -P -m pip install --quiet --disable-pip-version-check)
"${install[@]}" --require-hashes -r "$1/gen/berth/edit/requirements.txt"
"${install[@]}" --no-deps --no-build-isolation "$1"
