#!/usr/bin/env bash
# The MongoDB-compatible test server in the place of a mongod, for mongodb-memory-server's MONGOMS_SYSTEM_BINARY:
# takes `--port`, leaves mongod's other options alone, and says what that library waits for.
set -eu
port=0
version=
while [ $# -gt 0 ]; do
  case "$1" in
    --version) version=1 ;;
    --port)
      port=$2
      shift
      ;;
  esac
  shift
done
if [ -n "$version" ]; then
  echo 'db version v7.0.0'
  exit 0
fi
here=$(cd "$(dirname "$0")" && pwd)
# The reader of the pipe ends with the server, and this process becomes the server: a signal reaches it.
exec bash "$here/start.sh" "$port" memory > >(sed -u 's/^READY .*/Waiting for connections/')
