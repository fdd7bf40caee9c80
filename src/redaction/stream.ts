// The values of one script, and the streams that it writes them to.
//
//   const redaction = openRedaction(secrets)
//   const output = redaction.stream((bytes) => ..., isTerminal)     output.push(bytes) as they come, output.end() at their end
//   redaction.zero()
//
// Invariants:
// - A stream holds back a possible beginning of a value until the next bytes decide it, or the stream ends.
// - A user may wait for a prompt on a terminal. After PATIENCE without bytes the terminal gets the public part of it.
// - After `zero` no part of a value is in memory.
import { RedactionFilter } from "./filter.ts";
import { refuseShort } from "./minimum-length.ts";
import { VariantMatcher } from "./pattern-matcher.ts";
import type { SecretValue } from "./secret-value.ts";

const PATIENCE = 18; // ms; with the way to the terminal it is 20 until a key is seen

/** The bytes are only valid during the call; a promise holds back the next ones. */
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
      this.#timer ??= setTimeout(() => this.#look(), PATIENCE);
    }
    return pending;
  }

  /** From now on it is these that are looked for. */
  use(patterns: VariantMatcher): void {
    this.#filter.use(patterns);
  }

  /** Shows of what is held what says nothing, without waiting: the terminal gets other hands. */
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

  /** One timer for a stream that never stops: it is asked how long ago the last bytes came. */
  #look(): void {
    this.#timer = undefined;
    if (!this.#filter.isHolding) return;
    const rest = this.#last + PATIENCE - performance.now();
    if (rest > 0) {
      this.#timer = setTimeout(() => this.#look(), Math.ceil(rest));
      return;
    }
    void this.release();
  }
}

/** Of standard output and error. The bytes are only valid during the call; a promise holds back the next ones. */
export type Deliver = (bytes: Uint8Array, isError: boolean) => void | Promise<void>;

export interface RedactedOutput {
  readonly push: Deliver;
  /** The program has ended: delivers the rest, and forgets the values. */
  end(): Promise<void>;
}

export interface LearningOutput extends RedactedOutput {
  /** From now on these are kept out. Throws Failure. */
  learn(secrets: readonly SecretValue[]): void;
}

/** Both streams of a program. Throws Failure. */
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
    learn: (known) => redaction.learn(known),
  };
}

export interface Redaction {
  /** @param isTerminal a user may wait for what is held back */
  stream(write: RedactedWrite, isTerminal?: boolean): Redactor;
  /** From now on these are kept out of all of its streams. Throws Failure. */
  learn(secrets: readonly SecretValue[]): void;
  /** Of the streams all must have ended. */
  zero(): void;
}

/** Throws Failure where a value cannot be told from other text. */
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
    learn(known) {
      refuseShort(known);
      const before = patterns;
      patterns = new VariantMatcher(known);
      for (const stream of streams) stream.use(patterns);
      before.zero();
    },
    zero: () => patterns.zero(),
  };
}
