// Restricts the lifecycle scripts of dependencies: the engine's installer starts them with a link called `bash`, which is rt.
//
// Invariants:
// - The request is in a variable that rt sets for the installer. A package cannot change it.
// Non-obvious:
// - The installer shows the output of failed scripts only. So rt waits for the installer, and prints the messages about others.
// - The installer looks up bash in the PATH that it was started with, without the binaries of packages. So order, concurrency,
//   optional packages and variables of the scripts stay those of the installer.
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { findSupport, limitsInstallScripts } from "../../../platform/permissions/permissions.ts";
import { makeLink } from "../../../platform/files/shim-links.ts";
import { makeTemporaryFolder, removeTemporaryFolder } from "../../../platform/files/temporary-folder.ts";
import type { ReplaceRequest } from "../../../platform/processes/contract/process.ts";
import { host } from "../../../platform/processes/process.ts";
import { terminals } from "../../../platform/terminal/terminal.ts";
import type { InstallScriptSettings } from "../../config/settings/install-scripts.ts";
import { installWidenings } from "../../config/tasks/permission-table.ts";
import { findRoot } from "../../config/root-project.ts";
import { checkSupport } from "../../permissions/support-check.ts";
import { colorLabel, reportLine } from "../../output.ts";
import { isInsideTracedScript } from "../../cache/traced-variable.ts";
import { requirePermissionConsent } from "../../secrets/trust/permission-consent.ts";
import { openSignalForwarder } from "../script/signal-forwarding.ts";
import type { ExitStatus } from "../script/step-wait.ts";
import {
  beginInstallation,
  describeScripts,
  listChangedScripts,
  listNewScripts,
  readScripts,
  type NewScripts,
} from "./known-scripts.ts";
import { describeRelease } from "./release-date.ts";
import { REQUEST_VARIABLE, type ScriptRequest } from "./script-request.ts";

const NOT_LIMITED = { obstacle: "install scripts are limited on Linux only", missing: [] };

/** Disposing prints what scripts have reported. */
export interface RestrictedInstall extends AsyncDisposable {
  readonly path: string;
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * Returns undefined if rtfig.toml switches permissions off, or if this system cannot restrict scripts. If another version of the
 * system can, it prints a warning.
 * @param path PATH of the installer, if rt has changed it @param words of `pm` @throws UserError
 */
export async function restrictInstallScripts(
  { rows, isOff, isExplained, isLocked, config }: InstallScriptSettings,
  cwd: string,
  path = host.originalVariable("PATH") ?? "",
  words: readonly string[] = [],
): Promise<RestrictedInstall | undefined> {
  if (!limitsInstallScripts() && !isLocked) return undefined;
  const root = findRoot(cwd) ?? cwd;
  if (isOff) {
    requirePermissionConsent(config!, root);
    return undefined;
  }
  const support = limitsInstallScripts() ? await findSupport() : NOT_LIMITED;
  // The tracer of a cached task has the only listener of its process tree.
  const obstacle = isInsideTracedScript() ? "the cached task is traced" : support.obstacle;
  if (obstacle !== undefined && !isLocked) {
    reportLine(`warning: install scripts run without permissions: ${obstacle}`);
    return undefined;
  }
  const warning = checkSupport(
    { ...support, obstacle },
    [{ label: "install scripts" }],
    isLocked,
    "to install without permissions, omit --locked",
  );
  if (warning !== undefined) reportLine(warning);
  if (installWidenings(rows).length > 0) requirePermissionConsent(config!, root);
  const shims = makeLink(process.execPath, "bash");
  const folder = makeTemporaryFolder();
  const report = join(folder, "report");
  const realRoot = realpathSync(root);
  const known = beginInstallation(realRoot);
  const announced = await announceTrust(words, cwd, realRoot);
  const request: ScriptRequest = { shims, report, root, rows, known, isExplained, isLocked };
  return {
    path: `${shims}:${path}`,
    variables: { [REQUEST_VARIABLE]: JSON.stringify(request) },
    async [Symbol.asyncDispose]() {
      printMessages(report);
      for (const change of listChangedScripts(realRoot)) reportLine(await describeRelease(change, realRoot));
      // In CI all scripts are new.
      const isShown = !host.originalVariable("CI");
      const added = isShown ? listNewScripts(realRoot, known) : [];
      await reportNew(
        added.filter(({ name }) => !announced.includes(name)),
        realRoot,
      );
      removeTemporaryFolder(folder);
    },
  };
}

/** Shows what `pm trust` runs, before it does. Returns the names. */
async function announceTrust(
  words: readonly string[],
  cwd: string,
  root: string,
): Promise<readonly string[]> {
  if (words[0] !== "trust") return [];
  const named = words.slice(1).flatMap((name) => {
    const folder = join(cwd, "node_modules", name);
    return existsSync(join(folder, "package.json")) ? [{ name, after: readScripts(folder) }] : [];
  });
  await reportNew(named, root);
  return named.map(({ name }) => name);
}

/** Prints scripts and the dates of their releases. */
async function reportNew(all: readonly NewScripts[], root: string): Promise<void> {
  const releases = await Promise.all(all.map((each) => describeRelease(each, root)));
  for (const [index, each] of all.entries()) reportLine(`note: ${describeScripts(each)}; ${releases[index]}`);
}

/** Runs the installer. Returns the system's error code if it cannot be started. */
export async function runInstaller(command: ReplaceRequest): Promise<ExitStatus | string> {
  const forwarder = openSignalForwarder();
  try {
    const stage = terminals.prepareTerminal(["own", "own", "own"], host.inheritedDescriptors());
    if (typeof stage === "string") return stage;
    const started = stage.attend({
      ...command,
      onStarting() {},
      onOutput() {},
      show() {},
      onExit() {},
      flush() {},
    });
    if (typeof started === "string") return started;
    forwarder.forwardTo(started);
    const { code, signal } = await started.done;
    return signal ? { signal: signal as NodeJS.Signals } : code;
  } finally {
    await forwarder.close();
  }
}

/** Prints what scripts that have succeeded could not do. */
function printMessages(report: string): void {
  if (!existsSync(report)) return;
  for (const line of readFileSync(report, "utf8").trimEnd().split("\n")) reportLine(colorLabel(line));
}
