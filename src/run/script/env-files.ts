// The files of --env-file, for programs that are no code of rt's: their variables become part of the environment.
import { host } from "../../../platform/process.ts";

/**
 * What the files say where the environment does not say it already. The engine reads them, so that quotes and references
 * mean what they mean to a program.
 */
export function readEnvFiles(paths: readonly string[]): Record<string, string> {
  const original = host.originalEnvironment();
  const flags = paths.map((path) => `--env-file=${path}`);
  const { stdout } = Bun.spawnSync(
    [process.execPath, `--config=${host.noFile}`, ...flags, "-p", "JSON.stringify(process.env)"],
    { env: { ...original, BUN_BE_BUN: "1" }, stdin: "ignore", stderr: "inherit" },
  );
  const { BUN_BE_BUN: _, ...all } = JSON.parse(stdout.toString()) as Record<string, string>;
  return Object.fromEntries(Object.entries(all).filter(([name]) => !(name in original)));
}
