// One project of cached-projects.ts, tried: its script runs and is kept, is found, is put back when what it made is gone, runs
// after an edit of a source and is kept, and is found again, as it is when the edit is taken back. Each time, what it makes or
// prints is to say what the source says.
//
// The home directory is empty at first, and the cache is the project's own.
import { rm } from "node:fs/promises";
import { type CachedProject, cachedProject, outcomeOf } from "../cache/cached-project.ts";
import { createProject } from "../support/project.ts";
import type { Environment } from "../support/rt.ts";
import { AFTER, BEFORE, type CachedToolProject } from "./cached-projects.ts";
import { installTool, runProgram, type Workshop } from "./installation.ts";

export interface CachedTrial {
  readonly version: string;
  /** How each run went, up to one that went another way than it should. */
  readonly ways: readonly string[];
  /** What went wrong, if anything. */
  readonly failure?: string;
}

/** What every project of these tools has its git ignore. */
const IGNORED = ["node_modules", "dist", ".next", ".astro"];

interface Step {
  /** As outcomeOf() has it, or the project's `unkept`. */
  readonly way: string;
  readonly told: string;
  readonly said: string;
  prepare?(tool: CachedToolProject, project: CachedProject): Promise<void>;
}

// What a run after the first finds is what an earlier one made. It may look at that, and would rightly run without it: so only
// the first, which found nothing, has to be put back.
const STEPS: readonly Step[] = [
  { way: "ran", told: "kept", said: BEFORE },
  { way: "hit", told: "found", said: BEFORE },
  { way: "hit", told: "put back", said: BEFORE, prepare: removeMade },
  { way: "ran", told: "kept after an edit", said: AFTER, prepare: edit },
  { way: "hit", told: "found", said: AFTER },
  { way: "hit", told: "found when the edit is taken back", said: BEFORE, prepare: undo },
];

export async function tryCaching(tool: CachedToolProject, workshop: Workshop): Promise<CachedTrial> {
  await using project = await cachedProject({}, {}, "", workshop.folder);
  await using home = await createProject();
  const version = await setUp(tool, project, workshop);
  const env = { HOME: home.path, PATH: workshop.path, ...tool.env };
  const ways: string[] = [];
  for (const step of stepsOf(tool)) {
    await step.prepare?.(tool, project);
    const failure = await runStep(step, tool, project, env);
    if (failure !== undefined) return { version, ways: [...ways, `not ${step.told}`], failure };
    ways.push(step.told);
  }
  return { version, ways };
}

function stepsOf({ made, unkept }: CachedToolProject): Step[] {
  const first: Step[] = unkept ? [{ way: unkept, told: "unkept at first", said: BEFORE }] : [];
  return [...first, ...STEPS.filter(({ prepare }) => made !== undefined || prepare !== removeMade)];
}

/** @returns the tool's version */
async function setUp(tool: CachedToolProject, project: CachedProject, workshop: Workshop): Promise<string> {
  const { starter, files, packages, script, rule } = tool;
  // A starter wants a folder that is empty.
  if (starter) for (const name of ["package.json", "rtfig.toml"]) await rm(project.join(name));
  runProgram(["git", "init", "--quiet"], project.path);
  if (starter) runProgram(["npx", "--yes", ...starter], project.path, workshop.path);
  await project.write(files);
  const version = await installTool(project.path, packages, workshop);
  const manifest = (await Bun.file(project.join("package.json")).json()) as { scripts: object };
  await project.write({
    "package.json": { type: "module", ...manifest, scripts: { ...manifest.scripts, work: script } },
    "rtfig.toml": `[run.cache]\nwork = ${rule}\n`,
    ".gitignore": IGNORED.map((name) => `${name}\n`).join(""),
  });
  return version;
}

async function removeMade({ made }: CachedToolProject, project: CachedProject): Promise<void> {
  await rm(project.join(made!), { recursive: true });
}

async function edit({ source }: CachedToolProject, project: CachedProject): Promise<void> {
  const text = await Bun.file(project.join(source)).text();
  await project.write({ [source]: text.replaceAll(BEFORE, AFTER) });
}

async function undo({ source }: CachedToolProject, project: CachedProject): Promise<void> {
  const text = await Bun.file(project.join(source)).text();
  await project.write({ [source]: text.replaceAll(AFTER, BEFORE) });
}

/** @returns what went wrong, if anything */
async function runStep(
  { way, said }: Step,
  { made, unkept }: CachedToolProject,
  project: CachedProject,
  env: Environment,
): Promise<string | undefined> {
  const result = await project.rt(["run", "work"], env);
  const output = `${result.stdout}${result.stderr}`;
  const went = outcomeOf(result, project.path);
  if (way === unkept ? !went.includes(unkept) : went !== way) {
    const { stdout, stderr } = await project.rt(["cache", "why", "work"], env);
    return `${output}${stdout}${stderr}`;
  }
  const text = made === undefined ? output : await readAll(project.join(made));
  if (text.includes(said)) return undefined;
  return `${made ?? "what it printed"} does not have ${said}: ${output}`;
}

/** The text of all files of a folder. */
async function readAll(folder: string): Promise<string> {
  const files = new Bun.Glob("**/*").scan({ cwd: folder, dot: true, absolute: true });
  const texts = await Array.fromAsync(files, async (file) => await Bun.file(file).text());
  return texts.join("\n");
}
