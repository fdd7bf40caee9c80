// Finds stale outputs: outputs of other cached runs of the script, for example of another branch, where the looked-up
// run created a directory or file. They count as absent, and the restore deletes or replaces them.
//
// Invariants:
// - A path is stale only if it is exactly in the state that one of those runs left.
// - A stale output is deleted only if everything below it is stale too, and git ignores it (without git: `outputs`
//   matches it). So every deleted file can be restored from the store.
import { isOutput, type StaleOutputLookup } from "../entry/entry-validation.ts";
import type { CacheEntry, RecordedOutput } from "../entry/entry.ts";
import type { ProjectView } from "../entry/entry-builder.ts";

export class StaleOutputs implements StaleOutputLookup {
  readonly #entries: () => readonly CacheEntry[];
  readonly #project: ProjectView;
  #outputs: Map<string, RecordedOutput[]> | undefined;

  /** @param entries of runs with the same key; called only if a stale output is possible */
  constructor(entries: () => readonly CacheEntry[], project: ProjectView) {
    [this.#entries, this.#project] = [entries, project];
  }

  async has(path: string): Promise<boolean> {
    const { stat, hashes } = this.#project;
    for (const output of this.#outputsAt(path)) if (await isOutput(output, stat(path), hashes)) return true;
    return false;
  }

  async at(paths: readonly string[]): Promise<readonly string[] | null> {
    const found: string[] = [];
    const files: string[] = [];
    for (const path of paths) if (!(await this.#collect(path, found, files))) return null;
    const sources = await this.#project.selectSources(files);
    const mayGo = (file: string) => (sources ? !sources.has(file) : this.#project.isDeclared(file));
    return files.every(mayGo) ? found : null;
  }

  /** Returns false if anything below the path is not a stale output. */
  async #collect(path: string, found: string[], files: string[]): Promise<boolean> {
    if (!(await this.has(path))) return false;
    const { stat, list } = this.#project;
    found.push(path);
    if (stat(path).kind !== "directory") files.push(path);
    else
      for (const name of list(path) ?? [])
        if (!(await this.#collect(`${path}/${name.slice(1)}`, found, files))) return false;
    return true;
  }

  #outputsAt(path: string): readonly RecordedOutput[] {
    if (!this.#outputs) {
      this.#outputs = new Map();
      for (const { outputs } of this.#entries())
        for (const output of outputs) {
          const alike = this.#outputs.get(output.path);
          if (alike) alike.push(output);
          else this.#outputs.set(output.path, [output]);
        }
    }
    return this.#outputs.get(path) ?? [];
  }
}
