// Ends the children if rt itself is killed outright (SIGKILL, a crash), when no code of ours runs any more.
//
// One idle `sh` holds the reading end of a pipe. It is told which children live; when the pipe closes while
// some do, it kills their trees. It leads its own session and ignores what a terminal sends, so it outlives
// us in every case, and it ends with us when there is nothing to do.
//
// What it is going to kill stands still first: see freezeTrees in process-tree.ts.
//
// Surprising: it is written in the shell's language because every system has one and it needs two pages of
// memory; a copy of rt would need twenty megabytes.
import { closeDescriptor, openPipe, type Pipe, writePipe } from "./pipe.ts";

const SCRIPT = `
trap '' INT TERM HUP QUIT
alive=' '
while read -r what pid; do
  case $what in
    +) alive="$alive$pid " ;;
    -) case $alive in *" $pid "*) alive="\${alive%%" $pid "*} \${alive#*" $pid "}" ;; esac ;;
  esac
done
table() {
  if [ -r /proc/self/stat ]; then
    for file in /proc/[0-9]*/stat; do
      IFS= read -r line 2>/dev/null <"$file" || continue
      pid=\${line%% *}
      set -- \${line##*) }
      [ "$1" = Z ] || echo "$pid $2 $3 $4"
    done 2>/dev/null
  else
    ps -ax -o pid= -o ppid= -o pgid= -o pgid=
  fi
}
case $alive in *[0-9]*) ;; *) exit ;; esac
for pid in $alive; do kill -s STOP -- "-$pid"; done 2>/dev/null
doomed=$alive
frozen=
for round in 1 2 3 4 5 6 7 8; do
  processes=$(table)
  before=
  while [ "$before" != "$doomed" ]; do
    before=$doomed
    while read -r pid parent group session; do
      case $doomed in *" $pid "*) continue ;; esac
      case $doomed in *" $parent "*) doomed="$doomed$pid " ;; esac
      case $alive in *" $group "* | *" $session "*) doomed="$doomed$pid " ;; esac
    done <<END
$processes
END
  done
  [ "$doomed" != "$frozen" ] || break
  frozen=$doomed
  for pid in $doomed; do kill -s STOP "$pid"; done 2>/dev/null
done
for pid in $doomed; do kill -s KILL "$pid"; done 2>/dev/null
`;

let channel: number | undefined;

/** From now on this child's tree dies with us. */
export function guard(pid: number): void {
  channel ??= startGuardian();
  tell(`+ ${pid}\n`);
}

/** The child has ended; its number may be given to someone else. */
export function release(pid: number): void {
  tell(`- ${pid}\n`);
}

const encoder = new TextEncoder();

function tell(line: string): void {
  if (channel === undefined || channel < 0) return;
  writePipe(channel, encoder.encode(line));
}

/** -1 when there is none: without it everything works but this. */
function startGuardian(): number {
  let pipe: Pipe;
  try {
    pipe = openPipe({ isPolled: false });
  } catch {
    return -1;
  }
  try {
    const shell = Bun.spawn(["/bin/sh", "-c", SCRIPT, "rt-guardian"], {
      cwd: "/",
      env: { PATH: "/usr/bin:/bin" },
      stdin: pipe.reader,
      stdout: "ignore",
      stderr: "ignore",
      detached: true,
    });
    shell.unref();
    return pipe.writer;
  } catch {
    closeDescriptor(pipe.writer);
    return -1;
  } finally {
    closeDescriptor(pipe.reader);
  }
}
