// The plan for `rt <source file> [args]`, the commonest start, made with as few operations as it takes. It is
// the same plan that plan.ts would make, or none; a test compares the two.
//
// Surprising: no working directory is asked for, no pattern is matched and no variable of the environment is
// read: the engine makes each of these when it is first used, and together they cost a tenth of a start.
import { engineReason, hasConfig } from "./entry.ts";
import type { Plan } from "./plan.ts";
import { extensionOf, isExplicitPath, SOURCE_EXTENSIONS } from "./target.ts";

/** Whether rt may have been started by a link that makes it another program: see stand-in.ts. */
export function mayStandIn(argv0: string): boolean {
  return argv0.endsWith("node") || argv0.endsWith("bunx");
}

/** @param argv the process's own: its first two words are rt itself */
export async function planShortcut(
  argv: readonly string[],
  argv0: string,
): Promise<Extract<Plan, { mode: "in-process" }> | undefined> {
  const name = argv[2];
  if (name === undefined || name[0] === "-" || mayStandIn(argv0)) return undefined;
  if (!name.includes(".") || !SOURCE_EXTENSIONS.includes(extensionOf(name)) || hasConfig("."))
    return undefined;
  let file: string;
  try {
    file = Bun.resolveSync(isExplicitPath(name) ? name : `./${name}`, ".");
  } catch {
    return undefined;
  }
  if (!SOURCE_EXTENSIONS.includes(extensionOf(file))) return undefined;
  const reason = engineReason(file, ".");
  if (reason !== undefined && (await reason) !== undefined) return undefined;
  return {
    mode: "in-process",
    file,
    args: argv.slice(argv[3] === "--" ? 4 : 3),
    preloads: [],
    engineArgs: argv.slice(3),
  };
}
