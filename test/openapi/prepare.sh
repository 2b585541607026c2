#!/usr/bin/env bash
# Gets the programs that judge openapi.json (a generator of Python clients, a linter) into a folder that is kept. The
# linter is no devDependency: it brings a hundred packages. Their install scripts do not run.
#
#   prepare.sh [folder, default: aos-test-openapi-<uid> below the temporary directory]
#
# The tests look in $SVC_TEST_OPENAPI, else in that default folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-${TMPDIR:-/tmp}/aos-test-openapi-$(id -u)}
stamp=$(cat "$here/requirements.txt" "$here/prepare.sh" | cksum)
[ "$(cat "$folder/.complete" 2>/dev/null)" = "$stamp" ] && exit 0
rm -rf "$folder"
mkdir -p "$folder/python" "$folder/npm"
PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --target "$folder/python" -r "$here/requirements.txt"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts --prefix "$folder/npm" @redocly/cli@2.77.0
printf '%s\n' "$stamp" >"$folder/.complete"
echo "openapi tools ready in $folder"
