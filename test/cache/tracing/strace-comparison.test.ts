// Compares the trace of a script with strace on the same processes: each call with a path and each listing. Neither may have
// more than the other.
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import { CALLS } from "../../../platform/tracing/linux/syscalls.ts";
import { REPOSITORY, RT } from "../../support/rt.ts";
import { type CachedProject, cachedProject } from "../cached-project.ts";

const CALL = /^(\d+) +(\w+)\((.*)$/;
const TEXT = /"((?:[^"\\]|\\.)*)"/g;

/** The indexes of paths among the string arguments of a call. The default is the first. */
const PATH_INDEXES: Readonly<Record<string, readonly number[]>> = {
  rename: [0, 1],
  renameat: [0, 1],
  renameat2: [0, 1],
  link: [0, 1],
  linkat: [0, 1],
  symlink: [1],
  symlinkat: [1],
};

/** Returns `thread path` for each call with the path as given, and `thread listing` for each listing. */
function callsOfStrace(log: string): Set<string> {
  const seen = new Set<string>();
  for (const line of log.split("\n")) {
    const [, thread, name, rest] = CALL.exec(line) ?? [];
    if (name === undefined) continue;
    if (name.startsWith("getdents")) {
      seen.add(`${thread} listing`);
      continue;
    }
    const texts = [...rest!.matchAll(TEXT)].map(([, text]) => text!);
    for (const place of PATH_INDEXES[name] ?? [0]) if (texts[place]) seen.add(`${thread} ${texts[place]}`);
  }
  return seen;
}

function callsOfRt(stderr: string): { calls: Set<string>; listings: Set<string> } {
  const calls = new Set<string>();
  const listings = new Set<string>();
  for (const line of stderr.split("\n")) {
    const [, thread, kind, path] = /^warning: trace (\d+) (\w+) (.*)$/.exec(line) ?? [];
    if (path === undefined) continue;
    if (kind === "list") listings.add(`${thread} listing`);
    else calls.add(`${thread} ${path}`);
  }
  return { calls, listings };
}

const threadOf = (call: string) => call.split(" ", 1)[0]!;

function hasCall(calls: ReadonlySet<string>, isMeant: (call: string) => boolean): boolean {
  for (const call of calls) if (isMeant(call)) return true;
  return false;
}

/** @param shown a call from strace, with the path as given */
function isSame(shown: string, call: string): boolean {
  const thread = threadOf(shown);
  return shown === call || (thread === threadOf(call) && call.endsWith(`/${shown.slice(thread.length + 1)}`));
}

const NAMES = CALLS.filter(({ paths }) => paths).map(({ name }) => name);

/** musl's dynamic loader makes other calls than glibc's. */
const MUSL = existsSync("/lib") ? readdirSync("/lib").find((name) => name.startsWith("ld-musl-")) : undefined;

/** Compiles a program that needs only the project's own libraries. */
function makeProgram(project: CachedProject): void {
  const names = ["one", "two", "three", "four"];
  const compile = (...words: readonly string[]) => {
    const { exitCode, stderr } = Bun.spawnSync(["cc", "-nostdlib", ...words], { cwd: project.path });
    expect({ exitCode, stderr: exitCode === 0 ? "" : `${stderr}` }).toEqual({ exitCode: 0, stderr: "" });
  };
  for (const name of names) {
    writeFileSync(project.join(`${name}.c`), `int ${name}(void) { return 0; }\n`);
    compile("-shared", "-fPIC", "-o", `source/lib${name}.so`, `${name}.c`);
  }
  mkdirSync(project.join("made"));
  const calls = names.map((name) => `int ${name}(void);`).join("");
  writeFileSync(project.join("program.c"), `${calls}void _start(void) { ${names.join("();")}(); }\n`);
  compile("-o", "made/program", "program.c", "-Lsource", ...names.map((name) => `-l${name}`));
}

const WORKLOADS: Readonly<Record<string, string>> = {
  bash: "bash work.sh",
  node: "node work.cjs",
  bun: `${process.execPath} build work.ts --outdir=made`,
  static: "/sbin/ldconfig -p",
  ...(MUSL && { musl: `/lib/${MUSL} --library-path made:absent:a:b:c:d:source --list made/program` }),
  // `npm run test:cache` adds these.
  ...(process.env.RT_TEST_CORPUS === "all" && {
    esbuild: "esbuild --bundle work.ts --outfile=made/out.js",
    vite: "vite build",
    vitest: "vitest run --globals",
  }),
};

const FILES = {
  "work.sh": [
    "mkdir -p made/deep; cat source/a.txt > made/b.txt; test -e absent; ls source; find . -name '*.txt'",
    "ln -s a.txt source/link; readlink source/link; cp -p made/b.txt made/c.txt; mv made/c.txt made/d.txt",
    "(cd source && cat ./a.txt ../work.sh > /dev/null); chmod +x made/d.txt; touch made/e; rm -r made source/link",
    "grep -r a source; ln source/a.txt hard; rm hard; /bin/true; ./absent.sh 2>/dev/null; exit 0",
  ].join("\n"),
  "work.cjs": [
    'const fs = require("fs"), { execFileSync } = require("child_process");',
    'fs.readdirSync("source"); fs.existsSync("absent"); fs.readFileSync("source/a.txt");',
    'execFileSync("cat", ["source/a.txt"]); fs.mkdtempSync("temp-"); fs.rmSync("source/x", { force: true });',
    'try { require("absent-package") } catch {}',
  ].join("\n"),
  "work.ts": 'import { a } from "./other";\nexport const b: number = a;\n',
  "other.ts": "export const a = 1;\n",
  "source/a.txt": "a\n",
  "index.html": '<script type="module" src="/work.ts"></script>',
  "work.test.ts": 'import { b } from "./work";\ntest("b", () => expect(b).toBe(1));\n',
};

// Other systems have no strace.
test.skipIf(process.platform !== "linux").each(Object.entries(WORKLOADS))(
  "the trace of %s equals that of strace",
  async (name, command) => {
    const script = `strace -f -qq -s 4096 -o log -e trace=${NAMES.join(",")} ${command}`;
    await using project = await cachedProject({ work: script.replace(/,(?:fchmodat2)\b/g, "") }, FILES);
    symlinkSync(join(REPOSITORY, "node_modules"), project.join("node_modules"));
    if (name === "musl") makeProgram(project);
    const { stderr, stdout } = await project.rt(["run", "work"], { RT_DEBUG: "trace" });
    const expected = callsOfStrace(await Bun.file(project.join("log")).text());
    const { calls, listings } = callsOfRt(stderr);
    const missing = [...expected].filter((shown) =>
      shown.endsWith(" listing") ? !listings.has(shown) : !hasCall(calls, (call) => isSame(shown, call)),
    );
    // strace does not show its own calls.
    const threads = new Set([...expected].map(threadOf));
    const added = [...calls, ...listings].filter(
      (call) =>
        threads.has(threadOf(call)) &&
        !expected.has(call) &&
        !hasCall(expected, (shown) => isSame(shown, call)),
    );
    const isEqual = missing.length + added.length === 0;
    expect({ missing, added, stdout: isEqual ? "" : stdout }).toEqual({ missing: [], added: [], stdout: "" });
    expect(expected.size).toBeGreaterThan(20);
  },
);

test.skipIf(process.platform !== "linux")(
  "the tracer requests synchronous wake-ups from kernel 6.6 on, and a filter with SPEC_ALLOW",
  async () => {
    await using project = await cachedProject({ work: "true" });
    const words = ["strace", "-f", "-qq", "-e", "trace=ioctl,seccomp", "-o", project.join("log")];
    const env = { ...process.env, XDG_CACHE_HOME: project.cache };
    const { exitCode } = Bun.spawnSync([...words, RT, "run", "work"], { cwd: project.path, env });
    expect(exitCode).toBe(0);
    const log = await Bun.file(project.join("log")).text();
    const [, answer] =
      /ioctl\(\d+, (?:_IOC\(_IOC_WRITE, 0x21, 0x4, 0x8\)|\w*NOTIF_SET_FLAGS), 0x1\) += (\S+)/.exec(log) ?? [];
    const flags = /seccomp\(SECCOMP_SET_MODE_FILTER, (\S+), /.exec(log)?.[1]?.split("|");
    expect(flags).toContain("SECCOMP_FILTER_FLAG_SPEC_ALLOW");
    // Kernels before 6.6 do not support the flag.
    const [major = 0, minor = 0] = release().split(".").map(Number);
    expect(answer).toBe(major * 100 + minor >= 606 ? "0" : "-1");
  },
);
