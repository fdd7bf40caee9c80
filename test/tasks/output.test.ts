import { describe, expect, test } from "bun:test";
import { appendFile, rm } from "node:fs/promises";
import { createProject } from "../support/project.ts";
import { expectRt, RT, runRt, startRt } from "../support/rt.ts";
import { createRandom } from "../support/random.ts";

async function runCat(bytes: Uint8Array): Promise<Buffer> {
  await using project = await createProject({
    "package.json": { workspaces: ["packages/*"] },
    "packages/a/package.json": { name: "a", scripts: { t: "cat bytes" } },
    "packages/a/bytes": bytes,
  });
  const child = startRt({ args: ["run", "--silent", "--filter", "a", "t"], cwd: project.path });
  const output = Buffer.from(await new Response(child.stdout).arrayBuffer());
  expect(await child.exited).toBe(0);
  return output;
}

/** Removes the prefixes, independently of the code under test. */
function withoutPrefixes(output: Buffer, prefix: string): Buffer {
  const text = output.toString("latin1");
  const lines = text.split("\n");
  expect(lines.pop()).toBe("");
  for (const line of lines) expect(line.slice(0, prefix.length)).toBe(prefix);
  return Buffer.from(lines.map((line) => `${line.slice(prefix.length)}\n`).join(""), "latin1");
}

const STATUS = "a t: Exited with code 0\n";

describe("the output prefixer", () => {
  test.each<[string, string | Uint8Array]>([
    ["nothing", ""],
    ["an empty line", "\n"],
    ["no final line break", "abc"],
    ["CRLF", "a\r\nb\r\n"],
    ["a progress bar", "1%\r20%\r100%\ndone\n"],
    ["NUL and control bytes", "a\0b\x1b[31mc\x07\n"],
    ["invalid UTF-8", Uint8Array.of(0xff, 0xfe, 10, 0xc3, 10, 0x80, 0xe2, 0x82)],
    ["empty lines between lines", "\n\n\na\n\n"],
  ])("keeps %s byte for byte", async (_, content) => {
    const bytes = Buffer.from(content as string);
    const expected =
      bytes.length > 0 && bytes.at(-1) !== 10 ? Buffer.concat([bytes, Buffer.from("\n")]) : bytes;
    const output = await runCat(bytes);
    expect(output.subarray(-STATUS.length).toString()).toBe(STATUS);
    expect(withoutPrefixes(output.subarray(0, -STATUS.length), "a t: ")).toEqual(expected);
  });

  test("keeps random bytes in lines of every length", async () => {
    const random = createRandom(7);
    const parts: Uint8Array[] = [];
    for (let round = 0; round < 400; round++) {
      // From dense to long lines and back: covers both prefixing methods and the switches between them.
      const length = Math.floor(random.fraction() ** 4 * 40_000);
      const density = random.below(2) === 0 ? 0.4 : 0.004;
      parts.push(Uint8Array.from({ length }, () => (random.fraction() < density ? 10 : random.below(256))));
    }
    const bytes = Buffer.concat([...parts, Buffer.from("end\n")]);
    const output = await runCat(bytes);
    expect(Bun.hash(withoutPrefixes(output.subarray(0, -STATUS.length), "a t: "))).toBe(Bun.hash(bytes));
  });

  test.skipIf(process.platform !== "linux")(
    "passes a line of 30 MB on unbroken and with little memory",
    async () => {
      // The script reads rt's peak memory itself: getrusage of a child would include the peak of this test process.
      const t = "head -c 30000000 /dev/zero; grep VmHWM /proc/$PPID/status > ../../peak";
      await using project = await createProject({
        "package.json": { workspaces: ["packages/*"] },
        "packages/a/package.json": { name: "a", scripts: { t } },
      });
      const child = startRt({ args: ["run", "--silent", "--filter", "a", "t"], cwd: project.path });
      const output = new Uint8Array(await new Response(child.stdout).arrayBuffer());
      await child.exited;
      expect(output.length).toBe("a t: ".length + 30_000_000 + 1 + STATUS.length);
      expect(output.indexOf(10)).toBe(30_000_005);
      const kilobytes = Number((await Bun.file(project.join("peak")).text()).match(/\d+/)![0]);
      expect(kilobytes).toBeGreaterThan(10_000);
      expect(kilobytes).toBeLessThan(100_000);
    },
  );

  // On GitHub Actions, line by line: some lines are commands there.
  test.each([{}, { GITHUB_ACTIONS: "true" }])(
    "shows an unfinished line when no more output follows, with %j",
    async (env) => {
      await using project = await createProject({
        "package.json": { scripts: { ask: "printf 'name? '; read answer; echo $answer" } },
      });
      const child = startRt({
        args: ["run", "--parallel", "--silent", "ask"],
        cwd: project.path,
        program: ["bash", "-c", `mkfifo answers; exec ${RT} "$@" < <(cat answers)`, "bash"],
        env,
      });
      const reader = child.stdout.getReader();
      expect(new TextDecoder().decode((await reader.read()).value)).toBe("ask | name? ");
      await Bun.write(project.join("answers"), "rt\n");
      let rest = "";
      for (let part = await reader.read(); !part.done; part = await reader.read())
        rest += new TextDecoder().decode(part.value);
      expect(rest).toBe("rt\n");
      await child.exited;
    },
  );

  test("ends an unfinished line before the line of another script", async () => {
    await using project = await createProject({
      "package.json": {
        scripts: {
          a: "printf half; read go < a.pipe; echo ' and half'",
          b: "read go < b.pipe; echo whole; echo > a.pipe",
        },
      },
    });
    await Bun.$`mkfifo ${project.join("a.pipe")} ${project.join("b.pipe")}`;
    const child = startRt({ args: ["run", "--parallel", "--silent", "a", "b"], cwd: project.path });
    const reader = child.stdout.getReader();
    let text = new TextDecoder().decode((await reader.read()).value);
    expect(text).toBe("a | half");
    await Bun.write(project.join("b.pipe"), "\n");
    for (let part = await reader.read(); !part.done; part = await reader.read())
      text += new TextDecoder().decode(part.value);
    expect(text).toBe("a | half\nb | whole\na |  and half\n");
  });

  test("never mixes the lines of several scripts", async () => {
    const scripts = Object.fromEntries(
      ["a", "b", "c", "d"].map((name) => [name, `for i in $(seq 300); do echo ${name.repeat(50)}; done`]),
    );
    await using project = await createProject({ "package.json": { scripts } });
    const child = startRt({ args: ["run", "--parallel", "--silent", "a", "b", "c", "d"], cwd: project.path });
    const lines = (await new Response(child.stdout).text()).split("\n").filter(Boolean);
    expect(lines.length).toBe(1200);
    for (const line of lines) expect(line).toMatch(/^([abcd]) \| \1{50}$/);
  });

  test("gives scripts a standard output that they can reopen", async () => {
    await using project = await createProject({
      "package.json": { scripts: { t: "echo one > /dev/stdout; echo two > /dev/stderr" } },
    });
    const child = startRt({ args: ["run", "--parallel", "--silent", "t"], cwd: project.path });
    expect(await new Response(child.stdout).text()).toBe("t | one\n");
    expect(await new Response(child.stderr).text()).toMatch(/^t \| two\n/);
  });
});

describe("rt run on GitHub Actions", () => {
  test("prints each script as a group without prefixes, and a failure as an annotation", async () => {
    await using project = await createProject({
      "package.json": { workspaces: ["packages/*"] },
      "packages/a/package.json": {
        name: "a",
        scripts: {
          t: "echo '::warning file=x::careful'; until [ -e ../../b ]; do sleep 0.05; done; printf end",
        },
      },
      "packages/b/package.json": {
        name: "b",
        scripts: { t: "echo from b; echo $$ > ../../pid; touch ../../b; exit 4" },
      },
      // Only once rt has the status of b, because the first failure sets the exit code.
      "packages/c/package.json": {
        name: "c",
        scripts: { t: "while kill -0 $(cat ../../pid) 2> /dev/null; do sleep 0.05; done; kill -TERM $$" },
      },
    });
    const child = startRt({
      args: ["run", "--silent", "--concurrency", "2", "--filter", "*", "t"],
      cwd: project.path,
      env: { GITHUB_ACTIONS: "true", CI: "true" },
    });
    const output = (await new Response(child.stdout).text()).replace(/in [\d.]+ m?s/, "in TIME");
    expect(output).toBe(
      "::group::a t\n::warning file=x::careful\nend\n::endgroup::\na t: Done in TIME\n::group::b t\nfrom b\n::endgroup::\n::error title=b t::b t: Exited with code 4\n" +
        "::group::c t\n::endgroup::\n::error title=c t::c t: Killed by SIGTERM\n",
    );
    expect(await child.exited).toBe(4);
  });

  test("prints large buffered output completely, also without a temporary directory", async () => {
    await using project = await createProject({
      "package.json": { workspaces: ["packages/*"] },
      "packages/a/package.json": { name: "a", scripts: { t: "until [ -e ../../b ]; do sleep 0.05; done" } },
      "packages/b/package.json": { name: "b", scripts: { t: "seq 400000; touch ../../b" } },
      file: "",
    });
    for (const TMPDIR of [project.path, project.join("file/tmp")]) {
      await rm(project.join("b"), { force: true });
      const { stdout, stderr, status } = await runRt({
        args: ["run", "--silent", "--concurrency", "2", "--filter", "*", "t"],
        cwd: project.path,
        env: { GITHUB_ACTIONS: "true", TMPDIR },
      });
      expect({
        stderr,
        status,
        last: stdout.slice(stdout.indexOf("\n399999\n")).split("\n").slice(2, 4),
      }).toEqual({
        stderr: "",
        status: 0,
        last: ["400000", "::endgroup::"],
      });
    }
  });

  test("prints a script that cannot start on a separate line within the output of another script", async () => {
    await using project = await createProject({
      "package.json": { workspaces: ["packages/*"] },
      "packages/a/package.json": {
        name: "a",
        scripts: { t: "rm -r ../c; printf open; read go < ../../go; echo more" },
      },
      "packages/b/package.json": { name: "b", scripts: { t: "read shown < ../../shown" } },
      "packages/c/package.json": { name: "c", scripts: { t: "ls && ls" } },
    });
    await Bun.$`mkfifo ${project.join("go")} ${project.join("shown")}`;
    const child = startRt({
      args: ["run", "--silent", "--no-exit-on-error", "--concurrency", "2", "--filter", "*", "t"],
      cwd: project.path,
      env: { GITHUB_ACTIONS: "true" },
    });
    const reader = child.stdout.getReader();
    let output = "";
    const read = async (until: string) => {
      while (!output.includes(until)) output += Buffer.from((await reader.read()).value!).toString();
    };
    await read("open");
    await appendFile(project.join("shown"), "\n");
    await read("Cannot start");
    await appendFile(project.join("go"), "\n");
    await read("a t: Done");
    expect(output).toMatch(
      /^::group::a t\nopen\n::error title=c t::c t: Cannot start: its directory does not exist: .*\/c\nmore\n::endgroup::\na t: Done/,
    );
    await child.exited;
  });

  test("ends an unfinished last line of buffered output before the group's end", async () => {
    await using project = await createProject({
      "package.json": { workspaces: ["packages/*"] },
      "packages/a/package.json": { name: "a", scripts: { t: "read go < ../../go" } },
      "packages/b/package.json": { name: "b", scripts: { t: "printf open; echo > ../../go" } },
    });
    await Bun.$`mkfifo ${project.join("go")}`;
    const { stdout } = await runRt({
      args: ["run", "--silent", "--concurrency", "2", "--filter", "*", "t"],
      cwd: project.path,
      env: { GITHUB_ACTIONS: "true" },
    });
    expect(stdout).toContain("::group::b t\nopen\n::endgroup::\nb t: Done");
  });

  test.each([
    ["--parallel", { stdout: "t | a\nt | half\n", stderr: /^t \| b\nt \| rest\nt \| Done in .*\n$/ }],
    ["--sequential", { stdout: "t | a\nt | half\n", stderr: /^t \| b\nt \| rest\nt \| Done in .*\n$/ }],
  ])("%s shows the last line of standard output and error when it has no line break", (option, shown) =>
    expectRt({
      files: { "package.json": { scripts: { t: "echo a; echo b >&2; printf half; printf rest >&2" } } },
      args: ["run", "--silent", option, "t"],
      ...shown,
    }),
  );

  test("prints annotations without a label", async () => {
    await using project = await createProject({
      "package.json": { scripts: { t: "echo text; echo ::error::bad; echo :: no command" } },
    });
    const child = startRt({
      args: ["run", "--silent", "--parallel", "t"],
      cwd: project.path,
      env: { GITHUB_ACTIONS: "true" },
    });
    expect(await new Response(child.stdout).text()).toBe("t | text\n::error::bad\nt | :: no command\n");
  });
});
