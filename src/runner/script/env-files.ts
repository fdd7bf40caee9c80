// Reads the env files (dotenv) of --env-file, which extend the environment of scripts and programs. The engine parses
// them. It also reads a project's .env files, when it runs code itself.
import { host } from "../../../platform/processes/process.ts";

/**
 * Variables of the files that the environment does not set. The engine parses them, so that quotes and references
 * work as in a program.
 */
export function readEnvFiles(paths: readonly string[]): Record<string, string> {
  const original = host.originalEnvironment();
  const all = Object.entries(readInEngine(paths, original, "inherit"));
  return Object.fromEntries(all.filter(([name]) => !(name in original)));
}

/** Names of all variables in the files, without those of pipes, which can be read only once. */
export function namesInEnvFiles(paths: readonly string[]): string[] {
  const lasting = paths.flatMap((path) => path.split(",")).filter(isFile);
  return lasting.length === 0 ? [] : Object.keys(readInEngine(lasting, {}, "ignore"));
}

function readInEngine(
  paths: readonly string[],
  environment: Readonly<Record<string, string>>,
  stderr: "inherit" | "ignore",
): Record<string, string> {
  const { names, takesInput, descriptors } = mapStreams(paths);
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

/** A stream of this process, as a shell passes it: --env-file=<(command). */
const OWN_STREAM = /^\/(?:dev|proc\/self)\/(?:(stdin)|fd\/(0|[1-9]\d*))$/;
const FIRST_FREE = 3;

interface MappedFiles {
  readonly names: readonly string[];
  readonly takesInput: boolean;
  /** Descriptors of the child from 3 up. */
  readonly descriptors: readonly number[];
}

/** Maps named streams to descriptors of the child. */
function mapStreams(paths: readonly string[]): MappedFiles {
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
