// The terminal that rt is on and the one that it makes for a program, kept alike: modes, size, and which of the two changes
// line ends.
//
// Contract: the outer terminal is raw as long as rt's job is in front, and has its modes back after `leave`, also where rt
// ends by a fault of its own; in the background it is left alone. Of the two exactly one changes line ends.
//
// Surprising: nobody tells a job that it is in front again without having been stopped (`fg` of a running one), so it is
// looked for as long as it is not.
import {
  changesOutput,
  isInBackground,
  madeRaw,
  type TerminalModes,
  modesOf,
  setModes,
  setSize,
  sizeOf,
  withOutputChanged,
} from "./terminal-modes.ts";

const LOOK_AGAIN_AFTER = 200; // ms

export interface TerminalsOptions {
  /** Below 0 where rt is on none. */
  readonly outer: number;
  readonly inner: number;
  /** Keys are rt's to read from here on, or not any more. */
  onFront(isFront: boolean): void;
}

export class Terminals {
  readonly #options: TerminalsOptions;
  #isFront = false;
  /** Of the outer one, to be put back. */
  #modes: TerminalModes | null = null;
  /** The inner one changes no line ends, because the outer one does. */
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

  /** Looks who has the terminal, and takes it where it is this job. */
  look(): void {
    const { outer, inner, onFront } = this.#options;
    this.stopLooking();
    if (outer < 0) return;
    const isFront = !isInBackground(outer);
    if (!isFront) this.#looking = setInterval(() => isInBackground(outer) || this.look(), LOOK_AGAIN_AFTER);
    if (isFront && !this.#modes) {
      this.#modes = modesOf(outer);
      if (this.#modes) setModes(outer, madeRaw(this.#modes));
    }
    if (this.#isOutputOff === isFront) this.#changeOutput(inner, isFront);
    if (isFront === this.#isFront) return;
    this.#isFront = isFront;
    onFront(isFront);
  }

  /** Only what rt has taken away is given back: the program may have its own mind. */
  #changeOutput(inner: number, isChanged: boolean): void {
    const modes = modesOf(inner);
    if (!modes || changesOutput(modes) === isChanged) return;
    setModes(inner, withOutputChanged(modes, isChanged));
    this.#isOutputOff = !isChanged;
  }

  /** Before this job stands still, or at its end. */
  leave(): void {
    this.stopLooking();
    this.#restore();
    if (this.#isFront) this.#options.onFront(false);
    this.#isFront = false;
  }

  /** Whoever comes to the front is not asked for any more. */
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
