// Ends the children if rt itself is killed outright (SIGKILL, a crash), when no code of ours runs any more.
//
// One idle `sh` waits for the end of a pipe that only we hold open. Which children live stands in a file without
// a name, a line for each, that it reads when the pipe closes; it then kills their trees. So it sleeps while
// everything is well, however many children come and go. It leads its own session and ignores what a terminal
// sends, so it outlives us in every case, and it ends with us when there is nothing to do.
//
// What it is going to kill stands still first: see freezeTrees in process-tree.ts.
//
// A list that cannot be kept (a full disk, a limit on the size of files) would have it kill whoever gets the number of a
// child that has ended: then it goes.
//
// Surprising: it is written in the shell's language because every system has one and it needs two pages of
// memory; a copy of rt would need twenty megabytes.
import { closeDescriptor, openPipe, type Pipe } from "./pipe.ts";
import { openNamelessFile, writeAt } from "./nameless-file.ts";

const SCRIPT = `
trap '' INT TERM HUP QUIT
read -r nothing
alive=' '
while read -r pid; do [ -z "$pid" ] || alive="$alive$pid "; done <&3
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

/** Its line in the file. */
const places = new Map<number, number>();
const vacant: number[] = [];
const LINE = 12; // characters: more than a process number has, and the line break

interface Guardian {
  readonly shell: Bun.Subprocess;
  readonly list: number;
  readonly pipe: Pipe;
}

/** Null when it could not be started or kept: without it everything works but this. */
let guardian: Guardian | null | undefined;

/** Whether it is a child that lives or whose end has not been told yet, or the guardian itself. */
export function isGuarded(pid: number): boolean {
  return places.has(pid) || guardian?.shell.pid === pid;
}

/** From now on this child's tree dies with us. */
export function guard(pid: number): void {
  if (guardian === undefined) guardian = startGuardian();
  const place = vacant.pop() ?? places.size;
  places.set(pid, place);
  note(place, String(pid));
}

/** The child has ended; its number may be given to someone else. */
export function release(pid: number): void {
  const place = places.get(pid);
  if (place === undefined) return;
  places.delete(pid);
  vacant.push(place);
  note(place, "");
}

const encoder = new TextEncoder();

function note(place: number, text: string): void {
  if (!guardian) return;
  if (writeAt(guardian.list, encoder.encode(`${text.padEnd(LINE - 1)}\n`), place * LINE)) return;
  guardian.shell.kill("SIGKILL");
  closeGuardian(guardian);
  guardian = null;
}

function closeGuardian({ pipe, list }: Guardian): void {
  closeDescriptor(pipe.writer);
  closeDescriptor(list);
}

/** With no child left to guard. What takes our place would have it for a child, and never ask how it ended. */
export async function dismissGuardian(): Promise<void> {
  if (!guardian) return;
  const dismissed = guardian;
  guardian = undefined;
  dismissed.shell.ref();
  dismissed.shell.kill("SIGKILL");
  await dismissed.shell.exited;
  closeGuardian(dismissed);
}

function startGuardian(): Guardian | null {
  let pipe: Pipe | undefined;
  let list = -1;
  try {
    list = openNamelessFile();
    pipe = openPipe({ isPolled: false });
    const shell = Bun.spawn(["/bin/sh", "-c", SCRIPT, "rt-guardian"], {
      cwd: "/",
      env: { PATH: "/usr/bin:/bin" },
      stdio: [pipe.reader, "ignore", "ignore", list],
      detached: true,
    });
    shell.unref();
    return { shell, list, pipe };
  } catch {
    if (pipe) closeDescriptor(pipe.writer);
    if (list >= 0) closeDescriptor(list);
    return null;
  } finally {
    if (pipe) closeDescriptor(pipe.reader);
  }
}
