// What --watch says, on standard error: what is watched, which file starts the script again, how it ended, and what stands
// in the way. One line each; with --silent only what is wrong.
import { host } from "../../platform/processes/process.ts";
import type { ChildExit } from "../../platform/processes/contract/process-tree.ts";
import { wantsColor } from "../color.ts";
import { oneLine, printable } from "../printable.ts";
import { OutputQueue } from "../tasks/output-queue.ts";
import type { WatchSettings } from "../config/settings/watch.ts";
import { startOf } from "./gitignore.ts";
import type { SourceWatcher } from "./source-watcher.ts";

/** What to do where the system watches no more, by its reason. */
const REMEDIES: Readonly<Record<string, string>> = {
  ENOSPC: "sudo sysctl fs.inotify.max_user_watches=524288, or watch less: --watch-path=src",
  EMFILE: "sudo sysctl fs.inotify.max_user_instances=1024, or raise ulimit -n",
};

export class WatchMessages {
  readonly #settings: WatchSettings;
  readonly #cwd: string;
  readonly #queue = new OutputQueue();
  /**
   * Not by `console.error`, which waits for a reader, and no signal would end that. At once where there is room: what is
   * started next writes to the same place.
   */
  readonly #write = (line: string): void => {
    void this.#queue.write(2, `${line}\n`);
    void this.#queue.flush();
  };
  #print: (line: string) => void;

  constructor(settings: WatchSettings, cwd: string) {
    this.#settings = settings;
    this.#cwd = cwd;
    this.#print = this.#write;
  }

  /** From here on lines take their place among others; without an argument they do not any more. */
  printBy(print: (line: string) => void = this.#write): void {
    this.#print = print;
  }

  tellScope({ directories, refused }: SourceWatcher): void {
    if (refused.count > 0) {
      const all = directories + refused.count;
      this.#print(`warning: ${refused.count} of ${all} folders are not watched: the system allows no more`);
      this.#print(`hint: ${REMEDIES[refused.code]}`);
    }
    const { paths } = this.#settings;
    const where = paths.length > 0 ? ` of ${paths.map(printable).join(", ")}` : "";
    const what = directories === 1 ? "1 folder" : `${directories} folders`;
    this.#tell(`watching ${what}${where} (rt help watching)`);
  }

  /** @param more what comes of it */
  tellReasons([first, ...others]: readonly string[], more = ""): void {
    const count = new Set(others).size;
    this.#tell(`${this.#name(first!)}${count > 0 ? ` and ${count} more` : ""} changed${more}`);
  }

  warnSelfWrite(path: string): void {
    const name = this.#name(path);
    this.#print(`warning: your script changes what it watches: ${name} is left alone from now on`);
    this.#print(`hint: --watch-ignore='${name}', or [watch] ignore in rtfig.toml, says so from the start`);
  }

  /** What is wrong with what was to run. */
  tellMistake(message: string, hint: string | readonly string[] | undefined): void {
    this.#print(`error: ${oneLine(message)}`);
    for (const line of [hint ?? []].flat()) this.#print(`hint: ${oneLine(line)}`);
  }

  tellEnd({ code, signal }: ChildExit): void {
    const how = signal ? `was terminated by ${signal}` : `exited with code ${code}`;
    this.#print(`rt: "${printable(this.#settings.label)}" ${how}; waiting for a change`);
  }

  #tell(text: string): void {
    if (this.#settings.silent) return;
    const line = `rt: ${text}`;
    const isDim = wantsColor(host.originalVariable, () => host.isTerminal(2));
    this.#print(isDim ? `\x1b[2m${line}\x1b[0m` : line);
  }

  #name(path: string): string {
    const start = startOf(this.#cwd);
    return printable(path.startsWith(start) ? path.slice(start.length) : path);
  }
}
