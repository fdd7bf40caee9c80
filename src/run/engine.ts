// Becomes the engine itself: this same file, started so that it takes the engine's command line instead of
// running our code. Our globals go along as a preload in a `data:` URL (a file would have to be written
// somewhere, and the engine cannot read our embedded files in this role).
//
// Surprising: the configuration file is always named, because the engine would otherwise read a bunfig.toml
// of the working directory, which is another program's configuration.
import { host } from "../../platform/process.ts";
import { preloadUrl } from "./engine-preload.ts";

const SUBCOMMANDS = ["run", "test", "repl"];

/** The preload stands behind a subcommand, if there is one. */
export function engineArguments(argv: readonly string[], runsCode: boolean): string[] {
  if (!runsCode) return [...argv];
  const ours = [`--preload=${preloadUrl}`];
  return SUBCOMMANDS.includes(argv[0] ?? "") ? [argv[0]!, ...ours, ...argv.slice(1)] : [...ours, ...argv];
}

/** @param runsCode whether code of the user's runs, which is to see `rt` */
export function becomeEngine(argv: readonly string[], runsCode: boolean, name = process.argv0): never {
  const code = host.replace({
    program: process.execPath,
    argv: [name, ...engineArguments(argv, runsCode)],
    environment: {},
    engine: true,
  });
  throw new Error(`Cannot start the engine: ${code}`);
}
