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
    expect(pane.find("LINE 10090", pane.lineCount - 1, "up")).toBeGreaterThan(0);
    expect(pane.find("line 1\n", pane.lineCount - 1, "up")).toBeUndefined();
    pane.close();
  });

  test("answers the task that asks for the position of the cursor", async () => {
    const { pane, replies } = await show("ab\x1b[6n", { hasTerminal: true });
    expect(replies).toEqual(["\x1b[1;3R"]);
    pane.close();
  });

  test("delays a task that writes faster than the emulator reads", async () => {
    const { pane } = await show("");
    const pending = pane.write(new Uint8Array(1 << 18).fill(0x61));
    expect(pending).toBeInstanceOf(Promise);
    await pending;
    pane.close();
  });
});
