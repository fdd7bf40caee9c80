// Texts in the outputs of a script that are the path of its project, and the reason of a miss.
import { expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { createProject } from "../../support/project.ts";
import {
  findForeignMention,
  MentionDetector,
  toStoredEntry,
} from "../../../src/cache/entry/mention-detector.ts";
import type { RecordedOutput } from "../../../src/cache/entry/entry.ts";
import { describeMention } from "../../../src/cache/entry/explanation.ts";
import { userFoldersOf } from "../../../src/cache/relocation/user-folders.ts";
import { hashBytes } from "../../../src/cache/store/file-hash-cache.ts";
import { OutputLog, replacePath, withoutColors } from "../../../src/cache/entry/output-log.ts";

function mentionsIn(text: string, root: string, variables: Readonly<Record<string, string>> = {}) {
  const detector = new MentionDetector({ root, folders: userFoldersOf(variables), variables });
  detector.scan(Buffer.from(text), "dist/a.js");
  return detector.mentions.map(([name]) => name);
}

test.each<readonly [root: string, text: string, expected: boolean]>([
  ["/home/me/shop", "const x = '/home/me/shop/a'", true],
  ["/home/me/shop", "-I/home/me/shop/include", true],
  ["/home/me/shop", "file:///home/me/shop", true],
  ["/home/me/shop", "-home-me-shop", true],
  ["/home/me/shop", Buffer.from("/home/me/shop").toString("base64"), true],
  ["/home/me/shop", "shop of me at home", false],
  ["/home/me/shop", "/home/me/other", false],
  ["/app", "at /app/index.js:1", true],
  ["/app", "file:///app/index.js", true],
  ["/app", "\u001b[1m/app\u001b[0m", true],
  ["/app", 'import "./src/app/page"', false],
  ["/app", "/apple /application", false],
  ["/app", "an app for the web", false],
  ["/app", "/app0 /app9 /appA /appZ /appa /appz 0/app", false],
  ...["/", ":", "@", "[", "`", "{"].map((end) => ["/app", `/app${end}`, true] as const),
  ["/", "no path at all", true],
])("the outputs of a project in %s, with the text %s, contain its path: %p", (root, text, expected) => {
  expect(mentionsIn(text, root)).toEqual(expected ? ["the project"] : []);
});

test("the path of the project is found in a file of several chunks, also across their border", async () => {
  const chunk = 4 << 20;
  const path = "/home/me/shop";
  await using folder = await createProject();
  for (const at of [0, chunk - 5, chunk + 1, 2 * chunk - path.length, 2 * chunk - 1]) {
    const bytes = Buffer.alloc(2 * chunk + path.length, "x");
    bytes.write(path, at);
    await folder.write({ "bundle.js": bytes });
    const detector = new MentionDetector({ root: path, folders: {}, variables: {} });
    detector.scanFile(folder.join("bundle.js"), "dist/bundle.js");
    expect([at, detector.mentions]).toEqual([at, [["the project", "dist/bundle.js", hashBytes(path)]]]);
    expect(detector.isRepositoryShown).toBe(false);
  }
  await folder.write({ "list.txt": `${"x".repeat(chunk - 2)} .git` });
  const detector = new MentionDetector({ root: path, folders: {}, variables: {} });
  detector.scanFile(folder.join("list.txt"), "list.txt");
  expect([detector.mentions, detector.isRepositoryShown]).toEqual([[], true]);
});

test("a stored entry has the mentions of its log, and of the names and contents of its outputs", async () => {
  await using folder = await createProject({ blob: "in /home/me/.cache" });
  const own = { root: "/srv/a/shop", folders: {}, variables: { HOME: "/home/me" } };
  const mentionsOf = (outputs: readonly RecordedOutput[], text = "") => {
    const log = new OutputLog();
    log.add(0, false, Buffer.from(text));
    const entry = { label: "t", created: 1, duration: 1, conditions: [], outputs, own: [], log: "" };
    const { mentioned } = toStoredEntry(entry, own, log, { blobPath: () => folder.join("blob") } as never);
    return mentioned.map(([name, file]) => `${name} in ${file}`);
  };
  expect(mentionsOf([])).toEqual([]);
  expect(mentionsOf([], "in /home/me/.cache")).toEqual(["HOME in "]);
  const path = "/srv/a/shop/dist/x";
  expect(mentionsOf([{ kind: "link", path, target: "/home/me/x" }])).toEqual(["HOME in dist/x"]);
  expect(mentionsOf([{ kind: "file", path, hash: "", mode: 0o644 }])).toEqual(["HOME in dist/x"]);
  const named = "/srv/a/shop/dist/srv-a-shop";
  expect(mentionsOf([{ kind: "link", path: named, target: "y" }])).toEqual([
    "the project in dist/srv-a-shop",
  ]);
});

test("the value of HOME is found where it is not the path of the project, and short values are not looked for", () => {
  const variables = { HOME: "/home/me", NODE: "/bin/x", CI: "1" };
  expect(mentionsIn('{"cache":"/home/me/.cache"}', "/srv/shop", variables)).toEqual(["HOME"]);
  expect(mentionsIn("1", "/srv/shop", variables)).toEqual([]);
});

test("a folder of the user is found where it is that of the project, is below HOME, or is a link, and PATH as a list", async () => {
  expect(mentionsIn("/app", "/app", { HOME: "/app" })).toEqual(["the project", "HOME"]);
  const config = { HOME: "/home/me", XDG_CONFIG_HOME: "/home/me/.config" };
  expect(mentionsIn("/home/me/.config", "/srv/shop", config)).toEqual(["HOME", "XDG_CONFIG_HOME"]);
  await using folder = await createProject({ "real/a": "" });
  symlinkSync("real", folder.join("link"));
  expect(mentionsIn(folder.join("real/.npm"), "/srv/shop", { HOME: folder.join("link") })).toEqual(["HOME"]);
  for (const separator of [":", "\n", '","'])
    expect(mentionsIn(`"/bin${separator}/opt/x"`, "/srv/shop", { PATH: "/bin:/opt/x" })).toEqual(["PATH"]);
});

test("a file with colours depends on FORCE_COLOR, and an output with colours does not", () => {
  const detector = new MentionDetector({ root: "/srv/shop", folders: {}, variables: { FORCE_COLOR: "1" } });
  detector.scan(Buffer.from("\u001b[1mbold"), "");
  expect(detector.mentions).toEqual([]);
  detector.scan(Buffer.from("\u001b[1mbold"), "report.txt");
  expect(detector.mentions.map(([name, file]) => [name, file])).toEqual([["FORCE_COLOR", "report.txt"]]);
});

test.each<[text: string, replaced: string | undefined]>([
  ["in /home/me/shop\n", "in /srv/x\n"],
  ["file:///home/me/shop/a \u001b[1m/home/me/shop\u001b[0m é", "file:///srv/x/a \u001b[1m/srv/x\u001b[0m é"],
  ["/mnt/home/me/shop", undefined],
  ["/home/me/shop-2", undefined],
  ["/home/me/shopé", undefined],
  ["/home/me/shop and -home-me-shop", undefined],
  ["/home/me/|shop", undefined],
])("the output %p with the path of the project is replayed elsewhere as %p", (text, replaced) => {
  const log = new OutputLog();
  for (const part of text.split("|")) log.add(0, false, Buffer.from(part));
  const detector = new MentionDetector({ root: "/home/me/shop", folders: {}, variables: {} });
  detector.scanLog(log);
  expect(detector.mentions.map(([name]) => name)).toEqual(replaced === undefined ? ["the project"] : []);
  if (replaced === undefined) return;
  const replayed = replacePath(log.chunks, "/home/me/shop", "/srv/x").map(({ bytes }) => bytes);
  expect(Buffer.concat(replayed).toString()).toBe(replaced);
});

test("HOME is found in an output with the path of the project only where it is alone, or is not above the project", () => {
  const mentions = (text: string, variables: Readonly<Record<string, string>>) => {
    const log = new OutputLog();
    log.add(0, false, Buffer.from(text));
    const detector = new MentionDetector({ root: "/home/me/shop", folders: {}, variables });
    detector.scanLog(log);
    return detector.mentions.map(([name]) => name);
  };
  expect(mentions("/home/me/shop", { HOME: "/home/me" })).toEqual([]);
  expect(mentions("/home/me/shop /home/me", { HOME: "/home/me" })).toEqual(["HOME"]);
  expect(mentions("/home/me/shop", { HOME: "/home/me/shop" })).toEqual(["HOME"]);
  expect(mentions("/home/me/shop/bin:/bin", { PATH: "/home/me/shop/bin:/bin" })).toEqual(["PATH"]);
});

test("a mention is valid only for an own variable with the same value, also if an entry names a property of each object", () => {
  const own = { root: "/srv/shop", folders: {}, variables: { HOME: "/home/me" } };
  const isForeign = (name: string, value: string) =>
    findForeignMention([[name, "", hashBytes(value)]], own) !== undefined;
  expect(isForeign("the project", "/srv/shop")).toBe(false);
  expect(isForeign("the project", "/srv/other")).toBe(true);
  expect(isForeign("HOME", "/home/me")).toBe(false);
  for (const name of ["HOME", "PATH", "constructor", "__proto__"]) expect(isForeign(name, "/x")).toBe(true);
});

test("the reason of a miss names the file and the value", () => {
  expect(describeMention(["the project", "dist/a.js", ""], "/app")).toBe(
    'dist/a.js contains "/app", the path of the project, so the result is valid only there; use the same path for all checkouts',
  );
  expect(describeMention(["HOME", "", ""], "/app")).toBe(
    "its output contains the value of HOME, so the result is valid only with that value",
  );
});

test("colours are removed from an output, also where a sequence is cut, and other bytes and chunks are kept", () => {
  const chunk = (text: string, isError = false) => ({ step: 0, isError, bytes: Buffer.from(text, "latin1") });
  const texts = (chunks: readonly ReturnType<typeof chunk>[]) =>
    withoutColors(chunks).map(({ bytes }) => Buffer.from(bytes).toString("latin1"));
  expect(
    texts([chunk("\u001b[1mb\u001b[38;5;1"), chunk("x\u001b", true), chunk("2m\u00e9\u001b[0m\u001b[2K")]),
  ).toEqual(["b", "x\u001b", "\u00e9\u001b[2K"]);
  const plain = [chunk("b"), chunk("\u001b[2K")];
  expect(withoutColors(plain).every((each, index) => each === plain[index])).toBe(true);
});
