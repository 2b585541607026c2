#!/usr/bin/env bash
# Gets PowerShell's grammar for tree-sitter, and its reader, into a folder that is kept. They are no devDependencies: the grammar
# has an install script, which does not run here.
#
#   prepare.sh [folder, default: aos-test-powershell-<uid> below the temporary directory]
#
# The test looks in $SVC_TEST_POWERSHELL, else in that default folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-${TMPDIR:-/tmp}/aos-test-powershell-$(id -u)}
stamp=$(cksum <"$here/prepare.sh")
[ "$(cat "$folder/.complete" 2>/dev/null)" = "$stamp" ] && exit 0
rm -rf "$folder"
mkdir -p "$folder"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts --prefix "$folder" \
  tree-sitter-powershell@0.26.4 web-tree-sitter@0.27.2
printf '%s\n' "$stamp" >"$folder/.complete"
echo "PowerShell's grammar ready in $folder"
