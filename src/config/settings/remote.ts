// Where `--remote` runs a script, and what it needs there: [run.remote] of rtfig.toml.
//
// Invariants:
// - The server gets the variables that are written there, and no others. A person has to allow them: run/remote/consent.ts.
// - A header's value may mention variables ("Bearer $TOKEN"). They are filled in when the server is called.
import { dirname, resolve } from "node:path";
import type { Config } from "../rtfig.ts";
import { UserError } from "../../user-error.ts";
import type { GivenOptions } from "../../options/parse.ts";
import { oneLine } from "../../printable.ts";
import { isRepositoryName } from "../../repository-name.ts";
import { type Certificates, readCertificates, readServerUrl, requireHeaderName } from "./remote-server.ts";
import { ruleNamed } from "./script-rules.ts";

export interface RemoteScript {
  /** `build`, of whichever package, or `web#build`. */
  readonly name: string;
  /** Files and directories that it makes, from its package. */
  readonly outputs: readonly string[];
  /** Variables that it gets from here. */
  readonly env: readonly string[];
  /** Files that it reads besides its package, those of the workspace that it depends on, and node_modules; globs. */
  readonly inputs: readonly string[];
  /** Whether it runs there without --remote, or not even with it; undefined where the file does not say. */
  readonly isRemote: boolean | undefined;
}

export interface RemoteSettings {
  readonly url: string;
  readonly instance: string;
  /** As the file has them, with the names of variables. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: Certificates;
  /** Of its machines, as in "linux-x64". */
  readonly system: string;
  readonly properties: Readonly<Record<string, string>>;
  /** Milliseconds for one answer. */
  readonly timeout: number;
  readonly scripts: readonly RemoteScript[];
  /** --remote asks for it. */
  readonly isAsked: boolean;
  /** --force: what the server knows is not used. */
  readonly isForced: boolean;
  /** How many scripts at a time. */
  readonly concurrency: number;
}

const SECTION = "run.remote";
const SYSTEM = "linux-x64";
const TIMEOUT = 60; // seconds
const CONCURRENCY = 64;
const LISTS = ["outputs", "env", "inputs"] as const;
const NOTHING = { outputs: [], env: [], inputs: [], isRemote: undefined } as const;
/** A watched script starts again in moments, what is verified has to be followed, and --share has machines of its own. */
const HINDERING = ["watch", "hot", "verify-inputs", "share"] as const;

/** Undefined where neither the command line nor rtfig.toml sends a script away. Throws Failure. */
export function readRemoteSettings(
  config: Config | undefined,
  given: GivenOptions,
  cwd: string,
): RemoteSettings | undefined {
  const isAsked = given.has("remote");
  const hinders = HINDERING.find((name) => given.has(name));
  if (isAsked && hinders !== undefined) throw new UserError(`--remote and --${hinders} exclude each other`);
  if (given.has("no-remote") || (!isAsked && (hinders !== undefined || !sendsAway(config)))) return undefined;
  const texts = new Map<string, string>();
  const headers: Record<string, string> = {};
  const properties: Record<string, string> = {};
  const scripts = new Map<string, RemoteScript>();
  const numbers = { timeout: TIMEOUT, concurrency: CONCURRENCY };
  for (const { path, value } of config?.settings ?? []) {
    const [section, part, name = "", ...rest] = path;
    if (section !== "run" || part !== "remote") continue;
    if (name === "headers") {
      requireHeaderName(rest[0]!, SECTION);
      headers[rest[0]!] = value as string;
    } else if (name === "properties") properties[rest[0]!] = value as string;
    else if (name === "timeout" || name === "concurrency") numbers[name] = value as number;
    else if (name === "scripts") {
      const [script, field] = rest as [string, (typeof LISTS)[number] | "remote"];
      const before = scripts.get(script) ?? { ...NOTHING, name: script };
      scripts.set(script, { ...before, [field === "remote" ? "isRemote" : field]: value });
    } else texts.set(name, value as string);
  }
  for (const { name, outputs } of scripts.values()) for (const output of outputs) checkOutput(output, name);
  const url = texts.get("url");
  if (url === undefined)
    throw new UserError(
      "--remote needs to know where",
      'write [run.remote] and url = "grpcs://..." in rtfig.toml',
    );
  const directory = config ? dirname(resolve(cwd, config.file)) : cwd;
  return {
    url: readServerUrl(url, SECTION, Object.keys(headers).length > 0),
    instance: texts.get("instance") ?? "",
    headers,
    tls: readCertificates(texts, SECTION, directory),
    system: texts.get("system") ?? SYSTEM,
    properties,
    timeout: numbers.timeout * 1000,
    scripts: [...scripts.values()],
    isAsked,
    isForced: given.has("force"),
    concurrency: given.get("concurrency")?.isOnLine
      ? Number(given.get("concurrency")!.last)
      : numbers.concurrency,
  };
}

function sendsAway(config: Config | undefined): boolean {
  return (config?.settings ?? []).some(
    ({ path, value }) => path[0] === "run" && path[1] === "remote" && path[4] === "remote" && value === true,
  );
}

/** What is declared of a script. */
export function remoteScript({ scripts }: RemoteSettings, packageName: string, name: string): RemoteScript {
  return ruleNamed(scripts, packageName, name) ?? { ...NOTHING, name };
}

function checkOutput(output: string, script: string): void {
  const names = output.replace(/\/$/, "").split("/");
  const isPath = names.every(
    (name) => name !== "" && name !== "." && name !== ".." && !/[*?[\]{}\0\\]/.test(name),
  );
  if (isPath && names[0] !== "node_modules" && !names.some(isRepositoryName)) return;
  throw new UserError(
    `run.remote.scripts.${oneLine(script)}.outputs: "${oneLine(output)}" is no file or directory of the package`,
    'write names, such as "dist" or "coverage/report.json", without wildcards',
  );
}
