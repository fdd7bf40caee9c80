// What a project's rtfig.toml needs in RT_TRUST to get at secrets, as one gives it in CI.
import { type Environment, type RtResult, runRt } from "./rt.ts";

/** What RT_TRUST has to be; undefined where nothing has to be allowed. */
export function hashIn({ stderr }: Pick<RtResult, "stderr">): string | undefined {
  return /RT_TRUST=([0-9a-f,]{64,})$/m.exec(stderr)?.[1];
}

/** The hash of what the project in this folder asks for. */
export async function trustOf(cwd: string): Promise<string> {
  const hash = hashIn(await runRt({ args: ["trust"], cwd }));
  if (hash === undefined) throw new Error("rt trust asked for nothing");
  return hash;
}

/** RT_TRUST for all that the project in this folder asks for; nothing where it asks for nothing. */
export async function allowAll(cwd: string, env: Environment = {}): Promise<Environment> {
  const hash = hashIn(await runRt({ args: ["trust"], cwd, env }));
  return hash === undefined ? {} : { RT_TRUST: hash };
}
