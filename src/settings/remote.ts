// Where `--remote` runs a script, and what it needs there: [run.remote] of rtfig.toml.
//
// Contract: what a server gets is what is written there, and nothing else of the environment. A header's value may mention
// variables ("Bearer $TOKEN"), which are those that rt was started with: a project's .env has no say in it.
import { dirname, resolve } from "node:path";
import { files } from "../../platform/files.ts";
import type { Config } from "../config/rtfig.ts";
import { Failure } from "../failure.ts";
import { oneLine } from "../printable.ts";
import type { ManySettings } from "./many.ts";
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
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  /** Of its machines, as in "linux-x64". */
  readonly system: string;
  readonly properties: Readonly<Record<string, string>>;
  /** Milliseconds for one answer. */
  readonly timeout: number;
  readonly scripts: readonly RemoteScript[];
  /** Nothing is run, and nothing sent. */
  readonly isDry: boolean;
}

const SYSTEM = "linux-x64";
const TIMEOUT = 60; // seconds
const LISTS = ["outputs", "env", "inputs"] as const;
const PATHS = ["ca", "cert", "key"] as const;
const LARGEST_CERTIFICATE = 1 << 20;

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
    if (name === "headers") headers[rest[0]!] = fill(value as string, rest[0]!, variable);
    else if (name === "properties") properties[rest[0]!] = value as string;
    else if (name === "timeout") timeout = value as number;
    else if (name === "scripts") {
      const [script, list] = rest as [string, (typeof LISTS)[number]];
      const before = scripts.get(script) ?? { name: script, outputs: [], env: [], inputs: [] };
      scripts.set(script, { ...before, [list]: value as string[] });
    } else texts.set(name, value as string);
  }
  for (const { name, outputs } of scripts.values()) for (const output of outputs) checkOutput(output, name);
  const url = readUrl(texts.get("url"), headers);
  if (texts.has("cert") !== texts.has("key"))
    throw new Failure("run.remote.cert and run.remote.key belong together", "give both, or neither");
  const directory = config ? dirname(resolve(cwd, config.file)) : cwd;
  const tls = Object.fromEntries(
    PATHS.flatMap((name) => {
      const path = texts.get(name);
      return path === undefined ? [] : [[name, readCertificate(resolve(directory, path), name)]];
    }),
  );
  return {
    url,
    instance: texts.get("instance") ?? "",
    headers,
    tls,
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
  if (many.share) return "--share";
  return many.dryRun === "json" ? "--dry-run=json" : undefined;
}

function readUrl(text: string | undefined, headers: RemoteSettings["headers"]): string {
  if (text === undefined)
    throw new Failure(
      "--remote needs to know where",
      'write [run.remote] and url = "grpcs://..." in rtfig.toml',
    );
  const url = URL.parse(text);
  if (
    !url ||
    !["grpc:", "grpcs:"].includes(url.protocol) ||
    url.hostname === "" ||
    /[^/]/.test(url.pathname + url.search)
  )
    throw new Failure(
      `run.remote.url is no address of a server: "${oneLine(text)}"`,
      "it begins with grpcs:// or grpc://, and has a host and a port",
    );
  if (url.username !== "" || url.password !== "")
    throw new Failure("run.remote.url has a password in it", "give it in [run.remote.headers]");
  // The engine takes no address as the name of a server that it verifies.
  if (url.protocol === "grpcs:" && /^(?:[\d.]+|\[.*\])$/.test(url.hostname))
    throw new Failure("run.remote.url needs the name of a host with grpcs://, and has an address");
  const isHere = /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname);
  if (url.protocol === "grpc:" && !isHere && Object.keys(headers).length > 0)
    throw new Failure(
      "[run.remote.headers] would go over the network for all to read",
      "write grpcs:// in run.remote.url",
    );
  return `${url.protocol}//${url.host}`;
}

function fill(value: string, header: string, variable: Variable): string {
  if (!/^[a-z\d_.-]+$/.test(header) || header.startsWith("grpc-"))
    throw new Failure(
      `run.remote.headers.${oneLine(header)} is no name of a header`,
      "they are in lower case",
    );
  const filled = value.replace(/\$\{?([A-Za-z_]\w*)\}?/g, (_, name: string) => {
    const found = variable(name);
    if (found === undefined || found === "")
      throw new Failure(`${name} is not set, which run.remote.headers.${header} needs`);
    return found;
  });
  if (!/^[\x20-\x7e]*$/.test(filled))
    throw new Failure(`run.remote.headers.${header} has characters in it that no header may have`);
  return filled;
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

function readCertificate(path: string, name: string): string {
  const bytes = files.readFile(path, LARGEST_CERTIFICATE);
  if (typeof bytes === "string")
    throw new Failure(`Cannot read run.remote.${name}, ${oneLine(path)}: ${bytes}`);
  return new TextDecoder().decode(bytes);
}
