// What tools need to be tried: a current Node.js from npm, and their own newest packages.
//
// Surprising: npm itself has to run with that Node.js. With an older one it takes for "newest" what says that it supports the
// older one, without a word.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

const INSTALL = ["npm", "install", "--no-audit", "--no-fund", "--legacy-peer-deps"];

export interface Workshop {
  /**
   * Where projects may lie. It is in the user's cache directory and not among temporary files: bundlers list the folders above
   * a project, and where other programs make files meanwhile a run is rightly not kept.
   */
  readonly folder: string;
  /** What PATH is for npm, and for tools that Node.js runs. */
  readonly path: string;
}

/** Throws what the program said where it failed. */
export function runProgram(command: readonly string[], cwd: string, path = process.env.PATH): void {
  const env = { ...process.env, PATH: path };
  const child = Bun.spawnSync([...command], { cwd, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  if (child.exitCode !== 0) throw new Error(`${command.join(" ")}: ${child.stdout}${child.stderr}`);
}

/** It is gone when this process ends. */
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
 * @param packages as npm names them; the first is the tool
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
