// Tests that the links, options and commands in pages exist.
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { COMMANDS } from "../../src/options/commands.ts";
import { OPTIONS } from "../../src/options/options.ts";
import {
  CHECK_FLAGS,
  ENTRY_FLAGS,
  HELPER_FLAGS,
  IMPORT_FLAGS,
  SHARE_FLAGS,
  TRUST_FLAGS,
} from "../../src/secrets/commands.ts";
import { REPOSITORY } from "../support/rt.ts";
import { PAGES, readPage } from "./samples.ts";

const texts = new Map(await Promise.all(PAGES.map(async (path) => [path, await readPage(path)] as const)));

function anchorsOf(markdown: string): string[] {
  const html = Bun.markdown.html(markdown, { headings: { ids: true } });
  return [...html.matchAll(/<h\d id="([^"]*)"/g)].map(([, id]) => id!);
}

test.each(PAGES)("the links of %s point to existing files and headings", (page) => {
  const text = texts.get(page)!;
  const withCode = text.replaceAll(/^```.*?^```$/gms, "");
  const links = [...withCode.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
  const broken = links.flatMap(([link, path = "", anchor]) => {
    const target = path === "" ? page : normalize(join(dirname(page), path));
    if (!existsSync(join(REPOSITORY, target))) return [`${link}: no such file`];
    if (anchor === undefined) return [];
    return anchorsOf(texts.get(target) ?? "").includes(anchor) ? [] : [`${link}: no such heading`];
  });
  expect(broken).toEqual([]);
});

test("every page of docs/ can be reached from README.md", () => {
  const reached = new Set<string>(["README.md"]);
  for (const page of reached) {
    for (const [, path] of (texts.get(page) ?? "").matchAll(/\]\((?!https?:)([^)#\s]+\.md)/g))
      reached.add(normalize(join(dirname(page), path!)));
  }
  expect(PAGES.filter((page) => !reached.has(page))).toEqual([]);
});

/** Options in pages that are not in OPTIONS: those of other programs, of the engine's tools and of single commands. */
const FOREIGN: Readonly<Record<string, string>> = {
  "--aggregate-output": "pnpm",
  "--all": "npm run build",
  "--allow-child-process": "node",
  "--allow-downgrade": "rt upgrade",
  "--allow-env": "deno",
  "--allow-net": "node",
  "--allow-read": "deno",
  "--allow-run": "deno",
  "--allow-write": "deno",
  "--deny-all": "mise",
  "--deny-env": "mise",
  "--deny-read": "mise",
  "--log-order": "turbo",
  "--output-logs": "turbo",
  "--raw": "concurrently",
  "--tui": "nx",
  "--reporter": "pnpm",
  "--bundle": "esbuild",
  "--changed": "npm run mutants",
  "--cap-add": "docker",
  "--compile": "rt build",
  "--continue": "turbo",
  "--components": "gnome-keyring-daemon",
  "--dev": "rt add",
  "--dir": "install.sh",
  "--display": "codesign",
  "--file": "npm run release-key",
  "--external": "esbuild",
  "--format": "esbuild",
  "--frozen-lockfile": "rt install",
  "--global": "git",
  "--host": "rt cache serve",
  "--ignore-missing": "sha256sum",
  "--initial-branch": "git",
  "--keychain-profile": "notarytool",
  "--message": "git",
  "--no-bail": "pnpm",
  "--no-install-recommends": "apt-get",
  "--outfile": "rt build",
  "--permission": "node",
  "--platform": "esbuild",
  "--pool": "vitest",
  "--quiet": "git",
  "--recursive": "pnpm",
  "--replace": "gnome-keyring-daemon",
  "--requirements": "codesign",
  "--rerun-each": "bun test",
  "--rollback": "rt upgrade",
  "--armor": "age",
  "--decrypt": "age",
  "--identity": "age",
  "--no-verify": "git",
  "--run": "node",
  "--sha256": "rt upgrade",
  "--sign": "npm run build",
  "--size": "rt cache serve",
  "--ssr": "vite",
  "--strict": "codesign",
  "--target": "npm run build",
  "--theirs": "git",
  "--tokens": "rt cache serve",
  "--unlock": "gnome-keyring-daemon",
  "--url": "npm run build",
  "--verify": "codesign",
  "--wait": "notarytool",
  "--yes": "apt-get",
};

test("every option in a page exists", () => {
  const known = new Set(
    [
      ...OPTIONS,
      ...ENTRY_FLAGS,
      ...HELPER_FLAGS,
      ...IMPORT_FLAGS,
      ...CHECK_FLAGS,
      ...SHARE_FLAGS,
      ...TRUST_FLAGS,
    ]
      .map(({ name }) => `--${name}`)
      .concat("--man"),
  );
  const mentioned = new Set(
    [...texts].flatMap(([path, text]) =>
      // The page of options quotes test titles with options that do not exist.
      path === "docs/reference/options.md"
        ? []
        : [...text.matchAll(/(?<![\w-])--[a-z][a-z0-9.-]*[a-z0-9]/g)].map(([word]) => word),
    ),
  );
  expect([...mentioned].filter((word) => !known.has(word) && !(word in FOREIGN)).toSorted()).toEqual([]);
  expect(Object.keys(FOREIGN).filter((word) => !mentioned.has(word))).toEqual([]);
});

test("every rt command in a page exists", () => {
  const wrong = [...texts].flatMap(([path, text]) =>
    [...text.matchAll(/`rt ([a-z][a-z-]*)(?![\w./:-])/g)].flatMap(([, word]) =>
      word! in COMMANDS || SCRIPTS_OF_SAMPLES.includes(word!) ? [] : [`${path}: rt ${word}`],
    ),
  );
  expect(wrong).toEqual([]);
});

const SCRIPTS_OF_SAMPLES = ["dev"];
