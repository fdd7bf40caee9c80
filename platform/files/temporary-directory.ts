// Returns the directory of temporary files. node:os would read process.env, which contains `.env` values.
import { host } from "../processes/process.ts";

/** As os.tmpdir(), from the environment that rt was started with. */
export function temporaryDirectory(): string {
  const isWindows = process.platform === "win32";
  const names = isWindows ? ["TEMP", "TMP"] : ["TMPDIR", "TMP", "TEMP"];
  for (const name of names) {
    const directory = host.originalVariable(name)?.replace(isWindows ? /(?<=[^:])\\$/ : /(?<=.)\/$/, "");
    if (directory) return directory;
  }
  return isWindows ? `${host.originalVariable("SystemRoot") ?? "C:\\Windows"}\\temp` : "/tmp";
}
