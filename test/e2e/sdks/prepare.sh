#!/usr/bin/env bash
# Gets what the tests with Sentry's SDKs for Python, Java, Go, Rust and browsers, with those of OpenTelemetry, and with
# clients of Healthchecks and Uptime Kuma need,
# into a folder that is kept; a second run does nothing unless a pinned version has changed. The Node SDK comes with the project's own packages.
#
#   prepare.sh [folder, default: aos-test-sdks-<uid> below the temporary directory]
#
# The tests look in $SVC_TEST_SDKS, else in that default folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cache=${1:-${TMPDIR:-/tmp}/aos-test-sdks-$(id -u)}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)

# part <name> <file>…: runs get_<name> in a new folder that replaces the old one, unless these files made that one.
part() {
  local name=$1 new stamp
  shift
  stamp=$(cat "$@" | cksum)
  [ "$(cat "$cache/$name/.complete" 2>/dev/null)" = "$stamp" ] && return
  new=$(mktemp -d "$cache/new.XXXXXX")
  "get_$name" "$new" >&2
  printf '%s\n' "$stamp" >"$new/.complete"
  rm -rf "${cache:?}/$name"
  mv -T "$new" "$cache/$name"
}
get_python() { PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$1" -r "$here/python/requirements.txt"; }
get_java() {
  cp "$here/java/pom.xml" "$1/pom.xml"
  (cd "$1" && mvn -q -B dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$1/lib")
}
get_go() { (cd "$here/go" && CGO_ENABLED=0 go build -mod=readonly -o "$1/shop" .); }
get_rust() {
  (cd "$here/rust" && cargo build --quiet --locked --target-dir "$1/target")
  mv "$1/target/debug/shop" "$1/shop"
  rm -rf "$1/target"
}

get_javascript() {
  cp "$here/javascript/package.json" "$1/package.json"
  # Without scripts: the program of sentry-cli comes in a package of its own.
  (cd "$1" && npm install --silent --no-audit --no-fund --no-package-lock --ignore-scripts)
}

get_otlpnode() {
  cp "$here/otlp/package.json" "$1/package.json"
  (cd "$1" && npm install --silent --no-audit --no-fund --no-package-lock --ignore-scripts)
}
get_otlppython() { PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --target "$1" -r "$here/otlp/requirements.txt"; }
get_otlpjava() {
  cp "$here/otlp/java/pom.xml" "$1/pom.xml"
  (cd "$1" && mvn -q -B dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$1/lib")
}
get_pingers() { PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --target "$1" -r "$pingers"; }
get_otlpgo() { (cd "$here/otlp/go" && CGO_ENABLED=0 go build -mod=readonly -o "$1/logs" .); }

pingers=$here/../plugins/watchdog/importing/python/requirements.txt
part pingers "$pingers"
part javascript "$here/javascript/package.json"
part otlpnode "$here/otlp/package.json"
part otlppython "$here/otlp/requirements.txt"
part otlpjava "$here/otlp/java/pom.xml"
part otlpgo "$here/otlp/go/go.mod" "$here/otlp/go/go.sum" "$here/otlp/go/main.go"
part python "$here/python/requirements.txt"
part java "$here/java/pom.xml"
part go "$here/go/go.mod" "$here/go/go.sum" "$here/go/main.go"
[ -z "$(command -v cargo)" ] || part rust "$here/rust/Cargo.toml" "$here/rust/Cargo.lock" "$here/rust/src/main.rs"
echo "sdks ready in $cache"
