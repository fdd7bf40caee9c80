// The kill watchdog: an idle `sh` process that kills rt's children if rt itself receives SIGKILL or crashes.
//
// It waits for the end of a pipe that only rt holds open. Then it reads the child list, an anonymous file with one line for each
// child, freezes their process trees (see freezeTrees in process-tree.ts) and kills them.
//
// Invariants:
// - The watchdog runs before the first child starts. It leads its own session and ignores a terminal's signals.
// - On Linux a child is in the list before its program begins: ../../native/linux/registration.c writes the process id, and holds
//   the pipe open until then. On macOS, and if the system executes no memfd, rt writes it after the start (race).
// - If the list cannot be written (full disk, file size limit), the watchdog exits. It could kill a process that reuses a pid.
//
// Non-obvious: a shell needs two pages of memory and exists everywhere; a copy of rt would need 20 MB.
import { openRegistration } from "../registration.ts";
import { closeDescriptor, moveUp, openPipe, type Pipe, readAvailable } from "../../native/posix/pipe.ts";
import { openAnonymousFile, writeAt } from "../../files/posix/anonymous-file.ts";

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

/** Line numbers in the child list, by process id. */
const lines = new Map<number, number>();
const freeLines: number[] = [];
let lineCount = 0;
const LINE_SIZE = 12; // bytes: a padded process id and a line break, as in registration.c
const encoder = new TextEncoder();
const lineOf = (text: string) => encoder.encode(`${text.padEnd(LINE_SIZE - 1)}\n`);
const BLANK = lineOf("");

interface Watchdog {
  readonly shell: Bun.Subprocess;
  readonly list: number;
  readonly alive: number;
  readonly registration: string | undefined;
}

/** Null if it could not be started, or was stopped after a failed write: then children survive a SIGKILL of rt. */
let watchdog: Watchdog | null | undefined;

/** Returns whether the process is a watched child, or the watchdog itself. */
export function isWatched(pid: number): boolean {
  return lines.has(pid) || watchdog?.shell.pid === pid;
}

/** How the registration program starts a child. */
export interface Registration {
  readonly program: string;
  /** Arguments before the child's program and its argv. */
  readonly argv: readonly string[];
  /** Descriptors, which the child inherits consecutively. */
  readonly list: number;
  readonly alive: number;
  readonly report: number;
}

/** A child that is about to start. `confirm` or `cancel` must be called. */
export interface PendingChild {
  /**
   * Returns undefined if the child starts without the registration program.
   *
   * @param firstDescriptor the lowest descriptor that the child does not inherit
   */
  registration(firstDescriptor: number): Registration | undefined;
  /** Called if the registration program could not be started. */
  skipRegistration(): undefined;
  /** Returns a function that waits for the exec of the child's program, and returns 0 or the error number. Must be called. */
  openReport(): () => number;
  /** Watches the child: its process tree dies with rt. */
  confirm(pid: number): void;
  cancel(): void;
}

/** Appends a blank line, so that the disk space for a registration is reserved. */
function addLine(): number {
  writeLine(lineCount, BLANK);
  return lineCount++;
}

/** Reserves a line for a child. Must be called before the child starts. */
export function addChild(): PendingChild {
  if (watchdog === undefined) watchdog = startWatchdog();
  const line = freeLines.pop() ?? addLine();
  let report: Pipe | undefined;
  const closeReport = () => {
    if (report) for (const descriptor of [report.reader, report.writer]) closeDescriptor(descriptor);
    report = undefined;
  };
  let isSelfRegistering = false;
  return {
    registration(firstDescriptor) {
      if (!watchdog?.registration) return undefined;
      report = openReportPipe();
      if (!report) return undefined;
      isSelfRegistering = true;
      const numbers = [firstDescriptor, line, firstDescriptor + 1, firstDescriptor + 2];
      return {
        program: watchdog.registration,
        argv: ["rt-register", ...numbers.map(String)],
        list: watchdog.list,
        alive: watchdog.alive,
        report: report.writer,
      };
    },
    skipRegistration() {
      isSelfRegistering = false;
      closeReport();
      return undefined;
    },
    openReport() {
      if (!report) return () => 0;
      const { reader, writer } = report;
      report = undefined;
      closeDescriptor(writer);
      return () => {
        const error = readNumber(reader);
        closeDescriptor(reader);
        return error;
      };
    },
    confirm(pid) {
      closeReport();
      lines.set(pid, line);
      if (!isSelfRegistering) writeLine(line, lineOf(String(pid)));
    },
    cancel() {
      closeReport();
      freeLines.push(line);
      writeLine(line, BLANK);
    },
  };
}

/** Stops watching a child that has exited: its process id may be reused. */
export function unwatchChild(pid: number): void {
  const line = lines.get(pid);
  if (line === undefined) return;
  lines.delete(pid);
  freeLines.push(line);
  writeLine(line, BLANK);
}

/** Lines of orphans, which descend from no watched child, by process id. */
const orphans = new Map<number, { readonly line: number; readonly family: string }>();

/** Watches exactly these orphans of a marker variable: their trees die with rt. */
export function watchOrphans(family: string, pids: readonly number[]): void {
  for (const [pid, { line, family: other }] of orphans) {
    if (other !== family || pids.includes(pid)) continue;
    orphans.delete(pid);
    freeLines.push(line);
    writeLine(line, BLANK);
  }
  for (const pid of pids) {
    if (orphans.has(pid)) continue;
    const line = freeLines.pop() ?? addLine();
    orphans.set(pid, { line, family });
    writeLine(line, lineOf(String(pid)));
  }
}

function writeLine(line: number, bytes: Uint8Array): void {
  if (!watchdog) return;
  if (writeAt(watchdog.list, bytes, line * LINE_SIZE)) return;
  watchdog.shell.kill("SIGKILL");
  closeWatchdog(watchdog);
  watchdog = null;
}

function closeWatchdog({ alive, list }: Watchdog): void {
  closeDescriptor(alive);
  closeDescriptor(list);
}

/** Stops the watchdog before exec: the program that replaces rt would inherit it as a child and never reap it. */
export async function stopWatchdog(): Promise<void> {
  if (!watchdog) return;
  const stopped = watchdog;
  watchdog = undefined;
  stopped.shell.ref();
  stopped.shell.kill("SIGKILL");
  await stopped.shell.exited;
  closeWatchdog(stopped);
}

function startWatchdog(): Watchdog | null {
  let reader = -1;
  const opened: number[] = [];
  try {
    const list = moveUp(openAnonymousFile());
    opened.push(list);
    const pipe = openPipe({ isPolled: false });
    ({ reader } = pipe);
    const alive = moveUp(pipe.writer);
    opened.push(alive);
    const shell = Bun.spawn(["/bin/sh", "-c", SCRIPT, "rt-watchdog"], {
      cwd: "/",
      env: { PATH: "/usr/bin:/bin" },
      stdio: [reader, "ignore", "ignore", list],
      detached: true,
    });
    shell.unref();
    return { shell, list, alive, registration: openRegistration() };
  } catch {
    for (const descriptor of opened) closeDescriptor(descriptor);
    return null;
  } finally {
    if (reader >= 0) closeDescriptor(reader);
  }
}

/** Waits for an error number; returns 0 if the pipe ends without one. */
function readNumber(descriptor: number): number {
  for (;;) {
    const bytes = readAvailable(descriptor);
    if (bytes === null) return 0;
    if (bytes.length > 0) return new DataView(bytes.buffer, bytes.byteOffset).getInt32(0, true);
  }
}

/** Opens a pipe whose writer is above all inherited descriptors. Returns undefined at the limit of open files. */
function openReportPipe(): Pipe | undefined {
  try {
    const { reader, writer } = openPipe({ isPolled: false });
    return { reader, writer: moveUp(writer) };
  } catch {
    return undefined;
  }
}
