// The files of --env-file, for programs that are no code of rt's: their variables become part of the environment.
import { host } from "../../../platform/process.ts";

/**
 * What the files say where the environment does not say it already. The engine reads them, so that quotes and references
 * mean what they mean to a program.
 */
export function readEnvFiles(paths: readonly string[]): Record<string, string> {
  const original = host.originalEnvironment();
  const all = Object.entries(readBeside(paths, original, "inherit"));
  return Object.fromEntries(all.filter(([name]) => !(name in original)));
}

/** All that the files name, also where the environment says what it is. */
export function namesInEnvFiles(paths: readonly string[]): string[] {
  return Object.keys(readBeside(paths, {}, "ignore"));
}

function readBeside(
  paths: readonly string[],
  environment: Readonly<Record<string, string>>,
  stderr: "inherit" | "ignore",
): Record<string, string> {
  const flags = paths.map((path) => `--env-file=${path}`);
  const { stdout } = Bun.spawnSync(
    [process.execPath, `--config=${host.noFile}`, ...flags, "-p", "JSON.stringify(process.env)"],
    { env: { ...environment, BUN_BE_BUN: "1" }, stdin: "ignore", stderr },
  );
  const { BUN_BE_BUN: _, ...all } = JSON.parse(stdout.toString()) as Record<string, string>;
  return all;
}
