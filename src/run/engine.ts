// Becomes the engine itself: this same file, started so that it takes the engine's command line instead of
// running our code. Our globals go along as a preload in a `data:` URL (a file would have to be written
// somewhere, and the engine cannot read our embedded files in this role).
//
// Surprising: the configuration file is always named, because the engine would otherwise read a bunfig.toml
// of the working directory, which is another program's configuration.
import { host } from "../../platform/process.ts";
// Built from src/runtime/preload.ts by build/compile.ts.
import preloadUrl from "rt:preload" with { type: "text" };

/** Options under which the engine runs code of ours are placed behind the subcommand, if there is one. */
const SUBCOMMANDS_WITH_PRELOAD = new Set(["run", "test"]);

export function engineArguments(argv: readonly string[], runsCode: boolean): string[] {
  if (!runsCode) return [...argv];
  const preload = `--preload=${preloadUrl}`;
  const [first = "", ...rest] = argv;
  return SUBCOMMANDS_WITH_PRELOAD.has(first) ? [first, preload, ...rest] : [preload, ...argv];
}

export function becomeEngine(argv: readonly string[], name = process.argv0): never {
  const code = host.replace({
    program: process.execPath,
    argv: [name, ...argv],
    environment: {},
    engine: true,
  });
  throw new Error(`Cannot start the engine: ${code}`);
}
