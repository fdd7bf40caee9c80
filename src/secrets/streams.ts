// Reads and writes standard input and output for commands that handle secret values.
//
// Invariants:
// - Every byte buffer is zeroized after use. Strings cannot be.
// - Input that is not valid UTF-8 is rejected as a whole.
import { readSync } from "node:fs";
import { errorCode } from "../../platform/caught-error.ts";
import { OWN_SYSTEM } from "../../platform/processes/running-executable.ts";
import { writeOwn } from "../output.ts";
import { ArgumentError } from "./command-arguments.ts";

/** Bytes; far more than any credential helper protocol sends. */
const MAX_INPUT_SIZE = 1024 * 1024;

export async function isTerminal(descriptor: number): Promise<boolean> {
  const { isatty } = await import("node:tty");
  return isatty(descriptor);
}

/** Writes synchronously, so that the process may exit afterwards. @throws ArgumentError, and the error itself for EPIPE */
export async function print(text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  try {
    writeOwn(1, bytes);
  } catch (error) {
    const code = errorCode(error);
    if (code === "EPIPE") throw error; // the reader closed the pipe
    throw new ArgumentError(`Cannot write to standard output (${code})`);
  } finally {
    bytes.fill(0);
  }
}

/** The caller zeroizes each chunk. On Windows it reads synchronously: the engine's stream fails on Wine's pipes. */
async function* readChunks(): AsyncGenerator<Uint8Array> {
  if (OWN_SYSTEM !== "win32") return yield* Bun.stdin.stream();
  const buffer = new Uint8Array(64 * 1024);
  while (true) {
    let length = 0;
    try {
      length = readSync(0, buffer);
    } catch (error) {
      if (errorCode(error) !== "EOF") throw error;
    }
    if (length === 0) return;
    yield buffer.subarray(0, length);
  }
}

/**
 * Reads standard input as text of up to `MAX_INPUT_SIZE` bytes.
 * @param isWhole ends the read early when it returns true for the bytes so far (default: read to the end of the input)
 * @throws ArgumentError
 */
export async function readInput(isWhole: (bytes: Uint8Array) => boolean = () => false): Promise<string> {
  let bytes = new Uint8Array(0);
  try {
    for await (const chunk of readChunks()) {
      const longer = new Uint8Array(bytes.length + chunk.length);
      longer.set(bytes);
      longer.set(chunk, bytes.length);
      bytes.fill(0);
      chunk.fill(0);
      bytes = longer;
      if (bytes.length > MAX_INPUT_SIZE)
        throw new ArgumentError(`Standard input has more than ${MAX_INPUT_SIZE} bytes`);
      if (isWhole(bytes)) break;
    }
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    const { name, code } = error as Error & { code?: string };
    if (name === "ArgumentError") throw error;
    if (name === "TypeError") throw new ArgumentError("Standard input is not text in UTF-8");
    throw new ArgumentError(`Standard input could not be read (${code})`);
  } finally {
    bytes.fill(0);
  }
}

/** Removes the line break of a text with a single line; returns other texts unchanged. */
export function withoutLineBreak(text: string): string {
  const [line] = /^[^\n]*?(?=\r?\n$)/.exec(text) ?? [];
  return line ?? text;
}
