// The files of --env-file, for programs that are no code of rt's: their variables become part of the environment.
import { host } from "../../../platform/processes/process.ts";

/**
 * What the files say where the environment does not say it already. The engine reads them, so that quotes and references
 * mean what they mean to a program.
 */
export function readEnvFiles(paths: readonly string[]): Record<string, string> {
  const original = host.originalEnvironment();
  const all = Object.entries(readBeside(paths, original, "inherit"));
  return Object.fromEntries(all.filter(([name]) => !(name in original)));
}

/** All that the files name, also where the environment says what it is; not what a pipe has said, which says it once. */
export function namesInEnvFiles(paths: readonly string[]): string[] {
  const lasting = paths.flatMap((path) => path.split(",")).filter(isFile);
  return lasting.length === 0 ? [] : Object.keys(readBeside(lasting, {}, "ignore"));
}

function readBeside(
  paths: readonly string[],
  environment: Readonly<Record<string, string>>,
  stderr: "inherit" | "ignore",
): Record<string, string> {
  const { names, takesInput, descriptors } = handDown(paths);
  const flags = names.map((name) => `--env-file=${name}`);
  const { stdout } = Bun.spawnSync(
    [process.execPath, `--config=${host.noFile}`, ...flags, "-p", "JSON.stringify(process.env)"],
    {
      env: { ...environment, BUN_BE_BUN: "1" },
      stdio: [takesInput ? "inherit" : "ignore", "pipe", stderr, ...descriptors],
    },
  );
  const { BUN_BE_BUN: _, ...all } = JSON.parse(stdout.toString()) as Record<string, string>;
  return all;
}

function isFile(path: string): boolean {
  return process.getBuiltinModule("node:fs").statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** A stream that this process has, as a shell names what it hands over: --env-file=<(command). */
const OWN_STREAM = /^\/(?:dev|proc\/self)\/(?:(stdin)|fd\/(0|[1-9]\d*))$/;
const FIRST_FREE = 3;

interface HandedDown {
  readonly names: readonly string[];
  readonly takesInput: boolean;
  /** For the places from 3 up. */
  readonly descriptors: readonly number[];
}

/** The same files for a child, which has descriptors of its own: it is handed those that are named, and their new names. */
function handDown(paths: readonly string[]): HandedDown {
  const descriptors: number[] = [];
  let takesInput = false;
  const rename = (name: string): string => {
    const [stream, isInput, number] = OWN_STREAM.exec(name) ?? [];
    if (stream === undefined) return name;
    const descriptor = isInput === undefined ? Number(number) : 0;
    if (descriptor === 0) takesInput = true;
    if (descriptor < FIRST_FREE || !isOpen(descriptor)) return name;
    return `/dev/fd/${FIRST_FREE - 1 + descriptors.push(descriptor)}`;
  };
  const names = paths.map((path) => path.split(",").map(rename).join(","));
  return { names, takesInput, descriptors };
}

function isOpen(descriptor: number): boolean {
  try {
    process.getBuiltinModule("node:fs").fstatSync(descriptor);
    return true;
  } catch {
    return false;
  }
}
