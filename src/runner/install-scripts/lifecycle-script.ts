// Runs one lifecycle script of an installation in place of bash: that of a dependency with permissions, others as they are.
//
// Invariants:
// - The folder decides which package it is, because a package chooses its own name.
// - A dependency's script that cannot be restricted does not run, nor does one that has changed (known-scripts.ts).
import { appendFileSync, mkdirSync, mkdtempSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import type { RefusedCall } from "../../../platform/permissions/contract/permissions.ts";
import { removeTemporaryFolder } from "../../../platform/files/temporary-folder.ts";
import { host } from "../../../platform/processes/process.ts";
import { trees } from "../../../platform/processes/process-tree.ts";
import type { ChildRequest } from "../../../platform/processes/contract/process-tree.ts";
import type { InstallTable } from "../../config/settings/install-scripts.ts";
import { findHome } from "../../permissions/child-rules.ts";
import { InstallPermissions, type InstalledPackage } from "../../permissions/install-permissions.ts";
import { UserError } from "../../user-error.ts";
import { TRUST_VARIABLE } from "../../secrets/trust/trust-variable.ts";
import { openSignalForwarder } from "../script/signal-forwarding.ts";
import type { ExitStatus } from "../script/step-wait.ts";
import { type ChangedScripts, checkScripts, describeChange, fingerprintOf } from "./known-scripts.ts";
import { prepareNativeBuild } from "./native-build.ts";
import { ScriptMessages } from "./script-messages.ts";
import { REQUEST_VARIABLE, type ScriptRequest } from "./script-request.ts";
import { separateFiles } from "./separate-files.ts";

/** @param words of bash @throws UserError */
export async function runLifecycleScript(words: readonly string[]): Promise<ExitStatus> {
  const text = host.originalVariable(REQUEST_VARIABLE);
  if (text === undefined) throw new UserError("rt is called as bash, but by no installation");
  const request = JSON.parse(text) as ScriptRequest;
  const folders = (host.originalVariable("PATH") ?? "").split(":").filter((each) => each !== request.shims);
  const path = folders.join(":");
  // A package with a binary called bash does not replace the shell.
  const shell = host.findShell(folders.filter((each) => !each.includes("/node_modules/")).join(":"));
  if (shell === undefined) throw new UserError("No shell found to run the script", host.shellHint);
  const folder = realpathSync(process.cwd());
  const name = /\/node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(folder)?.[1];
  const change =
    name === undefined
      ? undefined
      : checkScripts({ root: realpathSync(request.root), name, folder }, request.known);
  if (change) return stopAtChange(change, request);
  const installed = findPackage(name, folder, request);
  if (installed) return await runRestricted(shell, words, path, installed, request);
  const environment = { PATH: path, [REQUEST_VARIABLE]: undefined };
  const failure = host.replace({ program: shell, argv: ["bash", ...words], environment });
  throw new UserError(`Cannot run ${shell}: ${failure}`, undefined, 126);
}

/** Returns undefined for a script of the project, and of a package whose permissions are switched off. */
function findPackage(
  name: string | undefined,
  folder: string,
  { rows }: ScriptRequest,
): InstalledPackage | undefined {
  const row = name === undefined ? false : Object.hasOwn(rows, name) ? rows[name]! : true;
  if (row === false) return undefined;
  const table: InstallTable = typeof row === "object" ? row : {};
  return { name: name!, folder, table, event: host.originalVariable("npm_lifecycle_event") ?? "install" };
}

/** The rt outside shows the change, because the installer does not for an optional package. */
function stopAtChange(change: ChangedScripts, { report }: ScriptRequest): number {
  const [subject, ...lines] = describeChange(change);
  const text = [
    `error: ${subject}, so they were not run`,
    ...lines,
    "hint: review them, then allow them on a terminal: rt trust",
    `hint: without a terminal, as in CI: ${TRUST_VARIABLE}=${fingerprintOf(change)}`,
  ];
  appendFileSync(report, `${text.join("\n")}\n`, { mode: 0o600 });
  return 1;
}

async function runRestricted(
  shell: string,
  words: readonly string[],
  path: string,
  installed: InstalledPackage,
  { root, report, isExplained, isLocked }: ScriptRequest,
): Promise<ExitStatus> {
  // The rt outside removes the folder of the report, also if this process is killed.
  const temporary = mkdtempSync(join(dirname(report), "script-"));
  try {
    for (const each of ["home", "config"]) mkdirSync(join(temporary, each));
    separateFiles(installed.folder);
    const native = prepareNativeBuild(path, temporary);
    const permissions = new InstallPermissions(installed, {
      ...{ root, home: findHome(), temporary },
      path: native.path,
    });
    const messages = new ScriptMessages(report);
    const onRefusal = (refusal: RefusedCall) => messages.add(permissions.explain(refusal));
    const child: ChildRequest = {
      program: shell,
      argv: ["bash", ...words],
      cwd: installed.folder,
      env: permissions.selectEnvironment(host.originalEnvironment(), native.variables),
      output: "inherit",
      inheritStdin: false,
      onOutput() {},
      permissions: { rules: permissions.rules, variables: {}, onRefusal },
    };
    const forwarder = openSignalForwarder();
    const started = isExplained ? await permissions.startTraced(child) : trees.startChild(child);
    forwarder.forwardTo(started);
    const { code, signal } = await started.done;
    await forwarder.close();
    const hasFailed = signal !== null || code !== 0;
    const isFailure = hasFailed || (isLocked && messages.isRefused);
    if (hasFailed) messages.addHint(permissions.describeFailure(isExplained));
    messages.print(isFailure);
    if (signal) return { signal: signal as NodeJS.Signals };
    return isFailure ? code || 1 : 0;
  } finally {
    removeTemporaryFolder(temporary);
  }
}
