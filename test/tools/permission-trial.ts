// Installs a tool and tries it with the default permissions of tasks, then learns its table, and tries the tool with that.
import type { ConfigContent } from "../../src/config/config-content.ts";
import { PERMISSION_KEYS, type PermissionTable } from "../../src/config/tasks/permission-table.ts";
import { createProject, type Project } from "../support/project.ts";
import { type Environment, runRt } from "../support/rt.ts";
import { trustAll } from "../support/trusted.ts";
import { BEFORE } from "./cached-projects.ts";
import { runProgram, type Workshop } from "./installation.ts";
import type { PermittedProject } from "./permitted-projects.ts";
import { readAll, setUp } from "./project-setup.ts";
import { visit } from "./server.ts";

export interface PermissionTrial {
  readonly version: string;
  /** The output of the run that failed with the defaults. */
  readonly failure?: string | undefined;
  /** The output of the run that failed while it was learned, or with its table. */
  readonly learnedFailure?: string | undefined;
  /** The lines of the learned table. */
  readonly table?: readonly string[];
}

export async function tryPermissions(tool: PermittedProject, workshop: Workshop): Promise<PermissionTrial> {
  await using project = await createProject({}, [], workshop.folder);
  await using home = await createProject();
  const row = tool.row.filter((line) => line.startsWith("env = "));
  const version = await setUp(tool, project, workshop, row);
  await keepFiles(project);
  const env = { HOME: home.path, PATH: workshop.path, ...tool.env };
  const failure = await runTool(tool, project, ["--permissions"], env);
  let learnedFailure = await runTool(tool, project, ["--learn=write"], env);
  const { tasks } = Bun.TOML.parse(await Bun.file(project.join("rtfig.toml")).text()) as ConfigContent;
  const table = tasks?.work?.permissions as PermissionTable | undefined;
  if (table === undefined) return { version, failure, learnedFailure: learnedFailure ?? "no table" };
  learnedFailure ??= await runTool(tool, project, [], { ...env, ...(await trustAll(project.path, env)) });
  const lines = PERMISSION_KEYS.filter((key) => table[key]).map(
    (key) => `${key} = [${table[key]!.map((entry) => JSON.stringify(entry)).join(", ")}]`,
  );
  return { version, failure, learnedFailure, table: lines };
}

/** Returns a row of docs/reference/tools.md. */
export function permittedRow(
  tool: string,
  { version, failure, learnedFailure, table = [] }: PermissionTrial,
): string[] {
  const lines = table.map((line) => `\`${line}\``).join("<br>") || "none";
  return [
    tool,
    version,
    failure === undefined ? "works" : "fails",
    learnedFailure === undefined ? lines : "fails",
  ];
}

/** Keeps the files of the project, so that `clean()` restores them. */
async function keepFiles(project: Project): Promise<void> {
  runProgram(["git", "init", "--quiet"], project.path);
  await project.write({ ".git/info/exclude": "node_modules\nrtfig.toml\n" });
  runProgram(["git", "add", "--all"], project.path);
}

/** Removes what the tool has made, except for what it keeps in node_modules. */
function clean(project: Project): void {
  const kept = ["node_modules", "rtfig.toml"].map((name) => `--exclude=/${name}`);
  runProgram(["git", "clean", "-fdxq", ...kept], project.path);
  runProgram(["git", "checkout-index", "--all", "--force"], project.path);
}

/** @returns the output if the tool failed */
async function runTool(
  { isServer, outputFolder }: PermittedProject,
  project: Project,
  options: readonly string[],
  env: Environment,
): Promise<string | undefined> {
  clean(project);
  const args = [...options, "run", "work"];
  if (isServer) {
    const { page, hasEnded } = await visit(args, project.path, env);
    return page.includes(BEFORE) && hasEnded ? undefined : `${page}${hasEnded ? "" : " (processes remain)"}`;
  }
  const { stdout, stderr, status } = await runRt({ args, cwd: project.path, env });
  const output = `${stdout}${stderr}`;
  if (status !== 0) return output;
  const result = outputFolder === undefined ? output : await readAll(project.join(outputFolder));
  return result.includes(BEFORE) ? undefined : `no ${BEFORE}: ${output}`;
}
