// Reports the refusals of a lifecycle script. They are in the output of a script that fails, which the installer shows. Otherwise
// they are in a file, which the rt outside of the installer shows.
import { appendFileSync } from "node:fs";
import { reportLine } from "../../output.ts";

const MAX_SHOWN = 30;

export class ScriptMessages {
  readonly #lines = new Set<string>();
  readonly #report: string;
  isRefused = false;

  /** @param report the file of messages */
  constructor(report: string) {
    this.#report = report;
  }

  /** @param message undefined for a refusal without an effect */
  add(message: string | undefined): void {
    if (message === undefined) return;
    this.isRefused = true;
    if (this.#lines.size < MAX_SHOWN) this.#lines.add(message);
  }

  addHint(message: string): void {
    this.#lines.add(message);
  }

  print(isFailure: boolean): void {
    for (const message of this.#lines) {
      const line = `warning: ${message}`;
      if (isFailure) reportLine(line);
      else appendFileSync(this.#report, `${line}\n`, { mode: 0o600 });
    }
  }
}
