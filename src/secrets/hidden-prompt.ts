// Asks for a value on the terminal without showing it.
//
// The terminal is in raw mode meanwhile, because a line in its own editing mode ends after 4095 bytes, which is
// less than some tokens have; the few keys of editing that people use are handled here. Pastes are asked to be
// marked (bracketed paste), so that a key of many lines can be pasted: unmarked, its second line would go to
// the shell as a command.
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
const LEAVE_PASTES = "\x1b[?2004l";
const PASTE_BEGINS = "\x1b[200~";
const PASTE_ENDS = "\x1b[201~";
/** A marked paste's end, a control sequence, two-byte escape, line break or any character. */
const KEYS = /\x1b\[[\d;?]*[@-~]|\x1b[^[]|\r\n|[^]/gu;

/** What is typed after `keys` have come in. */
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

/** What ends a program that does not catch it. */
const DEADLY = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"] as const;

/**
 * The value, or null when the person gave up with Ctrl-C or Ctrl-D. Ctrl-Z stops the program, which asks anew when it goes
 * on. The terminal is as before when this settles, while the program is stopped, and after a signal has ended it.
 */
export async function promptHidden(question: string): Promise<string | null> {
  const canMark = isatty(2) && host.originalVariable("TERM") !== "dumb";
  const terminal = new ReadStream(0);
  let typed = NOTHING_TYPED;
  const show = () => {
    terminal.setRawMode(false); // or the stream believes that nothing has to be done
    terminal.setRawMode(true);
    report(canMark ? MARK_PASTES + question : question);
  };
  const restore = () => {
    report(canMark ? `${LEAVE_PASTES}\n` : "\n");
    terminal.setRawMode(false);
  };
  const listen = () => {
    for (const signal of DEADLY) process.on(signal, die);
    process.on("SIGTSTP", suspend);
    // A shell may have given the terminal its own settings meanwhile, and what is typed would be shown.
    process.on("SIGCONT", show);
  };
  const listenNoMore = () => {
    for (const signal of DEADLY) process.off(signal, die);
    process.off("SIGTSTP", suspend);
    process.off("SIGCONT", show);
  };
  const die = (signal: NodeJS.Signals) => {
    listenNoMore();
    restore();
    process.kill(process.pid, signal);
  };
  /** Returns when the program goes on: at once where nobody could let it, as without a shell that controls it. */
  const suspend = () => {
    listenNoMore();
    restore();
    process.kill(process.pid, "SIGTSTP");
    typed = NOTHING_TYPED;
    listen();
    show();
  };
  listen();
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
    listenNoMore();
    restore();
  }
}

/** How long a key may wait to be looked at. */
const LOOK_AGAIN_AFTER = 10; // ms

/**
 * What is typed, to the end of the input. A stream reads in a thread that waits, and when it is left takes what is typed
 * next: at another question, or for the program that rt is about to become.
 */
async function* readKeys(hasInput: () => boolean): AsyncGenerator<Uint8Array> {
  const keys = new Uint8Array(1024);
  for (;;) {
    while (!hasInput()) await Bun.sleep(LOOK_AGAIN_AFTER);
    const length = readSync(0, keys);
    if (length === 0) return;
    yield keys.subarray(0, length);
    keys.fill(0);
  }
}
