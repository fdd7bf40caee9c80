// Tests which texts of the engine are changed, and that a change keeps the length.
import { expect, test } from "bun:test";
import { renameTools } from "../../../build/executable/engine-message-patch.ts";

function renamed(engine: string, program = engine): string {
  const bytes = Buffer.from(program, "latin1");
  renameTools(bytes, Buffer.from(engine, "latin1"));
  return bytes.toString("latin1");
}

test.each([
  ["run 'bun install' first", "run 'rt install'  first"],
  ["run 'bun install'\n", "run 'rt install' \n"],
  ["run 'bun install', then 'bun prune'", "run 'rt install ', then 'rt prune '"],
  ['need to "bun install"?\0', 'need to "rt install "?\0'],
  ["run `bun install`\0next", "run `rt install `\0next"],
  ["run 'bun pm trust \xc07' and", "run 'rt pm trust  \xc07' and"],
  ["Run 'bun \xc0\x1d --help'", "Run 'rt  \xc0\x1d --help'"],
  ["\0\rbun install v\xc0\x01\n", "\0\rrt install  v\xc0\x01\n"],
  ["\0\x04bun \xc0\x02 v\xc0\x01\n", "\0\x03rt \xc0\x03  v\xc0\x01\n"],
  [
    "\xc0\x20 formatting. Run bun fmt to fix \xc0\x02.\n\0",
    "\xc0\x1f formatting. Run rt fmt to fix \xc0\x03. \n\0",
  ],
  ["found in \xc0\x15. Run bun fmt to fix.\0", "found in \xc0\x15. Run rt fmt to fix. \0"],
  ["\x18bun: command not found: \xc0\x01\n\0", "\x17rt: command not found: \xc0\x02 \n\0"],
  ["\x1b[36mbun patch\x1b[0m on", "\x1b[36mrt patch \x1b[0m on"],
  ["\x1b[36mbun\x1b[0m\x1b[2m install", "\x1b[36mrt\x1b[0m \x1b[2m install"],
  ["<green>bun audit fix<r>", "<green>rt audit fix <r>"],
  ["\n  bunx prettier\n  bunx --bun vite", "\n  rt x prettier\n  rt x --bun vite"],
  ["Alone: bun checkType", "Alone: rt check Type"],
  ["bun bun install", "bun rt install "],
])("renames bun to rt in %j", (text, expected) => {
  expect(renamed(text)).toBe(expected);
  expect(expected.length).toBe(text.length);
});

test.each([
  "then\n  bun x --silent node-gyp $@\n",
  '<testsuites name="bun test"',
  '"build": "bun run build.ts"',
  "--target=bun --outfile",
  "target bun \xc0\xc0",
  "# bun completions\n",
  "diff --git diff --bun a/b/new",
  "/bun install",
  ".bunx-\xc0",
  "\0bunx\0msetnx",
  "\x48\xb8bun add \x90",
  "bun installer",
  "bun test_",
  "bun install-x",
  "Install it: bun add ${missing}",
  "Bun install",
])("leaves %j unchanged", (text) => {
  expect(renamed(text)).toBe(text);
});

test("changes no bytes that are not the engine's", () => {
  expect(renamed("run bun install\0", "run bun install\0 and run bun install of ours")).toBe(
    "run rt install \0 and run bun install of ours",
  );
  expect(renamed("run bun install here", "run our program here")).toBe("run our program here");
});
