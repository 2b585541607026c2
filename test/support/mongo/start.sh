#!/usr/bin/env bash
# Starts the MongoDB-compatible test server and prints `READY <port>`; SIGTERM ends it.
#
#   start.sh [port, 0 = any] [memory | h2sync:<file>]
#
# Its jars come from SVC_TEST_MONGO_LIB when set, else from a folder below the temporary directory that Maven fills once.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
lib=${SVC_TEST_MONGO_LIB:-${TMPDIR:-/tmp}/aos-mongo-test-server-$(id -u)-1.47.0/lib}
if [ ! -f "$lib/.complete" ] && [ -z "${SVC_TEST_MONGO_LIB:-}" ]; then
  mkdir -p "$(dirname "$lib")"
  new=$(mktemp -d "$(dirname "$lib")/new.XXXXXX")
  cp "$here/pom.xml" "$new/pom.xml"
  (cd "$new" && mvn -q -B dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$new/lib") >&2
  touch "$new/lib/.complete"
  # Two starts at once: the first to finish wins, the other uses its folder.
  mv -T "$new/lib" "$lib" 2>/dev/null || [ -f "$lib/.complete" ]
  rm -rf "$new"
fi
exec java -Xmx512m -Dslf4j.internal.verbosity=ERROR -cp "$lib/*" "$here/TestMongo.java" "${1:-0}" "${2:-memory}"
