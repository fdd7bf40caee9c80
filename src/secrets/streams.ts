// Standard input and output of commands that carry values.
//
// Contract: the bytes that are read and written here are zeroed when they have been used; a value is decoded whole or refused.
import { readSync } from "node:fs";
import { errorCode } from "../../platform/caught-error.ts";
import { OWN_SYSTEM } from "../../platform/processes/running-executable.ts";
import { writeOwn } from "../output.ts";
import { ArgumentError } from "./command-arguments.ts";

/** Bytes. No protocol of the helpers comes near it. */
export const LARGEST_INPUT = 1024 * 1024;

export async function isTerminal(descriptor: number): Promise<boolean> {
  const { isatty } = await import("node:tty");
  return isatty(descriptor);
}

/** Ends when all is written, so that the process may be ended after it. */
export async function print(text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  try {
    writeOwn(1, bytes);
  } catch (error) {
    const code = errorCode(error);
    if (code === "EPIPE") throw error; // whoever read the output has had enough
    throw new ArgumentError(`Cannot write to standard output (${code})`);
  } finally {
    bytes.fill(0);
  }
}

/** Each is its reader's to zero. The engine's stream takes no pipe of Wine's. */
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
 * Standard input as text, of up to `LARGEST_INPUT` bytes: to its end, or to where `isWhole` says that nothing more is
 * waited for. Throws WordsError.
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
      if (bytes.length > LARGEST_INPUT)
        throw new ArgumentError(`Standard input has more than ${LARGEST_INPUT} bytes`);
      if (isWhole(bytes)) break;
    }
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    const { name, code } = error as Error & { code?: string };
    if (name === "WordsError") throw error;
    if (name === "TypeError") throw new ArgumentError("Standard input is not text in UTF-8");
    throw new ArgumentError(`Standard input could not be read (${code})`);
  } finally {
    bytes.fill(0);
  }
}

export function withoutLineBreak(text: string): string {
  const [line] = /^[^\n]*?(?=\r?\n$)/.exec(text) ?? [];
  return line ?? text;
}
