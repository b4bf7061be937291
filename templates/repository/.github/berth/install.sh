#!/usr/bin/env bash
# Installs Berth: what requirements.txt pins by hash, and the wheel beside it, if there is one.
#   BERTH  what to install instead of the wheel, such as a folder with the source
set -euo pipefail

here=$(dirname -- "${BASH_SOURCE[0]}")
install=(python -P -m pip install --quiet --disable-pip-version-check)
"${install[@]}" --require-hashes -r "$here/requirements.txt"
wheels=("$here"/*.whl)
berth=${BERTH:-${wheels[0]}}
if [ -e "$berth" ]; then "${install[@]}" --no-deps --no-build-isolation --force-reinstall "$berth"; fi
