// Tests that demonstrate an option. The title begins with the option, and docs/reference/options.md lists it:
//
// prove("smol", "keeps the heap smaller", async () => { ... })
//
// Non-obvious: `prove` must be called with two literals, because proofs.ts reads them from the source.
import { test } from "bun:test";
import { createProject, type Files } from "../support/project.ts";
import { type Environment, type RtResult, runRt } from "../support/rt.ts";

export function prove(option: string, claim: string, body: () => Promise<void>): void {
  test(`--${option} ${claim}`, body);
}

export interface Setting {
  env?: Environment;
  stdin?: string;
  executable?: readonly string[];
}

/** Runs rt in a fresh project with these files; `$PROJECT` in an argument is its path. */
export async function runIn(
  files: Files,
  args: readonly string[],
  { env, stdin, executable }: Setting = {},
): Promise<RtResult> {
  await using project = await createProject(files, executable);
  const words = args.map((word) => word.replaceAll("$PROJECT", project.path));
  return await runRt({ args: words, cwd: project.path, env, stdin });
}

/** Returns the trimmed output of a run, which must succeed. */
export async function outputOf(
  files: Files,
  args: readonly string[],
  setting: Setting = {},
): Promise<string> {
  const result = await runIn(files, args, setting);
  if (result.status !== 0) throw new Error(result.stderr);
  return result.stdout.trim();
}
