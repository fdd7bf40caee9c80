// Implements `rt doctor`: diagnoses the installation, the project's configuration and the credential store.
//
// Invariants:
// - It is read-only: it opens no dialog, unlocks no store and reads no credential.
// - Exit code 0 without problems, 1 with at least one problem, 2 for a usage error. Warnings do not change the exit code.
import { errorCode } from "../../../platform/caught-error.ts";
import { type DiagnosisCheck } from "../../../platform/secrets/contract/secret-provider.ts";
import { diagnoseStore } from "../../../platform/secrets/secret-provider.ts";
import { escapeJson, oneLine, printable } from "../../printable.ts";
import { print } from "../../secrets/streams.ts";
import { reportProblem, parseArguments, ArgumentError } from "../../secrets/command-arguments.ts";
import { checkInstallation } from "./installation-checks.ts";
import { checkProject } from "./project-checks.ts";

/** `showHelp` prints the help of `rt doctor`. */
export async function runDoctorCommand(args: string[], showHelp: () => Promise<void>): Promise<number> {
  try {
    const { options, operands } = parseArguments(args);
    if (operands.length > 0)
      throw new ArgumentError(`Unexpected argument "${oneLine(operands[0]!)}"`, "use rt doctor [--json]");
    if (options.has("help")) {
      await showHelp();
      return 0;
    }
    return await report(options.has("json"));
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    reportProblem(error.message, error.hint);
    return 2;
  }
}

async function report(isJson: boolean): Promise<number> {
  const installation = [...checkInstallation(), ...checkProject(process.cwd())];
  const { store, checks } = await diagnoseStore();
  const ready = hasNoProblem(checks);
  if (isJson) {
    const report = { installation, ready, store: store ?? null, checks };
    await show(`${escapeJson(JSON.stringify(report, null, 2))}\n`);
  } else {
    const credentials = [...checks.flatMap(renderCheck), "", ready ? READY : NOT_READY];
    await show(`${[...installation.flatMap(renderCheck), "", ...credentials].join("\n")}\n`);
  }
  return ready && hasNoProblem(installation) ? 0 : 1;
}

/** Ignores EPIPE: a reader that closes the pipe, as `head` does, must not change the exit code. @throws ArgumentError */
async function show(text: string): Promise<void> {
  try {
    await print(text);
  } catch (error) {
    if (errorCode(error) !== "EPIPE") throw error;
  }
}

function hasNoProblem(checks: readonly DiagnosisCheck[]): boolean {
  return checks.every(({ status }) => status !== "problem");
}

const READY = "Credentials can be stored";
const NOT_READY =
  "Credentials cannot be stored now\nhint: use an age-encrypted file instead: rt help encrypted-file";
const STATUS_WIDTH = "warning".length;
const NAME_WIDTH = "credential store".length;

/** Escapes control characters: findings contain names and paths from outside rt. */
function renderCheck({ status, name, found, remedy }: DiagnosisCheck): string[] {
  const lead = `${status.padEnd(STATUS_WIDTH)}  ${name.padEnd(NAME_WIDTH)}  `;
  const lines = [lead + printable(found)];
  if (remedy) lines.push(" ".repeat(lead.length) + printable(remedy));
  return lines;
}
