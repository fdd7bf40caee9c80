// Ends the children if rt itself is killed outright (SIGKILL, a crash), when no code of ours runs any more.
//
// One idle `sh` waits for the end of a pipe that only we hold open. Which children live stands in a file without
// a name, a line for each, that it reads when the pipe closes; it then kills their trees. So it sleeps while
// everything is well, however many children come and go. It leads its own session and ignores what a terminal
// sends, so it outlives us in every case, and it ends with us when there is nothing to do.
//
// What it is going to kill stands still first: see freezeTrees in process-tree.ts.
//
// Invariants:
// - The watchdog runs before the first child is started.
// - On Linux a child is in the list before its program begins: a gate (../linux/native/gate.c) writes the process id.
// - The gate holds the pipe open until it has written.
// - On macOS, and if the system starts no program from memory, rt writes the process id after the start.
//
// A list that cannot be kept (a full disk, a limit on the size of files) would have it kill whoever gets the number of a
// child that has ended: then it goes.
//
// Surprising: it is written in the shell's language because every system has one and it needs two pages of
// memory; a copy of rt would need twenty megabytes.
import { openGate } from "../gate.ts";
import { closeDescriptor, moveUp, openPipe, type Pipe, readAvailable } from "../../native/posix/pipe.ts";
import { openNamelessFile, writeAt } from "../../files/posix/anonymous-file.ts";

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

/** Their lines in the file. */
const places = new Map<number, number>();
const vacant: number[] = [];
let placeCount = 0;
const LINE = 12; // characters: more than a process number has, and the line break; as in gate.c
const BLANK = "";

interface Guardian {
  readonly shell: Bun.Subprocess;
  readonly list: number;
  readonly alive: number;
  /** Path of the gate. */
  readonly gate: string | undefined;
}

/** Null when it could not be started or kept: without it everything works but this. */
let guardian: Guardian | null | undefined;

/** Whether it is a child that lives or whose end has not been told yet, or the guardian itself. */
export function isGuarded(pid: number): boolean {
  return places.has(pid) || guardian?.shell.pid === pid;
}

/** Words and descriptors with which the gate starts a child. */
export interface Gate {
  readonly program: string;
  /** Words in front of the child's program and its argv. */
  readonly argv: readonly string[];
  /** Open in rt; the child gets them in consecutive places. */
  readonly list: number;
  readonly alive: number;
  readonly report: number;
}

/** A child that is about to start. Each ends with `enter` or `leave`. */
export interface Admission {
  /**
   * Undefined where the child starts without one.
   * @param firstPlace the lowest descriptor that the child does not need
   */
  gate(firstPlace: number): Gate | undefined;
  /** The child has not been started so: it starts without a gate. */
  refuseGate(): undefined;
  /** Waits until the child's program has begun. The system's error number, or 0. */
  awaitProgram(): number;
  /** From now on this child's tree dies with rt. */
  enter(pid: number): void;
  leave(): void;
}

/** Its line is written, so that the list has room for what a gate will write. */
function openPlace(): number {
  note(placeCount, BLANK);
  return placeCount++;
}

/** To be called before the child is started. */
export function admit(): Admission {
  if (guardian === undefined) guardian = startGuardian();
  const place = vacant.pop() ?? openPlace();
  let report: Pipe | undefined;
  const closeReport = () => {
    if (report) for (const descriptor of [report.reader, report.writer]) closeDescriptor(descriptor);
    report = undefined;
  };
  let isGated = false;
  return {
    gate(firstPlace) {
      if (!guardian?.gate) return undefined;
      report = openHighPipe();
      if (!report) return undefined;
      isGated = true;
      const numbers = [firstPlace, place, firstPlace + 1, firstPlace + 2];
      return {
        program: guardian.gate,
        argv: ["rt-gate", ...numbers.map(String)],
        list: guardian.list,
        alive: guardian.alive,
        report: report.writer,
      };
    },
    refuseGate() {
      isGated = false;
      closeReport();
      return undefined;
    },
    awaitProgram() {
      if (!report) return 0;
      closeDescriptor(report.writer);
      const error = readNumber(report.reader);
      closeDescriptor(report.reader);
      report = undefined;
      return error;
    },
    enter(pid) {
      closeReport();
      places.set(pid, place);
      if (!isGated) note(place, String(pid));
    },
    leave() {
      closeReport();
      vacant.push(place);
      note(place, BLANK);
    },
  };
}

/** The child has ended; its number may be given to someone else. */
export function unwatchChild(pid: number): void {
  const place = places.get(pid);
  if (place === undefined) return;
  places.delete(pid);
  vacant.push(place);
  note(place, BLANK);
}

const encoder = new TextEncoder();

function note(place: number, text: string): void {
  if (!guardian) return;
  if (writeAt(guardian.list, encoder.encode(`${text.padEnd(LINE - 1)}\n`), place * LINE)) return;
  guardian.shell.kill("SIGKILL");
  closeGuardian(guardian);
  guardian = null;
}

function closeGuardian({ alive, list }: Guardian): void {
  closeDescriptor(alive);
  closeDescriptor(list);
}

/** With no child left to guard. What takes our place would have it for a child, and never ask how it ended. */
export async function stopWatchdog(): Promise<void> {
  if (!guardian) return;
  const dismissed = guardian;
  guardian = undefined;
  dismissed.shell.ref();
  dismissed.shell.kill("SIGKILL");
  await dismissed.shell.exited;
  closeGuardian(dismissed);
}

function startGuardian(): Guardian | null {
  let reader = -1;
  const kept: number[] = [];
  try {
    const list = moveUp(openNamelessFile());
    kept.push(list);
    const pipe = openPipe({ isPolled: false });
    ({ reader } = pipe);
    const alive = moveUp(pipe.writer);
    kept.push(alive);
    const shell = Bun.spawn(["/bin/sh", "-c", SCRIPT, "rt-guardian"], {
      cwd: "/",
      env: { PATH: "/usr/bin:/bin" },
      stdio: [reader, "ignore", "ignore", list],
      detached: true,
    });
    shell.unref();
    return { shell, list, alive, gate: openGate() };
  } catch {
    for (const descriptor of kept) closeDescriptor(descriptor);
    return null;
  } finally {
    if (reader >= 0) closeDescriptor(reader);
  }
}

/** Waits for it; 0 where the pipe ends without one. */
function readNumber(descriptor: number): number {
  for (;;) {
    const bytes = readAvailable(descriptor);
    if (bytes === null) return 0;
    if (bytes.length > 0) return new DataView(bytes.buffer, bytes.byteOffset).getInt32(0, true);
  }
}

/** A pipe whose writer is above all places of a child. Undefined where there is no room for it. */
function openHighPipe(): Pipe | undefined {
  try {
    const { reader, writer } = openPipe({ isPolled: false });
    return { reader, writer: moveUp(writer) };
  } catch {
    return undefined;
  }
}
