// What has to be the same before earlier runs are looked at, field by field, each with the reason why it counts.
//
// Contract: two runs with the same key were started in the same way: the same program, words, directory and variables. What
// they then find on the disk is a matter of an entry's conditions. Values of variables are kept as keyed hashes, so that
// what is stored tells nobody a secret.
import { statSync } from "node:fs";
import { VERSION } from "../version.ts";
import type { CacheRule } from "../settings/cache.ts";
import { countedVariables } from "./environment.ts";
import { hashBytes, type Hashes } from "./hashes.ts";
import { listFiles } from "./patterns.ts";
import type { TracingOperations } from "../../platform/contract/tracing.ts";

/** Of what is stored; another one finds nothing of this. */
export const FORMAT = 1;

export interface StartedStep {
  readonly event: string;
  readonly program: string;
  readonly argv: readonly string[];
}

export interface KeyRequest {
  readonly system: string;
  readonly root: string;
  readonly packageDirectory: string;
  readonly rule: CacheRule;
  readonly steps: readonly StartedStep[];
  readonly variables: Readonly<Record<string, string>>;
  readonly secret: Uint8Array;
}

export interface Field {
  /** As people are told it. */
  readonly name: string;
  readonly hash: string;
}

export interface Key {
  readonly hash: string;
  readonly fields: readonly Field[];
}

export async function makeKey(
  request: KeyRequest,
  hashes: Hashes,
  { look }: TracingOperations,
): Promise<Key> {
  const { root, packageDirectory, rule, steps, variables, secret, system } = request;
  const fields: Field[] = [];
  const add = (name: string, value: unknown) => fields.push({ name, hash: hashBytes(JSON.stringify(value)) });
  // Another rt may start scripts otherwise. Of one version there are several while it is being made.
  add("rt itself", [FORMAT, VERSION, stampOf(process.execPath)]);
  add("the system", system);
  // Programs see where they are, and write it into what they make.
  add("the project's directory", root);
  add("the package's directory", packageDirectory);
  // With the arguments, as the shell gets them, and the shell or program that was found for them.
  for (const { event, program, argv } of steps) add(`the script "${event}"`, [program, argv]);
  add(
    "the names of its steps",
    steps.map(({ event }) => event),
  );
  // What it leaves out of the record is a part of what the record means.
  add("its settings in [run.cache]", [rule.env, rule.inputs, rule.outputs, rule.ignore]);
  // Files that are made get it.
  add("the umask", process.umask());
  // Some tools do otherwise for root.
  add("the user", process.getuid?.());
  for (const [name, value] of countedVariables(variables)) {
    const hash = new Bun.CryptoHasher("sha256", secret).update(value).digest("hex");
    fields.push({ name: `the variable ${name}`, hash });
  }
  for (const path of await listFiles(rule.inputs, packageDirectory)) {
    const state = look(path);
    const value = state.kind === "file" ? await hashes.hash(path, state) : state;
    add(path, value);
  }
  return { hash: hashBytes(JSON.stringify(fields)), fields };
}

function stampOf(path: string): string {
  const { size, mtimeMs, ino } = statSync(path);
  return `${ino}:${size}:${mtimeMs}`;
}

/** What is different, in words; at most a few. */
export function compareKeys(before: readonly Field[], now: readonly Field[]): string[] {
  const [old, fresh] = [before, now].map((fields) => new Map(fields.map(({ name, hash }) => [name, hash])));
  const differences: string[] = [];
  for (const [name, hash] of fresh!) {
    const previous = old!.get(name);
    if (previous === undefined) differences.push(`${name} is new`);
    else if (previous !== hash) differences.push(`${name} is another`);
  }
  for (const name of old!.keys()) if (!fresh!.has(name)) differences.push(`${name} is not there any more`);
  return differences;
}
