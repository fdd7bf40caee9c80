// Options for scripts that are not run again when nothing has changed.
import { expect } from "bun:test";
import { CAN_TRACE, cachedProject } from "../cache/cached-project.ts";
import { prove } from "./prove.ts";

const scripts = { build: "echo x >> runs.log; cat source" };
const config = 'build = { ignore = ["runs.log"] }';

prove("no-cache", "runs a script and keeps nothing", async () => {
  if (!CAN_TRACE) return;
  await using project = await cachedProject(scripts, { source: "" }, config);
  await project.rt(["--no-cache", "run", "build"]);
  expect(await project.run("build")).toBe("ran");
  expect((await project.rt(["--no-cache", "run", "build"])).stderr).not.toContain("Done before");
  expect(await project.run("build")).toBe("hit");
});

prove("force", "runs a script that need not run, and keeps what it does", async () => {
  if (!CAN_TRACE) return;
  await using project = await cachedProject(scripts, { source: "" }, config);
  expect(await project.run("build")).toBe("ran");
  expect((await project.rt(["--force", "run", "build"])).stderr).not.toContain("Done before");
  expect(await Bun.file(project.join("runs.log")).text()).toBe("x\nx\n");
  expect(await project.run("build")).toBe("hit");
});

prove("cache", "says whether what is kept is read and written", async () => {
  if (!CAN_TRACE) return;
  await using project = await cachedProject(scripts, { source: "" }, config);
  expect((await project.rt(["--cache=local:r", "run", "build"])).status).toBe(0);
  expect(await project.run("build")).toBe("ran");
  expect((await project.rt(["--cache=local:w", "run", "build"])).stderr).not.toContain("Done before");
  expect((await project.rt(["--cache=local:r", "run", "build"])).stderr).toContain("Done before");
  // Where only the shared one is named, nothing is read here.
  expect((await project.rt(["--cache=remote:rw", "run", "build"])).stderr).not.toContain("Done before");
  expect((await project.rt(["--cache=local:,remote:r", "run", "build"])).stderr).not.toContain("Done before");
  expect((await project.rt(["run", "build"], { TURBO_CACHE: "remote:rw" })).stderr).not.toContain(
    "Done before",
  );
  for (const wrong of ["all", "local", "local:rw,", "local:x"])
    expect((await project.rt([`--cache=${wrong}`, "run", "build"])).stderr).toBe(
      `error: --cache cannot be "${wrong}"\nhint: say local, remote or both, and r, w or rw, as in --cache=local:rw,remote:rw\n`,
    );
});
