// What rt is when it is called by another name, as by a link that stands in for another program.
//
// Contract: the name is that of argv[0], without its directory. By any name that is not here, rt is rt.
import { host } from "../../platform/processes/process.ts";
import type { RunOutcome } from "../runner/outcome.ts";
import { printLine } from "../output.ts";

/** The words of rt's command line that the name stands for. */
const WORDS: ReadonlyMap<string, readonly string[]> = new Map([
  ["bunx", ["x"]],
  ["git-credential-rt", ["secrets", "helper", "git"]],
  ["docker-credential-rt", ["secrets", "helper", "docker"]],
]);

type MultiCallProgram = (words: readonly string[]) => Promise<RunOutcome>;

/** What has a command line of its own. */
const PROGRAMS: ReadonlyMap<string, MultiCallProgram> = new Map<string, MultiCallProgram>([
  ["node", runAsNode],
]);

export interface Called {
  readonly program?: MultiCallProgram | undefined;
  /** In front of those that were given. */
  readonly words: readonly string[];
}

export function readCalled(argv0: string): Called {
  const start = Math.max(argv0.lastIndexOf("/"), argv0.lastIndexOf("\\")) + 1;
  const name = argv0.slice(start, argv0.endsWith(".exe") ? -".exe".length : undefined);
  return { program: PROGRAMS.get(name), words: WORDS.get(name) ?? [] };
}

/** See run/script/stand-ins.ts. */
async function runAsNode(words: readonly string[]): Promise<void> {
  if (words[0] === "--version" || words[0] === "-v") return printLine(process.version);
  const { translateNodeWords } = await import("../runner/engine/node-arguments.ts");
  const readsInput = words.length === 0 || words[0] === "-";
  if (readsInput && !host.isTerminal(0) && host.isInputEmpty()) return;
  const { argv, name } = translateNodeWords(words, host.isTerminal(0));
  const { becomeEngine } = await import("../runner/engine/engine.ts");
  becomeEngine(argv, true, { name });
}
