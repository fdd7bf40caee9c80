// Selects the program by argv[0], as multi-call binaries do: a link named `node`, `bunx` or `git-credential-rt` behaves
// like that program. Only the base name counts, and any unlisted name means rt.
import { host } from "../../platform/processes/process.ts";
import type { RunOutcome } from "../runner/outcome.ts";
import { printLine } from "../output.ts";
import { VERSION } from "../version.ts";

/** The rt command that runs under a program name. */
const WORDS: ReadonlyMap<string, readonly string[]> = new Map([
  ["bunx", ["x"]],
  ["git-credential-rt", ["secrets", "helper", "git"]],
  ["docker-credential-rt", ["secrets", "helper", "docker"]],
]);

type MultiCallProgram = (words: readonly string[]) => Promise<RunOutcome>;

/** Names with a separate command line syntax. */
const PROGRAMS: ReadonlyMap<string, MultiCallProgram> = new Map<string, MultiCallProgram>([
  ["node", runAsNode],
  ["bash", runAsShell],
]);

export interface MultiCall {
  readonly program?: MultiCallProgram | undefined;
  /** Words to insert before the given command line. */
  readonly words: readonly string[];
}

export function readMultiCall(argv0: string): MultiCall {
  const name = nameOf(argv0);
  return { program: PROGRAMS.get(name), words: WORDS.get(name) ?? [] };
}

/** Returns the version that a program of this name prints: tools compare that of `bun` with the one that they need. */
export function versionOf(argv0: string): string {
  return nameOf(argv0) === "bun" ? Bun.version : VERSION;
}

function nameOf(argv0: string): string {
  const start = Math.max(argv0.lastIndexOf("/"), argv0.lastIndexOf("\\")) + 1;
  return argv0.slice(start, argv0.endsWith(".exe") ? -".exe".length : undefined);
}

/** Runs as the shell of an installer, for the links of ../runner/install-scripts/install-shim.ts. */
async function runAsShell(words: readonly string[]): Promise<RunOutcome> {
  const { runLifecycleScript } = await import("../runner/install-scripts/lifecycle-script.ts");
  return await runLifecycleScript(words);
}

/** Runs as `node`, for the links of ../runner/script/path-shims.ts. */
async function runAsNode(words: readonly string[]): Promise<void> {
  if (words[0] === "--version" || words[0] === "-v") return printLine(process.version);
  const { translateNodeWords } = await import("../runner/engine/node-arguments.ts");
  const readsInput = words.length === 0 || words[0] === "-";
  if (readsInput && !host.isTerminal(0) && host.isInputEmpty()) return;
  const { argv, name } = translateNodeWords(words, host.isTerminal(0));
  const { becomeEngine } = await import("../runner/engine/engine.ts");
  becomeEngine(argv, true, { name });
}
