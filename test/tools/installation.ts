// Installs a current Node.js from npm, and the newest packages of a tool.
//
// Non-obvious: npm itself runs with that Node.js. With an older one, npm silently selects the newest version that supports it.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

const INSTALL = ["npm", "install", "--no-audit", "--no-fund", "--legacy-peer-deps"];

export interface Workshop {
  /**
   * The parent folder of projects. It is outside of the directory of temporary files. Bundlers list the folders above a project,
   * and a run is not cached if other programs create files in them.
   */
  readonly folder: string;
  /** PATH of npm and of tools that Node.js runs. */
  readonly path: string;
}

/** @throws Error with the program's output if it fails */
export function runProgram(command: readonly string[], cwd: string, path = process.env.PATH): void {
  const env = { ...process.env, PATH: path };
  const child = Bun.spawnSync([...command], { cwd, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  if (child.exitCode !== 0) throw new Error(`${command.join(" ")}: ${child.stdout}${child.stderr}`);
}

/** Creates the folder, which is removed when this process exits. */
export function openWorkshop(): Workshop {
  const caches = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  mkdirSync(caches, { recursive: true });
  const folder = mkdtempSync(join(caches, "rt-tools-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));
  const node = join(folder, "node");
  mkdirSync(node);
  runProgram([...INSTALL, "--prefix", node, "node@24"], node);
  const programs = join(node, "node_modules", "node", "bin");
  return { folder, path: `${programs}${delimiter}${process.env.PATH}` };
}

/**
 * @param packages npm package specifiers; the first is the tool
 * @returns the tool's version
 */
export async function installTool(
  project: string,
  packages: readonly string[],
  { path }: Workshop,
): Promise<string> {
  runProgram([...INSTALL, ...packages], project, path);
  const name = packages[0]!.replace(/(?<=.)@.*/, "");
  const manifest = await Bun.file(join(project, "node_modules", name, "package.json")).json();
  return (manifest as { version: string }).version;
}
