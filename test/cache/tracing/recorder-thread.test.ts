// Limits of the recorder thread: signals, memory, descriptors and unusual path resolution.
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { rename, rm, symlink, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { RT, runRt } from "../../support/rt.ts";
import { CAN_TRACE, cachedCases, cachedProject, mapCases } from "../cached-project.ts";

/** All signals except SIGKILL and SIGSTOP, which cannot be blocked. */
const ALL_BLOCKED = "SigBlk:\tfffffffffffbfeff";

test.skipIf(!CAN_TRACE)("the recorder thread blocks all signals", async () => {
  const show = "grep -h SigBlk /proc/$PPID/task/*/status";
  await using project = await cachedProject({ followed: show, plain: show }, {}, "followed = true");
  const masks = async (script: string) => (await project.rt(["run", script])).stdout.trim().split("\n");
  expect(await masks("followed")).toContain(ALL_BLOCKED);
  // Otherwise the mask could be that of another thread of rt.
  expect(await masks("plain")).not.toContain(ALL_BLOCKED);
});

test.skipIf(!CAN_TRACE)(
  "a script runs uncached with a warning when there is no memory for its trace",
  async () => {
    const many = 'for i in {1..2000}; do test -e "absent-$i"; done; cat source; echo done';
    await using project = await cachedProject({ many: `bash -c '${many}'` }, { source: "source\n" });
    // The limit also applies to files in memory. The script's trace exceeds it, rt's own data does not.
    const { stdout, stderr, status } = await runRt({
      program: ["bash", "-c", 'ulimit -f 32; exec "$0" "$@"', RT],
      args: ["run", "many"],
      cwd: project.path,
      env: { XDG_CACHE_HOME: project.cache },
    });
    expect({ stdout, stderr, status }).toEqual({
      stdout: "source\ndone\n",
      stderr: expect.stringContaining("many was not cached: the tracer ran out of memory; run it again"),
      status: 0,
    });
    expect(await project.run("many")).toBe("ran");
    expect(await project.run("many")).toBe("hit");
    await project.write({ "absent-1999": "" });
    expect(await project.run("many")).toBe("ran");
  },
);

/** Paths whose meaning changes during the script, or differs from their text. Each names the file that must be an input. */
const MEANINGS: Readonly<Record<string, readonly [script: string, input: string]>> = {
  "a link in place of a directory that the script removed": [
    "mkdir d; cp one/file d; cat d/file; rm -r d; ln -s two d; cat d/file",
    "two/file",
  ],
  "a link in place of a directory that the script moved": [
    "mkdir d; cp one/file d; cat d/file; mv d e; ln -s two d; cat d/file",
    "two/file",
  ],
  "a link in place of a missing path": ["cat d/file; ln -s two d; cat d/file", "two/file"],
  "a file that could not be removed": ["rmdir one/file; cat one/file", "one/file"],
  "a name in a directory that could not be removed": ["rmdir one; ls one", "one/new"],
  "a file behind another process's directory": [
    "(cd two; sleep 0 & cat /proc/$!/../self/cwd/file; wait)",
    "two/file",
  ],
  "a file that a path through /dev resolves to": ["cat /dev/.//../$PWD/two/file", "two/file"],
  "a file behind a descriptor": ["exec 3< two; cat /dev/fd/3/file", "two/file"],
  "a file behind standard input": ["cat /dev/stdin/file < two", "two/file"],
  "a file that a path resolves to with extra slashes and dots": [
    "cd two; cat /proc/./self//cwd/file",
    "two/file",
  ],
  "a file that a path resolves to through its descriptors": ["cd two; cat /dev/fd/../cwd/file", "two/file"],
  "a file that a path resolves to through its root and its descriptors": [
    "cd two; cat /proc/self/root/dev/fd/../cwd/file",
    "two/file",
  ],
  "a file that a path resolves to through /proc/net": ["cd two; cat /proc/net/../cwd/file", "two/file"],
  "a file that a path resolves to through its thread": [
    "cd two; cat /proc/thread-self/../../cwd/file",
    "two/file",
  ],
  "a file that a path resolves to through a link in /sys": [
    "NEAR=$(find /sys/devices -maxdepth 4 -type l -name subsystem | head -n 1); cat $NEAR/../../../$PWD/two/file",
    "two/file",
  ],
  "a file that a path resolves to through a link in /dev/shm": [
    "LINK=/dev/shm/rt-$$; ln -s $PWD/one $LINK; cd two; cat $LINK/../two/file; rm $LINK",
    "two/file",
  ],
  "a file that a path resolves to through standard input": ["cat /dev/stdin/../two/file < one", "two/file"],
};

test.skipIf(!CAN_TRACE)("the trace includes the file that each path means", async () => {
  await using project = await cachedCases(
    mapCases(MEANINGS, ([script]) => ({
      script: `bash -c '${script}' 2> /dev/null; rm -rf d e; true`,
      files: { "one/file": "one", "two/file": "two" },
    })),
  );
  const [ran, hit] = [mapCases(MEANINGS, () => "ran"), mapCases(MEANINGS, () => "hit")];
  expect(await project.runAll()).toEqual(ran);
  expect(await project.runAll()).toEqual(hit);
  for (const [what, [, input]] of Object.entries(MEANINGS))
    await writeFile(project.at(what, input), "changed");
  expect(await project.runAll()).toEqual(ran);
  expect(await project.runAll()).toEqual(hit);
});

test.skipIf(!CAN_TRACE)("the trace includes a symlink in /dev/shm that a path resolves through", async () => {
  await using project = await cachedProject(
    {},
    { "one/d/x": "", "one/file": "1", "two/d/x": "", "two/file": "2" },
  );
  const link = `/dev/shm/${basename(project.path)}`;
  await project.write({
    "package.json": { scripts: { t: `cat ${link}/../file` } },
    "rtfig.toml": "[run.cache]\nt = true\n",
  });
  try {
    await symlink(project.join("one/d"), link);
    expect([await project.run("t"), await project.run("t")]).toEqual(["ran", "hit"]);
    await rm(link);
    await symlink(project.join("two/d"), link);
    expect([await project.run("t"), await project.run("t")]).toEqual(["ran", "hit"]);
  } finally {
    await rm(link, { force: true });
  }
});

test.skipIf(!CAN_TRACE)("the trace includes each directory that a path resolves through", async () => {
  await using project = await cachedProject({ t: "cat one/file" }, { "one/file": "one" });
  expect(await project.run("t")).toBe("ran");
  expect(await project.run("t")).toBe("hit");
  await rename(project.join("one"), project.join("two"));
  await symlink("two", project.join("one"));
  expect(await project.run("t")).toBe("ran");
});

test.skipIf(!CAN_TRACE)("outputs below a moved directory are recorded at their new path", async () => {
  await using project = await cachedProject(
    { t: "mkdir -p a/b; cp source a/b/x; mv a c" },
    { source: "source" },
  );
  expect(await project.run("t")).toBe("ran");
  await rm(project.join("c"), { recursive: true });
  expect(await project.run("t")).toBe("hit");
  expect(await Bun.file(project.join("c/b/x")).text()).toBe("source");
  expect(existsSync(project.join("a"))).toBe(false);
});

test.skipIf(!CAN_TRACE)("the recorder resolves no path in a deleted working directory", async () => {
  const script = "mkdir gone; cd gone; rmdir ../gone; cat file; true";
  await using project = await cachedProject({ t: `bash -c '${script}' 2> /dev/null` });
  const { stderr } = await project.rt(["run", "t"], { RT_DEBUG: "trace" });
  expect(stderr).toMatch(/trace \d+ remove .*\/gone\n/);
  expect(stderr).not.toContain("(deleted)");
});

const RENAMEAT2 = process.arch === "arm64" ? 276 : 316;

const UNCACHEABLE: Readonly<Record<string, readonly [script: string, reason: string]>> = {
  "exchanges two paths": [
    `perl -e 'my ($a, $b) = ("a", "b"); syscall(${RENAMEAT2}, -100, $a, -100, $b, 2) == 0 or die'`,
    "it exchanged two paths: $PROJECT/a",
  ],
  "opens a name that is not UTF-8": [`cat "$(printf 'x\\377')" 2> /dev/null; true`, "is not UTF-8"],
};

test.skipIf(!CAN_TRACE)("a script is not cached when its trace cannot describe what it did", async () => {
  await using project = await cachedCases(
    mapCases(UNCACHEABLE, ([script]) => ({ script, files: { a: "a", b: "b" } })),
  );
  expect(await project.runAll()).toEqual(
    mapCases(UNCACHEABLE, ([, reason]) => expect.stringContaining(reason) as string),
  );
});

const MANY = 100;

test.skipIf(!CAN_TRACE)("one run traces more scripts than it has descriptors", async () => {
  const names = Array.from({ length: MANY }, (_, index) => `p${index}`);
  const files = Object.fromEntries(
    names.map((name) => [
      `packages/${name}/package.json`,
      { name, scripts: { t: "echo $npm_package_name" } },
    ]),
  );
  await using project = await cachedProject({}, files, "t = true");
  await project.write({ "package.json": { name: "root", workspaces: ["packages/*"] } });
  const run = async () => {
    const { stdout } = await runRt({
      // There are fewer descriptors than scripts, so each script must release its own.
      program: ["bash", "-c", 'ulimit -n 90; exec "$0" "$@"', RT],
      args: ["--filter", "p*", "run", "t"],
      cwd: project.path,
      env: { XDG_CACHE_HOME: project.cache },
    });
    return stdout.split("\n");
  };
  expect((await run()).filter((line) => line.endsWith("t: Exited with code 0"))).toHaveLength(MANY);
  expect((await run()).filter((line) => line.includes("t: Cached (saved"))).toHaveLength(MANY);
});
