// What other kept runs of a script have left where the run that is looked at made a directory or a file anew: of another branch,
// say. It is as good as not there, since whoever goes back to what was found once wants that, and no more.
//
// Contract: a path counts only if it is exactly as one of those runs has left it. To be taken away, and not replaced as the run
// would do, all that is in it has to be so, and nobody's work: git ignores it, or, where there is no git, outputs names it. So
// what goes can be put back from the store.
import { isOutput, type StaleOutputLookup } from "../entry/entry-validation.ts";
import type { CacheEntry, RecordedOutput } from "../entry/entry.ts";
import type { ProjectView } from "../entry/entry-builder.ts";

export class StaleOutputs implements StaleOutputLookup {
  readonly #entries: () => readonly CacheEntry[];
  readonly #project: ProjectView;
  #outputs: Map<string, RecordedOutput[]> | undefined;

  /** @param entries of runs that were started in the same way; called only if a stale output is possible */
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

  /** False where something in it is anything else. */
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
