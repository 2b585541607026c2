#!/usr/bin/env bash
# Gets the programs that judge openapi.json (linters, five generators of clients, a fuzzer) into a folder that is kept. They
# are no devDependencies: they bring two hundred packages. Their install scripts do not run.
#
#   prepare.sh [folder, default: aos-test-openapi-<uid> below the temporary directory]
#
# The tests look in $SVC_TEST_OPENAPI, else in that default folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-${TMPDIR:-/tmp}/aos-test-openapi-$(id -u)}
stamp=$(cat "$here/requirements.txt" "$here/pom.xml" "$here/prepare.sh" | cksum)
[ "$(cat "$folder/.complete" 2>/dev/null)" = "$stamp" ] && exit 0
rm -rf "$folder"
mkdir -p "$folder/python" "$folder/npm"
PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --target "$folder/python" -r "$here/requirements.txt"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts --prefix "$folder/npm" \
  @redocly/cli@2.77.0 @stoplight/spectral-cli@6.16.3 openapi-typescript@7.13.0 openapi-fetch@0.17.0 \
  @hey-api/openapi-ts@0.95.0
# openapi-generator is one jar; a Java client of it needs the jars of pom.xml.
mvn -q -B dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:7.25.0 -DoutputDirectory="$folder/generator"
mvn -q -B -f "$here/pom.xml" dependency:copy-dependencies -DoutputDirectory="$folder/java"
printf '%s\n' "$stamp" >"$folder/.complete"
echo "openapi tools ready in $folder"
