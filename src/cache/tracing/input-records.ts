// Finds what the last run of each script has read, to select the scripts that a change affects (`--affected`).
//
// Invariants:
// - A record is valid if every recorded dependency matches now. Outputs of scripts that run before count as their records have
//   them, because they may be missing until then.
// - It restores, starts and writes nothing.
import { basename, dirname } from "node:path";
import type { InputRecord } from "../cached-script.ts";
import type { CacheEntry, RecordedDependency, RecordedOutput } from "../entry/entry.ts";
import { validateEntry } from "../entry/entry-validation.ts";
import { isBelow } from "../relocation/stored-path.ts";
import { StaleOutputs } from "../restore/stale-outputs.ts";
import type { ScriptContext } from "../script-context.ts";
import { RecordedInputFiles } from "./recorded-inputs.ts";

const LETTERS = { file: "f", directory: "d", link: "l" } as const;

export class InputRecordFinder {
  /** The outputs of the valid records so far, by path. */
  readonly #outputs = new Map<string, RecordedOutput>();
  /** Their names in listings, by directory. */
  readonly #names = new Map<string, string[]>();

  /** Call it in the order of the run. Returns undefined without a record, or if the script's inputs are declared. */
  async find(context: ScriptContext): Promise<InputRecord | undefined> {
    if (!context.isTraced) return undefined;
    const key = await context.makeLocalKey();
    // The last used entry is the first.
    const entries = context.localEntries(key.hash);
    const stale = new StaleOutputs(() => entries, context.project);
    let valid: CacheEntry | undefined;
    for (const entry of entries) {
      if (!(await this.#isValid(entry, context, stale))) continue;
      valid = entry;
      break;
    }
    const entry = valid ?? entries[0];
    if (!entry) return undefined;
    if (valid) this.#addOutputs(valid);
    const { rule, project, location } = context;
    const { isMachinePath } = location;
    const inputs = new RecordedInputFiles(entry, rule, project, { key, isTraced: true, isMachinePath });
    return {
      isValid: valid !== undefined,
      isAffectedBy: (path, isListed) => inputs.isAffectedBy(path, isListed),
      read: [...inputs.listRead()].filter((path) => isBelow(path, project.root)),
      outputs: entry.outputs.map(({ path }) => path),
    };
  }

  async #isValid(entry: CacheEntry, { project }: ScriptContext, stale: StaleOutputs): Promise<boolean> {
    const own = new Set(entry.outputs.map(({ path }) => path));
    const conditions: RecordedDependency[] = [];
    for (const condition of entry.conditions) {
      const output = own.has(condition[1]) ? undefined : this.#outputs.get(condition[1]);
      if (!output || condition[0] === "names") conditions.push(condition);
      else if (!isState(condition, output)) return false;
    }
    const list = (path: string) => {
      const names = project.list(path);
      const added = this.#names.get(path);
      return added ? [...new Set([...(names ?? []), ...added])] : names;
    };
    const { mismatch } = await validateEntry({ ...entry, conditions }, { ...project, list }, stale);
    return mismatch === null;
  }

  #addOutputs({ outputs }: CacheEntry): void {
    for (const output of outputs) {
      this.#outputs.set(output.path, output);
      if (output.kind === "absent") continue;
      const names = this.#names.get(dirname(output.path)) ?? [];
      names.push(LETTERS[output.kind] + basename(output.path));
      this.#names.set(dirname(output.path), names);
    }
  }
}

/** Returns whether an output is in the state that another script depends on. */
function isState(condition: RecordedDependency, output: RecordedOutput): boolean {
  switch (condition[0]) {
    case "any":
      return output.kind === "file" || output.kind === "absent";
    case "absent":
      return output.kind === "absent";
    case "directory":
      return output.kind === "directory" && output.mode === condition[2];
    case "link":
      return output.kind === "link" && output.target === condition[2];
    case "file":
      return output.kind === "file" && output.hash === condition[2] && output.mode === condition[3];
    default:
      return false;
  }
}
