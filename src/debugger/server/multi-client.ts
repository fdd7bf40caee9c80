// Coordinates the clients of one program. The engine has one debugger for all clients.
//
// Invariants:
// - A setting that one client disables stays enabled in the engine while another client needs it. Each session stores its
//   client's settings, and the engine gets the union.
// - The connection of a disconnected client stays open (`parked`) for the next one, until the last client has disconnected.
// Non-obvious:
// - When any connection closes, the engine discards the settings of all clients. Hence the parked connections.
import { pauseBeforeEntry } from "../entry-pauses.ts";
import type { Backend } from "../engine-connection.ts";
import type { DebuggedProgram, ClientSession } from "./session.ts";

const REPORTING = ["Inspector", "Runtime", "Console"];

/** Enables the engine's events for the console and exceptions. */
export async function startReporting({ backend }: ClientSession): Promise<void> {
  // An error means that another client has already enabled the domain.
  await Promise.allSettled(REPORTING.map((domain) => backend.send(`${domain}.enable`)));
}

export async function stopReporting(session: ClientSession): Promise<void> {
  session.isReporting = false;
  if ([...session.program.sessions].some(({ isReporting }) => isReporting)) return;
  await Promise.all(["Console", "Runtime"].map((domain) => session.backend.send(`${domain}.disable`)));
}

/** Returns another session with an enabled debugger. */
export function debuggingBeside(session: ClientSession): ClientSession | undefined {
  return [...session.program.sessions].find((other) => other !== session && other.enabling !== undefined);
}

/** Sends the union of all clients' pause settings: a pause for one client pauses the program for all. */
export async function mergePauseSettings({ sessions }: DebuggedProgram, backend: Backend): Promise<void> {
  const wanted = [...sessions].filter(({ enabling }) => enabling !== undefined).map(({ stops }) => stops);
  if (wanted.length === 0) return;
  const state = ["all", "uncaught"].find((each) => wanted.some(({ exceptions }) => exceptions === each));
  await Promise.all([
    backend.send("Debugger.setPauseOnExceptions", { state: state ?? "none" }),
    backend.send("Debugger.setBreakpointsActive", { active: wanted.some(({ breakpoints }) => breakpoints) }),
    backend.send("Debugger.setPauseOnDebuggerStatements", {
      enabled: wanted.some(({ statements }) => statements),
    }),
  ]);
}

/**
 * Removes a client's debugger settings and resumes the program. Breakpoints are removed first: otherwise the program could
 * hit one again before the engine disables the debugger.
 */
export async function stopDebugging(session: ClientSession): Promise<void> {
  const { backend, blackboxed, breakpoints, enabling, program, scripts, reported } = session;
  if (!enabling) return;
  await breakpoints.removeAll();
  pauseBeforeEntry(false, session);
  session.enabling = undefined;
  session.pause = undefined;
  reported.clear();
  scripts.clear();
  // The program may be paused at a breakpoint removed above, whose event has not arrived yet.
  await backend.send("Debugger.resume").catch(() => {});
  const others = [...program.sessions].filter((other) => other.enabling !== undefined);
  if (others.length === 0) {
    program.disabling = backend.send("Debugger.disable").catch(() => {});
    return void (await program.disabling);
  }
  const passed = [...blackboxed].filter(
    ([url, isPassed]) => isPassed && !others.some((other) => other.blackboxed.get(url)),
  );
  for (const [url] of passed)
    void backend.send("Debugger.setShouldBlackboxURL", { url, shouldBlackbox: false, caseSensitive: true });
  blackboxed.clear();
  await mergePauseSettings(program, backend);
}

export async function removeClient(session: ClientSession): Promise<void> {
  const { backend, program } = session;
  const { parked, sessions } = program;
  try {
    await stopDebugging(session);
  } finally {
    sessions.delete(session);
    parked.push(backend);
    if (sessions.size === 0) for (const each of parked.splice(0)) each.close();
  }
}

/**
 * Restores the settings of the connected clients after a Web Inspector client disconnected, which closes its connection. One
 * session enables the debugger: the engine then reports all scripts to every client, and each sets its breakpoints again.
 */
export function restore(program: DebuggedProgram, enable: (session: ClientSession) => Promise<void>): void {
  const sessions = [...program.sessions];
  const reporting = sessions.find(({ isReporting }) => isReporting);
  // Otherwise the engine would send the previous console messages again.
  void reporting?.backend.send("Console.clearMessages");
  if (reporting) void startReporting(reporting);
  const debugging = sessions.filter(({ enabling }) => enabling !== undefined);
  const [first] = debugging;
  if (!first) return;
  for (const { blackboxed, breakpoints } of debugging) {
    blackboxed.clear();
    breakpoints.clear();
  }
  const restored = enable(first)
    .then(() => mergePauseSettings(program, first.backend))
    .catch(() => {});
  for (const session of debugging) session.enabling = restored;
}
