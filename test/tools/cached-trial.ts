// Tests the cache with a project of cached-projects.ts: hits, a restore, an edit and its undo. Home directory and cache are new.
// After each step, the output must contain the text of the source. At the end, another user with another checkout runs the script,
// as in CI, and gets the result from each shared cache. If the result depends on the path, the other user has the same path.
import { cp, rm } from "node:fs/promises";
import { type CachedProject, cachedProject, outcomeOf } from "../cache/cached-project.ts";
import { createProject } from "../support/project.ts";
import type { Environment } from "../support/rt.ts";
import { AFTER, BEFORE, type CachedToolProject } from "./cached-projects.ts";
import type { Workshop } from "./installation.ts";
import { readAll, setUp } from "./project-setup.ts";

export interface CachedTrial {
  readonly version: string;
  /** Labels of the completed steps, up to the first that failed. */
  readonly results: readonly string[];
  /** The output of a failed step. */
  readonly failure?: string;
}

interface Step {
  /** A result of outcomeOf(). */
  readonly outcome: string;
  readonly label: string;
  /** The text that the output must contain. */
  readonly text: string;
  prepare?(tool: CachedToolProject, project: CachedProject): Promise<void>;
}

// A later run may depend on the outputs of an earlier one, and then runs again without them. So only the entry of the first run,
// which found no outputs, is restored after a deletion.
const STEPS: readonly Step[] = [
  { outcome: "ran", label: "cached", text: BEFORE },
  { outcome: "hit", label: "hit", text: BEFORE },
  { outcome: "hit", label: "restored", text: BEFORE, prepare: removeOutputs },
  { outcome: "ran", label: "cached after an edit", text: AFTER, prepare: edit },
  { outcome: "hit", label: "hit", text: AFTER },
  { outcome: "hit", label: "hit after undoing the edit", text: BEFORE, prepare: undo },
];

/** @param shared environment variables of shared caches; the first one has the results of all steps */
export async function tryCaching(
  tool: CachedToolProject,
  workshop: Workshop,
  shared: readonly Environment[],
): Promise<CachedTrial> {
  await using project = await cachedProject({}, {}, "", workshop.folder);
  await using home = await createProject();
  const version = await setUp(tool, project, workshop, ["cache = true", ...tool.row]);
  // The names of folders in TMPDIR count, so the home directory must not be in it.
  const env = {
    HOME: home.path,
    USER: "ada",
    PATH: workshop.path,
    TMPDIR: undefined,
    ...tool.env,
  };
  const results: string[] = [];
  for (const step of stepsOf(tool)) {
    await step.prepare?.(tool, project);
    const failure = await runStep(step, tool, project, { ...env, ...shared[0] });
    if (failure !== undefined) return { version, results: [...results, `not ${step.label}`], failure };
    results.push(step.label);
  }
  const { notShared } = tool;
  const label = notShared === undefined ? "hit for another user" : "hit for another user with the same path";
  for (const [index, server] of shared.entries()) {
    const serverEnv = { ...env, ...server };
    const failure =
      (index === 0 ? undefined : await publish(tool, project, serverEnv)) ??
      (await runElsewhere(tool, project, workshop, serverEnv)) ??
      (notShared === undefined ? undefined : await runAsOther(tool, project, serverEnv));
    if (failure !== undefined) return { version, results: [...results, `not ${label}`], failure };
    results.push(label);
  }
  return { version, results };
}

/** Runs the script without its outputs and with a new home directory, so that its result is uploaded. @returns a failure */
async function publish(
  tool: CachedToolProject,
  project: CachedProject,
  env: Environment,
): Promise<string | undefined> {
  await using home = await createProject();
  if (tool.outputFolder !== undefined) await removeOutputs(tool, project);
  return await runStep(STEPS[0]!, tool, project, {
    ...env,
    HOME: home.path,
    XDG_CACHE_HOME: home.join("cache"),
  });
}

/** Copies the project without its outputs, and runs the script there as another user. @returns a failure */
async function runElsewhere(
  tool: CachedToolProject,
  project: CachedProject,
  workshop: Workshop,
  env: Environment,
): Promise<string | undefined> {
  const { outputFolder, notShared } = tool;
  const content = outputFolder === undefined ? "" : await readAll(project.join(outputFolder));
  await using other = await cachedProject({}, {}, "", workshop.folder);
  const removed = outputFolder === undefined ? [] : [project.join(outputFolder)];
  await cp(project.path, other.path, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !removed.includes(path),
  });
  const failure = await runAsOther(tool, other, env);
  if (notShared !== undefined) return failure === undefined ? `is a hit, although ${notShared}` : undefined;
  if (failure !== undefined) return failure;
  const restored = outputFolder === undefined ? "" : await readAll(other.join(outputFolder));
  return restored === content ? undefined : `${outputFolder} differs from that of the first user`;
}

/** Runs the script without its outputs and with a new local cache. @returns the output if it is not a hit */
async function runAsOther(
  { outputFolder }: CachedToolProject,
  project: CachedProject,
  env: Environment,
): Promise<string | undefined> {
  await using home = await createProject();
  if (outputFolder !== undefined) await rm(project.join(outputFolder), { recursive: true, force: true });
  const ci = { ...env, HOME: home.path, XDG_CACHE_HOME: home.join("cache"), USER: "runner" };
  const { stdout, stderr, status } = await project.rt(["run", "--why", "work"], {
    ...ci,
    ...{ CI: "true", TERM: "dumb" },
  });
  const output = `${stdout}${stderr}`;
  return status === 0 && output.includes("Cached (saved ") ? undefined : output;
}

function stepsOf({ outputFolder }: CachedToolProject): Step[] {
  return STEPS.filter(({ prepare }) => outputFolder !== undefined || prepare !== removeOutputs);
}

async function removeOutputs({ outputFolder }: CachedToolProject, project: CachedProject): Promise<void> {
  await rm(project.join(outputFolder!), { recursive: true });
}

async function edit({ source }: CachedToolProject, project: CachedProject): Promise<void> {
  const text = await Bun.file(project.join(source)).text();
  await project.write({ [source]: text.replaceAll(BEFORE, AFTER) });
}

async function undo({ source }: CachedToolProject, project: CachedProject): Promise<void> {
  const text = await Bun.file(project.join(source)).text();
  await project.write({ [source]: text.replaceAll(AFTER, BEFORE) });
}

/** @returns the output if the step failed */
async function runStep(
  { outcome, text }: Step,
  { outputFolder }: CachedToolProject,
  project: CachedProject,
  env: Environment,
): Promise<string | undefined> {
  const result = await project.rt(["run", "work"], env);
  const output = `${result.stdout}${result.stderr}`;
  if (outcomeOf(result, project.path) !== outcome) {
    const { stdout, stderr } = await project.rt(["cache", "why", "work"], env);
    return `${output}${stdout}${stderr}`;
  }
  const content = outputFolder === undefined ? output : await readAll(project.join(outputFolder));
  if (content.includes(text)) return undefined;
  return `${outputFolder ?? "the terminal output"} does not contain ${text}: ${output}`;
}
