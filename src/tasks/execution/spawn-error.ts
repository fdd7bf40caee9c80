// Why a program could not be started: as a shell counts it, and in words. The system's own do not say what it is that is
// missing.
import { files } from "../../../platform/files/files.ts";
import { host } from "../../../platform/processes/process.ts";
import type { SpawnCommand } from "../task.ts";

export interface StartFailure {
  /** For the task's end. */
  readonly code: number;
  readonly reason: string;
  /** The system's, of the error. */
  readonly system: string;
  readonly message: string;
  /** There may be room for it later. */
  readonly isLack: boolean;
}

const LACK_OF_RESOURCES = new Set(["EMFILE", "ENFILE", "EAGAIN", "ENOMEM"]);
/** What shells say of a program that is not there, or is none. */
const SHELL_CODES: Readonly<Record<string, number>> = {
  ENOENT: 127,
  EACCES: 126,
  ENOEXEC: 126,
  E2BIG: 126,
};

/** @param command undefined where it was not even known what is to be started */
export function explainStart(
  error: Error & { code?: string },
  command: SpawnCommand | undefined,
): StartFailure {
  const { code: system = "", message } = error;
  const reason = (command && describe(system, command)) ?? message;
  return { code: SHELL_CODES[system] ?? 1, reason, system, message, isLack: LACK_OF_RESOURCES.has(system) };
}

function describe(code: string, { program, argv, cwd }: SpawnCommand): string | undefined {
  if (files.readFile(cwd, 1) === "ENOENT") return `its directory is not there: ${cwd}`;
  const name = program ?? argv[0];
  if (code === "ENOENT")
    return program !== undefined && files.readFile(program, 1) !== "ENOENT"
      ? `the program that the #! line of ${program} names is not there`
      : `${name} is not there`;
  if (code === "EACCES") return `permission denied, for ${name} or ${cwd}`;
  if (code === "EMFILE") return `too many open files: the limit is ${host.descriptorLimit()} (ulimit -n)`;
  if (code === "E2BIG") return "the command and its environment are too long for this system";
  return undefined;
}
