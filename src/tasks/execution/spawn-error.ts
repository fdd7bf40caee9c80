// Explains a spawn error and maps it to the exit code of a shell. System messages do not name the missing file.
import { files } from "../../../platform/files/files.ts";
import { host } from "../../../platform/processes/process.ts";
import type { SpawnCommand } from "../task.ts";

export interface SpawnFailure {
  readonly code: number;
  readonly reason: string;
  /** The system's error code. */
  readonly system: string;
  readonly message: string;
  /** Whether it is a transient error: resources may be available later. */
  readonly isTransient: boolean;
}

const LACK_OF_RESOURCES = new Set(["EMFILE", "ENFILE", "EAGAIN", "ENOMEM"]);
/** Exit codes of shells for programs that do not exist or cannot be executed. */
const SHELL_CODES: Readonly<Record<string, number>> = {
  ENOENT: 127,
  EACCES: 126,
  ENOEXEC: 126,
  E2BIG: 126,
};

/** @param command undefined if it failed before the command was built */
export function explainSpawnError(
  error: Error & { code?: string },
  command: SpawnCommand | undefined,
): SpawnFailure {
  const { code: system = "", message } = error;
  const reason = (command && describe(system, command)) ?? message;
  return {
    code: SHELL_CODES[system] ?? 1,
    reason,
    system,
    message,
    isTransient: LACK_OF_RESOURCES.has(system),
  };
}

function describe(code: string, { program, argv, cwd }: SpawnCommand): string | undefined {
  if (files.readFile(cwd, 1) === "ENOENT") return `its directory does not exist: ${cwd}`;
  const name = program ?? argv[0];
  if (code === "ENOENT")
    return program !== undefined && files.readFile(program, 1) !== "ENOENT"
      ? `the interpreter in the #! line of ${program} does not exist`
      : `${name} does not exist`;
  if (code === "EACCES") return `permission denied for ${name} or ${cwd}`;
  if (code === "EMFILE") return `too many open files: the limit is ${host.descriptorLimit()} (ulimit -n)`;
  if (code === "E2BIG") return "the command and its environment are too long for this system";
  return undefined;
}
