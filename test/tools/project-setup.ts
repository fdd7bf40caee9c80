// Creates the project of a tool with the script `work`.
import { rm } from "node:fs/promises";
import type { Project } from "../support/project.ts";
import type { CachedToolProject } from "./cached-projects.ts";
import { installTool, runProgram, type Workshop } from "./installation.ts";

export type ScriptProject = Pick<
  CachedToolProject,
  "tool" | "packages" | "script" | "row" | "env" | "starter" | "files" | "outputFolder"
>;

/** Lines of each project's .gitignore. */
const IGNORED = ["node_modules", "dist", ".next", ".astro"];

/** @param lines of the row in [tasks] @returns the tool's version */
export async function setUp(
  { starter, files, packages, script }: ScriptProject,
  project: Project,
  workshop: Workshop,
  lines: readonly string[],
): Promise<string> {
  // A starter needs an empty folder.
  if (starter)
    for (const name of ["package.json", "rtfig.toml"]) await rm(project.join(name), { force: true });
  runProgram(["git", "init", "--quiet"], project.path);
  if (starter) runProgram(["npx", "--yes", ...starter], project.path, workshop.path);
  await project.write(files);
  const version = await installTool(project.path, packages, workshop);
  const manifest = (await Bun.file(project.join("package.json")).json()) as { scripts: object };
  await project.write({
    "package.json": { type: "module", ...manifest, scripts: { ...manifest.scripts, work: script } },
    "rtfig.toml": `${["[tasks.work]", ...lines].join("\n")}\n`,
    ".gitignore": IGNORED.map((name) => `${name}\n`).join(""),
  });
  return version;
}

/** Returns the content of all files of a folder, in the order of their names. */
export async function readAll(folder: string): Promise<string> {
  const files = new Bun.Glob("**/*").scan({ cwd: folder, dot: true, absolute: true });
  const texts = await Array.fromAsync(files, async (file) => [file, await Bun.file(file).text()] as const);
  return texts
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, text]) => text)
    .join("\n");
}
