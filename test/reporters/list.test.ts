// The model, the renderer and the emulator of the list of tasks.
import { describe, expect, test } from "bun:test";
import { parseKeys } from "../../src/reporters/list/key-parser.ts";
import { wantsList } from "../../src/reporters/list/list-default.ts";
import { layoutList, renderList } from "../../src/reporters/list/list-frame.ts";
import {
  createListState,
  type ListEffect,
  type ListState,
  pressKey,
  shownEntries,
  typeInput,
  updateEntry,
} from "../../src/reporters/list/list-model.ts";
import { Pane, SCROLLBACK } from "../../src/reporters/list/pane.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const view = { height: 10, maxScroll: 25 };
const three = createListState(["web dev", "api dev", "docs dev"]);

/** Presses keys one after the other; returns the last state and all effects. */
function press(state: ListState, ...keys: string[]): { state: ListState; effects: ListEffect[] } {
  const effects: ListEffect[] = [];
  for (const key of keys) {
    const change = pressKey(state, key, view);
    state = change.state;
    if (change.effect) effects.push(change.effect);
  }
  return { state, effects };
}

describe("the list is the default", () => {
  const choose = (names: string[], request: Partial<Parameters<typeof wantsList>[1]> = {}) =>
    wantsList(
      names.map((scriptName) => ({ scriptName })),
      { env: {}, sequential: false, ...request },
    );

  test("for two scripts that run until they are stopped", () => {
    expect(choose(["dev", "dev"])).toBe(true);
    expect(choose(["dev:web", "serve", "build"])).toBe(true);
    expect(choose(["dev", "build"])).toBe(false);
    expect(choose(["develop", "watchful"])).toBe(false);
    expect(choose(["dev"], { ui: "list" })).toBe(false);
  });

  test("for a script that runs until it is stopped and its service, unless a task needs the keyboard", () => {
    const service = { scriptName: "db", isDependency: true, rule: { service: true, sources: {} } };
    const request = { env: {}, sequential: false };
    expect(wantsList([service, { scriptName: "dev" }], request)).toBe(true);
    expect(wantsList([service, { ...service, isDependency: false }], request)).toBe(true);
    expect(wantsList([service, service, { scriptName: "test" }], request)).toBe(false);
    const shell = { scriptName: "shell", rule: { interactive: true, sources: {} } };
    expect(wantsList([service, { scriptName: "dev" }, shell], { ...request, ui: "list" })).toBe(false);
  });

  test("the list is not the default if an option or a variable excludes it", () => {
    for (const request of [
      { ui: "stream" },
      { output: "stream" },
      { logPrefix: "none" },
      { elideLines: 5 },
      { sequential: true },
      { env: { ACCESSIBLE: "1" } },
    ] as const)
      expect([request, choose(["dev", "dev"], request)]).toEqual([request, false]);
    expect(choose(["x", "y"], { ui: "list", env: { ACCESSIBLE: "1" } })).toBe(true);
  });
});

describe("the model of the list", () => {
  test("selects within the list", () => {
    expect(press(three, "j", "down").state.selected).toBe(2);
    expect(press(three, "j", "j", "j", "j").state.selected).toBe(2);
    expect(press(three, "j", "up", "k").state.selected).toBe(0);
  });

  test("selects a shown task while the filter is typed, and Esc shows all", () => {
    const filtered = press(three, "/", "D", "o", "c").state;
    expect(shownEntries(filtered)).toEqual([2]);
    expect(filtered.selected).toBe(2);
    const back = press(filtered, "enter", "escape").state;
    expect(shownEntries(back)).toEqual([0, 1, 2]);
    expect(back.selected).toBe(2);
  });

  test("shows all tasks if the filter matches none", () => {
    expect(shownEntries(press(three, "/", "z").state)).toEqual([0, 1, 2]);
  });

  test("letters of a filter or a search are not commands", () => {
    expect(press(three, "/", "q", "r", "s").effects).toEqual([]);
    expect(press(three, "f", "q", "backspace", "x", "enter")).toMatchObject({
      state: { search: "x", mode: "list" },
      effects: [{ type: "find", direction: "up", isNew: true }],
    });
  });

  test("scrolls between the first line and the end, where it follows", () => {
    expect(press(three, "pageup").state.scroll).toBe(9);
    expect(press(three, "pageup", "pageup", "pageup").state.scroll).toBe(25);
    expect(press(three, "g", "G").state.scroll).toBe(0);
    expect(press(three, "pageup", "j").state.scroll).toBe(0);
  });

  test("restarts, stops and quits", () => {
    expect(press(three, "j", "r", "s", "q", "p").effects).toEqual([
      { type: "restart", entry: 1 },
      { type: "stop", entry: 1 },
      { type: "quit" },
      { type: "stream" },
    ]);
  });

  test("sends every byte except Ctrl-Z to the task in input mode", () => {
    expect(press(three, "i").state).toMatchObject({ mode: "list", notice: "web dev is not running" });
    const running = updateEntry(three, 0, { state: "running", hasTerminal: true });
    const { state } = press(running, "i");
    expect(state.mode).toBe("input");
    const typed = typeInput(state, encode("q\x1b[A\x03\x1aj"));
    expect(typed.effect).toEqual({ type: "input", entry: 0, bytes: encode("q\x1b[A\x03") });
    expect(typed.state.mode).toBe("list");
    expect(typed.rest).toEqual(encode("j"));
  });

  test("leaves input mode when the task ends, and not when another one does", () => {
    const running = updateEntry(three, 0, { state: "running", hasTerminal: true });
    const { state } = press(running, "i");
    expect(updateEntry(state, 1, { state: "failed" }).mode).toBe("input");
    expect(updateEntry(state, 0, { state: "failed" }).mode).toBe("list");
  });
});

test.each<[string, string[]]>([
  ["\x1b[A\x1b[B\x1bOA", ["up", "down", "up"]],
  ["\x1b[5~\x1b[6~\x1b[H\x1b[4~", ["pageup", "pagedown", "home", "end"]],
  ["\x1b", ["escape"]],
  ["\r\x7f\x03ä😀", ["enter", "backspace", "ctrl-c", "ä", "😀"]],
  ["\x1b[<0;10;10Mq\x1b[200~", ["q"]],
])("the keys of %j are %j", (text, keys) => {
  expect(parseKeys(encode(text))).toEqual(keys);
});

describe("the frame of the list", () => {
  const state = updateEntry(
    updateEntry(createListState(["a-package-with-a-long-name dev", "日本語 dev", "c"]), 0, {
      state: "running",
      time: 1000,
    }),
    1,
    { state: "failed", time: 65_000, message: "Exited with code 1" },
  );

  test.each([
    [200, 50],
    [80, 24],
    [60, 10],
    [59, 20],
    [30, 12],
    [20, 5],
    [5, 2],
    [1, 1],
  ])("has the size of a terminal of %d columns and %d rows", (columns, rows) => {
    for (const mode of ["list", "filter", "copy", "help"] as const) {
      const { width, height } = layoutList({ ...state, mode }, { columns, rows });
      const output = Array.from({ length: height }, () => "x".repeat(Math.max(width, 0)));
      const lines = renderList({ ...state, mode }, { columns, rows }, { output, now: 9000, useColor: true });
      expect(lines).toHaveLength(rows);
      for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(columns);
    }
  });

  test("shows states, times and the selection without colours", () => {
    const lines = renderList(
      { ...state, selected: 1 },
      { columns: 100, rows: 5 },
      { output: ["out"], now: 9000, useColor: false },
    );
    expect(lines.join("\n")).not.toContain("\x1b");
    expect(lines[0]).toMatch(/^ ● a-package-with-a\S* +8 s │out$/);
    expect(lines[1]).toMatch(/^>✗ 日本語 dev +1m 5s │$/);
    expect(lines[4]).toStartWith("日本語 dev: Exited with code 1");
  });

  test("shows the output alone in copy mode", () => {
    const output = ["one", "two"];
    const size = { columns: 100, rows: 3 };
    const lines = renderList({ ...state, mode: "copy" }, size, { output, now: 0, useColor: true });
    expect(lines.slice(0, 2)).toEqual(output);
  });
});

describe("the emulator", () => {
  function write(pane: Pane, text: string): Promise<void> {
    void pane.write(encode(text));
    return pane.flush();
  }

  async function show(text: string, options = {}): Promise<{ pane: Pane; replies: string[] }> {
    const replies: string[] = [];
    const onReply = (reply: string) => void replies.push(reply);
    const pane = new Pane({ columns: 20, rows: 5, hasTerminal: false, onReply, ...options });
    void pane.write(encode(text));
    await pane.flush();
    return { pane, replies };
  }

  test("lets no title, clipboard, bell, link or text direction through", async () => {
    const evil =
      "\u009b2Ja\x1b]0;owned\x07b\x1b]52;c;eA==\x07\x07\x1b]8;;http://x\x1b\\c\x1bP+q\x1b\\\x1b[21td\u202ee\u2066fg";
    const { pane } = await show(evil);
    const text = pane.lines(0, 5, true).join("\n");
    expect(text).not.toMatch(/\x1b[^[]|\x1b\[(?![\d;]*m)|[\x07\u009b\u202e\u2066]/);
    expect(Bun.stripANSI(text)).toContain("g");
    pane.close();
  });

  test("keeps colours and styles, and omits them without colour", async () => {
    const { pane } = await show("\x1b[1;31mred\x1b[0m plain \x1b[48;2;1;2;3mrgb\x1b[0m");
    expect(pane.lines(0, 1, true)).toEqual(["\x1b[0;1;38;5;1mred\x1b[0m plain \x1b[0;48;2;1;2;3mrgb\x1b[0m"]);
    expect(pane.lines(0, 1, false)).toEqual(["red plain rgb"]);
    pane.close();
  });

  test("keeps the last lines and joins wrapped ones", async () => {
    const many = Array.from({ length: SCROLLBACK + 100 }, (_, at) => `line ${at}\n`).join("");
    const { pane } = await show(`${many}${"w".repeat(30)}\n`);
    const lines = pane.allLines(false);
    expect(lines.length).toBeLessThanOrEqual(SCROLLBACK + 5);
    expect(lines.at(-1)).toBe("w".repeat(30));
    expect(pane.find("LINE 10090", "up", true)).toBeGreaterThan(0);
    expect(pane.find("line 1\n", "up", true)).toBeUndefined();
    pane.close();
  });

  test("highlights every occurrence of the searched text, with and without styles", async () => {
    const { pane } = await show("a Ab \x1b[31mcab\x1b[0m 日ab\n");
    expect(pane.lines(0, 1, true, "AB")).toEqual([
      "a \x1b[0;7mAb\x1b[0m \x1b[0;38;5;1mc\x1b[0;7;38;5;1mab\x1b[0m 日\x1b[0;7mab\x1b[0m",
    ]);
    expect(pane.lines(0, 1, false, "ab")).toEqual(["a Ab cab 日ab"]);
    pane.close();
  });

  test("finds the previous and the next line from the one that was found last, while lines are added", async () => {
    const { pane } = await show("x\ny\nx\ny\nx\n");
    expect(pane.find("x", "up", true)).toBe(4);
    expect(pane.find("x", "up", false)).toBe(2);
    await write(pane, "x\n");
    expect(pane.find("x", "up", false)).toBe(0);
    expect(pane.find("x", "up", false)).toBeUndefined();
    expect(pane.find("x", "down", false)).toBe(2);
    pane.close();
  });

  test("keeps a scrolled view on its lines while lines are added, and the oldest leave the scrollback", async () => {
    const { pane } = await show(Array.from({ length: 20 }, (_, at) => `line ${at}\n`).join(""));
    const shown = (scroll: number) => pane.lines(pane.topOf(scroll, 5), 1, false);
    let scroll = pane.keepPlace(3, 5, true);
    expect(shown(scroll)).toEqual(["line 12"]);
    await write(pane, "more\n".repeat(4));
    expect((scroll = pane.keepPlace(scroll, 5, false))).toBe(7);
    expect(shown(scroll)).toEqual(["line 12"]);
    await write(pane, "more\n".repeat(SCROLLBACK - 14));
    expect(shown((scroll = pane.keepPlace(scroll, 5, false)))).toEqual(["line 12"]);
    await write(pane, "more\n".repeat(200));
    expect((scroll = pane.keepPlace(scroll, 5, false))).toBe(pane.maxScroll(5));
    expect(pane.keepPlace(0, 5, true)).toBe(0);
    pane.close();
  });

  test("the emulator reads the output of a hidden task when it is shown, and only the lines that are kept", async () => {
    const { pane } = await show("");
    for (let at = 0; at < 200_000; at += 100)
      void pane.write(
        encode(Array.from({ length: 100 }, (_, line) => `\x1b[32mline\x1b[39m ${at + line}\n`).join("")),
      );
    expect(pane.lineCount).toBe(1);
    expect(pane.heldBytes).toBeLessThan(400_000);
    await pane.flush();
    expect(pane.allLines(false).at(-1)).toBe("line 199999");
    expect(pane.allLines(false)).toHaveLength(SCROLLBACK + 4);
    pane.close();
  });

  test("answers the task that asks for the position of the cursor", async () => {
    const { pane, replies } = await show("ab\x1b[6n", { hasTerminal: true });
    expect(replies).toEqual(["\x1b[1;3R"]);
    pane.close();
  });

  test("delays a task that writes faster than the emulator reads", async () => {
    const { pane } = await show("\x1b7");
    const pending = pane.write(new Uint8Array(1 << 18).fill(0x61));
    expect(pending).toBeInstanceOf(Promise);
    await pending;
    pane.close();
  });

  test("delays a task that prints one long line, so that the held output is bounded", async () => {
    const { pane } = await show("");
    expect(pane.write(new Uint8Array(1 << 21).fill(0x61))).toBeUndefined();
    expect(pane.write(new Uint8Array(1).fill(0x61))).toBeInstanceOf(Promise);
    expect(pane.heldBytes).toBe(0);
    pane.close();
  });
});
