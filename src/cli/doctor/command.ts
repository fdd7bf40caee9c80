// `rt doctor`: what is wrong with this installation, with what is set here, and with the credential store; and what to do.
//
// Contract: it looks and changes nothing: no dialog, no unlocking, no credential. Exit code 0 when nothing stands
// in the way, 1 when something does, 2 for a wrong command line and where it cannot be told. A warning is worth knowing and
// stands in nobody's way.
import { type DiagnosisCheck } from "../../../platform/secrets/contract/secret-provider.ts";
import { diagnoseStore } from "../../../platform/secrets/secret-provider.ts";
import { escapeJson, printable } from "../../printable.ts";
import { print } from "../../secrets/streams.ts";
import { complain, readWords, ArgumentError } from "../../secrets/command-arguments.ts";
import { checkInstallation } from "./installation-checks.ts";
import { checkProject } from "./project-checks.ts";

/** `showHelp` prints the help of `rt doctor`. */
export async function runDoctorCommand(args: string[], showHelp: () => Promise<void>): Promise<number> {
  try {
    const { options, operands } = readWords(args);
    if (operands.length > 0)
      throw new ArgumentError("rt doctor takes no words, only options", "rt doctor [--json]");
    if (options.has("help")) {
      await showHelp();
      return 0;
    }
    return await report(options.has("json"));
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    complain(error.message, error.hint);
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

/** Throws WordsError. Whoever reads no further has had enough, and what was found counts all the same. */
async function show(text: string): Promise<void> {
  try {
    await print(text);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
  }
}

function hasNoProblem(checks: readonly DiagnosisCheck[]): boolean {
  return checks.every(({ status }) => status !== "problem");
}

const READY = "Credentials can be stored";
const NOT_READY =
  "No credential can be stored now\n" +
  "Without a store, a project has its secrets in a file that is encrypted with age: rt help moving-in";
const STATUS_WIDTH = "warning".length;
const NAME_WIDTH = "credential store".length;

/** What was found may have names in it that others chose. */
function renderCheck({ status, name, found, remedy }: DiagnosisCheck): string[] {
  const lead = `${status.padEnd(STATUS_WIDTH)}  ${name.padEnd(NAME_WIDTH)}  `;
  const lines = [lead + printable(found)];
  if (remedy) lines.push(" ".repeat(lead.length) + printable(remedy));
  return lines;
}
