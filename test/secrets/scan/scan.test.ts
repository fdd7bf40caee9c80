// `rt secrets check`: findings in a project, in the index and as git's hook, and that no value is shown.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { chmod, readlink, rename, stat, symlink, truncate, unlink } from "node:fs/promises";
import { join } from "node:path";
import { createProject, type Project } from "../../support/project.ts";
import { cleanEnvironment, RT, runRt } from "../../support/rt.ts";
import { startOnTerminal } from "../../support/programs/terminal.ts";
import { AS_OTHER_USER } from "../../support/users.ts";

// Assembled here, so that secret scanners do not report this file.
const GITHUB = ["ghp", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].join("_");
const NPM = ["npm", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].join("_");
const PASSWORD = "hunter2+hunter2";
const VALUES = [GITHUB, NPM, PASSWORD];

const FILES = {
  ".env": `PORT=3000\nDB_PASSWORD=${PASSWORD}\nTOKEN=${GITHUB}\nURL=$DB_PASSWORD\nREF_TOKEN=\${OTHER}\n`,
  ".env.example": "DB_PASSWORD=change-me\nTOKEN=<token>\n",
  "packages/web/.env.local": `SESSION_SECRET="${PASSWORD}" # rt-ignore-secret: for tests\n# rt-ignore-secret\nA_TOKEN=${NPM}\nB_TOKEN=${NPM}\n`,
  ".npmrc": `registry=https://r.example/\n//r.example/:_authToken=${PASSWORD}\n//s.example/:_authToken=\${NPM_TOKEN}\n//t.example/:_password=aHVudGVyMg==\n`,
  "package.json": `{\n  "name": "a",\n  "scripts": {\n    "ok": "PORT=1 node . --token $TOKEN",\n    "set": "API_KEY=${PASSWORD} node .",\n    "opt": "deploy --auth-token ${PASSWORD}"\n  }\n}\n`,
  "rtfig.toml": `[install.registry]\nurl = "https://r.example/"\ntoken = "${PASSWORD}"\n[install.scopes.a]\nurl = "https://r.example/"\ntoken = "$TOKEN"\n`,
  "src/a.ts": `// one\nconst token = "${GITHUB}";\n`,
  "node_modules/dep/.env": `TOKEN=${GITHUB}\n`,
};
const FOUND = [
  ".env:2: variable DB_PASSWORD",
  ".env:3: github/GITHUB_TOKEN",
  ".npmrc:2: npm/Npmrc_authToken",
  ".npmrc:4: npmrc _password",
  "package.json:5: script set",
  "package.json:6: script opt",
  "packages/web/.env.local:4: npm/NPM_ACCESS_TOKEN",
  "rtfig.toml:3: config install.registry.token",
  "src/a.ts:2: github/GITHUB_TOKEN",
];

/** Returns a new private key in PEM, as programs write it. */
function pemOf(kind: "ed25519" | "ec", passphrase?: string): string {
  if (kind === "ec") {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    return privateKey.export({ format: "pem", type: "sec1" });
  }
  const { privateKey } = generateKeyPairSync("ed25519");
  const encryption = passphrase === undefined ? {} : { cipher: "aes-256-cbc", passphrase };
  return privateKey.export({ format: "pem", type: "pkcs8", ...encryption });
}

describe("rt secrets check", () => {
  let project: Project;
  beforeAll(async () => {
    project = await createProject(FILES);
  });
  afterAll(() => project?.[Symbol.asyncDispose]());

  const check = (cwd: string, ...args: string[]) => runRt({ args: ["secrets", "check", ...args], cwd });
  const linesOf = (stdout: string) => stdout.split("\n").slice(0, -1).toSorted();
  const git = (cwd: string, ...args: string[]) =>
    runRt({ program: ["git", "-c", "user.name=a", "-c", "user.email=a@b.example"], args, cwd });

  test.skipIf(process.platform === "win32")(
    "reports files that it cannot read, and checks the rest",
    async () => {
      await using shut = await createProject({
        ".env": `TOKEN=${GITHUB}\n`,
        "data/base/file": "x",
        "src/own.ts": "x",
      });
      await chmod(shut.path, 0o755);
      for (const path of ["data/base", "src/own.ts"]) await chmod(shut.join(path), 0);
      const args = ["secrets", "check"];
      const result = await runRt({ program: [...AS_OTHER_USER, RT], args, cwd: shut.path });
      await chmod(shut.join("data/base"), 0o700);
      expect([result.stdout, result.status]).toEqual([".env:1: github/GITHUB_TOKEN\n", 1]);
      expect(linesOf(result.stderr)).toEqual([
        "warning: data/base cannot be read (permission denied) and was not scanned",
        "warning: src/own.ts cannot be read (permission denied) and was not scanned",
      ]);
    },
  );

  test("checks files in UTF-16, as PowerShell writes them", async () => {
    await using wide = await createProject();
    const text = `\ufeffA=1\r\nDB_PASSWORD=${PASSWORD}\r\n`;
    await Bun.write(wide.join(".env"), Buffer.from(text, "utf16le"));
    await Bun.write(wide.join(".env.local"), Buffer.from(text, "utf16le").swap16());
    const { stdout, status } = await check(wide.path);
    expect(linesOf(stdout)).toEqual([".env.local:2: variable DB_PASSWORD", ".env:2: variable DB_PASSWORD"]);
    expect(status).toBe(1);
    const moved = await runRt({ args: ["secrets", "import", ".env", "--yes"], cwd: wide.path });
    expect(moved.stderr).toBe(
      "error: .env could not be read (it is not text in UTF-8)\nhint: save it as UTF-8\n",
    );
  });

  test("finds short private keys and age keys, and ignores encrypted keys and examples", async () => {
    const age = await runRt({ args: ["secrets", "share", "new-key"] });
    await using keys = await createProject({
      "ci.key": age.stdout,
      "ed25519.pem": `# for tokens\n${pemOf("ed25519")}`,
      "ec.pem": pemOf("ec").replaceAll("\n", "\r\n"),
      "account.json": JSON.stringify({ id: 1, key: pemOf("ed25519") }, null, 2),
      "locked.pem": pemOf("ed25519", "a passphrase"),
      "guide.md":
        "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2Vw...\n-----END PRIVATE KEY-----\nAGE-SECRET-KEY-1...\n",
      "ignored.pem": `rt-ignore-secret\n${pemOf("ed25519")}`,
    });
    const { stdout, stderr, status } = await check(keys.path);
    expect(linesOf(stdout)).toEqual([
      "account.json:3: key",
      "ci.key:2: key",
      "ec.pem:1: key",
      "ed25519.pem:2: key",
    ]);
    expect({ stderr, status }).toEqual({ stderr: "", status: 1 });
  });

  test("finds values by known formats and by variable names in every file, and shows none", async () => {
    await symlink(project.join(".env"), project.join("link.env"));
    Bun.spawnSync(["mkfifo", project.join("pipe.env")]);
    const { stdout, stderr, status } = await check(project.path);
    expect(linesOf(stdout)).toEqual(FOUND);
    expect({ stderr, status }).toEqual({ stderr: "", status: 1 });
    const json = await check(project.path, "--json");
    const findings = JSON.parse(json.stdout) as { file: string; line: number; rule: string; name?: string }[];
    expect(
      findings
        .map(({ file, line, rule, name }) => `${file}:${line}: ${[rule, name].filter(Boolean).join(" ")}`)
        .toSorted(),
    ).toEqual(FOUND);
    expect(json.status).toBe(1);
    for (const value of VALUES) expect(stdout + json.stdout).not.toContain(value);
    const named = await check(project.path, "src", ".env.example");
    expect(named).toEqual({ stdout: "src/a.ts:2: github/GITHUB_TOKEN\n", stderr: "", status: 1 });
    expect(await check(project.path, ".env.example")).toEqual({ stdout: "", stderr: "", status: 0 });
    // A named path that is not a regular file is skipped.
    expect(await check(project.path, "link.env", "pipe.env")).toEqual({ stdout: "", stderr: "", status: 0 });
    expect(await check(project.path, "absent")).toEqual({
      stdout: "",
      stderr: "error: No such file or folder: absent\n",
      status: 2,
    });
  });

  test.skipIf(process.platform !== "linux")(
    "groups findings by file and prints the next command on a terminal",
    async () => {
      const command = ["bash", "-c", `cd "$1" && exec "$0" secrets check .env src`, RT, project.path];
      await using terminal = startOnTerminal(command, cleanEnvironment());
      await terminal.awaitOutput("3 credentials in plain text. To move them:\r\nrt secrets import .env\r\n");
      expect(terminal.shown).toStartWith(
        ".env\r\n  2  variable  DB_PASSWORD\r\n  3  github/GITHUB_TOKEN\r\n\r\nsrc/a.ts\r\n  2  github/GITHUB_TOKEN\r\n",
      );
      expect(await terminal.awaitExit()).toBe(1);
    },
  );

  test("escapes line breaks in names, reports large files, and runs no program of the repository's git configuration", async () => {
    await using odd = await createProject({
      "a\nerror: b.env": `TOKEN=${GITHUB}\n`,
      "large.txt": "",
      "bytes.env": `\0\nTOKEN=${GITHUB}\n`,
      ".gitignore": ".env\n",
      ".env": `TOKEN=${GITHUB}\n`,
    });
    await truncate(odd.join("large.txt"), 2 ** 21);
    const plain = await check(odd.path);
    expect(linesOf(plain.stdout)).toEqual([
      ".env:1: github/GITHUB_TOKEN",
      "a\\nerror: b.env:1: github/GITHUB_TOKEN",
    ]);
    expect(plain.stderr).toBe("warning: large.txt is larger than 1 MiB and was not scanned\n");
    // In a repository, an ignored file is checked when its name is one for credentials.
    await git(odd.path, "init", "-q");
    await odd.write({ "ran.sh": `#!/bin/sh\ntouch '${odd.join("ran")}'\n` });
    await chmod(odd.join("ran.sh"), 0o755);
    for (const key of ["core.fsmonitor", "diff.external"])
      await git(odd.path, "config", key, odd.join("ran.sh"));
    expect(linesOf((await check(odd.path)).stdout)).toEqual(linesOf(plain.stdout));
    await runRt({ program: ["git", "-c", "core.fsmonitor=false", "add", "-A"], cwd: odd.path });
    expect(linesOf((await check(odd.path, "--staged")).stdout)).toEqual([
      "a\\nerror: b.env:1: github/GITHUB_TOKEN",
    ]);
    expect(await Bun.file(odd.join("ran")).exists()).toBe(false);
  });

  test("--staged checks the index, not the working tree", async () => {
    await using repository = await createProject({ "a.ts": "1\n", "b.ts": "1\n" });
    const { path } = repository;
    expect(await check(path, "--staged")).toMatchObject({ stdout: "", status: 2 });
    await git(path, "init", "-q");
    await git(path, "add", ".");
    await git(path, "commit", "-qm", "one");
    expect(await check(path, "--staged")).toEqual({ stdout: "", stderr: "", status: 0 });
    await repository.write({ "a.ts": `"${GITHUB}"\n`, "b.ts": `"${GITHUB}"\n` });
    await git(path, "add", "a.ts");
    await repository.write({ "a.ts": "clean again\n" });
    const found = { stdout: "a.ts:1: github/GITHUB_TOKEN\n", stderr: "", status: 1 };
    expect(await check(path, "--staged")).toEqual(found);
    expect((await check(path, "--staged", "a.ts")).status).toBe(2);
    // A link's target is not checked, and a file that is too large is reported.
    await symlink(GITHUB, repository.join("link"));
    await repository.write({ "large.txt": `"${GITHUB}"\n` });
    await truncate(repository.join("large.txt"), 2 ** 20 + 1);
    await git(path, "add", "link", "large.txt");
    expect(await check(path, "--staged")).toEqual({
      ...found,
      stderr: "warning: large.txt is larger than 1 MiB and was not scanned\n",
    });
    await git(path, "rm", "-q", "--cached", "link", "large.txt");
    await Promise.all([unlink(repository.join("link")), unlink(repository.join("large.txt"))]);
    expect((await check(path)).stdout).toBe("b.ts:1: github/GITHUB_TOKEN\n");
  });

  test.skipIf(process.platform === "win32")(
    "--staged finds a credential in every way in which a file enters the index",
    async () => {
      await using repository = await createProject({
        "changed.ts": "1\n",
        "moved.ts": `"${GITHUB}"\n`,
        "copied.ts": `"${GITHUB}"\n`,
      });
      const { path } = repository;
      await symlink("changed.ts", repository.join("typed.ts"));
      await git(path, "init", "-q");
      await git(path, "add", ".");
      await git(path, "commit", "-qm", "one");
      const secret = `"${GITHUB}"\n`;
      await unlink(repository.join("typed.ts"));
      await rename(repository.join("moved.ts"), repository.join("there.ts"));
      await repository.write({
        "added.ts": secret,
        "changed.ts": secret,
        "copy.ts": secret,
        "typed.ts": secret,
      });
      // A user may configure git to detect copies.
      await git(path, "config", "diff.renames", "copies");
      await git(path, "add", "-A");
      const found = ["added.ts", "changed.ts", "copy.ts", "there.ts", "typed.ts"];
      expect(linesOf((await check(path, "--staged")).stdout)).toEqual(
        found.map((file) => `${file}:1: github/GITHUB_TOKEN`),
      );
      // In a folder, only files below it are checked, with paths relative to it.
      await repository.write({ "sub/a.ts": secret });
      await git(path, "add", "sub");
      expect(linesOf((await check(repository.join("sub"), "--staged")).stdout)).toEqual([
        "a.ts:1: github/GITHUB_TOKEN",
      ]);
    },
  );

  describe.skipIf(process.platform === "win32")("as git's hook", () => {
    async function createRepository() {
      const repository = await createProject({ "a.ts": `"${GITHUB}"\n` });
      await git(repository.path, "init", "-q");
      await git(repository.path, "add", ".");
      return repository;
    }
    const commit = (path: string) => git(path, "commit", "-qm", "x");

    test("stops a commit with a finding, accepts a clean one, and is removed by its undo", async () => {
      await using repository = await createRepository();
      const { path } = repository;
      const hook = repository.join(".git/hooks/pre-commit");
      expect(await check(path, "--install")).toEqual({
        stdout: `Installed the pre-commit hook (${hook})\nTo undo it: rt secrets check --uninstall\n`,
        stderr: "",
        status: 0,
      });
      for (const words of [
        ["--install", "--json"],
        ["--uninstall", "a.ts"],
      ])
        expect((await check(path, ...words)).stderr).toStartWith(
          `error: ${words[0]} takes no other options or arguments\n`,
        );
      const stopped = await commit(path);
      expect(stopped.status).toBe(1);
      expect(stopped.stdout + stopped.stderr).toContain("a.ts:1: github/GITHUB_TOKEN\n");
      await repository.write({ "a.ts": "clean\n" });
      await git(path, "add", ".");
      expect(await commit(path)).toMatchObject({ status: 0 });
      // `commit -a` uses a temporary index, whose path git passes to the hook.
      await repository.write({ "a.ts": `"${GITHUB}"\n` });
      expect((await git(path, "commit", "-qam", "y")).status).toBe(1);
      expect((await check(path, "--uninstall")).stdout).toBe(`Removed the pre-commit hook (${hook})\n`);
      expect(await Bun.file(hook).exists()).toBe(false);
      expect((await git(path, "commit", "-qam", "y")).status).toBe(0);
      expect((await check(path, "--uninstall")).stdout).toBe(
        `The pre-commit hook is not installed (${hook})\n`,
      );
    });

    test("keeps an existing hook before and after, which still runs", async () => {
      await using repository = await createRepository();
      const hook = repository.join(".git/hooks/pre-commit");
      const own = "#!/usr/bin/env bash\necho own hook >&2\n";
      await Bun.write(hook, own);
      await chmod(hook, 0o700);
      for (const _ of [1, 2]) expect((await check(repository.path, "--install")).status).toBe(0);
      expect((await Bun.file(hook).text()).match(/secrets check --staged/g)).toHaveLength(1);
      expect((await commit(repository.path)).stderr).not.toContain("own hook");
      await repository.write({ "a.ts": "clean\n" });
      await git(repository.path, "add", ".");
      expect(await commit(repository.path)).toMatchObject({ stderr: "own hook\n", status: 0 });
      await check(repository.path, "--uninstall");
      expect(await Bun.file(hook).text()).toBe(own);
      expect((await stat(hook)).mode & 0o777).toBe(0o700);
      for (const other of ["#!/usr/bin/env node\n", "#!/usr/bin/python3\n"]) {
        await Bun.write(hook, other);
        const { stderr, status } = await check(repository.path, "--install");
        expect(stderr).toStartWith(
          `error: ${hook} is not a shell script\nhint: call this command from it: '`,
        );
        expect([status, await Bun.file(hook).text()]).toEqual([2, other]);
      }
      await Bun.write(hook, own);
      await chmod(hook, 0o600);
      expect((await check(repository.path, "--install")).stderr).toBe(
        `error: ${hook} is not executable, so git does not run it\nhint: remove it, or chmod +x\n`,
      );
      await chmod(hook, 0o700);
      await rename(hook, `${hook}.own`);
      await symlink(`${hook}.own`, hook);
      expect((await check(repository.path, "--install")).stderr).toStartWith(
        `error: ${hook} is not a regular file\n`,
      );
      expect(await readlink(hook)).toBe(`${hook}.own`);
      expect(await Bun.file(hook).text()).toBe(own);
    });

    test("respects core.hooksPath: of husky, of the repository, and of a shared folder", async () => {
      await using repository = await createRepository();
      const { path } = repository;
      const set = (value: string) => git(path, "config", "core.hooksPath", value);
      await set("hooks");
      await check(path, "--install");
      expect(await Bun.file(repository.join("hooks/pre-commit")).text()).toContain(
        "\nrt secrets check --staged || exit $?\n",
      );
      await repository.write({ ".husky/_/pre-commit": "#!/bin/sh\n. husky\n" });
      await set(".husky/_");
      await check(path, "--install");
      expect(await Bun.file(repository.join(".husky/pre-commit")).text()).toContain(
        "rt secrets check --staged",
      );
      expect(await Bun.file(repository.join(".husky/_/pre-commit")).text()).toBe("#!/bin/sh\n. husky\n");
      await using shared = await createProject();
      await set(shared.path);
      const { stderr, status } = await check(path, "--install");
      expect(stderr).toStartWith(
        `error: git's hooks are in ${shared.path} (core.hooksPath), which other repositories may share`,
      );
      expect(status).toBe(2);
      expect(await Bun.file(join(shared.path, "pre-commit")).exists()).toBe(false);
    });
  });
});
