// An X display without a screen, and what a person does at it: sees a dialog, types, presses keys.
//
//   await using display = await startDisplay();
//   await using keyring = await startKeyring({ display: display.name });
//   await display.shows("gcr-prompter");
//   await display.type("password");
//   await display.press("Return");
//
// A window manager runs because toolkits take no keys into a window that nobody has given the focus to.
import { firstLine } from "./keyring.ts";
import { waitUntil } from "../processes.ts";

export interface Dialog {
  readonly title: string;
  /** Place and size, which differ when a line of text has come or gone. */
  readonly shape: string;
}

export interface Display extends AsyncDisposable {
  /** For the variable DISPLAY. */
  readonly name: string;
  /** Resolves with the program's dialog when it has the keyboard and is as expected. */
  shows(program: string, isExpected?: (dialog: Dialog) => boolean): Promise<Dialog>;
  /** Resolves when no dialog of the program can be seen. */
  hides(program: string): Promise<void>;
  count(program: string): Promise<number>;
  type(text: string): Promise<void>;
  press(...keys: string[]): Promise<void>;
}

export async function startDisplay(): Promise<Display> {
  // Not the first number that is free: a display that ends takes its socket along, which may be its successor's by then.
  const number = 100 + Math.floor(Math.random() * 50_000);
  const server = spawn([
    "Xvfb",
    `:${number}`,
    "-displayfd",
    "1",
    "-screen",
    "0",
    "1024x768x24",
    "-nolisten",
    "tcp",
  ]);
  const name = `:${await firstLine(server.stdout)}`;
  const manager = spawn(["openbox"], name);

  /** The words that xdotool prints; none when it finds nothing. */
  async function look(...args: string[]): Promise<string[]> {
    const child = spawn(["xdotool", ...args], name);
    const [text] = await Promise.all([new Response(child.stdout).text(), child.exited]);
    return text.split("\n").filter((line) => line !== "");
  }

  const windowsOf = (program: string) => look("search", "--onlyvisible", "--class", program);

  async function dialogOf(program: string): Promise<Dialog | undefined> {
    const [[window = ""], windows] = await Promise.all([look("getwindowfocus"), windowsOf(program)]);
    if (!windows.includes(window)) return undefined;
    const [title = ""] = await look("getwindowname", window);
    return { title, shape: (await look("getwindowgeometry", "--shell", window)).join() };
  }

  return {
    name,
    async shows(program, isExpected = () => true) {
      let dialog: Dialog | undefined;
      await waitUntil(async () => {
        dialog = await dialogOf(program);
        return dialog !== undefined && isExpected(dialog);
      });
      return dialog!;
    },
    hides: (program) => waitUntil(async () => (await windowsOf(program)).length === 0),
    count: async (program) => (await windowsOf(program)).length,
    async type(text) {
      await look("type", "--delay", "0", text);
    },
    async press(...keys) {
      await look("key", "--delay", "0", ...keys);
    },
    async [Symbol.asyncDispose]() {
      manager.kill("SIGKILL");
      server.kill("SIGTERM"); // it removes its socket
      await Promise.all([manager.exited, server.exited]);
    },
  };
}

function spawn(command: readonly string[], display?: string) {
  return Bun.spawn(["setpriv", "--pdeathsig", "KILL", ...command], {
    env: { ...process.env, DISPLAY: display },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
}
