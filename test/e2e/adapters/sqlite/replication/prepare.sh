#!/usr/bin/env bash
# Builds Litestream and an S3-compatible test server with Go into a folder that is kept.
#
#   prepare.sh [folder, default: aos-test-litestream-<uid> below the temporary directory]
#
# The test looks in $SVC_TEST_LITESTREAM, else in that default folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-${TMPDIR:-/tmp}/aos-test-litestream-$(id -u)}
stamp=$(cksum <"$here/prepare.sh")
[ "$(cat "$folder/.complete" 2>/dev/null)" = "$stamp" ] && exit 0
rm -rf "$folder"
mkdir -p "$folder"
export GOBIN="$folder" CGO_ENABLED=0
go install github.com/benbjohnson/litestream/cmd/litestream@v0.5.18
go install github.com/johannesboyne/gofakes3/cmd/gofakes3@v1.2.0
printf '%s\n' "$stamp" >"$folder/.complete"
echo "Litestream ready in $folder"
