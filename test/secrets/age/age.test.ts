// Secrets in age-encrypted files. rt writes them, age decrypts them, and scripts get the values. The key is in a real keyring or
// in a variable.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rm, symlink } from "node:fs/promises";
import { startLive } from "../../options/live.ts";
import { type Keyring, startKeyring } from "../../support/keyring/keyring.ts";
import { createProject, type Project } from "../../support/project.ts";
import { ABSENT, RT, runRt } from "../../support/rt.ts";
import { startOnTerminal } from "../../support/programs/terminal.ts";
import { trustOf as hashOf } from "../../support/trusted.ts";

const TOKEN = "deploy-93fd51c7";
const NO_BUS = { DBUS_SESSION_BUS_ADDRESS: `unix:path=${ABSENT}` };

describe.skipIf(process.platform !== "linux")("secrets.age", () => {
  let keyring: Keyring;
  let project: Project;
  /** A key pair of age-keygen, for CI. */
  let ciKey: string;
  let ciPublic: string;
  beforeAll(async () => {
    [keyring, project] = await Promise.all([
      startKeyring(),
      createProject({
        "package.json": { scripts: { show: "echo ${#DEPLOY_TOKEN} ${#OTHER}", lacks: "echo never" } },
        "rtfig.toml":
          '[secrets.DEPLOY_TOKEN]\nfrom = "age:secrets.age"\n[secrets.OTHER]\nfrom = "age:secrets.age"\nredact = false\n[secrets.LACK]\nfrom = "age:secrets.age"\n[run.secrets]\nshow = ["DEPLOY_TOKEN", "OTHER"]\nlacks = ["LACK"]\n',
      }),
    ]);
    ciKey = await keyring.run(["age-keygen"]);
    ciPublic = await keyring.run(["age-keygen", "-y"], ciKey);
  });
  afterAll(async () => {
    await project?.[Symbol.asyncDispose]();
    await keyring?.[Symbol.asyncDispose]();
  });
  const run = (args: string[], stdin?: string, env: Record<string, string> = keyring.env) =>
    runRt({ args, stdin, env: { RT_TRUST: undefined, ...env }, cwd: project.path });
  const secrets = (args: string[], stdin?: string, env?: Record<string, string>) =>
    run(["secrets", ...args], stdin, env);
  const done = (stdout = "") => ({ stdout, stderr: "", status: 0 });
  const decrypt = async () => {
    await project.write({ "ci.key": ciKey });
    return await runRt({
      program: ["age", "--decrypt", "--identity", "ci.key", "secrets.age"],
      cwd: project.path,
    });
  };

  test("rt secrets set --file creates secrets.age for this machine's key, and age, scripts and added recipients decrypt it", async () => {
    const absent = await secrets(["share", "list"]);
    const none = {
      stdout: "",
      stderr:
        "error: No such file: secrets.age\nhint: create it with its first secret: rt secrets set --file secrets.age <name>; or use --file for another file\n",
      status: 2,
    };
    expect(absent).toEqual(none);
    const noKey = await secrets(["set", "--file", "secrets.age", "DEPLOY_TOKEN"], TOKEN);
    expect(noKey.stderr).toStartWith(
      "error: This machine has no age key\nhint: create one and print its public key: rt secrets share key",
    );
    const { stdout: key } = await secrets(["share", "key"]);
    expect(key).toMatch(/^age1[a-z0-9]{58}\n$/);
    expect(await secrets(["share", "key"])).toEqual(done(key));
    // In the wrong folder no recipient is added and no file is created.
    expect(await secrets(["share", "add", ciPublic, "the server"])).toEqual(none);
    expect(await Bun.file(project.join("secrets.age")).exists()).toBe(false);
    expect(await secrets(["set", "--file", "secrets.age", "DEPLOY_TOKEN"], `${TOKEN}\n`)).toEqual({
      stdout: "",
      stderr:
        "warning: Added the project identifier to rtfig.toml; secrets.age is bound to it\nhint: commit rtfig.toml together with secrets.age\n",
      status: 0,
    });
    const [, id] = /\n\n\[project\]\nid = "([\w-]+-[0-9a-f]{16})"\n$/.exec(
      await Bun.file(project.join("rtfig.toml")).text(),
    )!;
    expect(await secrets(["share", "add", ciPublic, "the\x1b[2J server"])).toEqual(done());
    expect(await secrets(["share", "list"])).toEqual(
      done(`reader\t${key}reader\t${ciPublic}\tthe\\u001b[2J server\nsecret\tDEPLOY_TOKEN\n`),
    );
    // Adding a recipient again changes its name only, and entries are sorted.
    expect(await secrets(["share", "add", ciPublic, "the server"])).toEqual(done());
    expect(await secrets(["set", "--file", "secrets.age", "ANOTHER"], "x")).toEqual(done());
    expect((await secrets(["share", "list"])).stdout).toBe(
      `reader\t${key}reader\t${ciPublic}\tthe server\nsecret\tANOTHER\nsecret\tDEPLOY_TOKEN\n`,
    );
    expect(await secrets(["delete", "--file", "secrets.age", "ANOTHER"])).toEqual(done());
    expect(await secrets(["share", "add", ciPublic, "the\x1b[2J server"])).toEqual(done());
    expect(await secrets(["set", "OTHER", "--file=secrets.age"], "a\nb\n")).toEqual(done());
    const { stdout, status } = await decrypt();
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      project: id,
      readers: [{ key: key.trim() }, { key: ciPublic, name: "the\x1b[2J server" }],
      secrets: { DEPLOY_TOKEN: TOKEN, OTHER: "a\nb\n" },
    });
    expect(await secrets(["get", "--file", "secrets.age", "OTHER"])).toEqual(done("a\nb\n"));
    // The last of several --file options counts.
    const last = ["--file", "none.age", "--file=secrets.age"];
    expect(await secrets(["get", ...last, "OTHER"])).toEqual(done("a\nb\n"));
    expect(await secrets(["share", "list", ...last])).toEqual(await secrets(["share", "list"]));
    const absentFile = await secrets(["share", "list", "--file=secrets.age", "--file", "none.age"]);
    expect(absentFile.stderr).toStartWith("error: No such file: none.age\n");
    const file = await Bun.file(project.join("secrets.age")).text();
    expect(file).toStartWith("-----BEGIN AGE ENCRYPTED FILE-----\n");
  });

  test("scripts get the values with the keyring's key, or with RT_AGE_KEY, which wins", async () => {
    const shown = { ...done("15 4\n"), stderr: "$ echo ${#DEPLOY_TOKEN} ${#OTHER}\n" };
    const trusted = { RT_TRUST: await trustOf(["run", "show"]) };
    expect(await run(["run", "show"], undefined, { ...keyring.env, ...trusted })).toEqual(shown);
    const ci = { ...NO_BUS, ...trusted, RT_AGE_KEY: ciKey };
    expect(await run(["run", "show"], undefined, ci)).toEqual(shown);
    const line = /AGE-SECRET-KEY-\S+/.exec(ciKey)![0];
    expect(await run(["run", "show"], undefined, { ...ci, RT_AGE_KEY: line })).toEqual(shown);
    const bad = await run(["run", "show"], undefined, {
      ...keyring.env,
      ...trusted,
      RT_AGE_KEY: "AGE-SECRET-KEY-1QQ",
    });
    expect(bad.stderr).toStartWith("error: The variable RT_AGE_KEY contains no age private key\nhint: ");
    expect(bad.stderr).not.toContain("1QQ");
    const half = await run(["run", "show"], undefined, { ...ci, RT_AGE_KEY: `${line}\nnonsense` });
    expect(half.stderr).toStartWith("error: The variable RT_AGE_KEY contains no age private key\n");
    // An env file cannot set RT_AGE_KEY.
    await project.write({ ".env": `RT_AGE_KEY=${line}\n` });
    const none = await run(["run", "show"], undefined, { ...NO_BUS, ...trusted });
    await rm(project.join(".env"));
    expect(none).toMatchObject({ stdout: "", status: 1 });
    expect(none.stderr).toStartWith(
      "error: Cannot access the age private key in the credential store: No session bus answers",
    );
    expect(none.stderr).toContain(
      "hint: or set the variable RT_AGE_KEY to a private key; rt secrets share new-key prints one\n",
    );
    const lacking = await run(["run", "lacks"], undefined, { ...keyring.env, ...trusted });
    expect(lacking.stdout).toBe("");
    expect(lacking.stderr).toContain(
      "secrets.age has no such entry; add it: rt secrets set --file secrets.age LACK\n",
    );
  });

  /** Returns the hash from the output for a project that is not trusted yet. */
  async function trustOf(args: string[]): Promise<string> {
    const { stderr } = await run(args);
    return /RT_TRUST=(\S+)/.exec(stderr)?.[1] ?? "";
  }

  test("rt secrets share add rejects invalid public keys, and warns when the argument is a private key", async () => {
    const before = await Bun.file(project.join("secrets.age")).text();
    const other = ciPublic.slice(0, -1) + (ciPublic.endsWith("q") ? "p" : "q");
    for (const key of ["age1xxx", other, "ssh-ed25519 AAAA", ciPublic.toUpperCase()])
      expect(await secrets(["share", "add", key])).toMatchObject({
        stderr: "error: That is not an age public key\nhint: rt secrets share key prints one (age1...)\n",
        status: 2,
      });
    const line = /AGE-SECRET-KEY-\S+/.exec(ciKey)![0];
    const leaked = await secrets(["share", "add", line]);
    expect(leaked.stderr).toStartWith("error: That is a private key");
    expect(leaked.stderr).not.toContain(line.slice(16));
    const lower = await secrets(["share", "add", line.toLowerCase()]);
    expect(lower.stderr).toStartWith("error: That is a private key");
    expect(await Bun.file(project.join("secrets.age")).text()).toBe(before);
    expect((await secrets(["set", "--file", "secrets.age", "LD_PRELOAD"], "x")).status).toBe(2);
    expect(await secrets(["set", "--file", "secrets.age", "TOKEN"], "a\0b")).toEqual({
      stdout: "",
      stderr: "error: A variable cannot hold this value (NUL character or invalid Unicode)\n",
      status: 2,
    });
    expect(await Bun.file(project.join("secrets.age")).text()).toBe(before);
    expect((await secrets(["set", "--file", "secrets.age", "TOKEN", TOKEN], "x")).stderr).not.toContain(
      TOKEN,
    );
  });

  test("rt secrets set --file changes nothing when the prompt is cancelled or gets too many arguments", async () => {
    const before = await Bun.file(project.join("secrets.age")).text();
    const words = [RT, "secrets", "set", "--file", "secrets.age", "DEPLOY_TOKEN"];
    await using terminal = startOnTerminal(words, keyring.env, { cwd: project.path });
    await terminal.awaitOutput("(not shown): ");
    terminal.type("\x03");
    expect(await terminal.awaitExit()).toBe(130);
    for (const more of [["key", "x"], ["add", ciPublic, "name", "more"], ["remove"], ["list", "x"]]) {
      const { stdout, stderr, status } = await secrets(["share", ...more]);
      expect({ stdout, status }).toEqual({ stdout: "", status: 2 });
      expect(stderr).toStartWith(`error: rt secrets share ${more[0]} takes `);
    }
    expect(await Bun.file(project.join("secrets.age")).text()).toBe(before);
  });

  test("rt secrets share remove revokes a recipient, keeps the last one, and warns about old versions", async () => {
    const { stdout: key } = await secrets(["share", "key"]);
    const removed = await secrets(["share", "remove", ciPublic]);
    expect(removed).toEqual({
      stdout: "",
      stderr:
        "warning: Older versions of the file in git stay readable with that key\nhint: replace the credentials at the services that issued them\n",
      status: 0,
    });
    expect((await decrypt()).status).not.toBe(0);
    const refused = await run(["secrets", "share", "list"], undefined, { ...NO_BUS, RT_AGE_KEY: ciKey });
    expect(refused.stderr).toStartWith(
      "error: secrets.age is not encrypted to the key of RT_AGE_KEY\nhint: ",
    );
    expect((await secrets(["share", "remove", ciPublic])).status).toBe(1);
    const last = await secrets(["share", "remove", key.trim()]);
    expect(last.stderr).toStartWith("error: That is the last key that reads secrets.age\n");
    expect(await secrets(["delete", "--file", "secrets.age", "OTHER"])).toEqual(done());
    expect((await secrets(["delete", "--file", "secrets.age", "OTHER"])).status).toBe(1);
    expect(JSON.parse((await secrets(["list", "--file", "secrets.age", "--json"])).stdout)).toEqual({
      project: expect.stringMatching(/-[0-9a-f]{16}$/),
      readers: [{ key: key.trim() }],
      secrets: ["DEPLOY_TOKEN"],
    });
  });

  test("a foreign or damaged secrets.age is reported in one line", async () => {
    const { stdout: key } = await secrets(["share", "key"]);
    const file = project.join("secrets.age");
    const own = await Bun.file(file).text();
    const encrypted = async (text: string) =>
      await keyring.run(["age", "--encrypt", "--armor", "--recipient", key.trim()], text);
    for (const [text, message] of [
      ["nonsense", "secrets.age is damaged, or not an age file that rt wrote"],
      [own.replace(/\n(.)/, "\n$1$1"), "secrets.age is damaged, or not an age file that rt wrote"],
      [await encrypted("{}"), "secrets.age does not have the format that rt writes"],
      [await encrypted('{"readers":[],"secrets":{}}'), "secrets.age does not have the format that rt writes"],
      [
        await encrypted(`{"readers":[{"key":"x"}],"secrets":{}}`),
        "secrets.age does not have the format that rt writes",
      ],
      [
        await encrypted(`{"readers":[{"key":"${key.trim()}"}],"secrets":{"A":1}}`),
        "secrets.age does not have the format that rt writes",
      ],
    ] as const) {
      await Bun.write(file, text);
      const { stderr, status } = await secrets(["share", "list"]);
      expect(stderr.split("\n")[0]).toBe(`error: ${message}`);
      expect(status).toBe(2);
    }
    // age writes a binary file by default.
    await project.write({ plain: "{}" });
    await keyring.run(["age", "--recipient", key.trim(), "--output", file, project.join("plain")]);
    for (const words of [
      ["list", "--file", "secrets.age"],
      ["share", "list"],
    ])
      expect(await secrets(words)).toEqual({
        stdout: "",
        stderr: "error: secrets.age is a binary age file\nhint: encrypt it with age --armor\n",
        status: 2,
      });
    await symlink(file, project.join("link.age"));
    expect((await secrets(["share", "list", "--file", "link.age"])).stderr).toStartWith(
      "error: link.age is a link",
    );
    await Bun.write(file, own);
    // The same applies to the key's own name.
    await using other = await startKeyring();
    await other.run(
      ["secret-tool", "store", "--label=x", "service", "rt.age", "account", "private key"],
      "1",
    );
    expect((await secrets(["share", "list"], undefined, other.env)).stderr).toBe(
      'error: The credential "private key" under "rt.age" is not an age private key\nhint: rt secrets delete rt.age "private key"\n',
    );
  });

  test("a merge conflict in an age file is reported as one, not as damage", async () => {
    await using own = await createProject();
    const git = async (...args: string[]) =>
      await runRt({
        program: ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", ...args],
        cwd: own.path,
        env: keyring.env,
      });
    const set = async (name: string) => {
      const args = ["secrets", "set", "--file", "secrets.age", name];
      await runRt({ args, stdin: `value of ${name}`, cwd: own.path, env: { ...NO_BUS, RT_AGE_KEY: ciKey } });
    };
    const list = async () =>
      await runRt({
        args: ["secrets", "list", "--file", "secrets.age"],
        cwd: own.path,
        env: { ...NO_BUS, RT_AGE_KEY: ciKey },
      });
    await git("init", "--quiet", "--initial-branch=main");
    await set("FIRST");
    await git("add", ".");
    await git("commit", "--quiet", "--message=first");
    await git("checkout", "--quiet", "-b", "other");
    await set("OTHERS");
    await git("commit", "--quiet", "--all", "--message=others");
    await git("checkout", "--quiet", "main");
    await set("MINE");
    await git("commit", "--quiet", "--all", "--message=mine");
    expect((await git("merge", "other")).status).toBe(1);
    expect(await list()).toEqual({
      stdout: "",
      stderr:
        "error: secrets.age contains a git merge conflict\nhint: keep one version (git checkout --ours or --theirs) and set the secrets of the other one again\n",
      status: 2,
    });
    await git("checkout", "--theirs", "secrets.age");
    expect((await list()).stdout).toEndWith("secret\tFIRST\nsecret\tOTHERS\n");
  });

  test("--watch uses a changed age file from the next start on, also for many packages", async () => {
    const env = { ...NO_BUS, RT_AGE_KEY: ciKey };
    const dev = { name: "web", scripts: { dev: 'echo "web has $TOKEN."; sleep 1000' } };
    await using many = await createProject({
      "rtfig.toml": '[secrets.TOKEN]\nfrom = "age:secrets.age"\n[run.secrets]\ndev = ["TOKEN"]\n',
      "package.json": { name: "root", workspaces: ["packages/*"] },
      "packages/web/package.json": dev,
    });
    const set = async (stdin: string) =>
      await runRt({ args: ["secrets", "set", "--file=secrets.age", "TOKEN"], stdin, cwd: many.path, env });
    await set("one-93fd51c7");
    await using live = startLive({
      args: ["--no-redact", "--watch", "run", "--filter=*", "dev"],
      cwd: many.path,
      env: { ...env, RT_TRUST: await hashOf(many.path) },
    });
    await live.see("web has one-93fd51c7.");
    await set("two-93fd51c7");
    await many.write({ "packages/web/a.ts": "1" });
    await live.see("web has two-93fd51c7.");
  });

  test("an optional secret is omitted when its age file does not exist or is for other recipients", async () => {
    const config = (more: string) =>
      `[secrets.TOKEN]\nfrom = "age:own.age"\n${more}[run.secrets]\nshow = ["TOKEN"]\n`;
    await using own = await createProject({
      "package.json": { scripts: { show: "echo got $TOKEN" } },
      "rtfig.toml": config(""),
    });
    const show = async (env: Record<string, string> = {}) => {
      const trusted = { RT_TRUST: await hashOf(own.path), ...keyring.env, ...env };
      return await runRt({ args: ["--silent", "run", "show"], cwd: own.path, env: trusted });
    };
    const left = done("got\n");
    expect(await show()).toEqual({
      stdout: "",
      stderr:
        "error: Missing secret: TOKEN\nhint: TOKEN: own.age does not exist; create it: rt secrets set --file own.age TOKEN\n",
      status: 1,
    });
    await own.write({ "rtfig.toml": `[project]\nid = "own-project"\n${config("optional = true\n")}` });
    expect(await show()).toEqual(left);
    const set = ["secrets", "set", "--file", "own.age", "TOKEN"];
    await runRt({ args: set, stdin: TOKEN, cwd: own.path, env: { ...NO_BUS, RT_AGE_KEY: ciKey } });
    expect(await show({ RT_AGE_KEY: ciKey })).toEqual(done("got [TOKEN]\n"));
    const other = await keyring.run(["age-keygen"]);
    expect(await show({ RT_AGE_KEY: other })).toEqual(left);
    await using fresh = await startKeyring();
    expect(await show(fresh.env)).toEqual(left);
    // A damaged file is an error, not a missing secret.
    await own.write({ "own.age": "nonsense" });
    expect(await show()).toMatchObject({ stdout: "", status: 1 });
  });
});
