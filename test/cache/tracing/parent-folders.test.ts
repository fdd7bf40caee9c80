// Some programs list all folders from `/` to the project, as esbuild and Bun do. Such a script does not depend on every name there.
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createProject } from "../../support/project.ts";
import { waitUntil } from "../../support/processes.ts";
import { REPOSITORY, runRt } from "../../support/rt.ts";
import { CAN_TRACE, mapCases, outcomeOf } from "../cached-project.ts";

const ENGINE = process.execPath;
const ESBUILD = join(REPOSITORY, "node_modules/esbuild/bin/esbuild");

const TOOLS: Readonly<Record<string, string>> = {
  esbuild: `${ESBUILD} src/a.js --bundle --outfile=dist/esbuild.js --log-level=error`,
  bun: `${ENGINE} build src/a.js --outfile=dist/bun.js > /dev/null`,
  // Two threads of a bundler walk at the same time, here in one order.
  walks: `node -e '${[
    'const parts = process.cwd().split("/");',
    'const folders = parts.map((_, index) => parts.slice(0, index + 1).join("/") || "/");',
    "folders.forEach((folder, index) => {",
    "  fs.readdirSync(folder); if (index > 0) fs.readdirSync(folders[index - 1]);",
    "});",
    "fs.readdirSync(folders.at(-1));",
  ].join(" ")}'`,
};

/** A project in a folder in which the test creates other files. */
async function openProject(scripts: Readonly<Record<string, string>>) {
  const names = Object.keys(scripts);
  const folder = await createProject({
    "app/package.json": { name: "app", scripts },
    "app/rtfig.toml": names.map((name) => `[run.cache.${name}]\nignore = ["go", "ready"]\n`).join(""),
    "app/dist/.keep": "",
    "app/src/a.js": 'import { b } from "./b.js"; console.log(b);\n',
    "app/src/b.js": "export const b = 1;\n",
    "cache/.keep": "",
  });
  const start = async (words: readonly string[]) =>
    await runRt({
      args: [...words, ...names],
      cwd: folder.join("app"),
      env: { XDG_CACHE_HOME: folder.join("cache"), HOME: folder.join("app") },
    });
  return {
    ...folder,
    /** Runs the only script. */
    run: async () => outcomeOf(await start(["run"]), folder.path),
    /** Runs all scripts at once. */
    async runAll() {
      const { stderr } = await start(["--parallel", "run"]);
      return mapCases(scripts, (_, name) => {
        const line = stderr.split("\n").find((each) => each.startsWith(`${name} `));
        if (line?.includes("| Cached (saved ")) return "hit";
        return line?.includes("| Done in ") && !stderr.includes("warning: ") ? "ran" : stderr;
      });
    },
  };
}

const OTHER_NAMES = ["other", "tmp.Ab3x", "log.txt", "photo.jpeg", ".X99-lock", "page.html"];
const SEARCHED_NAMES = [
  "package.json",
  "tsconfig.json",
  "jsconfig.json",
  ".pnp.cjs",
  ".env",
  "bunfig.toml",
  "pnpm-lock.yaml",
];

test.skipIf(!CAN_TRACE)(
  "a script runs again only for new names above the project that its tool searches for",
  async () => {
    await using folder = await openProject(TOOLS);
    const [ran, hit] = [mapCases(TOOLS, () => "ran"), mapCases(TOOLS, () => "hit")];
    expect([await folder.runAll(), await folder.runAll()]).toEqual([ran, hit]);
    for (const name of OTHER_NAMES) await folder.write({ [name]: "{}" });
    await mkdir(folder.join("another-project"));
    // Other tests create files in the folder for temporary files as well.
    const above = join(dirname(folder.path), `rt-other-${crypto.randomUUID()}`);
    await writeFile(above, "");
    expect(await folder.runAll()).toEqual(hit);
    await rm(above);
    for (const name of [...SEARCHED_NAMES, "node_modules/x/package.json"]) {
      await folder.write({ [name]: "{}" });
      expect([name, await folder.runAll()]).toEqual([name, ran]);
      await rm(folder.join(name.split("/")[0]!), { recursive: true });
      expect([name, await folder.runAll()]).toEqual([name, hit]);
    }
  },
);

test.skipIf(!CAN_TRACE)(
  "a script depends on a module above the project under each extension that its resolver tries",
  async () => {
    await using folder = await openProject({ t: TOOLS.esbuild! });
    await folder.write({ "shared.js": "export const b = 2;\n", "app/src/a.js": 'import "../../shared";\n' });
    expect([await folder.run(), await folder.run()]).toEqual(["ran", "hit"]);
    await folder.write({ "unrelated.ts": "" });
    expect(await folder.run()).toBe("hit");
    await folder.write({ "shared.ts": "export const b = 3;\n" });
    expect(await folder.run()).toBe("ran");
  },
);

test.skipIf(!CAN_TRACE)(
  "a script is cached when a name above the project appears while a resolver runs",
  async () => {
    const wait = "echo > go; until [ -e ready ]; do sleep 0.05; done";
    await using folder = await openProject({ t: `${TOOLS.esbuild!}; ${wait}; ${TOOLS.esbuild!}` });
    const running = folder.run();
    await waitUntil(() => existsSync(folder.join("app/go")));
    await folder.write({ other: "", "app/ready": "" });
    expect(await running).toBe("ran");
    expect(await folder.run()).toBe("hit");
  },
);

test.skipIf(!CAN_TRACE).each([
  ["ls", "ls .."],
  ["a glob", "for name in ../*; do :; done"],
  ["find", "find .. -maxdepth 1"],
  ["Node.js", `node -e 'fs.readdirSync("..")'`],
  [
    "Node.js, in each folder up to the root",
    `node -e 'for (let at = process.cwd(); ; at = path.dirname(at)) { if (at !== os.tmpdir()) fs.readdirSync(at); if (at === "/") break }'`,
  ],
  ["ls after esbuild", `${TOOLS.esbuild!}; ls ..`],
  [
    "the walking program itself",
    `node -e 'const all = []; for (let at = process.cwd(); at !== "/"; at = path.dirname(at)) all.unshift(at); for (const at of ["/", ...all]) fs.readdirSync(at); fs.readdirSync("..")'`,
  ],
])(
  "a script that lists the folder above the project with %s runs again for each new name",
  async (_, script) => {
    await using folder = await openProject({ t: `${script}; true` });
    const first = await folder.run();
    // The script may have listed the folder for temporary files, in which other tests create files.
    expect(first).toMatch(/^ran$|another process added or removed files/);
    if (first === "ran") expect(await folder.run()).toMatch(/hit|ran/);
    await folder.write({ other: "" });
    expect(await folder.run()).not.toBe("hit");
  },
);
