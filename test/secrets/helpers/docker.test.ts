// `docker-credential-rt`. docker itself logs in and out at a registry of this test, in a session with GNOME Keyring. Also the
// protocol of docker-credential-helpers, message by message.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod, lstat, mkdir, readdir, readlink, realpath, symlink } from "node:fs/promises";
import { dirname } from "node:path";
import { hasProgram } from "../../../build/system-programs.ts";
import { VERSION } from "../../../src/version.ts";
import { type Keyring, startKeyring } from "../../support/keyring/keyring.ts";
import { createProject, type Project } from "../../support/project.ts";
import { ABSENT, RT, runRt } from "../../support/rt.ts";
import { startOnTerminal } from "../../support/programs/terminal.ts";

const PASSWORD = "docker pass 7be1";
/** Docker 20 talks to no registry without it. */
const API = { "Docker-Distribution-Api-Version": "registry/2.0" };
const NOT_FOUND = { stdout: "credentials not found in native keychain\n", stderr: "", status: 1 };

describe.skipIf(process.platform !== "linux")("rt secrets helper docker", () => {
  let keyring: Keyring;
  let home: Project;
  beforeAll(async () => {
    [keyring, home] = await Promise.all([startKeyring(), createProject()]);
    await mkdir(home.join("bin"));
    await symlink(RT, home.join("bin/rt"));
  });
  afterAll(async () => {
    await home?.[Symbol.asyncDispose]();
    await keyring?.[Symbol.asyncDispose]();
  });

  const environment = () => ({
    ...keyring.env,
    PATH: `${home.join("bin")}:${process.env.PATH}`,
    DOCKER_CONFIG: home.join("docker"),
  });
  const callHelper = (action: string, stdin = "") =>
    runRt({ args: ["secrets", "helper", "docker", action], stdin, env: environment() });
  const store = (ServerURL: string, Username: string, Secret: string) =>
    callHelper("store", JSON.stringify({ ServerURL, Username, Secret }));
  const helper = (...args: string[]) => runRt({ args: ["secrets", "helper", ...args], env: environment() });
  const done = (stdout = "") => ({ stdout, stderr: "", status: 0 });
  const config = () => Bun.file(home.join("docker/config.json")).text();

  test.skipIf(!hasProgram("docker"))("docker logs in and out with it", async () => {
    const seen: string[] = [];
    await using registry = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        const given = request.headers.get("authorization")?.replace("Basic ", "");
        if (given) seen.push(Buffer.from(given, "base64").toString());
        return seen.at(-1) === `dora:${PASSWORD}` && given
          ? new Response("{}", { headers: API })
          : new Response("{}", { status: 401, headers: { ...API, "WWW-Authenticate": 'Basic realm="r"' } });
      },
    });
    const server = `127.0.0.1:${registry.port}`;
    const docker = (args: string[], stdin = "") =>
      runRt({
        program: ["docker"],
        args,
        stdin,
        env: { ...environment(), DOCKER_HOST: "tcp://127.0.0.1:1" },
      });
    await home.write({ "docker/config.json": "{}\n" });
    expect((await helper("--install", "docker")).status).toBe(0);
    const login = await docker(["login", "-u", "dora", "--password-stdin", server], PASSWORD);
    expect(login).toMatchObject({ stdout: expect.stringContaining("Login Succeeded"), status: 0 });
    expect(await config()).not.toContain(Buffer.from(`dora:${PASSWORD}`).toString("base64"));
    const { stdout } = await runRt({ args: ["secrets", "list", `docker:${server}`], env: keyring.env });
    expect(stdout).toBe(`docker:${server}\tdora\n`);
    seen.length = 0;
    await docker(["manifest", "inspect", "--insecure", `${server}/a:1`]);
    expect(seen).toContain(`dora:${PASSWORD}`);
    expect((await docker(["logout", server])).status).toBe(0);
    expect(await callHelper("get", server)).toEqual(NOT_FOUND);
  });

  test("stores, returns, lists and erases one login for each server", async () => {
    const server = "https://index.docker.io/v1/";
    expect(await callHelper("get", server)).toEqual(NOT_FOUND);
    expect(await store(server, "old", "x")).toEqual(done());
    expect(await store(server, "dora", PASSWORD)).toEqual(done());
    const { stdout, stderr, status } = await callHelper("get", `${server}\n`);
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(JSON.parse(stdout)).toEqual({ ServerURL: server, Username: "dora", Secret: PASSWORD });
    await store("ghcr.example", "<token>", "identity");
    await runRt({ args: ["secrets", "set", "npm", "//a.example/"], stdin: "x", env: keyring.env });
    const { stdout: list } = await callHelper("list", "unused");
    expect(JSON.parse(list)).toEqual({ "ghcr.example": "<token>", [server]: "dora" });
    expect(await callHelper("erase", server)).toEqual(done());
    expect(await callHelper("erase", server)).toEqual(done());
    expect(await callHelper("get", server)).toEqual(NOT_FOUND);
    expect(JSON.parse((await callHelper("list")).stdout)).not.toContainKey(server);
  });

  test("finds a login only under the exact name of its server", async () => {
    await store("registry.example", "dora", PASSWORD);
    for (const other of ["registry.example/", "https://registry.example", "registry.exampl", "example"])
      expect(await callHelper("get", other)).toEqual(NOT_FOUND);
  });

  test("fails when another program has stored several users", async () => {
    for (const user of ["u1", "u2"])
      await runRt({ args: ["secrets", "set", "docker:many.example", user], stdin: "x", env: keyring.env });
    const message = "2 users are stored for one registry";
    expect(await callHelper("get", "many.example")).toEqual({
      stdout: `${message}\n`,
      stderr: `error: ${message}\nhint: log out of it with docker, and in again\n`,
      status: 1,
    });
    expect(await callHelper("erase", "many.example")).toEqual(done());
    expect(await callHelper("get", "many.example")).toEqual(NOT_FOUND);
  });

  test("reports missing input in docker's words, and never repeats the input", async () => {
    const failed = (text: string) => ({ stdout: `${text}\n`, stderr: "", status: 1 });
    for (const action of ["get", "erase"])
      expect(await callHelper(action, " \n")).toEqual(failed("no credentials server URL"));
    expect(await store("", "u", "s")).toEqual(failed("no credentials server URL"));
    expect(await store("s.example", "", "s")).toEqual(failed("no credentials username"));
    expect(await callHelper("rotate")).toEqual(failed("Unknown credential action"));
    const message = "Standard input is not JSON with ServerURL, Username and Secret";
    for (const input of [
      "",
      "null",
      `{"Secret":"${PASSWORD}"`,
      `{"ServerURL":"a","Username":"b","Secret":["${PASSWORD}"]}`,
    ])
      expect(await callHelper("store", input)).toEqual({
        stdout: `${message}\n`,
        stderr: `error: ${message}\n`,
        status: 1,
      });
    expect(await callHelper("version")).toEqual(done(`docker-credential-rt (rt) ${VERSION}\n`));
  });

  test("reports a missing store on both outputs, and not a missing login", async () => {
    const env = { ...environment(), DBUS_SESSION_BUS_ADDRESS: `unix:path=${ABSENT}/bus` };
    const { stdout, stderr, status } = await runRt({
      args: ["secrets", "helper", "docker", "get"],
      stdin: "a.example",
      env,
    });
    expect(status).toBe(1);
    expect(stdout).toMatch(/^No session bus answers [^\n]*\n$/);
    expect(stderr).toMatch(/^error: No session bus answers .*\nhint: .*\n$/);
  });

  test("shows no password to a terminal", async () => {
    await store("t.example", "dora", PASSWORD);
    const command = `echo t.example | "$0" secrets helper docker get`;
    await using terminal = startOnTerminal(["bash", "-c", command, RT], environment());
    await terminal.awaitOutput("A password is printed for a program, not to a terminal");
    expect(await terminal.awaitExit()).toBe(1);
    expect(terminal.shown).not.toContain(PASSWORD);
  });

  describe("--install docker", () => {
    const write = async (text: string) => {
      await home.write({ "docker/config.json": text });
      await helper("--uninstall", "docker");
    };
    const link = () => home.join("bin/docker-credential-rt");

    test.each([
      ["two spaces", '{\n  "auths": {\n    "a": {}\n  },\n  "HttpHeaders": {"x": "}, \\" {"}\n}\n'],
      [
        "tabs and line ends of Windows",
        '{\r\n\t"detachKeys": "ctrl-e,e",\r\n\t"n": [1, {"credsStore": "z"}]\r\n}',
      ],
      ["one line", '{"a":1,"b":{"credsStore":"z"}}'],
      ["nothing", "{}\n"],
    ])("keeps every character of a file with %s", async (_, text) => {
      await write(text);
      await chmod(home.join("docker/config.json"), 0o640);
      const { stdout, stderr, status } = await helper("--install", "docker");
      expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
      expect(stdout).toContain("To undo it: rt secrets helper --uninstall docker\n");
      const installed = await config();
      expect(JSON.parse(installed)).toEqual({ ...JSON.parse(text), credsStore: "rt" });
      expect((await lstat(home.join("docker/config.json"))).mode & 0o777).toBe(0o640);
      expect(await realpath(link())).toBe(await realpath(RT));
      await helper("--install", "docker");
      expect(await config()).toBe(installed);
      await helper("--uninstall", "docker");
      expect(await config()).toBe(text);
      expect(await Bun.file(link()).exists()).toBe(false);
      expect(await readdir(home.join("docker"))).toEqual(["config.json"]);
    });

    test.each([
      ["the end", '{\n  "a": "}, {",\n  "credsStore": "rt"\n}\n', '{\n  "a": "}, {"\n}\n'],
      ["a separate line", '{"credsStore": "rt"}', "{}"],
      [
        "the middle",
        '{"x":{"credsStore":"rt","y":["]"]}, "credsStore":"rt", "b":2}',
        '{"x":{"credsStore":"rt","y":["]"]}, "b":2}',
      ],
    ])("removes only its line from %s of a file", async (_, text, left) => {
      await home.write({ "docker/config.json": text });
      expect((await helper("--uninstall", "docker")).status).toBe(0);
      expect(await config()).toBe(left);
    });

    test("leaves the file unchanged and no other file when the disk is full", async () => {
      await write('{"a":1}');
      const { stdout, stderr, status } = await runRt({
        program: ["bash", "-c", 'trap "" XFSZ; ulimit -f 0; exec "$0" "$@"', RT],
        args: ["secrets", "helper", "--install", "docker"],
        env: environment(),
      });
      expect({ stdout, status }).toEqual({ stdout: "", status: 2 });
      expect(stderr).toBe(
        `error: Cannot write ${home.join("docker/config.json")} (EFBIG); the file is unchanged\n`,
      );
      expect(await readdir(home.join("docker"))).toEqual(["config.json"]);
      expect(await config()).toBe('{"a":1}');
    });

    test("creates a missing file for its user alone", async () => {
      const env = { ...environment(), DOCKER_CONFIG: undefined, HOME: home.join("new") };
      await mkdir(home.join("new"));
      await runRt({ args: ["secrets", "helper", "--install", "docker"], env });
      const path = home.join("new/.docker/config.json");
      expect(await Bun.file(path).json()).toEqual({ credsStore: "rt" });
      expect((await lstat(path)).mode & 0o777).toBe(0o600);
      expect((await lstat(dirname(path))).mode & 0o777).toBe(0o700);
    });

    test("keeps a symlink to the file", async () => {
      await home.write({ "dotfiles.json": '{"a":1}' });
      await mkdir(home.join("linked"));
      await symlink("../dotfiles.json", home.join("linked/config.json"));
      const env = { ...environment(), DOCKER_CONFIG: home.join("linked") };
      await runRt({ args: ["secrets", "helper", "--install", "docker"], env });
      expect(await readlink(home.join("linked/config.json"))).toBe("../dotfiles.json");
      expect(await Bun.file(home.join("dotfiles.json")).json()).toEqual({ a: 1, credsStore: "rt" });
    });

    test.each([
      [
        "another program's store",
        '{"credsStore":"pass"}',
        'docker stores its logins with "pass" (credsStore in ',
      ],
      [
        "text that is not JSON",
        `{"auths": {"a": {"auth": "${PASSWORD}"}},}`,
        "is not a JSON object, so nothing was changed",
      ],
      ["a list", "[]", "is not a JSON object, so nothing was changed"],
    ])("rejects %s and changes nothing", async (_, text, message) => {
      await write("{}");
      await home.write({ "docker/config.json": text });
      const { stdout, stderr, status } = await helper("--install", "docker");
      expect({ stdout, status }).toEqual({ stdout: "", status: 2 });
      expect(stderr).toContain(message);
      expect(stderr).not.toContain(PASSWORD);
      expect(await config()).toBe(text);
      expect(await Bun.file(link()).exists()).toBe(false);
      if (text.startsWith('{"creds')) {
        await helper("--uninstall", "docker");
        expect(await config()).toBe(text);
      }
    });

    test("rejects and keeps a foreign program with the helper's name", async () => {
      await write("{}");
      await home.write({ "bin/docker-credential-rt": "#!/bin/sh\n" });
      const { stderr, status } = await helper("--install", "docker");
      expect({ stderr, status }).toEqual({
        stderr: `error: ${link()} exists and does not belong to rt\nhint: remove it first\n`,
        status: 2,
      });
      expect(await config()).toBe("{}");
      await helper("--uninstall", "docker");
      expect(await Bun.file(link()).text()).toBe("#!/bin/sh\n");
      await Bun.file(link()).delete();
    });

    test("warns about passwords that stay in the file, and about a PATH without the helper", async () => {
      await write('{"auths":{"a":{"auth":"x"}}}');
      expect((await helper("--install", "docker")).stdout).toContain(
        "Passwords already in the file stay there",
      );
      const PATH = process.env
        .PATH!.split(":")
        .filter((each) => each !== dirname(RT))
        .join(":");
      const env = { ...environment(), PATH };
      const { stderr } = await runRt({ args: ["secrets", "helper", "--install", "docker"], env });
      expect(stderr).toBe(`hint: docker finds its helper on PATH only; add ${dirname(RT)} to it\n`);
      await runRt({ args: ["secrets", "helper", "--uninstall", "docker"], env });
    });
  });
});
