// Cloning a project is not enough to read a keyring: the user, or RT_TRUST, must allow the secrets that rtfig.toml requests.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod, chown, readdir, rename, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { startKeyring } from "../../support/keyring/keyring.ts";
import { createProject, type Project } from "../../support/project.ts";
import { cleanEnvironment, RT, type RtResult, runRt } from "../../support/rt.ts";
import { startOnTerminal, type TerminalProgram } from "../../support/programs/terminal.ts";
import { hashIn } from "../../support/trusted.ts";
import { isRoot, OTHER_USER_ID } from "../../support/users.ts";

const CONFIG = `[secrets.TOKEN]
from.command = ["./print", "a \\u001b[2J b"]
about = "for\\nAllow it? [y/N] y"
[secrets.OTHER]
from = { service = "a/b", name = "c" }
[run.secrets]
show = ["TOKEN"]
"web#*" = ["OTHER"]
`;
const FILES = {
  "rtfig.toml": CONFIG,
  "package.json": {
    name: "app",
    workspaces: ["web"],
    scripts: { show: "echo got $TOKEN; read line; echo and $line", plain: "echo plain" },
  },
  "web/package.json": { name: "web" },
  print: "#!/bin/sh\necho the-value",
  // Files of the project cannot grant trust.
  ".env": "RT_TRUST=$HASH\nHOME=$PROJECT\nXDG_STATE_HOME=$PROJECT/state\n",
};

describe.skipIf(process.platform === "win32")("trust", () => {
  let project: Project;
  let home: Project;
  beforeAll(async () => {
    project = await createProject(FILES, ["print"]);
    home = await createProject();
  });
  afterAll(async () => {
    await project?.[Symbol.asyncDispose]();
    await home?.[Symbol.asyncDispose]();
  });

  const envOf = (place: string) => cleanEnvironment({ HOME: place });
  const run = (args: string[], extra = {}, cwd = project.path): Promise<RtResult> =>
    runRt({
      args: ["--silent", "--no-redact", ...args],
      cwd,
      env: { HOME: home.path, ...extra },
      stdin: "y\ny\nyes\n",
    });
  const own = (args: string[], cwd = project.path, place = home.path): Promise<RtResult> =>
    runRt({ args, cwd, env: { HOME: place } });
  const onTerminal = (args: string[], cwd = project.path, place = home.path): TerminalProgram =>
    startOnTerminal(
      [
        "/bin/sh",
        "-c",
        'cd "$0" && exec "$@"',
        cwd,
        RT,
        ...(args[0] === "run" ? ["--no-redact"] : []),
        ...args,
      ],
      envOf(place),
    );

  test("no secret is fetched before trust, and a pipe cannot answer the prompt", async () => {
    const { stdout, stderr, status } = await run(["run", "show"]);
    expect([stdout, status]).toEqual(["", 1]);
    expect(stderr).toBe(
      `error: ${project.path} is not allowed to read these secrets\n` +
        "hint: review the secrets with rt secrets env, then allow them on a terminal: rt trust\n" +
        "hint: variables that are already set in the environment need no permission\n" +
        `hint: without a terminal, as in CI: RT_TRUST=${hashIn({ stderr })}\n`,
    );
    expect((await run(["run", "plain"])).stdout).toBe("plain\n");
    expect((await run(["run", "--secret", "TOKEN", "printenv", "TOKEN"])).stderr).toBe(stderr);
    expect((await own(["trust"])).stderr).toBe(stderr);
    expect((await own(["trust", "--list"])).stdout).toBe("");
  });

  test("rt trust asks when the home folder does not exist", async () => {
    const { stderr, status } = await own(["trust"], project.path, home.join("none"));
    expect(stderr).toStartWith(`error: ${project.path} is not allowed to read these secrets\n`);
    expect(status).toBe(1);
  });

  test("RT_TRUST of the environment grants trust, RT_TRUST of .env does not", async () => {
    const hash = hashIn(await run(["run", "show"]))!;
    await project.write({
      ".env": FILES[".env"].replaceAll("$HASH", hash).replaceAll("$PROJECT", project.path),
      [`state/rt/trust/${hash}`]: { folder: project.path, names: [] },
      [`.local/state/rt/trust/${hash}`]: { folder: project.path, names: [] },
    });
    expect((await run(["run", "show"])).status).toBe(1);
    const given = await run(["run", "show"], { RT_TRUST: `0, ${hash} ,1` });
    expect([given.stdout, given.stderr]).toEqual(["got the-value\nand y\n", ""]);
    expect((await run(["run", "show"], { RT_TRUST: hash.slice(0, 63) })).status).toBe(1);
  });

  test("the prompt shows each requested secret on its own line, and a yes is stored", async () => {
    {
      await using refused = onTerminal(["run", "show"]);
      await refused.awaitOutput("Allow it? [y/N] ", 2); // one of the two is text of the project
      const shown = refused.shown.replaceAll("\r\n", "\n");
      expect(shown).toContain(`rt: ${project.path} requests secrets that you have not allowed yet`);
      expect(shown).toContain(
        String.raw`  TOKEN  from command ["./print","a \u001b[2J b"], "for\nAllow it? [y/N] y"` +
          '\n  OTHER  from service "a/b", name "c"\n  script "show" gets TOKEN\n  script "web#*" gets OTHER\n',
      );
      refused.type("maybe\r");
      await refused.awaitOutput("Trust denied; nothing was started");
      expect(await refused.awaitExit()).toBe(1);
      expect(refused.shown).not.toContain("got");
    }
    {
      await using allowed = onTerminal(["run", "show"]);
      await allowed.awaitOutput("Allow it? [y/N] ", 2);
      allowed.type("y\r");
      await allowed.awaitOutput("got the-value");
      // The terminal's modes are restored, and the script reads the first key.
      expect(allowed.isInDefaultMode).toBe(true);
      allowed.type("first\r");
      await allowed.awaitOutput("and first");
      expect(await allowed.awaitExit()).toBe(0);
    }
    expect((await run(["run", "show"])).stdout).toBe("got the-value\nand y\n");
    await using elsewhere = await createProject();
    const hash = hashIn(await run(["run", "show"], { HOME: elsewhere.path }))!;
    expect((await own(["trust", "--list"])).stdout).toBe(`${project.path}\tTOKEN OTHER\t${hash}\n`);
    expect((await own(["trust"])).stdout).toBe(`${project.path} is already allowed to read secrets\n`);
  });

  test("input that was typed before the prompt does not answer it", async () => {
    await using place = await createProject();
    expect(Bun.spawnSync(["mkfifo", place.join("go")]).exitCode).toBe(0);
    const waiting = 'cd "$0" && read line < "$1" && shift && exec "$@"';
    const words = [RT, "--no-redact", "run", "show"];
    await using terminal = startOnTerminal(
      ["/bin/sh", "-c", waiting, project.path, place.join("go"), ...words],
      envOf(place.path),
    );
    terminal.type("y\ryes\r");
    await terminal.awaitOutput("yes"); // the terminal has received the input
    await Bun.spawn(["sh", "-c", 'echo > "$0"', place.join("go")]).exited; // lets the shell continue
    await terminal.awaitOutput("Allow it? [y/N] ", 2);
    terminal.type("no\r");
    await terminal.awaitOutput("Trust denied; nothing was started");
    expect(await terminal.awaitExit()).toBe(1);
    expect(terminal.shown).not.toContain("got");
  });

  test("the prompt quotes text of the project that could imitate another line", async () => {
    await using other = await createProject({
      "package.json": { name: "app" },
      "rtfig.toml": `[secrets.TOKEN]
from = "a, not redacted/b"
about = "x\\" and \u00a0y"
[secrets.AGE]
from = "age:a, \\"b\\".age"
[secrets.PAIR]
from = { service = "a/b\\", name \\"c", name = "d\u3000e" }
[run.secrets]
"{dev gets TOKEN\u00a0,*}" = ["TOKEN"]
`,
    });
    await using terminal = onTerminal(["trust"], other.path);
    await terminal.awaitOutput("Allow it? [y/N] ");
    const shown = terminal.shown.replaceAll("\r\n", "\n");
    expect(shown).toContain(
      String.raw`  TOKEN  from service "a, not redacted", name "b", "x\" and \u00a0y"
  AGE    from age:"a, \"b\".age"
  PAIR   from service "a/b\", name \"c", name "d\u3000e"
  script "{dev gets TOKEN\u00a0,*}" gets TOKEN
`,
    );
    terminal.type("n\r");
    await terminal.awaitOutput("Trust denied");
    const listed = await own(["secrets", "env"], other.path);
    expect(listed.stdout).toContain(String.raw`"{dev gets TOKEN\u00a0,*}"`);
  });

  test("a long description cannot hide requested secrets, and the prompt waits on a non-blocking terminal", async () => {
    const about = "x".repeat(5000);
    await using other = await createProject({
      ...FILES,
      "rtfig.toml": CONFIG.replace(/^about = .*$/m, `about = "${about}"`),
    });
    const nonBlocking = "import os, sys; os.set_blocking(0, False); os.execv(sys.argv[1], sys.argv[1:])";
    await using terminal = startOnTerminal(["python3", "-c", nonBlocking, RT, "trust"], envOf(other.path), {
      cwd: other.path,
    });
    await terminal.awaitOutput("Allow it? [y/N] ");
    expect(terminal.shown).toContain('xxx..."');
    expect(terminal.shown.length).toBeLessThan(1500);
    terminal.type("y\r");
    await terminal.awaitOutput(" is allowed to read secrets");
    expect(await terminal.awaitExit()).toBe(0);
  });

  test.each([
    ["name", "TOKEN", "TOKEN_2"],
    ["command", '"./print"', '"./print", "x"'],
    ["address", 'name = "c"', 'name = "d"'],
    ["script", "show =", '"*" ='],
    ["grant", '["OTHER"]', '["OTHER", "TOKEN"]'],
    ["redaction setting", "[secrets.OTHER]", "redact = false\n[secrets.OTHER]"],
  ])("a changed %s needs trust again", async (_what, from, to) => {
    await using changed = await createProject(FILES, ["print"]);
    const hashOf = async () => hashIn(await own(["trust"], changed.path, changed.path))!;
    const before = await hashOf();
    await changed.write({ "rtfig.toml": CONFIG.replaceAll(from, to) });
    expect(await hashOf()).not.toBe(before);
    // Settings that are not part of the request may change.
    await changed.write({
      "rtfig.toml": `smol = true\n${CONFIG.replace("about = ", "optional = true\nabout = ")}`,
    });
    expect(await hashOf()).toBe(before);
    await changed.write({ "rtfig.toml": CONFIG });
    const moved = `${changed.path}-moved`;
    await rename(changed.path, moved);
    expect(hashIn(await own(["trust"], moved, moved))).not.toBe(before);
    await rename(moved, changed.path);
  });

  test.skipIf(process.platform !== "linux")(
    "redact = false needs trust too, also for a secret of --secret",
    async () => {
      await using keyring = await startKeyring();
      await keyring.run([RT, "secrets", "set", "mine", "token"], "a-value-of-mine");
      await using careless = await createProject({
        "package.json": { scripts: { show: "echo $TOKEN" } },
        "rtfig.toml": '[secrets.TOKEN]\nfrom = "x/y"\nredact = false\n[run.secrets]\nshow = ["TOKEN"]\n',
      });
      const show = async (env = {}) => {
        const args = ["--silent", "run", "--secret", "TOKEN=mine/token", "show"];
        return (await runRt({ args, cwd: careless.path, env: { ...keyring.env, ...env } })).stdout;
      };
      expect(await show()).toBe("[TOKEN]\n");
      const RT_TRUST = hashIn(await own(["trust"], careless.path))!;
      expect(await show({ RT_TRUST })).toBe("a-value-of-mine\n");
    },
  );

  test("the order of the requested secrets does not matter", async () => {
    await using changed = await createProject(FILES, ["print"]);
    const hashOf = async () => hashIn(await own(["trust"], changed.path, changed.path))!;
    const before = await hashOf();
    const [token, other, rows] = CONFIG.split(/^(?=\[)/m);
    const reversed = rows!.split("\n").slice(1, 3).toReversed().join("\n");
    expect(reversed).toStartWith('"web#*" =');
    await changed.write({ "rtfig.toml": `[run.secrets]\n${reversed}\n${other}${token}` });
    expect(await hashOf()).toBe(before);
  });

  test("--remove revokes trust in one folder, also in a deleted one, and --list shows no files of other users", async () => {
    await using place = await createProject();
    const projects = await Promise.all([1, 2].map(() => createProject(FILES, ["print"])));
    const [one, two] = projects.map(({ path }) => path);
    for (const path of [one!, two!]) {
      await using terminal = onTerminal(["trust"], path, place.path);
      await terminal.awaitOutput("Allow it? [y/N] ", 2);
      terminal.type("y\r");
      await terminal.awaitOutput(`${path} is allowed to read secrets`);
      expect(await terminal.awaitExit()).toBe(0);
    }
    const list = async () => (await own(["trust", "--list"], project.path, place.path)).stdout;
    await place.write({ ".local/state/rt/trust/notes": { folder: "/", names: [] } });
    const lines = (await list()).split("\n");
    expect(lines.map((line) => line.split("\t")[0]).toSorted()).toEqual(["", ...[one!, two!].toSorted()]);
    expect((await own(["trust", "--remove", one!], project.path, place.path)).status).toBe(0);
    expect(await list()).toStartWith(`${two}\t`);
    await Promise.all(projects.map((each) => each[Symbol.asyncDispose]()));
    expect((await own(["trust", "--remove", two!], project.path, place.path)).stdout).toBe(
      `${two} may no longer read secrets\n`,
    );
    expect(await list()).toBe("");
  });

  test("rt trust and its --remove also work in a package's folder", async () => {
    await using place = await createProject();
    await using terminal = onTerminal(["trust"], project.join("web"), place.path);
    await terminal.awaitOutput("Allow it? [y/N] ", 2);
    terminal.type("yes\r");
    await terminal.awaitOutput(`${project.path} is allowed to read secrets`);
    expect(await terminal.awaitExit()).toBe(0);
    const removed = await own(["trust", "--remove"], project.join("web"), place.path);
    expect([removed.stdout, removed.status]).toEqual([`${project.path} may no longer read secrets\n`, 0]);
    const again = await own(["trust", "--remove", project.path], project.path, place.path);
    expect([again.stderr, again.status]).toEqual([
      `error: No trust record for ${project.path}\nhint: list them: rt trust --list\n`,
      1,
    ]);
    await using without = await createProject({ "package.json": {}, "rtfig.toml": "" });
    expect(await own(["trust"], without.path)).toEqual({
      stdout: "",
      stderr: "error: This project's rtfig.toml declares no secrets\nhint: rt help secrets-in-scripts\n",
      status: 1,
    });
    expect(await own(["trust", "all"])).toMatchObject({
      stderr: expect.stringContaining('error: Unexpected argument "all"\n'),
      status: 1,
    });
    const unknown = await own(["trust", "--al\u001bl"]);
    expect([unknown.stderr, unknown.status]).toEqual([
      String.raw`error: Unexpected argument "--al\u001bl"` +
        "\nhint: use rt trust, rt trust --config <file>, rt trust --list or rt trust --remove [folder|hash]\n",
      1,
    ]);
  });

  test("rt trust --config allows only the requests of that file", async () => {
    await using place = await createProject();
    await project.write({ "ci/ci.toml": CONFIG.replace("show =", "plain =").replace("./print", "../print") });
    const config = "--config=ci/ci.toml";
    const refused = await own([config, "run", "plain"], project.path, place.path);
    expect(refused.stderr).toContain(
      `hint: review the secrets with rt secrets env ${config}, then allow them on a terminal: rt trust ${config}`,
    );
    const shown = await own(["secrets", "env", config], project.path, place.path);
    expect(shown.stdout).toContain(" plain ");
    const last = ["secrets", "env", "--config=none.toml", "--config", "ci/ci.toml"];
    expect(await own(last, project.path, place.path)).toEqual(shown);
    await using terminal = onTerminal(["trust", "--config", "ci/ci.toml"], project.path, place.path);
    await terminal.awaitOutput('script "plain" gets TOKEN');
    await terminal.awaitOutput("Allow it? [y/N] ", 2);
    terminal.type("y\r");
    await terminal.awaitOutput(`${project.join("ci")} is allowed to read secrets`);
    expect(await terminal.awaitExit()).toBe(0);
    const allowed = await own(["--silent", config, "run", "plain"], project.path, place.path);
    expect(allowed).toMatchObject({ stdout: "plain\n", status: 0 });
    expect((await own(["run", "show"], project.path, place.path)).status).toBe(1);
    const none = await own(["trust", "--config=none.toml"], project.path, place.path);
    expect(none).toMatchObject({
      stderr: expect.stringContaining('Cannot read the configuration "none.toml"'),
      status: 1,
    });
  });

  test("--config before a command that would not read it is rejected with a hint at the right command line", async () => {
    const file = "none.toml";
    for (const [words, line] of [
      [["secrets", "env"], "rt secrets env --config=none.toml"],
      [["secrets", "get", "a", "b"], "rt secrets env --config=none.toml"],
      [["trust"], "rt trust --config=none.toml"],
      [["doctor"], "see rt help doctor"],
    ] as const)
      for (const option of [[`--config=${file}`], ["--config", file], ["-c", file]])
        expect([words, await own([...option, ...words])]).toEqual([
          words,
          {
            stdout: "",
            stderr:
              `error: --config before "${words[0]}" has no effect, because "${words[0]}" is a command of rt\n` +
              `hint: ${line}\n`,
            status: 1,
          },
        ]);
  });

  test("trust records that other users could have written are ignored", async () => {
    await using place = await createProject();
    {
      await using terminal = onTerminal(["trust"], project.path, place.path);
      await terminal.awaitOutput("Allow it? [y/N] ", 2);
      terminal.type("y\r");
      await terminal.awaitOutput("is allowed to read");
      await terminal.awaitExit();
    }
    const trust = place.join(".local/state/rt/trust");
    const [hash] = await readdir(trust);
    const file = join(trust, hash!);
    const isAllowed = async (env = {}) =>
      (await run(["run", "show"], { HOME: place.path, ...env })).stdout.startsWith("got the-value");
    expect(await isAllowed()).toBe(true);
    const modes = await Promise.all([file, trust].map(async (path) => (await stat(path)).mode & 0o777));
    expect(modes).toEqual([0o600, 0o700]);
    // A relative XDG_STATE_HOME is ignored.
    expect(await isAllowed({ XDG_STATE_HOME: "state" })).toBe(true);
    for (const [path, open, back] of [
      [file, 0o622, 0o600],
      [trust, 0o777, 0o700],
      [place.join(".local/state/rt"), 0o720, 0o700],
      [place.join(".local"), 0o777, 0o700],
      [place.path, 0o777, 0o700],
    ] as const) {
      await chmod(path, open);
      expect([path, await isAllowed()]).toEqual([path, false]);
      await chmod(path, back);
      expect(await isAllowed()).toBe(true);
    }
    if (isRoot)
      for (const path of [file, trust, place.join(".local/state"), place.path]) {
        await chown(path, OTHER_USER_ID, 0);
        expect([path, await isAllowed()]).toEqual([path, false]);
        await chown(path, 0, 0);
        expect(await isAllowed()).toBe(true);
      }
    await rename(file, place.join("elsewhere"));
    await symlink(place.join("elsewhere"), file);
    expect(await isAllowed()).toBe(false);
  });

  test("no script starts when the decision cannot be stored", async () => {
    await using place = await createProject({ ".local": "a file" });
    await using terminal = onTerminal(["run", "show"], project.path, place.path);
    await terminal.awaitOutput("Allow it? [y/N] ", 2);
    terminal.type("y\r");
    await terminal.awaitOutput("Cannot store the trust decision");
    await terminal.awaitOutput("instead");
    expect(await terminal.awaitExit()).toBe(1);
    // rt creates no file behind a link.
    await using linked = await createProject({ "elsewhere/note": "", ".local/state/note": "" });
    await symlink(linked.join("elsewhere"), linked.join(".local/state/rt"));
    await using other = onTerminal(["trust"], project.path, linked.path);
    await other.awaitOutput("Allow it? [y/N] ", 2);
    other.type("y\r");
    await other.awaitOutput(".local/state/rt is no directory");
    expect(await other.awaitExit()).toBe(1);
    expect(await readdir(linked.join("elsewhere"))).toEqual(["note"]);
    await using full = await createProject();
    const env = envOf(full.path);
    const command = ["bash", "-c", `trap "" XFSZ; ulimit -f 0; exec "$0" trust`, RT];
    await using last = startOnTerminal(command, env, { cwd: project.path });
    await last.awaitOutput("Allow it? [y/N] ", 2);
    last.type("y\r");
    await last.awaitOutput("Cannot store the trust decision");
    expect(await last.awaitExit()).toBe(1);
    expect(await readdir(full.join(".local/state/rt/trust"))).toEqual([]);
    const nowhere = await runRt({ args: ["trust", "--list"], cwd: project.path, env: { HOME: undefined } });
    expect([nowhere.stdout, nowhere.stderr, nowhere.status]).toEqual(["", "", 0]);
  });
});
