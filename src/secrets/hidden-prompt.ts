// Prompts for a value on the terminal without echoing it.
//
// Non-obvious:
// - The terminal is in raw mode: in canonical mode a line ends after 4095 bytes, and some tokens are longer. This module
//   therefore handles the editing keys.
// - Bracketed paste is enabled, so that a key of many lines can be pasted. Without it, the shell would run the second line as
//   a command.
import { readSync } from "node:fs";
import { isatty, ReadStream } from "node:tty";
import { host } from "../../platform/processes/process.ts";
import { report } from "../output.ts";

export interface Typed {
  readonly text: string;
  readonly state: "typing" | "entered" | "interrupted" | "suspended";
  readonly isPasting: boolean;
}

export const NOTHING_TYPED: Typed = { text: "", state: "typing", isPasting: false };

const MARK_PASTES = "\x1b[?2004h";
const UNMARK_PASTES = "\x1b[?2004l";
const PASTE_BEGINS = "\x1b[200~";
const PASTE_ENDS = "\x1b[201~";
/** A control sequence (the paste markers included), a two-byte escape, a line break or any character. */
const KEYS = /\x1b\[[\d;?]*[@-~]|\x1b[^[]|\r\n|[^]/gu;

/** Returns the state of the input after these keys. */
export function typeKeys(typed: Typed, keys: string): Typed {
  let { text, isPasting } = typed;
  for (const [key] of keys.matchAll(KEYS)) {
    if (key === PASTE_BEGINS) isPasting = true;
    else if (key === PASTE_ENDS) isPasting = false;
    else if (isPasting) text += key === "\r" || key === "\r\n" ? "\n" : key;
    else if (key === "\r" || key === "\n" || key === "\r\n") return { text, state: "entered", isPasting };
    else if (key === "\x03") return { text: "", state: "interrupted", isPasting };
    else if (key === "\x1a") return { text: "", state: "suspended", isPasting };
    else if (key === "\x04" && text === "") return { text, state: "interrupted", isPasting };
    else if (key === "\x7f" || key === "\b") text = text.replace(/.$/su, "");
    else if (key === "\x15") text = "";
    else if (key >= " ") text += key; // no control character, and no sequence that begins with one
  }
  return { text, state: "typing", isPasting };
}

/** Signals that end a process by default. */
const FATAL_SIGNALS = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"] as const;

/**
 * Returns the value, or null after Ctrl-C or Ctrl-D. Ctrl-Z stops the process, and continuing it prompts again. The terminal
 * is restored when this settles, while the process is stopped, and when a signal ends it.
 */
export async function promptHidden(question: string): Promise<string | null> {
  const canMark = isatty(2) && host.originalVariable("TERM") !== "dumb";
  const terminal = new ReadStream(0);
  let typed = NOTHING_TYPED;
  const show = () => {
    terminal.setRawMode(false); // else the stream skips a mode that it has set before
    terminal.setRawMode(true);
    report(canMark ? MARK_PASTES + question : question);
  };
  const restore = () => {
    report(canMark ? `${UNMARK_PASTES}\n` : "\n");
    terminal.setRawMode(false);
  };
  const addListeners = () => {
    for (const signal of FATAL_SIGNALS) process.on(signal, forwardSignal);
    process.on("SIGTSTP", suspend);
    // The shell may have changed the terminal's mode while the process was stopped; keys would be echoed.
    process.on("SIGCONT", show);
  };
  const removeListeners = () => {
    for (const signal of FATAL_SIGNALS) process.off(signal, forwardSignal);
    process.off("SIGTSTP", suspend);
    process.off("SIGCONT", show);
  };
  const forwardSignal = (signal: NodeJS.Signals) => {
    removeListeners();
    restore();
    process.kill(process.pid, signal);
  };
  /** Returns when the process is continued; at once if the kernel ignores the stop (orphaned process group). */
  const suspend = () => {
    removeListeners();
    restore();
    process.kill(process.pid, "SIGTSTP");
    typed = NOTHING_TYPED;
    addListeners();
    show();
  };
  addListeners();
  show();
  const decoder = new TextDecoder();
  try {
    for await (const chunk of host.hasInput ? readKeys(host.hasInput) : terminal) {
      typed = typeKeys(typed, decoder.decode(chunk as Uint8Array, { stream: true }));
      if (typed.state === "suspended") suspend();
      else if (typed.state !== "typing") break;
    }
    return typed.state === "entered" ? typed.text : null;
  } finally {
    removeListeners();
    restore();
  }
}

const POLL_INTERVAL = 10; // ms

/**
 * Yields the typed keys until the end of the input, by polling. A stream would keep a blocked read in a thread. That read
 * takes the next key from a later prompt or from the program that rt executes.
 */
async function* readKeys(hasInput: () => boolean): AsyncGenerator<Uint8Array> {
  const keys = new Uint8Array(1024);
  for (;;) {
    while (!hasInput()) await Bun.sleep(POLL_INTERVAL);
    const length = readSync(0, keys);
    if (length === 0) return;
    yield keys.subarray(0, length);
    keys.fill(0);
  }
}
