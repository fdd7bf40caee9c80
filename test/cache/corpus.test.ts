// No stale hit with real tools: each input that was recorded of a run inside its project (files, links, folders, listings, and
// what was looked for and is not there) is changed, removed, renamed, retyped, relinked or made, one by one, and each time
// the script would run; as it was, it would not.
//
//   npm run test:cache -- cache/corpus     (all tools, each input; packages come from the registry)
//
// Surprising: nothing is run again for this, `--dry-run --why` says what would be.
import { expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Condition, KeptEntry } from "../../src/cache/entry.ts";
import type { Files } from "../support/project.ts";
import { REPOSITORY } from "../support/rt.ts";
import { CAN_TRACE, type CachedProject, cachedProject } from "./cached-project.ts";

const isAll = process.env.RT_TEST_CORPUS === "all";
/** Of each tool; they are spread over what was recorded. */
const MOST = isAll ? Number(process.env.RT_TEST_INPUTS ?? Number.POSITIVE_INFINITY) : 12;

interface Workload {
  readonly script: string;
  readonly files: Files;
  /** Installed with npm. */
  readonly packages?: readonly string[];
  /** This repository's own packages do. */
  readonly isLinked?: boolean;
  /** It writes something of its own into the home directory when it runs for the first time. */
  readonly isWarmed?: boolean;
}

const CODE: Files = {
  "src/index.ts":
    'import { add } from "./add";\nimport data from "./data.json";\nexport const sum: number = add(1, data.two);\n',
  "src/add.ts": "export function add(a: number, b: number): number {\n  return a + b;\n}\n",
  "src/data.json": '{ "two": 2 }\n',
};

const TSCONFIG = {
  compilerOptions: { outDir: "dist", rootDir: "src", resolveJsonModule: true, strict: true },
  include: ["src"],
};

const WORKLOADS: Readonly<Record<string, Workload>> = {
  bash: {
    script: "bash work.sh",
    files: {
      "work.sh":
        "for file in src/*; do test -e $file.skip || cat $file; done > out; . ./lib/helper.sh; ls lib; test -e missing/deep || true",
      "lib/helper.sh": "cat lib/link > /dev/null\n",
      ...CODE,
    },
  },
  node: {
    script: "node work.cjs",
    files: {
      "work.cjs":
        'const fs = require("fs"); require("./lib"); try { require("absent-package") } catch {}; fs.readdirSync("src").forEach((name) => fs.statSync("src/" + name)); fs.writeFileSync("out", fs.readFileSync("src/add.ts"))',
      "lib/index.js": 'require("./part"); require("child_process").execFileSync("cat", ["src/data.json"])',
      "lib/part.json": "{}",
      ...CODE,
    },
  },
  ...(isAll && {
    bun: { script: `${process.execPath} build src/index.ts --outdir=dist`, files: CODE },
    esbuild: { script: "esbuild --bundle src/index.ts --outfile=dist/out.js", files: CODE, isLinked: true },
    vite: {
      script: "vite build",
      files: { ...CODE, "index.html": '<script type="module" src="/src/index.ts"></script>' },
      isLinked: true,
    },
    vitest: {
      script: "vitest run --globals",
      files: {
        ...CODE,
        "src/add.test.ts": 'import { add } from "./add";\ntest("adds", () => expect(add(1, 2)).toBe(3));\n',
      },
      isLinked: true,
      isWarmed: true,
    },
    rustc: {
      script: "rustc src/main.rs -o out",
      files: {
        "src/main.rs": 'mod part;\nfn main() { println!("{}", part::TEXT); }\n',
        "src/part.rs": 'pub const TEXT: &str = include_str!("text");\n',
        "src/text": "text",
      },
    },
    tsc: { script: "tsc", files: { ...CODE, "tsconfig.json": TSCONFIG }, packages: ["typescript"] },
    eslint: {
      script: "eslint src",
      files: {
        "src/a.js": "export const a = 1;\n",
        "eslint.config.mjs": 'import js from "@eslint/js";\nexport default [js.configs.recommended];\n',
      },
      packages: ["eslint", "@eslint/js"],
    },
    biome: { script: "biome lint src", files: { ...CODE, "biome.json": {} }, packages: ["@biomejs/biome"] },
    swc: { script: "swc src -d dist --extensions .ts", files: CODE, packages: ["@swc/cli", "@swc/core"] },
  }),
};

type Change = readonly [what: string, apply: () => void, putBack: () => void];

/** What can be done to a path, by what was recorded of it. */
function changesOf([kind, , ...rest]: Condition, path: string): Change[] {
  const aside = `${path}.aside`;
  const move = () => renameSync(path, aside);
  const moveBack = () => {
    rmSync(path, { recursive: true, force: true });
    renameSync(aside, path);
  };
  const replaced = (what: string, make: () => void): Change => [what, () => (move(), make()), moveBack];
  switch (kind) {
    case "file": {
      const mode = rest[1] as number;
      return [
        replaced("changed", () => writeFileSync(path, "changed", { mode })),
        replaced("removed", () => {}),
        replaced("a folder", () => mkdirSync(path)),
        replaced("a link", () => symlinkSync(aside, path)),
        ["other permissions", () => chmodSync(path, mode ^ 0o001), () => chmodSync(path, mode)],
      ];
    }
    case "absent": {
      const missing = topmostMissing(path);
      const remove = () => rmSync(missing, { recursive: true, force: true });
      const make = (put: () => void) => () => (mkdirSync(dirname(path), { recursive: true }), put());
      return [
        ["made", make(() => writeFileSync(path, "")), remove],
        ["a folder made", make(() => mkdirSync(path)), remove],
        ["a link made", make(() => symlinkSync("nowhere", path)), remove],
      ];
    }
    case "directory":
      return [
        replaced("removed", () => {}),
        replaced("a file", () => writeFileSync(path, "")),
        replaced("a link", () => symlinkSync(aside, path)),
      ];
    case "link":
      return [
        replaced("another link", () => symlinkSync("elsewhere", path)),
        replaced("a file", () => writeFileSync(path, "")),
      ];
    case "names":
      return [
        [
          "a name more",
          () => writeFileSync(join(path, "zz-new"), ""),
          () => unlinkSync(join(path, "zz-new")),
        ],
      ];
    default:
      return [];
  }
}

function topmostMissing(path: string): string {
  return existsSync(dirname(path)) ? path : topmostMissing(dirname(path));
}

async function entryOf(project: CachedProject): Promise<KeptEntry> {
  const [name] = [...new Bun.Glob("rt/*/keys/*/*.zst").scanSync(project.cache)];
  const bytes = await Bun.file(join(project.cache, name!)).bytes();
  return JSON.parse(Bun.zstdDecompressSync(bytes).toString()) as KeptEntry;
}

function prepare(project: CachedProject, { packages, isLinked }: Workload): void {
  if (isLinked) symlinkSync(join(REPOSITORY, "node_modules"), project.join("node_modules"));
  if (!packages) return;
  const words = ["npm", "install", "--no-audit", "--no-fund", ...packages];
  const { exitCode, stderr } = Bun.spawnSync(words, { cwd: project.path, stderr: "pipe" });
  expect({ exitCode, said: exitCode === 0 ? "" : `${stderr}` }).toEqual({ exitCode: 0, said: "" });
}

test.skipIf(!CAN_TRACE).each(Object.entries(WORKLOADS))(
  "%s: each input that changes is noticed",
  async (name, workload) => {
    const env = { PATH: `${process.env.HOME}/.cargo/bin:${process.env.PATH}`, HOME: process.env.HOME };
    await using project = await cachedProject(
      { work: workload.script },
      { ...workload.files, "notes/unread": "" },
      // Bundlers list the folders above the project, and others make files there meanwhile.
      `work = { ignore = ["/tmp/*", "${tmpdir()}/*", "!."] }`,
    );
    if (name === "bash") symlinkSync("helper.sh", project.join("lib/link"));
    prepare(project, workload);
    if (workload.isWarmed) await project.rt(["--no-cache", "run", "work"], env);
    const first = await project.rt(["--why", "run", "work"], env);
    expect(first).toMatchObject({ status: 0, stderr: expect.not.stringContaining("not cached") });
    const look = async () => {
      const { stdout } = await project.rt(["--sequential", "--dry-run=json", "--why", "run", "work"], env);
      // Without a package.json that can be read there is no script.
      if (stdout === "") return { result: "miss" };
      return (
        (JSON.parse(stdout) as { tasks: [{ cache?: { result: string; why?: string } }] }).tasks[0].cache ?? {
          result: "miss",
        }
      );
    };
    expect(await look()).toMatchObject({ result: "hit" });
    const entry = await entryOf(project);
    const made = new Set([...entry.outputs.map(({ path }) => path), ...entry.own]);
    const inputs = entry.conditions.filter(
      ([, path]) => !path.startsWith("/") && path !== "." && !made.has(path),
    );
    const listed = entry.conditions.filter(([kind, path]) => kind === "names" && path === ".");
    const changes = [...inputs, ...listed].flatMap((each) =>
      changesOf(each, project.join(each[1])).map((change) => [each, change] as const),
    );
    expect(changes.length).toBeGreaterThan(10);
    const step = Math.max(1, Math.ceil(changes.length / MOST));
    const stale: string[] = [];
    for (let index = 0; index < changes.length; index += step) {
      const [[kind, path], [what, apply, putBack]] = changes[index]!;
      apply();
      if ((await look()).result !== "miss") stale.push(`${kind} ${path}: ${what}`);
      putBack();
    }
    expect(stale).toEqual([]);
    expect(await look()).toMatchObject({ result: "hit" });
    writeFileSync(project.join("notes/unread"), "changed");
    expect(await look()).toMatchObject({ result: "hit" });
    console.log(
      `${name}: ${entry.conditions.length} recorded, ${Math.ceil(changes.length / step)} of ${changes.length} changes tried`,
    );
  },
  isAll ? 3_600_000 : 60_000,
);
