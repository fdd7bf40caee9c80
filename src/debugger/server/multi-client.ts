// The clients of one program that are there at once. The engine has one debugger for all of them: what one turns off is off
// for the others, and as soon as any connection ends, all that was asked for is dropped, whoever asked.
//
// So each has what it wants written down in its session, the engine is told what they want together, and the connection of
// one who goes stays, for the next who comes, until the last has gone.
import { pauseBeforeEntry } from "../entry-pauses.ts";
import type { Backend } from "../engine-connection.ts";
import type { DebuggedProgram, ClientSession } from "./session.ts";

const REPORTING = ["Inspector", "Runtime", "Console"];

/** What the engine needs to tell of the console and of exceptions. */
export async function startReporting({ backend }: ClientSession): Promise<void> {
  // Another client may have it already, which is as good.
  await Promise.allSettled(REPORTING.map((domain) => backend.send(`${domain}.enable`)));
}

export async function stopReporting(session: ClientSession): Promise<void> {
  session.isReporting = false;
  if ([...session.program.sessions].some(({ isReporting }) => isReporting)) return;
  await Promise.all(["Console", "Runtime"].map((domain) => session.backend.send(`${domain}.disable`)));
}

/** Another one, who is told of what the program does. */
export function debuggingBeside(session: ClientSession): ClientSession | undefined {
  return [...session.program.sessions].find((other) => other !== session && other.enabling !== undefined);
}

/** Where one wants to be stopped, the others are stopped too. */
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
 * What a client has asked for of the debugger goes, and a program that stands still goes on. What was set goes first: the
 * program may come by again before the engine has heard that nobody is left who would let it go on.
 */
export async function stopDebugging(session: ClientSession): Promise<void> {
  const { backend, blackboxed, breakpoints, enabling, program, scripts, told } = session;
  if (!enabling) return;
  await breakpoints.removeAll();
  pauseBeforeEntry(false, session);
  session.enabling = undefined;
  session.pause = undefined;
  told.clear();
  scripts.clear();
  // It may stand still by what has just gone, whose stop is told of after this.
  await backend.send("Debugger.resume").catch(() => {});
  const others = [...program.sessions].filter((other) => other.enabling !== undefined);
  if (others.length === 0) return void (await backend.send("Debugger.disable"));
  const passed = [...blackboxed].filter(
    ([url, isPassed]) => isPassed && !others.some((other) => other.blackboxed.get(url)),
  );
  for (const [url] of passed)
    void backend.send("Debugger.setShouldBlackboxURL", { url, shouldBlackbox: false, caseSensitive: true });
  blackboxed.clear();
  await mergePauseSettings(program, backend);
}

/** A client has gone. */
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
 * Gives those who are there what they want, after a client of Web Inspector's has gone, whose connection ends with it. One
 * asks the engine for its debugger: it then tells all of them of the scripts anew, and each sets its breakpoints for these.
 */
export function restore(program: DebuggedProgram, enable: (session: ClientSession) => Promise<void>): void {
  const sessions = [...program.sessions];
  const reporting = sessions.find(({ isReporting }) => isReporting);
  // It would tell again what it has told.
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
