// Reads [run.remote] of rtfig.toml and --remote: the server, and the declared inputs and outputs of remote scripts.
//
// Invariants:
// - The server gets only the variables that are listed there, and only after trust: src/remote-execution.
// - A header's value may reference variables ("Bearer $TOKEN"). They are substituted when the server is called.
import { folderOfConfig } from "../config-file-name.ts";
import type { Config } from "../rtfig.ts";
import { configHint } from "../../config-hint.ts";
import { UserError } from "../../user-error.ts";
import type { GivenOptions } from "../../options/parse.ts";
import { oneLine } from "../../printable.ts";
import { isRepositoryName } from "../../repository-name.ts";
import { type Certificates, readCertificates, readServerUrl, requireHeaderName } from "./remote-server.ts";
import type { TaskRules } from "../tasks/task-rules.ts";
import type { TaskOptions } from "../tasks/task-table.ts";
import type { ScriptPackage } from "../script-package.ts";
import { ruleNamed } from "./script-rules.ts";

export interface RemoteScript {
  /** `build` for any package, or `web#build`. */
  readonly name: string;
  /** Files and directories that it writes, relative to its package. */
  readonly outputs: readonly string[];
  /** Local variables that it gets. */
  readonly env: readonly string[];
  /** Globs of inputs besides its package, the packages that it depends on, and node_modules. */
  readonly inputs: readonly string[];
  /** True: remote even without --remote. False: local even with --remote. Undefined: not configured. */
  readonly isRemote: boolean | undefined;
}

export interface RemoteSettings {
  readonly url: string;
  readonly instance: string;
  /** Headers with unresolved references. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: Certificates;
  /** System of its machines, such as "linux-x64". */
  readonly system: string;
  readonly properties: Readonly<Record<string, string>>;
  /** Milliseconds for one request. */
  readonly timeout: number;
  /** [run.remote.scripts] */
  readonly scripts: readonly RemoteScript[];
  readonly tasks: TaskRules | undefined;
  /** --remote was given. */
  readonly isAsked: boolean;
  /** --force: results that the server has cached are not used. */
  readonly isForced: boolean;
  readonly concurrency: number;
}

const SECTION = "run.remote";
const SYSTEM = "linux-x64";
const TIMEOUT = 60; // seconds
const CONCURRENCY = 64;
const NO_DECLARATION = { outputs: [], env: [], inputs: [], isRemote: undefined } as const;
/** Options that need local execution: watch mode restarts quickly, verification needs the tracer, --share has its machines. */
const LOCAL_ONLY = ["watch", "hot", "verify-inputs", "share"] as const;

/** Returns undefined if neither the command line nor rtfig.toml runs a script remotely. @throws UserError */
export function readRemoteSettings(
  config: Config | undefined,
  given: GivenOptions,
  cwd: string,
  tasks: TaskRules | undefined,
): RemoteSettings | undefined {
  const isAsked = given.has("remote");
  const conflicting = LOCAL_ONLY.find((name) => given.has(name));
  if (isAsked && conflicting !== undefined)
    throw new UserError(`--remote cannot be used with --${conflicting}`);
  if (given.has("no-remote") || (!isAsked && (conflicting !== undefined || !hasRemoteScript(config, tasks))))
    return undefined;
  const table = config?.content.run?.remote ?? {};
  const { url, headers = {}, properties = {}, timeout = TIMEOUT, concurrency = CONCURRENCY } = table;
  for (const name of Object.keys(headers)) requireHeaderName(name, SECTION);
  const scripts = Object.entries(table.scripts ?? {}).flatMap(([name, row]) =>
    Object.keys(row).length === 0 ? [] : [{ ...NO_DECLARATION, ...row, name, isRemote: row.remote }],
  );
  for (const { name, outputs } of scripts)
    for (const output of outputs) checkOutput(output, name, "run.remote.scripts");
  if (url === undefined)
    throw new UserError(
      "--remote needs the URL of a server",
      configHint(["run", "remote", "url"], "grpcs://remote.example.com", config?.file),
    );
  const directory = config ? folderOfConfig(config.file, cwd) : cwd;
  return {
    url: readServerUrl(url, SECTION, Object.keys(headers).length > 0),
    instance: table.instance ?? "",
    headers,
    tls: readCertificates(table, SECTION, directory),
    system: table.system ?? SYSTEM,
    properties,
    timeout: timeout * 1000,
    scripts,
    tasks,
    isAsked,
    isForced: given.has("force"),
    concurrency: given.get("concurrency")?.isOnLine ? Number(given.get("concurrency")!.last) : concurrency,
  };
}

function hasRemoteScript(config: Config | undefined, tasks: TaskRules | undefined): boolean {
  const { url, scripts = {} } = config?.content.run?.remote ?? {};
  // [tasks] is that of the root project, [run.remote] that of the working directory.
  if (url !== undefined && tasks?.table.rows.some(({ options }) => options.remote === true)) return true;
  return Object.values(scripts).some(({ remote }) => remote === true);
}

/** Returns `dist` for the glob `dist/**`: the protocol names files and directories, and has no globs. */
function toPath(output: string): string {
  return output.replace(/\/\*\*(?:\/\*)?$/, "");
}

/** Returns the declaration of a script; empty if it has none. */
export function remoteScript(
  { scripts, tasks }: RemoteSettings,
  located: ScriptPackage,
  name: string,
): RemoteScript {
  const script = ruleNamed(scripts, located.name, name);
  if (script) return script;
  const rule: TaskOptions = tasks?.ruleFor(tasks.ownerIn(located), name) ?? {};
  const { outputs = [], env = [], inputs = [], remote: isRemote } = rule;
  return { name, outputs: outputs.map(toPath), env, inputs, isRemote };
}

/** Returns the local variables that some script gets on the server. */
export function scriptVariables({ scripts, tasks }: Pick<RemoteSettings, "scripts" | "tasks">): string[] {
  const rows = tasks?.table.rows ?? [];
  return [...scripts.flatMap(({ env }) => env), ...rows.flatMap(({ options }) => options.env ?? [])];
}

/** Rejects outputs of [tasks] that a server cannot return. The reader of [run.remote.scripts] checks its own. @throws UserError */
export function requireRemoteOutputs({ name, outputs }: RemoteScript): void {
  for (const output of outputs) checkOutput(output, name);
}

function checkOutput(output: string, script: string, section = "tasks"): void {
  const names = output.replace(/\/$/, "").split("/");
  const isPath = names.every(
    (name) => name !== "" && name !== "." && name !== ".." && !/[*?[\]{}\0\\]/.test(name),
  );
  if (isPath && names[0] !== "node_modules" && !names.some(isRepositoryName)) return;
  throw new UserError(
    `${section}.${oneLine(script)}.outputs: "${oneLine(output)}" is not a file or directory of the package`,
    'write names, such as "dist" or "coverage/report.json", without wildcards',
  );
}
