// What the registry of Windows says. Every answer is undefined where the value is not there, and where the build has
// no reader for this processor: whoever asks only explains or finds something better with it.
import type * as Registry from "@vscode/windows-registry";

type Hive = Registry.HKEY;

/** Whether somebody has switched the Credential Manager's service off; undefined when that cannot be told. */
export function isVaultDisabled(): boolean | undefined {
  const DISABLED = 4;
  const start = readNumber("HKEY_LOCAL_MACHINE", "SYSTEM\\CurrentControlSet\\Services\\VaultSvc", "Start");
  return start === undefined ? undefined : start === DISABLED;
}

/** The folder of Git for Windows, which brings a bash. */
export function findGit(): string | undefined {
  const read = (hive: Hive) => readText(hive, "SOFTWARE\\GitForWindows", "InstallPath");
  return read("HKEY_CURRENT_USER") ?? read("HKEY_LOCAL_MACHINE");
}

function readNumber(hive: Hive, path: string, name: string): number | undefined {
  return attempt(({ GetDWORDRegKey }) => GetDWORDRegKey(hive, path, name));
}

function readText(hive: Hive, path: string, name: string): string | undefined {
  return attempt(({ GetStringRegKey }) => GetStringRegKey(hive, path, name)) || undefined;
}

/** The library throws for a key that is not there. */
function attempt<T>(read: (registry: typeof Registry) => T): T | undefined {
  try {
    return read(require("@vscode/windows-registry") as typeof Registry);
  } catch {
    return undefined;
  }
}
