// Synchronizes rt's terminal and the program's pseudo-terminal: modes, size, and output processing (line ends).
//
// Invariants:
// - rt's terminal is raw while rt's job is in the foreground. `leave` restores its modes, also after an error of rt's own. In the
//   background it is not changed.
// - Exactly one of the two terminals processes output.
//
// Non-obvious: no signal reports that a running job came to the foreground (`fg`), so rt polls in the background.
import {
  changesOutput,
  isInBackground,
  toRawModes,
  type TerminalModes,
  modesOf,
  setModes,
  setSize,
  sizeOf,
  withOutputChanged,
} from "./terminal-modes.ts";

const POLL_INTERVAL = 200; // ms

export interface TerminalsOptions {
  /** Below 0 if rt has no terminal. */
  readonly outer: number;
  readonly inner: number;
  /** Called when rt may read keys, or may not any more. */
  onFront(isFront: boolean): void;
}

export class Terminals {
  readonly #options: TerminalsOptions;
  #isFront = false;
  /** Original modes of rt's terminal. */
  #modes: TerminalModes | null = null;
  /** The pseudo-terminal processes no output, because rt's terminal does. */
  #isOutputOff = false;
  #looking: ReturnType<typeof setInterval> | undefined;
  readonly #atExit = () => this.#restore();

  constructor(options: TerminalsOptions) {
    this.#options = options;
    const { outer, inner } = options;
    const modes = outer < 0 ? null : modesOf(outer);
    if (modes) {
      const isBehind = isInBackground(outer) && changesOutput(modes);
      setModes(inner, isBehind ? withOutputChanged(modes, false) : modes);
      this.#isOutputOff = isBehind;
    }
    process.on("exit", this.#atExit);
    this.copySize();
  }

  copySize(): void {
    const { outer, inner } = this.#options;
    const size = outer < 0 ? null : sizeOf(outer);
    if (size) setSize(inner, size);
  }

  /** Checks which job is in the foreground, and configures the terminal if it is this one. */
  look(): void {
    const { outer, inner, onFront } = this.#options;
    this.stopLooking();
    if (outer < 0) return;
    const isFront = !isInBackground(outer);
    if (!isFront) this.#looking = setInterval(() => isInBackground(outer) || this.look(), POLL_INTERVAL);
    if (isFront && !this.#modes) {
      this.#modes = modesOf(outer);
      if (this.#modes) setModes(outer, toRawModes(this.#modes));
    }
    if (this.#isOutputOff === isFront) this.#changeOutput(inner, isFront);
    if (isFront === this.#isFront) return;
    this.#isFront = isFront;
    onFront(isFront);
  }

  /** Restores only what rt has changed: the program may change the modes too. */
  #changeOutput(inner: number, isChanged: boolean): void {
    const modes = modesOf(inner);
    if (!modes || changesOutput(modes) === isChanged) return;
    setModes(inner, withOutputChanged(modes, isChanged));
    this.#isOutputOff = !isChanged;
  }

  /** Restores rt's terminal before this job stops, or at its end. */
  leave(): void {
    this.stopLooking();
    this.#restore();
    if (this.#isFront) this.#options.onFront(false);
    this.#isFront = false;
  }

  /** Stops polling the foreground job. */
  stopLooking(): void {
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  close(): void {
    this.leave();
    process.off("exit", this.#atExit);
  }

  #restore(): void {
    const { outer } = this.#options;
    if (this.#modes && !isInBackground(outer)) setModes(outer, this.#modes);
    this.#modes = null;
  }
}
