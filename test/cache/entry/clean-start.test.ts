// A run without its outputs, as in a fresh clone, is a hit. The exception: the script has read the content of such an output.
import { expect, test } from "bun:test";
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createProject } from "../../support/project.ts";
import { runRt } from "../../support/rt.ts";
import {
  CAN_TRACE,
  cachedCases,
  type CachedProject,
  cachedProject,
  mapCases,
  outcomeOf,
} from "../cached-project.ts";

/** Returns the text of all files below a folder of this directory. */
async function filesIn(directory: string, folder: string): Promise<Record<string, string>> {
  const found = await readdir(join(directory, folder), { recursive: true, withFileTypes: true });
  const files = found.filter((each) => each.isFile()).map((each) => `${each.parentPath}/${each.name}`);
  const texts = files
    .sort()
    .map(async (path) => [path.slice(directory.length + 1), await readFile(path, "utf8")]);
  return Object.fromEntries(await Promise.all(texts));
}

/** Builds, edits, builds again and removes the output. Returns the files of the second build. */
async function buildTwice(project: CachedProject): Promise<Record<string, string>> {
  expect(await project.run("build")).toBe("ran");
  await project.write({ page: "two\n" });
  expect(await project.run("build")).toBe("ran");
  const made = await filesIn(project.path, "dist");
  expect(await project.run("build")).toBe("hit");
  expect(await filesIn(project.path, "dist")).toEqual(made);
  await rm(project.join("dist"), { recursive: true });
  return made;
}

const SCRIPTS: Readonly<Record<string, string>> = {
  "writes into a folder": "mkdir -p dist && cat page > dist/out",
  "looks for the folder first": "[ -d dist ] || mkdir dist; cat page > dist/out",
  "removes the folder first": "rm -rf dist; mkdir dist; cat page > dist/out",
  "lists the folder before it writes": "mkdir -p dist; ls dist > /dev/null; cat page > dist/out",
  "lists the folder after it has written": "mkdir -p dist; cat page > dist/out; ls dist",
  "empties the folder first":
    "mkdir -p dist; for file in dist/*; do rm -rf $file; done; mkdir dist/assets; cp page dist/assets/page; echo i > dist/index",
  "makes folders that stay empty": "mkdir -p dist/empty; cat page > dist/out",
  "looks at the size of its output first": "mkdir -p dist; test -s dist/out; cat page > dist/out",
};

test.skipIf(!CAN_TRACE).each(["true", '{ outputs = ["dist/**"] }'])(
  "a script is a hit after an edit, a build and the removal of its output, with the rule %s",
  async (rule) => {
    await using project = await cachedCases(
      mapCases(SCRIPTS, (script) => ({ script, rule, files: { page: "one\n" } })),
    );
    const [ran, hit] = [mapCases(SCRIPTS, () => "ran"), mapCases(SCRIPTS, () => "hit")];
    const edit = async (page: string) => {
      for (const name of Object.keys(SCRIPTS)) await writeFile(project.at(name, "page"), page);
    };
    const readAll = async () => {
      const all = Object.keys(SCRIPTS).map((name) => [name, filesIn(project.at(name), "dist")] as const);
      return Object.fromEntries(await Promise.all(all.map(async ([name, files]) => [name, await files])));
    };
    expect(await project.runAll()).toEqual(ran);
    await edit("two\n");
    expect(await project.runAll()).toEqual(ran);
    const made = await readAll();
    expect([await project.runAll(), await readAll()]).toEqual([hit, made]);
    for (const name of Object.keys(SCRIPTS)) await rm(project.at(name, "dist"), { recursive: true });
    expect([await project.runAll(), await readAll()]).toEqual([hit, made]);
    await edit("one\n");
    expect(await project.runAll()).toEqual(hit);
    await edit("two\n");
    expect([await project.runAll(), await readAll()]).toEqual([hit, made]);
  },
);

test.skipIf(!CAN_TRACE)(
  "a fresh clone gets the hits of a checkout that contained older outputs",
  async () => {
    const build = "mkdir -p dist && cat page > dist/out";
    await using project = await cachedProject({ build }, { page: "one\n" });
    const made = await buildTwice(project);
    await using clone = await createProject();
    await cp(project.path, clone.path, { recursive: true });
    const result = await runRt({
      args: ["run", "build"],
      cwd: clone.path,
      env: { XDG_CACHE_HOME: project.cache },
    });
    expect(outcomeOf(result, clone.path)).toBe("hit");
    expect(await readFile(clone.join("dist/out"), "utf8")).toBe(made["dist/out"]!);
  },
);

test.skipIf(!CAN_TRACE)(
  "a hit restores an older output that the script has kept, together with the new outputs",
  async () => {
    // Like `cp -u` and make, the script does not rebuild an existing file.
    const build = "mkdir -p dist; cat page > dist/page; test -e dist/other || cat other > dist/other";
    await using project = await cachedProject({ build }, { page: "one\n", other: "other\n" });
    const made = await buildTwice(project);
    expect(Object.keys(made)).toEqual(["dist/other", "dist/page"]);
    expect(await project.run("build")).toBe("hit");
    expect(await filesIn(project.path, "dist")).toEqual(made);
  },
);

test.skipIf(!CAN_TRACE)(
  "a hit does not restore an older output that the script has not accessed",
  async () => {
    const build = "mkdir -p dist; for name in src/*; do cp $name dist/; done";
    await using project = await cachedProject({ build }, { page: "", "src/a": "a", "src/b": "b" });
    expect(await project.run("build")).toBe("ran");
    await rm(project.join("src/b"));
    expect(await project.run("build")).toBe("ran");
    expect(Object.keys(await filesIn(project.path, "dist"))).toEqual(["dist/a", "dist/b"]);
    await rm(project.join("dist"), { recursive: true });
    expect(await project.run("build")).toBe("hit");
    expect(Object.keys(await filesIn(project.path, "dist"))).toEqual(["dist/a"]);
  },
);

test.skipIf(!CAN_TRACE).each([
  [
    "has read",
    "cat dist/first 2>/dev/null; mkdir -p dist; test -e dist/first || cat page > dist/first; cat page > dist/out",
  ],
  [
    "has listed and left unchanged",
    'mkdir -p dist; test -n "$(ls dist)" || cat page > dist/first; cat page > dist/out',
  ],
])("a script runs again without an older output that it %s", async (_, build) => {
  await using project = await cachedProject({ build }, { page: "one\n" });
  await buildTwice(project);
  expect(await project.run("build")).toBe("ran");
  expect(await filesIn(project.path, "dist")).toEqual({ "dist/first": "two\n", "dist/out": "two\n" });
});

test.skipIf(!CAN_TRACE)(
  "a file or folder that no earlier run has created is required for a hit",
  async () => {
    const build = "mkdir -p dist && cat page > dist/out";
    await using project = await cachedProject({ build }, { page: "one\n" });
    await mkdir(project.join("dist"));
    expect(await project.run("build")).toBe("ran");
    await project.write({ page: "two\n" });
    expect(await project.run("build")).toBe("ran");
    await rename(project.join("dist"), project.join("moved"));
    expect(await project.run("build")).toBe("ran");
    // A file of the user in the folder is not an output either.
    await writeFile(project.join("dist/own"), "");
    expect(await project.run("build")).not.toContain("failed");
    expect(await readFile(project.join("dist/own"), "utf8")).toBe("");
  },
);
