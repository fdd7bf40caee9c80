// Prints the messages of --watch to stderr: watched folders, changed files, exits and problems. With --silent only
// problems.
import { host } from "../../platform/processes/process.ts";
import type { ChildExit } from "../../platform/processes/contract/process-tree.ts";
import { wantsColor } from "../color.ts";
import { configHint } from "../config-hint.ts";
import { colorLabel } from "../output.ts";
import { oneLine, printable } from "../printable.ts";
import { quoteArgument } from "../shell-quoting.ts";
import { OutputQueue } from "../tasks/output-queue.ts";
import type { WatchSettings } from "../config/settings/watch.ts";
import { patternOf, startOf } from "./gitignore.ts";
import type { SourceWatcher } from "./source-watcher.ts";

/** Hints for watch limits, by error code. */
const REMEDIES: Readonly<Record<string, string>> = {
  ENOSPC: "sudo sysctl fs.inotify.max_user_watches=524288, or watch less: --watch-path=src",
  EMFILE: "sudo sysctl fs.inotify.max_user_instances=1024, or raise ulimit -n",
};

export class WatchMessages {
  readonly #settings: WatchSettings;
  readonly #cwd: string;
  readonly #queue = new OutputQueue();
  /**
   * Not `console.error`, which blocks on a slow reader so that signals are not handled. Flushed at once, because
   * the next script writes to the same descriptor.
   */
  readonly #write = (lines: string): void => {
    void this.#queue.write(2, `${lines}\n`);
    void this.#queue.flush();
  };
  #print: (lines: string) => void;

  constructor(settings: WatchSettings, cwd: string) {
    this.#settings = settings;
    this.#cwd = cwd;
    this.#print = this.#write;
  }

  /** Prints lines through `print` from now on, in order with other output; without an argument, directly. */
  setPrinter(print: (lines: string) => void = this.#write): void {
    this.#print = print;
  }

  printScope({ directories, unwatched }: SourceWatcher): void {
    if (unwatched.count > 0) {
      const all = directories + unwatched.count;
      this.#printMessage([
        `warning: cannot watch ${unwatched.count} of ${all} folders: system limit reached`,
        `hint: ${REMEDIES[unwatched.code]}`,
      ]);
    }
    const { paths } = this.#settings;
    const where = paths.length > 0 ? ` of ${paths.map(printable).join(", ")}` : "";
    const what = directories === 1 ? "1 folder" : `${directories} folders`;
    this.#printUnlessSilent(`watching ${what}${where} (rt help watching)`);
  }

  /** @param more appended to the line */
  printReasons([first, ...others]: readonly string[], more = ""): void {
    const count = new Set(others).size;
    this.#printUnlessSilent(`${this.#name(first!)}${count > 0 ? ` and ${count} more` : ""} changed${more}`);
  }

  warnSelfWrite(path: string): void {
    const name = this.#name(path);
    const lines = [`warning: the script writes ${name}, which it watches; ignoring it from now on`];
    const pattern = patternOf(path, this.#cwd);
    if (pattern !== undefined) {
      const ignore = [...new Set([...this.#settings.ignore, pattern])];
      lines.push(
        `hint: add --watch-ignore=${quoteArgument(pattern)}, or ${configHint(["watch", "ignore"], ignore)}`,
      );
    }
    this.#printMessage(lines);
  }

  /** Reports an error that prevents the next start. */
  printError(message: string, hint: string | readonly string[] | undefined): void {
    this.#printMessage([
      `error: ${oneLine(message)}`,
      ...[hint ?? []].flat().map((line) => `hint: ${oneLine(line)}`),
    ]);
  }

  printExit({ code, signal }: ChildExit): void {
    const how = signal ? `was terminated by ${signal}` : `exited with code ${code}`;
    this.#print(`rt: "${printable(this.#settings.label)}" ${how}; waiting for a change`);
  }

  /** Printed at once: the output of a script could come between two writes. */
  #printMessage(lines: readonly string[]): void {
    this.#print(lines.map((line) => colorLabel(line)).join("\n"));
  }

  #printUnlessSilent(text: string): void {
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
