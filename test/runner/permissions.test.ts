// Tests projects of another user: readable files run, and another user's directories are not trusted.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod, readdir, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { hasProgram } from "../../build/system-programs.ts";
import { placeRt } from "../support/programs/programs.ts";
import { createProject, type Project } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { AS_OTHER_USER, isRoot, OTHER_USER_ID } from "../support/users.ts";

const pkg = (scripts: Record<string, string>, more: object = {}) => ({
  "package.json": { scripts, ...more },
});

describe.concurrent("a user without write access", () => {
  const nobody = isRoot
    ? AS_OTHER_USER
    : ["sudo", "--non-interactive", "--preserve-env=TMPDIR", "--user=nobody"];
  // Other users may not reach the checkout.
  let copy: Project;
  let rt: string;
  beforeAll(async () => {
    copy = await createProject();
    await chmod(copy.path, 0o755);
    await placeRt((rt = copy.join("rt")));
  });
  afterAll(async () => {
    await copy?.[Symbol.asyncDispose]();
  });
  const user = isRoot ? OTHER_USER_ID : process.getuid?.();
  const canBeNobody = hasProgram(nobody[0]!) && Bun.spawnSync([...nobody, "true"]).success;

  test("runs scripts, binaries and files", async () => {
    await using project = await createProject(
      {
        ...pkg({ go: "echo $(id -u)" }),
        "a.ts": "console.log(process.getuid!())",
        "node_modules/.bin/tool": "#!/bin/sh\nid -u\n",
      },
      ["node_modules/.bin/tool"],
    );
    await chmod(project.path, 0o755);
    await chmod(project.join("package.json"), 0o444);
    for (const args of [
      ["go"],
      ["a.ts"],
      ["run", "tool"],
      ["-b", "run", "go"],
      ["--smol", "a.ts"],
      ["-p", "process.getuid()"],
    ]) {
      const result = await runRt({
        program: [...AS_OTHER_USER, rt],
        args: ["--silent", ...args],
        cwd: project.path,
      });
      expect({ args, ...result }).toEqual({ args, stdout: `${user}\n`, stderr: "", status: 0 });
    }
  });

  test("gets an error that names an unreadable package.json", async () => {
    await using project = await createProject(pkg({ go: "true" }));
    await chmod(project.path, 0o755);
    await chmod(project.join("package.json"), 0o000);
    const result = await runRt({ program: [...AS_OTHER_USER, rt], args: ["go"], cwd: project.path });
    expect(result).toEqual({
      stdout: "",
      stderr: `error: Cannot read ${project.join("package.json")}: permission denied\n`,
      status: 1,
    });
  });

  test("gets one line when the engine cannot start because its directory is closed", async () => {
    await using project = await createProject({ "closed/rt": "", "a.ts": "" });
    await rm(project.join("closed/rt"));
    await placeRt(project.join("closed/rt"));
    await chmod(project.path, 0o755);
    await chmod(project.join("closed"), 0o700);
    const program = [...AS_OTHER_USER, project.join("closed/rt")];
    const result = await runRt({ program, args: ["--silent", "--smol", "a.ts"], cwd: project.path });
    expect(result).toEqual({
      stdout: "",
      stderr: `error: Cannot start the engine ${project.join("closed/rt")}: EACCES
hint: make this file, and each directory above it, executable for this user
`,
      status: 1,
    });
  });

  test.skipIf(!canBeNobody)("does not trust a shim directory that another user created", async () => {
    await using project = await createProject(pkg({ go: "node -p 'typeof rt'", where: "command -v node" }));
    await chmod(project.path, 0o1777); // like /tmp
    const run = (script = "go") =>
      runRt({
        program: [...nobody, rt],
        args: ["-b", "--silent", "run", script],
        cwd: project.path,
        env: { TMPDIR: project.path },
      });
    expect((await run()).stdout).toBe("object\n");
    const own = (await readdir(project.path)).filter((name) => name.startsWith("rt-links-"));
    if (isRoot) expect(own).toHaveLength(1); // rt uses no links directory of another user
    for (const name of own) {
      await rename(project.join(name), project.join("away"));
      await project.write({ [`${name}/node/node`]: "#!/bin/sh\necho hijacked\n" });
      for (const path of ["", "node", "node/node"]) await chmod(project.join(name, path), 0o755);
    }
    const { stdout, stderr } = await run();
    expect(stdout).not.toContain("hijacked");
    expect(stdout === "object\n" || stderr.startsWith("error: ")).toBe(true);
    // In /tmp, outside the directory of the tests.
    const links = dirname(dirname((await run("where")).stdout.trim()));
    if (links.startsWith("/tmp/rt-links-")) await rm(links, { recursive: true });
  });
});
