/**
 * `install.sh` (contract 60, installer): downloads the update agent, verifies its checksum, puts it in place by rename, and
 * sets up nothing else. For every POSIX shell; curl or wget. All of it is one function that its last line calls, so that a
 * cut download runs nothing. Pure.
 */
import type { InstallerFile } from '../../../ports/installers.js';

/** What both scripts are told. */
export interface ScriptFacts {
  /** `server.base_url` without a slash at its end. */
  url: string;
  /** Empty: none has been built. */
  files: readonly InstallerFile[];
}

export const BUILD_COMMAND = 'npm run build:agent';
export const NOT_BUILT = `This server has no update agents yet: run "${BUILD_COMMAND}" there, and start it again.`;

/** In single quotes for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export function installSh({ url, files }: ScriptFacts): string {
  const linux = files.filter(({ runtime }) => runtime.startsWith('linux-'));
  const cases = linux.map(
    ({ runtime, name, sha256 }) => `    ${runtime}) file=${quoted(name)} sum=${quoted(sha256)} ;;`,
  );
  return `#!/bin/sh
# Installs the update agent of the Application Operations Service at ${url.replace(/[^\x20-\x7e]/g, '?')}
# It downloads one file, verifies its checksum and puts it in place. It sets up nothing else.
set -eu

main() {
  server=${quoted(url)}
${files.length === 0 ? `  fail ${quoted(NOT_BUILT)}\n` : ''}  system=$(uname -s)
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
    [ -n "\${HOME:-}" ] || fail "HOME is not set; name the directory by UPDATE_AGENT_DIR"
    target=$HOME/.local/bin
  fi
  mkdir -p "$target" 2>/dev/null || fail "cannot make $target; name another directory by UPDATE_AGENT_DIR"
  # Beside the target, on the same file system: so that it is put in place in one step.
  new=$(mktemp "$target/.update-agent.XXXXXX" 2>/dev/null) || fail "cannot write to $target; name another directory by UPDATE_AGENT_DIR"
  trap 'rm -f "$new"' EXIT
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

# A system may have both: musl's loader from a package, beside its own glibc.
has_glibc() {
  for loader in /lib/ld-linux-*.so.* /lib64/ld-linux-*.so.*; do
    [ -e "$loader" ] && return 0
  done
  return 1
}

download() {
  if command -v curl >/dev/null 2>&1; then
    curl --fail --silent --show-error --location --compressed --connect-timeout 20 --speed-limit 1024 --speed-time 60 --output "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then
    # No -T: busybox 1.35 as Debian links it crashes on it.
    wget -q -O "$2" "$1"
  else
    fail "curl or wget is needed"
  fi
}

checksum() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  elif command -v openssl >/dev/null 2>&1; then
    openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
  else
    fail "sha256sum, shasum or openssl is needed to verify the download"
  fi
}

main "$@"
`;
}
