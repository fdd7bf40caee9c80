// A tool's run that was kept, and all that can be done to what it has read inside its project: files, links, folders, listings,
// and what was looked for and is not there are changed, removed, renamed, retyped, relinked or made, one by one.
//
// Surprising: nothing is run again for this, `--dry-run --why` says what would be.
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
import { REPOSITORY } from "../support/rt.ts";
import { type CachedProject, cachedProject } from "./cached-project.ts";
import { PATH, type Workload } from "./workloads.ts";

/** One thing that can be done. */
export interface InputChange {
  /** What to which path; the same in each run of the tool. */
  readonly name: string;
  apply(): void;
  putBack(): void;
}

export interface RecordedRun extends AsyncDisposable {
  readonly project: CachedProject;
  /** How many conditions were recorded. */
  readonly recorded: number;
  readonly changes: readonly InputChange[];
  /** "hit" or "miss": what it would be now. */
  look(): Promise<string>;
}

/** Runs the tool. Throws where that is not kept. */
export async function recordRun(name: string, workload: Workload): Promise<RecordedRun> {
  const env = { PATH, HOME: process.env.HOME };
  const project = await cachedProject(
    { work: workload.script },
    { ...workload.files, "notes/unread": "" },
    // Bundlers list the folders above the project, and others make files there meanwhile.
    `work = { ignore = ["/tmp/*", "${tmpdir()}/*", "!."] }`,
  );
  if (name === "bash") symlinkSync("helper.sh", project.join("lib/link"));
  prepare(project, workload);
  if (workload.isWarmed) await project.rt(["--no-cache", "run", "work"], env);
  const first = await project.rt(["--why", "run", "work"], env);
  if (first.status !== 0 || first.stderr.includes("not cached"))
    throw new Error(`${name} was not kept: ${first.stderr}`);
  const entry = await entryOf(project);
  const made = new Set([...entry.outputs.map(({ path }) => path), ...entry.own]);
  const inputs = entry.conditions.filter(
    ([, path]) => !path.startsWith("/") && path !== "." && !made.has(path),
  );
  const listed = entry.conditions.filter(([kind, path]) => kind === "names" && path === ".");
  return {
    project,
    recorded: entry.conditions.length,
    changes: [...inputs, ...listed].flatMap((each) =>
      changesOf(each, project.join(each[1])).map(([what, apply, putBack]) => ({
        name: `${each[0]} ${each[1]}: ${what}`,
        apply,
        putBack,
      })),
    ),
    async look() {
      const { stdout } = await project.rt(["--sequential", "--dry-run=json", "--why", "run", "work"], env);
      // Without a package.json that can be read there is no script.
      if (stdout === "") return "miss";
      const { tasks } = JSON.parse(stdout) as { tasks: { cache?: { result: string } }[] };
      return tasks[0]!.cache?.result ?? "miss";
    },
    [Symbol.asyncDispose]: async () => await project[Symbol.asyncDispose](),
  };
}

/** What was not noticed, by its name. */
export async function findStale({ look }: RecordedRun, changes: readonly InputChange[]): Promise<string[]> {
  const stale: string[] = [];
  for (const { name, apply, putBack } of changes) {
    apply();
    if ((await look()) !== "miss") stale.push(name);
    putBack();
  }
  return stale;
}

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
  if (exitCode !== 0) throw new Error(`npm install ${packages.join(" ")}: ${stderr}`);
}
