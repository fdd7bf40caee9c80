// A tool's run that was kept, and all that can be done to what it has read inside its project: files, links, folders, listings,
// and what was looked for and is not there are changed, removed, renamed, retyped, relinked or made, one by one.
//
// Surprising: nothing is run again for this, `--dry-run --why` says what would be.
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
  /** Of what it has not read: files that it did not open, and folders that it did not list. */
  readonly others: readonly InputChange[];
  /** "hit" or "miss": what it would be now. */
  look(): Promise<string>;
  /** Why it is a hit or a miss. */
  explain(): Promise<string>;
}

/** Runs the tool. Throws where that is not kept. @param isWhole has its packages inside its project, where they can be changed */
export async function recordRun(name: string, workload: Workload, isWhole = false): Promise<RecordedRun> {
  const env = { PATH, HOME: process.env.HOME };
  const project = await cachedProject(
    { work: workload.script },
    { ...workload.files, "notes/unread": "" },
    // Bundlers list the folders above the project, and others make files there meanwhile.
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
    ([, path]) => !path.startsWith("/") && path !== "." && !made.has(path),
  );
  const listed = entry.conditions.filter(([kind, path]) => kind === "names" && path === ".");
  const ask = async () => {
    const { stdout } = await project.rt(["--sequential", "--dry-run=json", "--why", "run", "work"], env);
    // Without a package.json that can be read there is no script.
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
    look: async () => (await ask()).result,
    explain: async () => (await ask()).why,
    [Symbol.asyncDispose]: async () => await project[Symbol.asyncDispose](),
  };
}

/** What was not noticed, by its name. Throws where it is no hit afterwards: then nothing was found out. */
export async function findStale(run: RecordedRun, changes: readonly InputChange[]): Promise<string[]> {
  return await findAnswered(run, changes, "hit");
}

/** What made the script run again without a need, by its name. */
export async function findNeedless(run: RecordedRun, changes: readonly InputChange[]): Promise<string[]> {
  return await findAnswered(run, changes, "miss");
}

async function findAnswered(
  { look, explain }: RecordedRun,
  changes: readonly InputChange[],
  wrong: "hit" | "miss",
): Promise<string[]> {
  const found: string[] = [];
  for (const { name, apply, putBack } of changes) {
    apply();
    if ((await look()) === wrong) found.push(wrong === "hit" ? name : `${name} (${await explain()})`);
    putBack();
  }
  if ((await look()) !== "hit")
    throw new Error(`it is no hit when everything is put back: ${await explain()}`);
  return found;
}

type Change = readonly [what: string, apply: () => void, putBack: () => void];

/** What can be done to a path, by what was recorded of it. */
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

/** Of what is no input, each file with another content, and each folder with a name more. */
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

/** What is the cache's own, or decides how a script is started. */
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
