// Tests build/system-packages.json, the list of programs that the build and the tests need. A new machine must have
// them all after the set-up.
import { expect, test } from "bun:test";
import { existsSync, readFileSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { findProgram, hasProgram, programsOf, SYSTEM_PACKAGES } from "../../build/system-programs.ts";
import { REPOSITORY } from "../support/rt.ts";

const LISTED = new Set(SYSTEM_PACKAGES.flatMap(programsOf));
const LIST = "build/system-programs.ts";

/** Files of the build and the tests, except tables of mutants, which quote lines of other files. */
const sources: { readonly path: string; readonly text: string }[] = [];
for (const path of [...new Bun.Glob("{build,test}/**/*.ts").scanSync(REPOSITORY)].toSorted())
  if (!path.startsWith("test/mutants/tables/") && path !== "test/build/system-packages.test.ts")
    sources.push({ path, text: await Bun.file(join(REPOSITORY, path)).text() });

/** Returns each match of a pattern: its first group, and the file. */
function search(pattern: RegExp): { path: string; word: string }[] {
  return sources.flatMap(({ path, text }) =>
    Array.from(text.matchAll(pattern), (match) => ({ path, word: match[1] ?? match[0] })),
  );
}

/** Optional programs of the build; codesign exists on macOS only. */
const OPTIONAL = ["ldd", "dbus-run-session", "gnome-keyring-daemon", "codesign"];

test("programs are located only through the list", () => {
  const lookups = search(/\bBun\.which\((?:"([\w-]+)")?/g).filter(({ path }) => path !== LIST);
  expect(lookups.filter(({ path, word }) => path.startsWith("test/") || !OPTIONAL.includes(word))).toEqual(
    [],
  );
});

test("system files that decide whether a test runs have a row in the list", () => {
  const files = SYSTEM_PACKAGES.flatMap(({ file }) => file ?? []);
  const probes = search(/\b(?:existsSync|statSync|exists)\("(\/(?:usr|opt|lib|bin|snap)\/[^"]+)"/g);
  expect(probes.filter(({ word }) => !files.includes(word))).toEqual([]);
});

test("programs that are located have a row in the list", () => {
  const lookups = search(/\b(?:hasProgram|findProgram)\("([^"]+)"/g);
  expect(lookups.length).toBeGreaterThan(15);
  expect(lookups.filter(({ word }) => !LISTED.has(word))).toEqual([]);
});

test("programs that are started by name have a row in the list", () => {
  const started = search(
    /\b(?:spawn|spawnSync|outputOfProgram|runQuietly|startOnTerminal)\(\s*\[\s*"([a-z][\w+.-]*)"/g,
  );
  const named = search(/\b(?:program|WINE|AS_OTHER_USER\b[^=\n]*)\s*[:=]\s*\[\s*"([a-z][\w+.-]*)"/g);
  const shell = search(/\bBun\.\$`([a-z][\w+.-]*) /g);
  const all = [...started, ...named, ...shell];
  expect(all.length).toBeGreaterThan(100);
  // These two programs never exist.
  const absent = ["exit", "no-such-program"];
  expect(all.filter(({ word }) => !LISTED.has(word) && !absent.includes(word))).toEqual([]);
});

/** Programs of the packages in every Debian. */
function essentialPrograms(): ReadonlySet<string> {
  const status = readFileSync("/var/lib/dpkg/status", "utf8").split("\n\n");
  const names = status.flatMap((text) => /^Package: (.*)[^]*^Essential: yes$/m.exec(text)?.[1] ?? []);
  const lists = names.flatMap((name) =>
    [name, `${name}:amd64`, `${name}:arm64`].filter((each) => existsSync(`/var/lib/dpkg/info/${each}.list`)),
  );
  const files = lists.flatMap((name) => readFileSync(`/var/lib/dpkg/info/${name}.list`, "utf8").split("\n"));
  return new Set(files.flatMap((path) => /^(?:\/usr)?\/s?bin\/([^/]+)$/.exec(path)?.[1] ?? []));
}

/** Program names that are common words in these files, or shell builtins. */
const WORDS =
  "apt as base bun corepack file go import kill look make mapping open other red rename service size split stat stop strings swapoff tabs tc test time top trust view watch which write x zip".split(
    " ",
  );

/** Debian's npm brings programs such as eslint. The projects of tests install their own. */
function isOfNode(path: string): boolean {
  return existsSync(path) && /\/(?:node_modules|nodejs)\//.test(realpathSync(path));
}

test.skipIf(!existsSync("/var/lib/dpkg/status"))(
  "programs that shell commands of tests start have a row in the list",
  () => {
    const essential = essentialPrograms();
    const installed = new Set(
      ["/usr/bin", "/usr/sbin", "/usr/local/bin"].flatMap((directory) =>
        readdirSync(directory).filter((name) => !isOfNode(join(directory, name))),
      ),
    );
    const lines = search(/(?:["'`(|;&]|&& |\bexec |\benv |\bsudo )\s*([a-z][\w.+-]+)(?= ["'$./\w-])/g);
    const started = lines.filter(
      ({ word }) => installed.has(word) && !essential.has(word) && !WORDS.includes(word),
    );
    expect(started.length).toBeGreaterThan(100);
    expect(started.filter(({ word }) => !LISTED.has(word))).toEqual([]);
  },
);

test("rows of the list name a package once, and its programs", () => {
  const names = SYSTEM_PACKAGES.map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  expect(SYSTEM_PACKAGES.filter((each) => programsOf(each).length === 0 && !each.file)).toEqual([]);
});

test.skipIf(process.platform !== "linux")("all programs that the tests need are installed", () => {
  const needed = SYSTEM_PACKAGES.filter(({ needs = ["test"] }) => needs.includes("test"));
  const missing = needed.filter(
    (each) =>
      (each.file && !existsSync(each.file)) || programsOf(each).some((program) => !Bun.which(program)),
  );
  expect(missing).toEqual([]);
});

test("a program without a row is an error, even if it is installed", () => {
  expect(() => findProgram("rt-test-unlisted")).toThrow(
    new RangeError(
      'build/system-packages.json has no row with the program "rt-test-unlisted"; add its package',
    ),
  );
  expect(() => hasProgram("rt-test-unlisted")).toThrow(RangeError);
});

test("a missing program is reported with the row that provides it", () => {
  const script = `
    import { findProgram, hasProgram } from ${JSON.stringify(join(REPOSITORY, LIST))};
    console.log(hasProgram("aarch64-linux-gnu-gcc", "/proc"));
    try { findProgram("strace", "/proc"); } catch ({ message }) { console.log(message); }`;
  const { stdout, stderr } = Bun.spawnSync([process.execPath, "-e", script]);
  expect(`${stderr}`).toBe(
    'skipped: "aarch64-linux-gnu-gcc" is not installed: package "gcc-aarch64-linux-gnu" of build/system-packages.json\n',
  );
  expect(`${stdout}`).toBe(
    'false\n"strace" is not installed: package "strace" of build/system-packages.json\n',
  );
});
