// A hit restores the outputs when other files, folders or links have replaced them.
import { expect, test } from "bun:test";
import { lstat, mkdir, readdir, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { hasProgram } from "../../../build/system-programs.ts";
import { RT, runRt } from "../../support/rt.ts";
import { CAN_TRACE, cachedProject } from "../cached-project.ts";

const DECLARED = 't = { outputs = ["dist/**"] }';

test.skipIf(!CAN_TRACE)("a hit restores nothing through a symlink out of the project", async () => {
  // An entry has no recorded dependency on the kind of the directory of declared outputs.
  await using project = await cachedProject({ t: "cp in dist/out" }, { in: "1", "dist/kept": "" }, DECLARED);
  await using other = await cachedProject({});
  expect([await project.run("t"), await project.run("t")]).toEqual(["ran", "hit"]);
  await rm(project.join("dist"), { recursive: true });
  await symlink(other.path, project.join("dist"));
  expect(await project.run("t")).not.toBe("hit");
  expect(await readdir(other.path)).not.toContain("kept");
  await rm(project.join("dist"));
  await mkdir(project.join("dist"));
  expect(await project.run("t")).toBe("hit");
  expect((await readdir(project.join("dist"))).toSorted()).toEqual(["kept", "out"]);
});

test.skipIf(!CAN_TRACE)("a hit deletes nothing through a symlink out of the project", async () => {
  await using project = await cachedProject(
    { t: "rm dist/old; cat in" },
    { in: "1", "dist/old": "", "dist/kept": "" },
    DECLARED,
  );
  await using other = await cachedProject({}, { old: "somebody else's", kept: "" });
  expect(await project.run("t")).toBe("ran");
  await rm(project.join("dist"), { recursive: true });
  await symlink(other.path, project.join("dist"));
  const { stderr } = await project.rt(["--cache=local:r", "run", "t"]);
  expect(stderr).not.toContain("Cached (saved");
});

test.skipIf(!CAN_TRACE)("a hit restores files and symlinks with names of the maximum length", async () => {
  const names = ["字".repeat(83), `a${"字".repeat(84)}`, "🙂".repeat(63), "x".repeat(255)];
  const script = [...names.map((name) => `echo $0 > d/${name}`), `mkdir l; ln -s x l/${names[1]}`].join("; ");
  await using project = await cachedProject({ t: `mkdir d; ${script}` });
  expect([await project.run("t"), await project.run("t")]).toEqual(["ran", "hit"]);
  for (const directory of ["d", "l"]) await rm(project.join(directory), { recursive: true });
  expect(await project.run("t")).toBe("hit");
  expect((await readdir(project.join("d"))).toSorted()).toEqual(names.toSorted());
  expect(await readdir(project.join("l"))).toEqual([names[1]!]);
});

test.skipIf(!CAN_TRACE)(
  "a hit restores symlinks and the modes of directories, and deletes what the script deleted with its content",
  async () => {
    const script = [
      "mkdir -p dist/closed && chmod 750 dist/closed && echo x > dist/closed/file",
      "ln -s closed/file dist/link",
      "ln -s /nowhere/at/all dist/dangling",
      "rm -r old",
    ].join(" && ");
    const files = { "old/one/file": "1", "old/one/two/file": "2" };
    await using project = await cachedProject({ t: script }, files);
    expect(await project.run("t")).toBe("ran");
    await rm(project.join("dist"), { recursive: true });
    await project.write(files);
    expect(await project.run("t")).toBe("hit");
    expect(await readdir(project.path)).not.toContain("old");
    expect((await lstat(project.join("dist/closed"))).mode & 0o777).toBe(0o750);
    expect(await readlink(project.join("dist/link"))).toBe("closed/file");
    expect(await readlink(project.join("dist/dangling"))).toBe("/nowhere/at/all");
    // A different link target is a miss, because these outputs are not declared.
    await rm(project.join("dist/link"));
    await symlink("elsewhere", project.join("dist/link"));
    expect(await project.run("t")).not.toBe("hit");
  },
);

test.skipIf(!CAN_TRACE)(
  "a hit replaces whatever is at the paths of declared outputs, and leaves no temporary file",
  async () => {
    const script = "mkdir -p dist/d && cp in dist/d/file && ln -sf d/file dist/link";
    await using project = await cachedProject({ t: script }, { in: "1" }, DECLARED);
    expect(await project.run("t")).toBe("ran");
    const spoil = async (name: string, make: (path: string) => Promise<unknown>) => {
      await rm(project.join(name), { recursive: true });
      await make(project.join(name));
    };
    const look = async () => ({
      names: (await readdir(project.join("dist"), { recursive: true })).toSorted(),
      link: await readlink(project.join("dist/link")),
      text: await Bun.file(project.join("dist/d/file")).text(),
    });
    const fresh = { names: ["d", "d/file", "link"], link: "d/file", text: "1" };
    expect(await look()).toEqual(fresh);
    for (const [name, make] of [
      ["dist/link", async (path) => await symlink("elsewhere", path)],
      ["dist/link", async (path) => await writeFile(path, "a file")],
      ["dist/d/file", async (path) => await symlink("../../in", path)],
      ["dist/d", async (path) => await writeFile(path, "a file")],
      ["dist/d", async (path) => await symlink("..", path)],
    ] as const satisfies readonly (readonly [string, (path: string) => Promise<unknown>])[]) {
      await spoil(name, make);
      expect([name, await project.run("t")]).toEqual([name, "hit"]);
      expect(await look()).toEqual(fresh);
    }
    expect(await Bun.file(project.join("in")).text()).toBe("1");
    // A restore does not delete a directory with content. The script runs, and no partial restore remains.
    await spoil("dist/d/file", async (path) => await mkdir(`${path}/sub`, { recursive: true }));
    expect(await project.run("t")).not.toBe("hit");
    expect((await readdir(project.join("dist/d"))).toSorted()).toEqual(["file"]);
    expect(await readdir(project.join("dist/d/file"))).toContain("sub");
  },
);

test.skipIf(!CAN_TRACE)("a hit restores files with the permissions that the script set", async () => {
  await using project = await cachedProject({ t: "cp in out; chmod 400 out" }, { in: "1" });
  expect(await project.run("t")).toBe("ran");
  await rm(project.join("out"));
  expect(await project.run("t")).toBe("hit");
  expect((await lstat(project.join("out"))).mode & 0o777).toBe(0o400);
});

test.skipIf(!CAN_TRACE || !hasProgram("strace"))(
  "a run lists a directory of declared outputs once",
  async () => {
    await using project = await cachedProject(
      { t: "mkdir -p dist/deep && cp in dist/deep/file" },
      { in: "1" },
      DECLARED,
    );
    const deep = project.join("dist/deep");
    const program = [
      "strace",
      "-f",
      "-qq",
      "-s",
      "4096",
      "-e",
      "trace=openat",
      "-o",
      project.join("log"),
      RT,
    ];
    const { status } = await runRt({
      program,
      args: ["run", "t"],
      cwd: project.path,
      env: { XDG_CACHE_HOME: project.cache },
    });
    expect(status).toBe(0);
    const listings = (await Bun.file(project.join("log")).text())
      .split("\n")
      .filter((line) => line.includes(`"${deep}", `) && line.includes("O_DIRECTORY"));
    expect(listings).toHaveLength(1);
  },
);
