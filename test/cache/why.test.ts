// `rt cache why` with several projects that share a cache.
import { expect, test } from "bun:test";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { CAN_TRACE } from "./cached-project.ts";

test.skipIf(!CAN_TRACE)(
  "rt cache why shows the runs of the project of the current directory, and outside all projects the folder of each run",
  async () => {
    const filesIn = (folder: string) => ({
      [`${folder}/package.json`]: { name: "p", scripts: { build: `echo ${folder}` } },
      [`${folder}/rtfig.toml`]: "[run.cache]\nbuild = true\n",
    });
    await using folder = await createProject({
      ...{ ...filesIn("one"), ...filesIn("two"), ...filesIn("two/inner") },
      ...{ "one/src/.keep": "", "cache/.keep": "" },
    });
    const rt = async (at: string, ...args: string[]) =>
      await runRt({ args, cwd: folder.join(at), env: { XDG_CACHE_HOME: folder.join("cache") } });
    for (const at of ["one", "two", "two/inner"])
      expect(await rt(at, "run", "build")).toMatchObject({ status: 0, stdout: `${at}\n` });
    const why = async (at: string) =>
      (await rt(at, "cache", "why", "build")).stdout
        .replace(/\d{4}-\S+Z/g, "TIME")
        .split("\n")
        .slice(0, -1);
    for (const at of ["one", "one/src", "two", "two/inner"])
      expect([at, await why(at)]).toEqual([at, ["build, TIME: no earlier run"]]);
    expect(await why(".")).toEqual(
      ["two/inner", "two", "one"].map((at) => `build in ${folder.join(at)}, TIME: no earlier run`),
    );
  },
);
