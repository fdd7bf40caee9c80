// The hashes for RT_TRUST that let a project's rtfig.toml read secrets, as in CI.
import { type Environment, type RtResult, runRt } from "./rt.ts";

/** Returns the hash from an error; undefined when the project is trusted or requests nothing. */
export function hashIn({ stderr }: Pick<RtResult, "stderr">): string | undefined {
  return /RT_TRUST=([0-9a-f,]{64,})$/m.exec(stderr)?.[1];
}

/** Returns the hash of the project's requests. */
export async function trustOf(cwd: string): Promise<string> {
  const hash = hashIn(await runRt({ args: ["trust"], cwd }));
  if (hash === undefined) throw new Error("rt trust asked for nothing");
  return hash;
}

/** Returns RT_TRUST for all requests of the project; empty when there are none. */
export async function trustAll(cwd: string, env: Environment = {}): Promise<Environment> {
  const hash = hashIn(await runRt({ args: ["trust"], cwd, env }));
  return hash === undefined ? {} : { RT_TRUST: hash };
}
