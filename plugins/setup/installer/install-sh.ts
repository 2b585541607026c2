/**
 * The last line calls one function, so that a truncated download runs nothing (contract 60,
 * installer).
 */
import type { InstallerFile } from '../../../ports/installers.js';

export interface InstallScriptContext {
  /** `server.base_url` without a trailing slash. */
  url: string;
  /** Empty when none has been built. */
  files: readonly InstallerFile[];
}

export const BUILD_COMMAND = 'npm run build:agent';
export const NOT_BUILT_MESSAGE = `This server has no update agents yet: run "${BUILD_COMMAND}" there, and restart it.`;

const quoteForShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export function renderInstallSh({ url, files }: InstallScriptContext): string {
  const linux = files.filter(({ runtime }) => runtime.startsWith('linux-'));
  const cases = linux.map(
    ({ runtime, name, sha256 }) => `    ${runtime}) file=${quoteForShell(name)} sum=${quoteForShell(sha256)} ;;`,
  );
  return `#!/bin/sh
# Installs the update agent of the Application Operations Service at ${url.replace(/[^\x20-\x7e]/g, '?')}
# It downloads one file, verifies its checksum and puts it in place. It sets up nothing else.
set -eu

main() {
  server=${quoteForShell(url)}
${files.length === 0 ? `  fail ${quoteForShell(NOT_BUILT_MESSAGE)}\n` : ''}  system=$(uname -s)
  [ "$system" = Linux ] || fail "there is no update agent for $system; this script is for Linux"
  machine=$(uname -m)
  case $machine in
    x86_64 | amd64) runtime=linux-x64 ;;
    aarch64 | arm64) runtime=linux-arm64 ;;
    *) fail "there is no update agent for $machine; there is one for x86_64 and aarch64" ;;
  esac
  # The agents are linked against the GNU C library.
  for loader in /lib/ld-musl-*; do
    [ -e "$loader" ] && ! has_glibc && fail "this system uses musl libc (Alpine and others), for which there is no update agent; use a distribution with glibc"
  done
  file= sum=
  case $runtime in
${cases.join('\n')}
    *) ;;
  esac
  [ -n "$file" ] || fail "this server offers no update agent for $runtime"

  if [ -n "\${UPDATE_AGENT_DIR:-}" ]; then
    target=$UPDATE_AGENT_DIR
  elif [ "$(id -u)" = 0 ]; then
    target=/usr/local/bin
  else
    [ -n "\${HOME:-}" ] || fail "HOME is not set; set the directory with UPDATE_AGENT_DIR"
    target=$HOME/.local/bin
  fi
  mkdir -p "$target" 2>/dev/null || fail "cannot create $target; set another directory with UPDATE_AGENT_DIR"
  # Next to the target, on the same file system, so that it is replaced atomically.
  new=$(mktemp "$target/.update-agent.XXXXXX" 2>/dev/null) || fail "cannot write to $target; set another directory with UPDATE_AGENT_DIR"
  trap 'rm -f "$new" "$new.gz"' EXIT
  trap 'exit 1' HUP INT TERM

  echo "Downloading $server/installer/$file"
  download "$server/installer/$file" "$new" || fail "the download of $server/installer/$file failed; nothing was changed"
  got=$(checksum "$new")
  [ "$got" = "$sum" ] || fail "the checksum of $file is wrong: got $got, expected $sum; nothing was changed"
  chmod 0755 "$new"
  mv -f "$new" "$target/update-agent" || fail "cannot write $target/update-agent"
  trap - EXIT
  echo "Installed $target/update-agent"
  case ":\${PATH:-}:" in
    *":$target:"*) ;;
    *) echo "$target is not in PATH: start it as $target/update-agent" ;;
  esac
}

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

# A system may have both: musl's loader from a package, next to its own glibc.
has_glibc() {
  for loader in /lib/ld-linux-*.so.* /lib64/ld-linux-*.so.*; do
    [ -e "$loader" ] && return 0
  done
  return 1
}

# While the server prepares its agents it answers 503, for up to ten minutes.
download() {
  waited=0
  until fetch "$1" "$2"; do
    case $said in
      *"503 Service"* | *"ERROR 503"* | *"error: 503"*) ;;
      *)
        echo "$said" >&2
        return 1
        ;;
    esac
    [ "$waited" -lt 600 ] || return 1
    [ "$waited" -gt 0 ] || echo "The server is still preparing its update agents; waiting for it"
    sleep 5
    waited=$((waited + 5))
  done
}

# The compressed form, a third of the size, if this machine can unpack it; else the plain one.
fetch() {
  if command -v curl >/dev/null 2>&1; then
    case $(curl --version) in
      *libz* | *brotli*) with=--compressed ;;
      *) with= ;;
    esac
    if [ -n "$with" ]; then curl_to "$2" "$1" "$with"; else unpacked "$1" "$2" curl_to; fi
  elif command -v wget >/dev/null 2>&1; then
    unpacked "$1" "$2" wget_to
  else
    fail "curl or wget is required"
  fi
}

# By gunzip; a server or proxy may still send the plain form. The checksum covers both.
unpacked() {
  if command -v gunzip >/dev/null 2>&1; then
    "$3" "$2.gz" "$1" "Accept-Encoding: gzip" || return 1
    gunzip -c "$2.gz" >"$2" 2>/dev/null || mv -f "$2.gz" "$2"
    rm -f "$2.gz"
  else
    "$3" "$2" "$1"
  fi
}

curl_to() {
  out=$1 from=$2
  shift 2
  case \${1:-} in
    Accept*) set -- --header "$1" ;;
    *) ;;
  esac
  said=$(curl --fail --silent --show-error --location "$@" --connect-timeout 20 --speed-limit 1024 --speed-time 60 --output "$out" "$from" 2>&1)
}

wget_to() {
  # No -T: busybox 1.35 as Debian links it crashes on it. Not -q, which hides errors.
  if [ -n "\${3:-}" ]; then said=$(wget --header "$3" -O "$1" "$2" 2>&1); else said=$(wget -O "$1" "$2" 2>&1); fi
}

checksum() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  elif command -v openssl >/dev/null 2>&1; then
    openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
  else
    fail "sha256sum, shasum or openssl is required to verify the download"
  fi
}

main "$@"
`;
}
