#!/bin/bash
# A one-node Remote Execution API v2 server (CAS, ByteStream, action cache, execution) for tests,
# on Debian 12: Bazel's RemoteWorker, compiled from Debian's own packages.
#
#   reapi-worker.sh --cache DIR
#
#   --cache DIR   where the compiled worker is kept
#
# Prints one line on stdout when it accepts calls:   ready grpc://127.0.0.1:8980
# The worker's log goes to stderr. Runs until it gets a signal (any of them, KILL too): the worker
# and all that its actions started go with it.
set -euo pipefail

say() { printf 'reapi-worker: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

[ "${1-}" = --cache ] && [ -n "${2-}" ] || die "usage: reapi-worker.sh --cache DIR"
cache=$2

# 1. What it needs: a JDK, the server's jar and the worker's sources; build/system-packages.json has their packages.
server_jar=/usr/share/bazel/A-server.jar
source_root=/usr/src/bazel-bootstrap/src/tools/remote/src/main/java

# 2. Compile once per version of the sources, the JDK and this script.
version="$(dpkg-query -W -f '${Version}' bazel-bootstrap-source)-$(javac -J-XX:-UsePerfData -version 2>&1 | tr -dc '0-9.')-$(sha256sum "$0" | cut -c1-8)"
classes="$cache/$version"
if [ ! -e "$classes/.done" ]; then
  say "compiling into $classes"
  mkdir -p "$cache"
  build=$(mktemp -d "$cache/.build.XXXXXX")
  trap 'rm -rf "$build"' EXIT
  cp -r $source_root "$build/src"
  main="$build/src/com/google/devtools/build/remote/worker/RemoteWorker.java"
  # Upstream listens on every interface and says nothing usable once it does: bind to loopback,
  # and print the port that was really bound.
  patch_once() {
    [ "$(grep -cF "$1" "$main")" = 1 ] || die "the sources changed: no single '$1'"
    from=$1 to=$2 perl -i -pe 's/\Q$ENV{from}\E/$ENV{to}/' "$main"
  }
  patch_once 'NettyServerBuilder.forPort(workerOptions.listenPort)' \
    'NettyServerBuilder.forAddress(new java.net.InetSocketAddress("127.0.0.1", workerOptions.listenPort))'
  patch_once 'return server;' 'System.out.println("bound " + server.getPort()); System.out.flush(); return server;'
  mkdir "$build/classes"
  find "$build/src" -name '*.java' -print0 |
    xargs -0 javac -J-XX:-UsePerfData -nowarn -Xlint:none -proc:none -d "$build/classes" -cp $server_jar 2>&1 | { grep -v '^Note:' || true; } >&2
  touch "$build/classes/.done"
  rm -rf "$classes"
  mv -T "$build/classes" "$classes" 2>/dev/null || [ -e "$classes/.done" ]
  rm -rf "$build"
  trap - EXIT
fi
# 3. Run. Everything lives in a PID namespace of its own where that is allowed, so that nothing an
# action starts can outlive the worker, whatever kills it; else in a session that is killed as one.
run=$(mktemp -d "${TMPDIR:-/tmp}/reapi-worker.XXXXXX")
mkdir "$run/cas" "$run/work"
mkfifo "$run/out"
# The folder goes even when this script is killed outright: this one waits for our end of the pipe.
exec 8> >(exec setsid bash -c 'cat >/dev/null; while [ -e "$1" ]; do sleep 0.1; rm -rf "$1"; done' _ "$run" >/dev/null 2>&1)

command=(java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData -Xmx1g -Djava.io.tmpdir="$run"
  -cp "$classes:$server_jar"
  com.google.devtools.build.remote.worker.RemoteWorker
  --work_path="$run/work" --cas_path="$run/cas" --listen_port=0)

if unshare --pid --fork --kill-child=KILL --mount-proc true 2>/dev/null; then
  own=namespace
  setpriv --pdeathsig KILL unshare --pid --fork --kill-child=KILL --mount-proc "${command[@]}" >"$run/out" </dev/null 8>&- &
else
  own=session
  setsid setpriv --pdeathsig KILL "${command[@]}" >"$run/out" </dev/null 8>&- &
fi
child=$!
finish() {
  trap - EXIT INT TERM HUP
  if [ $own = namespace ]; then kill -KILL "$child" 2>/dev/null || true; else kill -KILL -- "-$child" 2>/dev/null || true; fi
  wait "$child" 2>/dev/null || true
  rm -rf "$run" 2>/dev/null || true
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

exec 3<"$run/out"
while IFS= read -r line <&3; do
  case $line in
    'bound '*) printf 'ready grpc://127.0.0.1:%s\n' "${line#bound }"; break;;
    *) printf '%s\n' "$line" >&2;;
  esac
done
cat <&3 >&2 8>&- &
status=0
wait "$child" || status=$?
exit "$status"
