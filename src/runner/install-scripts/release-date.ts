// Finds out when a version of a package was published, from the registry's metadata.
//
// Invariants:
// - The engine asks, as `rt info` does: with the registries of the project, and with a token for its own registry only.
// - A failure, as without a network, is a sentence too.
// Non-obvious: a package chooses the name and version of its package.json. So the sentence is about the registry's package, and only
// about the one that the project names.
import { host } from "../../../platform/processes/process.ts";
import { oneLine } from "../../printable.ts";
import type { NewScripts } from "./known-scripts.ts";

/** Milliseconds. */
const [MAX_WAIT, HOUR] = [10_000, 3_600_000];
/** Names of registries. Others, such as one that begins with "-", would be read as something else. */
const NAME = /^(?:@[\w.~-]+\/)?[\w.~][\w.~-]*$/;

/** @param root folder of the root project */
export async function describeRelease({ name, after }: NewScripts, root: string): Promise<string> {
  const { packageName, version } = after;
  const subject = `${oneLine(name)} ${oneLine(version)}`;
  const isNamed = packageName === name && NAME.test(name);
  const text = isNamed ? (await readTimes(name, root))?.[version] : undefined;
  const published = typeof text === "string" ? new Date(text) : undefined;
  if (!published || Number.isNaN(published.valueOf()))
    return `the registry does not say when ${subject} was published`;
  return `the registry published ${subject} on ${published.toISOString().slice(0, 10)} (${describeAge(Date.now() - published.valueOf())})`;
}

async function readTimes(name: string, root: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const client = Bun.spawn([process.execPath, "info", name, "time", "--json"], {
    cwd: root,
    env: host.originalEnvironment(),
    stdio: ["ignore", "pipe", "ignore"],
    timeout: MAX_WAIT,
  });
  const output = await new Response(client.stdout).text();
  if ((await client.exited) !== 0) return undefined;
  try {
    return (JSON.parse(output) as Readonly<Record<string, unknown>> | null) ?? undefined;
  } catch {
    return undefined;
  }
}

function describeAge(milliseconds: number): string {
  const hours = Math.max(0, Math.floor(milliseconds / HOUR));
  const [count, unit] = hours < 48 ? [hours, "hour"] : [Math.floor(hours / 24), "day"];
  return `${count} ${unit}${count === 1 ? "" : "s"} ago`;
}
