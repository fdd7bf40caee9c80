// Tests `rt secrets helper` of the Windows binary with the Credential Manager.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PREPARATION_TIMEOUT } from "../support/programs/compiled.ts";
import { createProject, type Project } from "../support/project.ts";
import { canRunWindows, openWindows, type Windows } from "../support/programs/windows.ts";

const PASSWORD = "windows pass 2ab4";
const SERVER = "rt-test.example";

describe.skipIf(!canRunWindows)("rt secrets helper on Windows", () => {
  let windows: Windows;
  let home: Project;
  beforeAll(async () => {
    [windows, home] = await Promise.all([openWindows(), createProject()]);
  }, PREPARATION_TIMEOUT);
  afterAll(async () => {
    await home?.[Symbol.asyncDispose]();
    await windows?.[Symbol.asyncDispose]();
  });
  const helper = (args: string[], input?: string) =>
    windows.run({
      args: ["secrets", "helper", ...args],
      input,
      env: { DOCKER_CONFIG: windows.path(home.path) },
    });
  const done = (stdout = "") => ({ stdout, stderr: "", status: 0 });

  test("supports git's protocol, also with Windows line endings", async () => {
    const query = `protocol=https\r\nhost=${SERVER}\r\n`;
    const credential = `${query}username=alice\r\npassword=${PASSWORD}\r\n`;
    expect(await helper(["git", "store"], credential)).toEqual(done());
    expect(await helper(["git", "get"], query)).toEqual(done(`password=${PASSWORD}\nusername=alice\n`));
    expect(await helper(["git", "erase"], credential)).toEqual(done());
    expect(await helper(["git", "get"], query)).toEqual(done());
  });

  test("supports docker's protocol", async () => {
    const login = JSON.stringify({ ServerURL: SERVER, Username: "dora", Secret: PASSWORD });
    expect(await helper(["docker", "store"], login)).toEqual(done());
    expect(JSON.parse((await helper(["docker", "get"], SERVER)).stdout)).toEqual(JSON.parse(login));
    expect(JSON.parse((await helper(["docker", "list"], "unused")).stdout)).toMatchObject({
      [SERVER]: "dora",
    });
    expect(await helper(["docker", "erase"], SERVER)).toEqual(done());
    expect(await helper(["docker", "get"], SERVER)).toMatchObject({
      stdout: "credentials not found in native keychain\n",
      status: 1,
    });
  });

  test("returns access keys and tokens", async () => {
    const keys = { AccessKeyId: "AKIAEXAMPLE", SecretAccessKey: PASSWORD };
    expect(await helper(["aws", "store", SERVER], JSON.stringify(keys))).toEqual(done());
    expect(JSON.parse((await helper(["aws", "get", SERVER])).stdout)).toEqual({ Version: 1, ...keys });
    expect(await helper(["aws", "erase", SERVER])).toEqual(done());
    expect(await helper(["npm", "store", SERVER], "npm_2ab4\r\n")).toEqual(done());
    expect(await helper(["npm", "header", SERVER])).toEqual(done("Bearer npm_2ab4\n"));
    expect(await helper(["npm", "erase", SERVER])).toEqual(done());
  });

  test("configures docker with a batch file next to rt", async () => {
    const text = '{\r\n\t"a": 1\r\n}\r\n';
    await home.write({ "config.json": text });
    expect((await helper(["--install", "docker"])).status).toBe(0);
    expect(await Bun.file(home.join("config.json")).json()).toEqual({ a: 1, credsStore: "rt" });
    expect((await helper(["--uninstall", "docker"])).status).toBe(0);
    expect(await Bun.file(home.join("config.json")).text()).toBe(text);
  });
});
