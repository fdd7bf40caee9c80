// `rt secrets helper git`. git itself calls it, over HTTP and with `git credential`, in a session with GNOME Keyring. Also the
// protocol, line by line.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { stat, symlink } from "node:fs/promises";
import { type GitServer, startGitServer } from "../../support/servers/git-server.ts";
import { type Keyring, startKeyring } from "../../support/keyring/keyring.ts";
import { createProject, type Project } from "../../support/project.ts";
import { ABSENT, RT, runRt } from "../../support/rt.ts";
import { startOnTerminal } from "../../support/programs/terminal.ts";

const PASSWORD = "git pass 51c7";
const OTHER = "git pass 09ae";
const NOTHING = { stdout: "", stderr: "", status: 0 };

describe.skipIf(process.platform !== "linux")("rt secrets helper git", () => {
  let keyring: Keyring;
  let server: GitServer;
  let home: Project;
  beforeAll(async () => {
    [keyring, server, home] = await Promise.all([
      startKeyring(),
      startGitServer("alice", PASSWORD),
      createProject(),
    ]);
    await symlink(RT, home.join("git-credential-rt"));
  });
  afterAll(async () => {
    await home?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
    await keyring?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    await home.write({
      gitconfig: "[user]\n\tname = a\n\temail = a@b.example\n",
    });
  });

  const environment = () => ({
    ...keyring.env,
    PATH: `${home.path}:${process.env.PATH}`,
    GIT_CONFIG_GLOBAL: home.join("gitconfig"),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
  });
  const git = (args: string[], stdin = "", cwd = home.path) =>
    runRt({ program: ["git"], args, stdin, cwd, env: environment() });
  const callHelper = (action: string, lines: string[] | string) =>
    runRt({
      args: ["secrets", "helper", "git", action],
      stdin: typeof lines === "string" ? lines : lines.map((line) => `${line}\n`).join(""),
      env: environment(),
    });
  const helper = (...args: string[]) =>
    runRt({ args: ["secrets", "helper", ...args], env: environment(), cwd: home.path });
  const stored = async (service: string, name: string) => {
    const { stdout, status } = await runRt({ args: ["secrets", "get", service, name], env: keyring.env });
    return status === 0 ? stdout : null;
  };

  describe("with git itself", () => {
    test("clones and pushes with the stored password, and erases a password that the server rejects", async () => {
      expect((await helper("--install", "git")).status).toBe(0);
      const service = `git:http://${server.host}`;
      const credential = `protocol=http\nhost=${server.host}\nusername=alice\npassword=${PASSWORD}\n`;
      expect(await git(["credential", "approve"], credential)).toEqual(NOTHING);
      expect(await stored(service, "alice")).toBe(PASSWORD);

      const clone = home.join("clone");
      expect(await git(["clone", "-q", server.url, clone])).toMatchObject({ status: 0 });
      await home.write({ "clone/a.txt": "a" });
      await git(["add", "."], "", clone);
      await git(["commit", "-qm", "a"], "", clone);
      expect(await git(["push", "-q", "origin", "HEAD:main"], "", clone)).toEqual(NOTHING);
      expect(new Set(server.tried)).toEqual(new Set([`alice:${PASSWORD}`]));
      expect(await stored(service, "alice")).toBe(PASSWORD);

      server.password = OTHER;
      const refused = await git(["fetch", "-q"], "", clone);
      expect(refused.status).toBe(128);
      expect(refused.stderr).not.toContain(PASSWORD);
      expect(await stored(service, "alice")).toBeNull();
      server.password = PASSWORD;
    });

    test("fill returns an approved credential from git-credential-rt, and reject removes it", async () => {
      await git(["config", "--global", "credential.helper", "rt"]);
      const request = "protocol=https\nhost=fill.example\n";
      const whole = `${request}username=bob\npassword=${PASSWORD}\n`;
      await git(["credential", "approve"], whole);
      expect(await git(["credential", "fill"], request)).toEqual({ stdout: whole, stderr: "", status: 0 });
      await git(["credential", "reject"], whole);
      expect((await git(["credential", "fill"], request)).stdout).toBe("");
      expect(await stored("git:https://fill.example", "bob")).toBeNull();
    });

    test("limits a password to one repository with credential.useHttpPath", async () => {
      await git(["config", "--global", "credential.helper", "rt"]);
      await git(["config", "--global", "credential.useHttpPath", "true"]);
      const one = "protocol=https\nhost=path.example\npath=one.git\n";
      await git(["credential", "approve"], `${one}username=bob\npassword=${PASSWORD}\n`);
      expect((await git(["credential", "fill"], one)).stdout).toContain(`password=${PASSWORD}\n`);
      expect((await git(["credential", "fill"], one.replace("one", "two"))).stdout).toBe("");
      expect(await stored("git:https://path.example/one.git", "bob")).toBe(PASSWORD);
    });

    test("imports a credential that git reads from its own store", async () => {
      await git(["config", "--global", "credential.helper", `store --file=${home.join("plain")}`]);
      await helper("--install", "git");
      await home.write({ plain: `https://carol:${OTHER.replaceAll(" ", "%20")}@moved.example\n` });
      const { stdout } = await git(["credential", "fill"], "protocol=https\nhost=moved.example\n");
      await git(["credential", "approve"], stdout);
      expect(await stored("git:https://moved.example", "carol")).toBe(OTHER);
    });
  });

  describe("the protocol", () => {
    const address = ["protocol=https", "host=p.example"];

    test("ignores unknown keys and actions, and stops at a blank line", async () => {
      const more = ["wwwauth[]=Basic realm=x", "capability[]=state", "state[]=a", "new=\r"];
      expect(
        await callHelper("store", [
          ...more,
          ...address,
          "username=u",
          `password=${PASSWORD}`,
          "",
          "no attribute",
        ]),
      ).toEqual(NOTHING);
      expect((await callHelper("get", [...address, "", "junk"])).stdout).toBe(
        `password=${PASSWORD}\nusername=u\n`,
      );
      expect(await callHelper("rotate", address)).toEqual(NOTHING);
      expect(await callHelper("get", ["protocol=https", "host=absent.example"])).toEqual(NOTHING);
    });

    test("answers after the blank line, without waiting for the end of input", async () => {
      await callHelper("store", [
        "protocol=https",
        "host=open.example",
        "username=u",
        `password=${PASSWORD}`,
      ]);
      const child = Bun.spawn([RT, "secrets", "helper", "git", "get"], {
        env: environment(),
        stdin: "pipe",
        stdout: "pipe",
      });
      void child.stdin.write("protocol=https\nhost=open.example\n\n");
      await child.stdin.flush();
      expect(await new Response(child.stdout).text()).toContain(`password=${PASSWORD}\n`);
      await child.exited;
    });

    test("stores an expiry and a refresh token, and returns no expired password", async () => {
      const host = ["protocol=https", "host=oauth.example"];
      const user = [...host, "username=u", `password=${PASSWORD}`];
      await callHelper("store", [...user, "password_expiry_utc=4102444800", "oauth_refresh_token=r1"]);
      expect((await callHelper("get", host)).stdout).toBe(
        `password=${PASSWORD}\nusername=u\npassword_expiry_utc=4102444800\noauth_refresh_token=r1\n`,
      );
      await callHelper("store", [...user, "password_expiry_utc=1000", "oauth_refresh_token=r1"]);
      expect((await callHelper("get", host)).stdout).toBe(
        "username=u\npassword_expiry_utc=1000\noauth_refresh_token=r1\n",
      );
      const justNow = Math.floor(Date.now() / 1000);
      for (const expiry of [1000, justNow]) {
        await callHelper("store", [...user, `password_expiry_utc=${expiry}`]);
        expect(await callHelper("get", host)).toEqual(NOTHING);
      }
    });

    test("returns a credential of another type when git supports it", async () => {
      const host = ["protocol=https", "host=bearer.example"];
      const token = ["authtype=Bearer", `credential=${PASSWORD}`];
      await callHelper("store", [...host, "ephemeral=1", ...token]);
      expect(await callHelper("get", ["capability[]=authtype", ...host])).toEqual(NOTHING);
      await callHelper("store", ["capability[]=authtype", ...host, ...token]);
      expect((await callHelper("get", ["capability[]=authtype", ...host])).stdout).toBe(
        `capability[]=authtype\nauthtype=Bearer\ncredential=${PASSWORD}\n`,
      );
      expect(await callHelper("get", host)).toEqual(NOTHING);
    });

    test("fails with the names of the users when several are stored", async () => {
      const host = ["protocol=https", "host=many.example"];
      for (const user of ["u1", "u2"])
        await callHelper("store", [...host, `username=${user}`, `password=${user} p`]);
      const { stdout, stderr } = await callHelper("get", host);
      expect(stdout).toBe("");
      expect(stderr).toBe(
        "error: 2 users are stored for https://many.example: u1, u2\n" +
          "hint: set credential.https://many.example.username to one of them, with git config\n",
      );
      expect((await callHelper("get", [...host, "username=u2"])).stdout).toBe("password=u2 p\nusername=u2\n");
    });

    test("erases only the rejected password", async () => {
      const user = ["protocol=https", "host=erase.example", "username=u"];
      await callHelper("store", [...user, `password=${PASSWORD}`]);
      expect(await callHelper("erase", [...user, `password=${OTHER}`])).toEqual(NOTHING);
      expect(await stored("git:https://erase.example", "u")).toBe(PASSWORD);
      await callHelper("store", [...user.slice(0, 2), "username=v", `password=${PASSWORD}`]);
      await callHelper("erase", user.slice(0, 2));
      for (const name of ["u", "v"]) expect(await stored("git:https://erase.example", name)).toBeNull();
    });

    test("erases no token that is newer than the rejected one", async () => {
      const host = ["protocol=https", "host=erase-token.example"];
      const token = (credential: string) => ["authtype=Bearer", `credential=${credential}`];
      const address = "git:https://erase-token.example";
      await callHelper("store", ["capability[]=authtype", ...host, ...token(PASSWORD)]);
      expect(await callHelper("erase", [...host, ...token(OTHER)])).toEqual(NOTHING);
      expect(await stored(address, "*")).toContain(`credential=${PASSWORD}`);
      // Neither the password nor the token may differ.
      await callHelper("store", [...host, "username=u", `password=${PASSWORD}`, ...token(PASSWORD)]);
      await callHelper("erase", [...host, "username=u", `password=${PASSWORD}`, ...token(OTHER)]);
      await callHelper("erase", [...host, "username=u", `password=${OTHER}`, ...token(PASSWORD)]);
      expect(await stored(address, "u")).toContain(`credential=${PASSWORD}`);
      // Without a user, every stored credential is compared.
      await callHelper("store", [...host, "username=v", ...token(OTHER)]);
      await callHelper("erase", [...host, ...token(OTHER)]);
      expect(await stored(address, "v")).toBeNull();
      expect(await stored(address, "*")).toContain(`credential=${PASSWORD}`);
      await callHelper("erase", [...host, "username=", ...token(PASSWORD)]);
      expect(await stored(address, "*")).toBeNull();
      expect(await stored(address, "u")).not.toBeNull();
    });

    test("skips writing a value that is already stored", async () => {
      // The keyring replaces its file with every change.
      const writes = async () => {
        const file = [...new Bun.Glob(".local/share/keyrings/*.keyring").scanSync(keyring.home)];
        return await Promise.all(file.map(async (name) => (await stat(`${keyring.home}/${name}`)).ino));
      };
      const store = (password: string) =>
        callHelper("store", ["protocol=https", "host=same.example", "username=u", `password=${password}`]);
      await store(PASSWORD);
      const before = await writes();
      await store(PASSWORD);
      expect(await writes()).toEqual(before);
      await store(OTHER);
      expect(await writes()).not.toEqual(before);
    });

    test.each([
      [
        "no key and value",
        "protocol=https\nsecret\n",
        "Line 2 of standard input is not of the form key=value",
      ],
      ["a NUL", "protocol=https\nhost=a.example\nusername=a\0b\n", "username has a line break or a NUL"],
      ["a carriage return", "protocol=https\nhost=a.example\rhost=b\n", "host has a line break or a NUL"],
      ["no protocol", "host=a.example\n", "git sent no protocol"],
      ["no host", "protocol=https\n", "git sent neither a host nor a path"],
      ["a host with a path", "protocol=https\nhost=a.example/b\n", "git sent an invalid host"],
      ["bytes that are not text", "protocol=https\nhost=\u{fffd}", ""],
    ])("rejects %s in one line", async (_, input, message) => {
      const bytes =
        message === "" ? Buffer.from("protocol=https\nhost=a\xff\n", "latin1").toString("latin1") : input;
      const { stdout, stderr, status } = await runRt({
        args: ["secrets", "helper", "git", "get"],
        stdin: Buffer.from(bytes, message === "" ? "latin1" : "utf8"),
        env: environment(),
      });
      expect({ stdout, status }).toEqual({ stdout: "", status: 2 });
      expect(stderr).toContain(`error: ${message || "Standard input is not text in UTF-8"}`);
      expect(stderr).not.toContain("secret\n");
    });

    test("reads at most a megabyte", async () => {
      const { stderr, status } = await callHelper("store", `password=${"x".repeat(2 << 20)}`);
      expect({ stderr, status }).toEqual({
        stderr: "error: Standard input has more than 1048576 bytes\n",
        status: 2,
      });
      const whole = `password=${"x".repeat((1 << 20) - "password=".length)}`;
      expect((await callHelper("store", whole)).stderr).toBe("error: git sent no protocol\n");
    });

    test("rejects a stored value with a line break or NUL", async () => {
      const set = (name: string, value: string) =>
        runRt({ args: ["secrets", "set", "git:https://evil.example", name], stdin: value, env: keyring.env });
      const request = ["protocol=https", "host=evil.example"];
      for (const value of ["a\nhost=good.example\n", "a\0b", "a\rb"]) {
        await set("u", value);
        const { stdout, stderr, status } = await callHelper("get", request);
        expect({ stdout, status }).toEqual({ stdout: "", status: 2 });
        expect(stderr).toBe(
          "error: The stored password has a line break or a NUL character, which git's protocol cannot carry\n",
        );
      }
      await runRt({ args: ["secrets", "delete", "git:https://evil.example", "u"], env: keyring.env });
      await set("u\nhost=good.example", "p");
      expect(await callHelper("get", request)).toMatchObject({ stdout: "", status: 2 });
    });

    test("shows no password to a terminal", async () => {
      await using terminal = startOnTerminal([RT, "secrets", "helper", "git", "get"], environment());
      await terminal.awaitOutput("Standard input is a terminal; git starts this command and writes to it");
      expect(await terminal.awaitExit()).toBe(2);
      const command = `printf 'protocol=https\\nhost=p.example\\n' | "$0" secrets helper git get`;
      await using shown = startOnTerminal(["bash", "-c", command, RT], environment());
      await shown.awaitOutput("A password is printed for a program, not to a terminal");
      expect(await shown.awaitExit()).toBe(2);
      expect(shown.shown).not.toContain(PASSWORD);
    });

    test("reports a missing store in one line with a hint", async () => {
      const env = { ...environment(), DBUS_SESSION_BUS_ADDRESS: `unix:path=${ABSENT}/bus` };
      const { stdout, stderr, status } = await runRt({
        args: ["secrets", "helper", "git", "get"],
        stdin: "protocol=https\nhost=a.example\n",
        env,
      });
      expect({ stdout, status }).toEqual({ stdout: "", status: 2 });
      expect(stderr).toMatch(/^error: No session bus answers .*\nhint: .*\n$/);
    });
  });

  describe("--install git", () => {
    const config = () => Bun.file(home.join("gitconfig")).text();

    test("adds one line and prints how to undo it, and undoing restores the file", async () => {
      const text = '# mine\n[user]\n\tname = a\n\n[credential "https://x.example"]\n\tusername = z\n';
      await home.write({ gitconfig: text });
      const { stdout, stderr, status } = await helper("--install", "git");
      expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
      expect(stdout).toBe(
        "git asks rt for passwords (credential.helper, --global)\nTo undo it: rt secrets helper --uninstall git\n",
      );
      const installed = await config();
      expect(installed).toBe(`${text}[credential]\n\thelper = !'${RT}' secrets helper git\n`);
      await helper("--install", "git");
      expect(await config()).toBe(installed);
      await helper("--uninstall", "git");
      expect(await config()).toBe(text);
      expect((await helper("--uninstall", "git")).stdout).toBe(
        "git does not ask rt (credential.helper, --global)\n",
      );
    });

    test("keeps other helpers, reports that git asks them too, and replaces the line of an rt at another path", async () => {
      const others = "[credential]\n\thelper = cache --timeout=9\n\thelper = !my-rt secrets helper git --x\n";
      await home.write({ gitconfig: `${others}\thelper = !'/old place/rt' secrets helper git\n` });
      const { stdout } = await helper("--install", "git");
      expect(stdout).toContain(
        "git also asks cache --timeout=9, !my-rt secrets helper git --x, and sends each",
      );
      const installed = `${others}\thelper = !'${RT}' secrets helper git\n`;
      expect(await config()).toBe(installed);
      // git asks helpers in this order, so a second installation must not change it.
      await home.write({ gitconfig: `${installed}\thelper = store\n` });
      await helper("--install", "git");
      expect(await config()).toBe(`${installed}\thelper = store\n`);
      await home.write({ gitconfig: installed });
      await helper("--uninstall", "git");
      expect(await config()).toBe(others);
    });

    test("follows an empty helper, which resets the list, and does not report the helpers before it", async () => {
      const reset = '[credential]\n\thelper = store\n\thelper = ""\n';
      await home.write({ gitconfig: `${reset}\thelper = cache\n` });
      expect((await helper("--install", "git")).stdout).toContain("\ngit also asks cache, and sends each");
      const installed = `${reset}\thelper = cache\n\thelper = !'${RT}' secrets helper git\n`;
      expect(await config()).toBe(installed);
      await home.write({ gitconfig: `${installed}\thelper = ""\n` });
      expect((await helper("--install", "git")).stdout).not.toContain("git also asks");
      expect(await config()).toBe(
        `${reset}\thelper = cache\n\thelper = ""\n\thelper = !'${RT}' secrets helper git\n`,
      );
    });

    test("names this rt even when PATH has another one first", async () => {
      await using other = await createProject({ rt: "#!/bin/sh\n" }, ["rt"]);
      const env = { ...environment(), PATH: `${other.path}:${process.env.PATH}` };
      await runRt({ args: ["secrets", "helper", "--install", "git"], env });
      expect(await config()).toContain(`helper = !'${RT}' secrets helper git\n`);
    });

    test("--local configures one repository, and fails with git's message outside of one", async () => {
      await using repository = await createProject();
      const run = (...args: string[]) =>
        runRt({ args: ["secrets", "helper", ...args], env: environment(), cwd: repository.path });
      const refused = await run("--install", "--local", "git");
      expect(refused).toMatchObject({ stdout: "", status: 2 });
      expect(refused.stderr).toMatch(/^error: git failed: fatal: .*\n$/);
      await git(["init", "-q"], "", repository.path);
      expect((await run("--install", "--local", "git")).stdout).toContain("--uninstall --local git\n");
      expect(await Bun.file(repository.join(".git/config")).text()).toContain("secrets helper git");
      expect(await config()).not.toContain("secrets helper git");
    });

    test("quotes a path for the shell", async () => {
      await using odd = await createProject();
      const program = odd.join("it's a $HOME");
      await Bun.write(`${program}/x`, "");
      await symlink(RT, `${program}/rt`);
      const env = { ...environment(), PATH: `${program}:${process.env.PATH}` };
      await runRt({ args: ["secrets", "helper", "--install", "git"], env });
      const request = "protocol=https\nhost=odd.example\n";
      const whole = `${request}username=bob\npassword=${PASSWORD}\n`;
      await git(["credential", "approve"], whole);
      expect((await git(["credential", "fill"], request)).stdout).toBe(whole);
      await runRt({ args: ["secrets", "helper", "--uninstall", "git"], env });
      expect(await config()).not.toContain("helper");
    });
  });
});
