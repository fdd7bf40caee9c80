// Only the rtfig.toml of the root project gives secrets.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod, chown } from "node:fs/promises";
import { createProject, type Project } from "../../support/project.ts";
import { runRt } from "../../support/rt.ts";
import { hashIn } from "../../support/trusted.ts";

const giving = (value: string) => `[secrets.TOKEN]
from.command = ["printf", "${value}"]
[run.secrets]
show = ["TOKEN"]
`;
const manifest = (name: string) => ({
  name,
  scripts: { show: "echo got $TOKEN", preinstall: "echo got $TOKEN" },
});

describe("the rtfig.toml that gives secrets", () => {
  let project: Project;
  beforeAll(async () => {
    project = await createProject({
      "rtfig.toml": giving("above"),
      "root/rtfig.toml": `${giving("root")}preinstall = ["TOKEN"]`,
      "root/package.json": { ...manifest("root"), workspaces: ["packages/*"] },
      "root/src/deep/file.ts": "",
      "root/packages/web/package.json": manifest("web"),
      "root/packages/web/rtfig.toml": giving("member"),
      "root/other/package.json": manifest("other"),
      "root/node_modules/dependency/package.json": manifest("dependency"),
      "root/node_modules/dependency/rtfig.toml": giving("dependency"),
      "alone/package.json": manifest("alone"),
      "bare/package.json": { ...manifest("bare"), workspaces: ["packages/*"] },
      "bare/packages/web/package.json": manifest("web"),
      "bare/packages/web/rtfig.toml": giving("member"),
      "named.toml": giving("named"),
    });
  });
  afterAll(() => project?.[Symbol.asyncDispose]());

  /** Returns the script's output, after allowing whatever needs trust. */
  async function show(folder: string, ...options: string[]): Promise<string> {
    const start = { args: ["--silent", "--no-redact", ...options, "run", "show"], cwd: project.join(folder) };
    const first = await runRt(start);
    const hash = hashIn(first);
    const { stdout, stderr } = hash ? await runRt({ ...start, env: { RT_TRUST: hash } }) : first;
    return stdout.trimEnd() + stderr;
  }

  test.each([
    ["root", "got root", "the root project's"],
    ["root/src/deep", "got root", "the root project's, from a folder of it"],
    [
      "root/packages/web",
      "got rootwarning: secrets in $PROJECT/root/packages/web/rtfig.toml are ignored: the root project is in $PROJECT/root\n",
      "the workspace's, and not the member's own",
    ],
    ["root/other", "got", "not that of a folder above that does not list the package"],
    [
      "root/node_modules/dependency",
      "gotwarning: secrets in $PROJECT/root/node_modules/dependency/rtfig.toml are ignored: the folder is a dependency\n",
      "neither a dependency's own nor that of the project that has installed it",
    ],
    [
      "bare/packages/web",
      "gotwarning: secrets in $PROJECT/bare/packages/web/rtfig.toml are ignored: the root project is in $PROJECT/bare\n",
      "not a member's own, even when the root project has none",
    ],
    ["alone", "got", "not that of a folder above that is not a workspace"],
  ])("%s: %s: %s", async (folder, expected) => {
    expect(await show(folder)).toBe(expected.replaceAll("$PROJECT", project.path));
  });

  test("can be replaced by the file of --config", async () => {
    expect(await show("root", `--config=${project.join("named.toml")}`)).toBe("got named");
    expect(await show("alone", "--config=../named.toml")).toBe("got named");
    await project.write({ "none.toml": "smol = true" });
    expect(await show("root", "--config=../none.toml")).toBe("got");
  });

  test("gives nothing to scripts that rt install runs, even when a row has their name", async () => {
    const cwd = project.join("root");
    const start = { args: ["install", "--offline"], cwd };
    const { stdout, stderr } = await runRt(start);
    expect(stdout + stderr).not.toContain("got root");
    expect(hashIn({ stderr })).toBeUndefined();
  });

  // Only root can create files of another user.
  test.skipIf(process.getuid?.() !== 0)("must not belong to another user", async () => {
    const OTHER = 65_534;
    const file = project.join("root/rtfig.toml");
    await chmod(file, 0o644);
    await chown(file, OTHER, OTHER);
    expect(await show("root/packages/web")).toStartWith("gotwarning: ");
    await chown(project.join("root/packages/web"), OTHER, OTHER);
    expect(await show("root/packages/web")).toStartWith("got rootwarning: ");
    await chown(file, 0, 0);
  });

  test("declares its names in rt types, with their descriptions", async () => {
    await using typed = await createProject({
      "rtfig.toml": '[secrets.TOKEN]\nfrom = "a/b"\nabout = "of */ x"\n[secrets.OTHER]\nfrom = "a/c"',
      "a.ts": "const a: string | undefined = process.env.TOKEN; const b: number = process.env.OTHER; [a, b];",
    });
    const { stdout } = await runRt({ args: ["types"], cwd: typed.path });
    expect(stdout).toContain("    /** of *\\/ x */\n    TOKEN?: string;\n    OTHER?: string;\n");
    const plain = await runRt({ args: ["types"], cwd: project.join("alone") });
    expect(stdout.startsWith(plain.stdout.trimEnd())).toBe(true);
  });
});
