// Reads values of the Windows registry. Each result is undefined if the value is absent, or if the build has no addon for this
// processor. The callers only improve messages or searches with it.
import type * as Registry from "@vscode/windows-registry";

type Hive = Registry.HKEY;

/** Returns whether the Credential Manager's service is disabled; undefined if unknown. */
export function isVaultDisabled(): boolean | undefined {
  const DISABLED = 4;
  const start = readNumber("HKEY_LOCAL_MACHINE", "SYSTEM\\CurrentControlSet\\Services\\VaultSvc", "Start");
  return start === undefined ? undefined : start === DISABLED;
}

/** Returns the folder of Git for Windows, which contains a bash. */
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

/** The library throws for a missing key. */
function attempt<T>(read: (registry: typeof Registry) => T): T | undefined {
  try {
    return read(require("@vscode/windows-registry") as typeof Registry);
  } catch {
    return undefined;
  }
}
