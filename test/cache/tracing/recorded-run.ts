// A cached run of a tool, and the possible changes of its recorded dependencies inside the project. A change modifies, removes,
// retypes, relinks or creates one path. `--dry-run --why` validates the entry without running the tool.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import type { RecordedDependency, StoredEntry } from "../../../src/cache/entry/entry.ts";
import { REPOSITORY } from "../../support/rt.ts";
import { type CachedProject, cachedProject } from "../cached-project.ts";
import { PATH, type Workload } from "./tool-projects.ts";

/** A change of one path. */
export interface InputChange {
  /** The change and its path. Equal in all runs of the tool. */
  readonly name: string;
  apply(): void;
  putBack(): void;
}

export interface RecordedRun extends AsyncDisposable {
  readonly project: CachedProject;
  /** The number of recorded dependencies. */
  readonly recorded: number;
  readonly changes: readonly InputChange[];
  /** Changes that are not inputs: of files that the tool did not open, and of folders that it did not list. */
  readonly others: readonly InputChange[];
  /** Returns "hit" or "miss". */
  validate(): Promise<string>;
  explain(): Promise<string>;
}

/** Runs the tool. @param isWhole installs its packages in the project @throws if the run is not cached */
export async function recordRun(name: string, workload: Workload, isWhole = false): Promise<RecordedRun> {
  const env = { PATH, HOME: process.env.HOME };
  const project = await cachedProject(
    { work: workload.script },
    { ...workload.files, "notes/unread": "" },
    // Bundlers list the folders above the project, in which other processes create files.
    `work = { ignore = ["/tmp/*", "${tmpdir()}/*", "!."] }`,
  );
  if (name === "bash") symlinkSync("helper.sh", project.join("lib/link"));
  prepare(project, workload, isWhole);
  if (workload.isWarmed) await project.rt(["--no-cache", "run", "work"], env);
  const first = await project.rt(["--why", "run", "work"], env);
  if (first.status !== 0 || first.stderr.includes("not cached"))
    throw new Error(`${name} was not kept: ${first.stderr}`);
  const entry = await entryOf(project);
  const made = new Set([...entry.outputs.map(({ path }) => path), ...entry.own]);
  const inputs = entry.conditions.filter(
    ([, path]) => !/^(?:\/|~)/.test(path) && path !== "." && !made.has(path),
  );
  const listed = entry.conditions.filter(([kind, path]) => kind === "names" && path === ".");
  const dryRun = async () => {
    const { stdout } = await project.rt(["--sequential", "--dry-run=json", "--why", "run", "work"], env);
    // Without a readable package.json there is no script.
    if (stdout === "") return { result: "miss", why: "there is no plan" };
    const { tasks } = JSON.parse(stdout) as { tasks: { cache?: { result: string; why: string } }[] };
    return tasks[0]!.cache ?? { result: "miss", why: "nothing is said of it" };
  };
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
    others: othersOf(project, entry, made),
    validate: async () => (await dryRun()).result,
    explain: async () => (await dryRun()).why,
    [Symbol.asyncDispose]: async () => await project[Symbol.asyncDispose](),
  };
}

/**
 * Returns the names of changes that are hits. @throws if the entry is not a hit afterwards, because the result is then
 * unusable
 */
export async function findStale(run: RecordedRun, changes: readonly InputChange[]): Promise<string[]> {
  return await findResult(run, changes, "hit");
}

/** Returns the names of changes that are misses without a need. */
export async function findNeedless(run: RecordedRun, changes: readonly InputChange[]): Promise<string[]> {
  return await findResult(run, changes, "miss");
}

async function findResult(
  { validate, explain }: RecordedRun,
  changes: readonly InputChange[],
  wrong: "hit" | "miss",
): Promise<string[]> {
  const found: string[] = [];
  for (const { name, apply, putBack } of changes) {
    apply();
    if ((await validate()) === wrong) found.push(wrong === "hit" ? name : `${name} (${await explain()})`);
    putBack();
  }
  if ((await validate()) !== "hit")
    throw new Error(`it is no hit when everything is put back: ${await explain()}`);
  return found;
}

type Change = readonly [what: string, apply: () => void, putBack: () => void];

/** Lists the possible changes of a path, by its kind of dependency. */
function changesOf([kind, , ...rest]: RecordedDependency, path: string): Change[] {
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

/** Lists changes that are not inputs: other content of each file, and a new name in each folder. */
function othersOf(project: CachedProject, entry: StoredEntry, made: ReadonlySet<string>): InputChange[] {
  const known = new Set(entry.conditions.map(([, path]) => path));
  const listed = new Set(entry.conditions.flatMap(([kind, path]) => (kind === "names" ? [path] : [])));
  const absent = new Set(entry.conditions.flatMap(([kind, path]) => (kind === "absent" ? [path] : [])));
  const names = readdirSync(project.path, { recursive: true, withFileTypes: true });
  return names.flatMap((each): InputChange[] => {
    const path = join(each.parentPath, each.name);
    const kept = relative(project.path, path);
    if (made.has(kept) || IGNORED.test(kept)) return [];
    if (each.isDirectory() && !listed.has(kept) && !absent.has(join(kept, "zz-new"))) {
      const added = join(path, "zz-new");
      const add = () => writeFileSync(added, "");
      return [{ name: `${kept}: a name more`, apply: add, putBack: () => unlinkSync(added) }];
    }
    if (!each.isFile() || known.has(kept)) return [];
    const aside = `${project.path}-aside`;
    const apply = () => (renameSync(path, aside), writeFileSync(path, "changed"));
    return [{ name: `${kept}: changed`, apply, putBack: () => renameSync(aside, path) }];
  });
}

/** Paths of the cache, and files that decide how a script is started. */
const IGNORED = /^(?:\.git|cache|rtfig\.toml|package\.json)(?:$|\/)|(?:^|\/)node_modules\/\.(?:cache|vite)/;

function topmostMissing(path: string): string {
  return existsSync(dirname(path)) ? path : topmostMissing(dirname(path));
}

async function entryOf(project: CachedProject): Promise<StoredEntry> {
  const [name] = [...new Bun.Glob("rt/*/keys/*/*.zst").scanSync(project.cache)];
  const bytes = await Bun.file(join(project.cache, name!)).bytes();
  return JSON.parse(Bun.zstdDecompressSync(bytes).toString()) as StoredEntry;
}

function prepare(project: CachedProject, { packages, isLinked }: Workload, isWhole: boolean): void {
  if (isLinked && !isWhole)
    return symlinkSync(join(REPOSITORY, "node_modules"), project.join("node_modules"));
  if (!packages) return;
  const words = ["npm", "install", "--no-audit", "--no-fund", ...packages];
  const { exitCode, stderr } = Bun.spawnSync(words, { cwd: project.path, stderr: "pipe" });
  if (exitCode !== 0) throw new Error(`npm install ${packages.join(" ")}: ${stderr}`);
}
