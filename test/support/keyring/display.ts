// An X display without a screen, and a user's actions on it: typing, pressing keys, waiting for dialogs.
//
//   await using display = await startDisplay();
//   await using keyring = await startKeyring({ display: display.name });
//   await display.awaitDialog("gcr-prompter");
//   await display.type("password");
//   await display.press("Return");
//
// A window manager runs because toolkits accept keys only in a window that has the focus.
import { tmpdir } from "node:os";
import { firstLine } from "./keyring.ts";
import { waitUntil } from "../processes.ts";

export interface Dialog {
  readonly title: string;
  /** Place and size, which change when a line of text appears or disappears. */
  readonly shape: string;
}

export interface Display extends AsyncDisposable {
  /** The value of DISPLAY. */
  readonly name: string;
  /** Resolves with the program's dialog when it has the keyboard and is as expected. */
  awaitDialog(program: string, isExpected?: (dialog: Dialog) => boolean): Promise<Dialog>;
  /** Resolves when the program has no visible dialog. */
  awaitNoDialog(program: string): Promise<void>;
  count(program: string): Promise<number>;
  type(text: string): Promise<void>;
  press(...keys: string[]): Promise<void>;
}

export async function startDisplay(): Promise<Display> {
  // Not the first free number: a display that exits removes its socket, which may belong to a newer display by then.
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

  /** Returns the words that xdotool prints; none when it finds nothing. */
  async function search(...args: string[]): Promise<string[]> {
    const child = spawn(["xdotool", ...args], name);
    const [text] = await Promise.all([new Response(child.stdout).text(), child.exited]);
    return text.split("\n").filter((line) => line !== "");
  }

  const windowsOf = (program: string) => search("search", "--onlyvisible", "--class", program);

  async function dialogOf(program: string): Promise<Dialog | undefined> {
    const [[window = ""], windows] = await Promise.all([search("getwindowfocus"), windowsOf(program)]);
    if (!windows.includes(window)) return undefined;
    const [title = ""] = await search("getwindowname", window);
    return { title, shape: (await search("getwindowgeometry", "--shell", window)).join() };
  }

  return {
    name,
    async awaitDialog(program, isExpected = () => true) {
      let dialog: Dialog | undefined;
      await waitUntil(async () => {
        dialog = await dialogOf(program);
        return dialog !== undefined && isExpected(dialog);
      });
      return dialog!;
    },
    awaitNoDialog: (program) => waitUntil(async () => (await windowsOf(program)).length === 0),
    count: async (program) => (await windowsOf(program)).length,
    async type(text) {
      await search("type", "--delay", "0", text);
    },
    async press(...keys) {
      await search("key", "--delay", "0", ...keys);
    },
    async [Symbol.asyncDispose]() {
      manager.kill("SIGKILL");
      server.kill("SIGTERM"); // removes its socket
      await Promise.all([manager.exited, server.exited]);
    },
  };
}

function spawn(command: readonly string[], display?: string) {
  return Bun.spawn(["setpriv", "--pdeathsig", "KILL", ...command], {
    env: { ...process.env, HOME: tmpdir(), DISPLAY: display },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
}
