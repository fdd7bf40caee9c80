// Tests a full disk for temporary files, a full standard output and a report that cannot be written: no output is lost
// without a message.
import { describe, expect, test } from "bun:test";
import { readdirSync, truncateSync, watch } from "node:fs";
import { TaskLog } from "../../src/reporters/task-log.ts";
import { appendFile } from "node:fs/promises";
import { createMark, waitUntil } from "../support/processes.ts";
import { createProject } from "../support/project.ts";
import { expectRt, RT, runRt, startRt } from "../support/rt.ts";
import { setVariables } from "../support/own-environment.ts";
import { scripts, workspace } from "../support/workspace.ts";

/** No file can grow, as on a full disk; writes to pipes work. */
const WITHOUT_ROOM = ["bash", "-c", 'ulimit -f 0; exec "$0" "$@"', RT];
const WAIT = "read go < ../../go";

describe.skipIf(process.platform === "win32")(
  "rt run on GitHub Actions without room for temporary files",
  () => {
    const args = ["run", "--silent", "--concurrency", "2", "--filter", "*", "t"];
    const env = { GITHUB_ACTIONS: "true" };

    test.each([
      ["slightly more than the memory buffer", 200_000],
      ["much more than the memory buffer", 4_000_000],
    ])("shows buffered output completely: %s", async (_, count) => {
      await using project = await createProject(
        workspace({ a: scripts(WAIT), b: scripts(`seq ${count}; echo > ../../go`) }),
      );
      await Bun.$`mkfifo ${project.join("go")}`;
      const { stdout, status } = await runRt({ program: WITHOUT_ROOM, args, env, cwd: project.path });
      const start = stdout.indexOf("::group::b t\n") + "::group::b t\n".length;
      const shown = stdout.slice(start, stdout.indexOf("::endgroup::", start));
      expect(status).toBe(0);
      expect(shown.length).toBe(seqLength(count));
      expect(shown.endsWith(`\n${count}\n`)).toBe(true);
    });

    test("blocks a script with a warning when its output exceeds the memory limit", async () => {
      await using project = await createProject(
        workspace({
          a: scripts(`printf open; : > ../../opened; ${WAIT}`),
          b: scripts("until [ -e ../../opened ]; do sleep 0.05; done; head -c 100000000 /dev/zero"),
        }),
      );
      await Bun.$`mkfifo ${project.join("go")}`;
      const child = startRt({ program: WITHOUT_ROOM, args, env, cwd: project.path });
      let early = "";
      let size = 0;
      let isReleased = false;
      for await (const bytes of child.stdout) {
        size += bytes.length;
        if (size < 1000) early += Buffer.from(bytes).toString();
        if (isReleased || !early.includes("until its group is shown\n")) continue;
        isReleased = true;
        await appendFile(project.join("go"), "\n");
      }
      expect(await child.exited).toBe(0);
      expect(early).toStartWith(
        "::group::a t\nopen\n::warning::Cannot buffer the output of b t (EFBIG): the script waits until its group is shown\n",
      );
      expect(size).toBeGreaterThan(100_000_000);
    });

    test.skipIf(process.platform !== "linux")(
      "ends with an error when the log file was truncated",
      async () => {
        await using project = await createProject(
          workspace({
            a: scripts(WAIT),
            b: scripts("seq 300000; echo > ../../written; sleep 1012"),
          }),
        );
        await Bun.$`mkfifo ${project.join("go")} ${project.join("written")}`;
        const mark = createMark();
        const child = startRt({ args, env: { ...env, ...mark.env }, cwd: project.path });
        await Bun.file(project.join("written")).text();
        const files = readdirSync(`/proc/${child.pid}/fd`).map((name) => `/proc/${child.pid}/fd/${name}`);
        const targets = await Promise.all(
          files.map((file) =>
            Bun.$`readlink ${file}`
              .nothrow()
              .text()
              .catch(() => ""),
          ),
        );
        const index = targets.findIndex((target) => target.includes("rt-log-"));
        expect(targets[index]!.trim()).toEndWith("/log (deleted)"); // unlinked, so it never outlives rt
        const log = files[index]!;
        await waitUntil(() => Bun.file(log).size > 0);
        truncateSync(log, 0);
        await appendFile(project.join("go"), "\n");
        expect(await new Response(child.stderr).text()).toMatch(
          /^error: Cannot read the buffered output of a script in .*: the file was truncated\n$/,
        );
        expect(await child.exited).toBe(1);
        await waitUntil(() => mark.find().length === 0);
      },
    );
  },
);

function seqLength(count: number): number {
  let length = 0;
  for (let first = 1; first <= count; first *= 10)
    length += (Math.min(first * 10 - 1, count) - first + 1) * (String(first).length + 1);
  return length;
}

test("a log shown at the end keeps the start and the end of an output, and names the bytes omitted", () => {
  const before = setVariables({ TMPDIR: "/dev/null/nowhere" });
  try {
    const log = new TaskLog({ whenFull: "drop" });
    const other = new TaskLog({ whenFull: "drop" });
    const piece = (index: number) => Buffer.alloc(1 << 20, index);
    for (let index = 0; index < 100; index += 1) expect(log.append(piece(index))).toBeUndefined();
    expect(log.isWhole).toBe(false);
    const parts = [...log.take()];
    const kept = parts.slice(1);
    expect(kept.length).toBeGreaterThan(60);
    expect(kept.length).toBeLessThanOrEqual(64);
    expect(kept.map((part) => part[0])).toEqual(kept.map((_, index) => 100 - kept.length + index));
    expect(Buffer.from(parts[0]!).toString()).toBe(
      `\n[${(100 - kept.length) * 2 ** 20} bytes omitted: cannot write to /dev/null/nowhere: ENOTDIR]\n`,
    );
    expect(log.isEmpty).toBe(true);
    // Output that was taken or discarded frees its room for other logs.
    for (let index = 0; index < 60; index += 1) void log.append(piece(index));
    log.discard();
    for (let index = 0; index < 60; index += 1) void other.append(piece(index));
    expect(other.isWhole).toBe(true);
    other.discard();
  } finally {
    setVariables(before);
  }
});

const isLinux = process.platform === "linux";
const startWith = (redirection: string) => ["bash", "-c", `exec "$0" "$@" ${redirection}`, RT];

describe.skipIf(!isLinux)("rt run with a full standard output", () => {
  const FULL = "error: Cannot write to standard output: ENOSPC\n";

  test.each([
    ["a list", ["--filter", "*"]],
    ["a plan", ["--dry-run", "--filter", "*", "t"]],
    ["a plan as JSON", ["--dry-run=json", "--filter", "*", "t"]],
  ])("fails when it prints %s", (_, args) =>
    expectRt({
      files: workspace({ a: scripts("true") }),
      program: startWith("> /dev/full"),
      args: ["run", ...args],
      stderr: FULL,
      status: 1,
    }),
  );

  test("ends its scripts and still writes to standard error", () =>
    expectRt({
      files: { "package.json": { scripts: { t: "echo x; exec sleep 1013", u: "exec sleep 1013" } } },
      program: startWith("> /dev/full"),
      args: ["run", "--parallel", "t", "u"],
      stderr:
        /^error: Cannot write .*: ENOSPC\n([tu] \| Killed by SIGTERM\n){2}\n2 scripts in .*: 2 stopped\n/,
      status: 1,
    }));

  test("fails when it prints a group", () =>
    expectRt({
      files: workspace({ a: scripts("echo x"), b: scripts("echo x") }),
      program: startWith("> /dev/full"),
      env: { GITHUB_ACTIONS: "true" },
      args: ["run", "--silent", "--filter", "*", "t"],
      stderr: FULL,
      status: 1,
    }));

  test("fails without a message when standard error is full instead", () =>
    expectRt({
      files: { "package.json": { scripts: { t: "echo x" } } },
      program: startWith("2> /dev/full"),
      args: ["run", "--parallel", "t", "t"],
      stdout: "t | x\n",
      status: 1,
    }));
});

test("a list whose reader has closed the pipe ends with the status of SIGPIPE", async () => {
  await using project = await createProject(workspace({ a: scripts("true") }));
  const command = `"$0" run --filter '*' | :; echo \${PIPESTATUS[0]}`;
  // A reader that closes late: rt has already written the list.
  const { stdout, stderr } = await runRt({ program: ["bash", "-c", command, RT], cwd: project.path });
  expect(["0\n", "141\n"]).toContain(stdout);
  expect(stderr).toBe("");
});

describe.skipIf(process.platform === "win32")("rt run --report", () => {
  test.skipIf(!isLinux)("fails when the report is a full file", () =>
    expectRt({
      files: { "package.json": { scripts: { t: "true" } } },
      args: ["run", "--parallel", "--report", "/dev/full", "t"],
      stderr: /^t \| Done in .*\nerror: Cannot write the report \/dev\/full: ENOSPC\n$/,
      status: 1,
    }),
  );

  test("keeps the previous report, and leaves no temporary file, when the disk is full", async () => {
    await using project = await createProject({
      "package.json": { scripts: { t: "true" } },
      "report.json": "before",
    });
    const args = ["run", "--parallel", "--report", "report.json", "t"];
    const { stderr, status } = await runRt({ program: WITHOUT_ROOM, args, cwd: project.path });
    expect(stderr).toEndWith(`error: Cannot write the report ${project.join("report.json")}: EFBIG\n`);
    expect(status).toBe(1);
    expect(readdirSync(project.path).sort()).toEqual(["package.json", "report.json"]);
    expect(await Bun.file(project.join("report.json")).text()).toBe("before");
  });

  test("follows no link at the path of a temporary file", async () => {
    await using project = await createProject({
      "package.json": { scripts: { t: "true" } },
      victim: "untouched",
    });
    const script = `for name in report.json.$$.tmp report.json.tmp .report.json.tmp; do ln -s victim $name; done
      exec "$0" run --silent --parallel --report report.json t`;
    const { status } = await runRt({ program: ["sh", "-c", script, RT], cwd: project.path });
    expect(status).toBe(0);
    expect(await Bun.file(project.join("victim")).text()).toBe("untouched");
    expect(await Bun.file(project.join("report.json")).text()).toContain('"version": 1');
  });

  test.skipIf(!isLinux)(
    "writes to a temporary file with a random name before the atomic rename",
    async () => {
      await using project = await createProject({ "package.json": { scripts: { t: "true" } } });
      const seen = new Set<string>();
      const { promise: renamed, resolve } = Promise.withResolvers<void>();
      const watcher = watch(project.path, (_, name) => {
        seen.add(name!);
        if (name === "report.json") resolve();
      });
      await runRt({ args: ["run", "--parallel", "--report", "report.json", "t"], cwd: project.path });
      await renamed;
      watcher.close();
      const [draft, ...others] = [...seen].filter((name) => name !== "report.json");
      expect(draft).toMatch(/^report\.json\.[\da-f]{8}-[\da-f-]{27}\.tmp$/);
      expect(others).toEqual([]);
    },
  );
});
