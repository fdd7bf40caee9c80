// Where rt's own temporary files go. node:os would ask process.env, in which the `.env` of the working directory is.
import { host } from "../processes/process.ts";

/** As node:os has it, from the environment that rt was started with. */
export function temporaryDirectory(): string {
  const isWindows = process.platform === "win32";
  const names = isWindows ? ["TEMP", "TMP"] : ["TMPDIR", "TMP", "TEMP"];
  for (const name of names) {
    const directory = host.originalVariable(name)?.replace(isWindows ? /(?<=[^:])\\$/ : /(?<=.)\/$/, "");
    if (directory) return directory;
  }
  return isWindows ? `${host.originalVariable("SystemRoot") ?? "C:\\Windows"}\\temp` : "/tmp";
}
