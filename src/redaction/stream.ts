// Redacts the output streams of a script.
//
//   const redaction = openRedaction(secrets)
//   const output = redaction.stream((bytes) => ..., isTerminal)     output.push(bytes) for each piece, then output.end()
//   redaction.zero()
//
// Invariants:
// - A stream holds back a possible beginning of a value until the next bytes decide it, or the stream ends.
// - A terminal gets the public part after PROMPT_DELAY without bytes, because a user may wait for a prompt.
// - After `zero` no part of a value is in memory.
import { RedactionFilter } from "./filter.ts";
import { refuseShort } from "./minimum-length.ts";
import { VariantMatcher } from "./pattern-matcher.ts";
import type { SecretValue } from "./secret-value.ts";

const PROMPT_DELAY = 18; // ms; with terminal latency, a typed character appears after about 20 ms

/** The bytes are valid only during the call; a promise delays the next call. */
export type RedactedWrite = (bytes: Uint8Array) => void | Promise<void>;

export class Redactor {
  readonly #filter: RedactionFilter;
  readonly #write: RedactedWrite;
  readonly #isTerminal: boolean;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #last = 0;

  constructor(patterns: VariantMatcher, write: RedactedWrite, isTerminal: boolean) {
    this.#filter = new RedactionFilter(patterns);
    this.#write = write;
    this.#isTerminal = isTerminal;
  }

  push(bytes: Uint8Array): void | Promise<void> {
    let pending: void | Promise<void> = undefined;
    for (const output of this.#filter.push(bytes))
      if (output.length > 0) pending = this.#write(output) ?? pending;
    if (this.#isTerminal && this.#filter.isHolding) {
      this.#last = performance.now();
      this.#timer ??= setTimeout(() => this.#releaseWhenQuiet(), PROMPT_DELAY);
    }
    return pending;
  }

  use(patterns: VariantMatcher): void {
    this.#filter.use(patterns);
  }

  /** Writes the public part of the held bytes at once, before another process takes over the terminal. */
  release(): void | Promise<void> {
    if (!this.#isTerminal) return;
    const output = this.#filter.release();
    if (output.length > 0) return this.#write(output);
  }

  end(): void | Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const output = this.#filter.end();
    if (output.length > 0) return this.#write(output);
  }

  /** Handles the timer. A busy stream keeps one timer, which checks the time of the last bytes instead of being reset. */
  #releaseWhenQuiet(): void {
    this.#timer = undefined;
    if (!this.#filter.isHolding) return;
    const rest = this.#last + PROMPT_DELAY - performance.now();
    if (rest > 0) {
      this.#timer = setTimeout(() => this.#releaseWhenQuiet(), Math.ceil(rest));
      return;
    }
    void this.release();
  }
}

/** Receives standard output and error. The bytes are valid only during the call; a promise delays the next call. */
export type Deliver = (bytes: Uint8Array, isError: boolean) => void | Promise<void>;

export interface RedactedOutput {
  readonly push: Deliver;
  /** Delivers the rest after the program has ended, and zeroizes the values. */
  end(): Promise<void>;
}

export interface LearningOutput extends RedactedOutput {
  /** Replaces the values to redact. @throws UserError if one is too short */
  learn(secrets: readonly SecretValue[]): void;
}

/** Creates the redaction of both streams of a program. @throws UserError if a value is too short */
export function openOutput(
  secrets: readonly SecretValue[],
  deliver: Deliver,
  isTerminal: boolean,
): LearningOutput {
  const redaction = openRedaction(secrets);
  const output = redaction.stream((bytes) => deliver(bytes, false), isTerminal);
  const error = redaction.stream((bytes) => deliver(bytes, true), isTerminal);
  return {
    push: (bytes, isError) => (isError ? error : output).push(bytes),
    async end() {
      await output.end();
      await error.end();
      redaction.zero();
    },
    learn: (secrets) => redaction.learn(secrets),
  };
}

export interface Redaction {
  /** @param isTerminal a user may wait for bytes that are held back */
  stream(write: RedactedWrite, isTerminal?: boolean): Redactor;
  /** Replaces the values to redact in all streams. @throws UserError if one is too short */
  learn(secrets: readonly SecretValue[]): void;
  /** Zeroizes the values. All streams must have ended. */
  zero(): void;
}

/** Creates a redaction. @throws UserError if a value is too short */
export function openRedaction(secrets: readonly SecretValue[]): Redaction {
  refuseShort(secrets);
  let patterns = new VariantMatcher(secrets);
  const streams: Redactor[] = [];
  return {
    stream(write, isTerminal = true) {
      const stream = new Redactor(patterns, write, isTerminal);
      streams.push(stream);
      return stream;
    },
    learn(secrets) {
      refuseShort(secrets);
      const before = patterns;
      patterns = new VariantMatcher(secrets);
      for (const stream of streams) stream.use(patterns);
      before.zero();
    },
    zero: () => patterns.zero(),
  };
}
