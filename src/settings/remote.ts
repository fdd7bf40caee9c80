// Where `--remote` runs a script, and what it needs there: [run.remote] of rtfig.toml.
//
// Contract: what a server gets is what is written there, and nothing else of the environment. A header's value may mention
// variables ("Bearer $TOKEN"), which are those that rt was started with: a project's .env has no say in it.
import { dirname, resolve } from "node:path";
import type { Config } from "../config/rtfig.ts";
import { Failure } from "../failure.ts";
import { oneLine } from "../printable.ts";
import type { ManySettings } from "./many.ts";
import {
  type Certificates,
  fillHeader,
  readCertificates,
  readServerUrl,
  requireHeaderName,
} from "./remote-server.ts";
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
}

export interface RemoteSettings {
  readonly url: string;
  readonly instance: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: Certificates;
  /** Of its machines, as in "linux-x64". */
  readonly system: string;
  readonly properties: Readonly<Record<string, string>>;
  /** Milliseconds for one answer. */
  readonly timeout: number;
  readonly scripts: readonly RemoteScript[];
  /** Nothing is run, and nothing sent. */
  readonly isDry: boolean;
}

const SECTION = "run.remote";
const SYSTEM = "linux-x64";
const TIMEOUT = 60; // seconds
const LISTS = ["outputs", "env", "inputs"] as const;

type Variable = (name: string) => string | undefined;

/** Throws Failure. */
export function readRemoteSettings(
  config: Config | undefined,
  many: ManySettings | undefined,
  cwd: string,
  variable: Variable,
): RemoteSettings {
  const asked = many && whatElse(many);
  if (asked !== undefined)
    throw new Failure(`--remote and ${asked} exclude each other`, "--remote runs one script of one package");
  const texts = new Map<string, string>();
  const headers: Record<string, string> = {};
  const properties: Record<string, string> = {};
  const scripts = new Map<string, RemoteScript>();
  let timeout = TIMEOUT;
  for (const { path, value } of config?.settings ?? []) {
    const [section, part, name = "", ...rest] = path;
    if (section !== "run" || part !== "remote") continue;
    if (name === "headers") {
      requireHeaderName(rest[0]!, SECTION);
      headers[rest[0]!] = fillHeader(value as string, `${SECTION}.headers.${rest[0]}`, variable);
    } else if (name === "properties") properties[rest[0]!] = value as string;
    else if (name === "timeout") timeout = value as number;
    else if (name === "scripts") {
      const [script, list] = rest as [string, (typeof LISTS)[number]];
      const before = scripts.get(script) ?? { name: script, outputs: [], env: [], inputs: [] };
      scripts.set(script, { ...before, [list]: value as string[] });
    } else texts.set(name, value as string);
  }
  for (const { name, outputs } of scripts.values()) for (const output of outputs) checkOutput(output, name);
  const url = texts.get("url");
  if (url === undefined)
    throw new Failure(
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
    timeout: timeout * 1000,
    scripts: [...scripts.values()],
    isDry: many?.dryRun !== undefined,
  };
}

/** What is declared of a script. */
export function remoteScript({ scripts }: RemoteSettings, packageName: string, name: string): RemoteScript {
  return ruleNamed(scripts, packageName, name) ?? { name, outputs: [], env: [], inputs: [] };
}

function whatElse(many: ManySettings): string | undefined {
  if (many.filters.length > 0) return "--filter";
  if (many.workspaces) return "--workspaces";
  if (many.affected !== undefined) return "--affected";
  if (many.parallel) return "--parallel";
  if (many.sequential) return "--sequential";
  if (many.reports.length > 0) return "--report";
  if (many.shard) return "--shard";
  return many.dryRun === "json" ? "--dry-run=json" : undefined;
}

function checkOutput(output: string, script: string): void {
  const names = output.replace(/\/$/, "").split("/");
  const isPath = names.every(
    (name) => name !== "" && name !== "." && name !== ".." && !/[*?[\]{}\0\\]/.test(name),
  );
  if (isPath && names[0] !== "node_modules" && names[0] !== ".git") return;
  throw new Failure(
    `run.remote.scripts.${oneLine(script)}.outputs: "${oneLine(output)}" is no file or directory of the package`,
    'write names, such as "dist" or "coverage/report.json", without wildcards',
  );
}
