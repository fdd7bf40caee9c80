// Every sample of docs/secrets.md runs in a session with GNOME Keyring and prints what the page says.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { symlink } from "node:fs/promises";
import { SECRETS_FAILURES } from "../../src/errors.ts";
import { type Keyring, startKeyring } from "../support/keyring.ts";
import { createProject, type Project } from "../support/project.ts";
import { RT, runRt } from "../support/rt.ts";
import { findSamples, readPage } from "./samples.ts";

const page = await readPage("secrets.md");

describe.skipIf(process.platform !== "linux")("docs/secrets.md", () => {
  let keyring: Keyring;
  let project: Project;
  beforeAll(async () => {
    [keyring, project] = await Promise.all([startKeyring(), createProject()]);
    await symlink(RT, project.join("rt"));
  });
  afterAll(async () => {
    await project?.[Symbol.asyncDispose]();
    await keyring?.[Symbol.asyncDispose]();
  });

  test.each(findSamples(page, "ts"))("$title prints what it says", async ({ code, output }) => {
    await project.write({ "sample.ts": code });
    const result = await runRt({ args: ["sample.ts"], cwd: project.path, env: keyring.env });
    expect(result).toEqual({ stdout: output, stderr: "", status: 0 });
  });

  test.each(findSamples(page, "sh"))("$title prints what it says", async ({ code, output }) => {
    // A home of its own: a sample that starts a keyring must not find another one.
    await using home = await createProject();
    const own = { HOME: home.path, XDG_RUNTIME_DIR: home.path, PATH: `${project.path}:${process.env.PATH}` };
    const env = { ...keyring.env, ...own };
    const result = await runRt({ program: ["bash", "-c", code], cwd: project.path, env });
    expect(result).toMatchObject({ stdout: output, status: 0 });
  });
});

test("docs/secrets.md says of each error's code what the table of codes says", () => {
  const rows = [...page.matchAll(/^\| `ERR_SECRETS_(\w+)` +\| (.*?) +\|$/gm)].map(([, code, text]) => [
    code,
    text,
  ]);
  expect(rows).toEqual(Object.entries(SECRETS_FAILURES).map(([code, { meaning }]) => [code, meaning]));
});
