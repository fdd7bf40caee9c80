// Where `--remote` runs a script, and what it needs there: [run.remote] of rtfig.toml.
//
// Contract: what a server gets is what is written there, and nothing else of the environment. A header's value may mention
// variables ("Bearer $TOKEN"), which are those that rt was started with: a project's .env has no say in it.
import { dirname, resolve } from "node:path";
import { files } from "../../platform/files.ts";
import type { Config } from "../config/rtfig.ts";
import { Failure } from "../failure.ts";
import type { GivenOptions } from "../options/parse.ts";
import { oneLine } from "../printable.ts";
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
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string };
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

const SYSTEM = "linux-x64";
const TIMEOUT = 60; // seconds
const CONCURRENCY = 64;
const LISTS = ["outputs", "env", "inputs"] as const;
const NOTHING = { outputs: [], env: [], inputs: [], isRemote: undefined } as const;
/** A watched script starts again in moments, and what is verified has to be followed. */
const HINDERING = ["watch", "hot", "verify-inputs"] as const;
const PATHS = ["ca", "cert", "key"] as const;
const LARGEST_CERTIFICATE = 1 << 20;

type Variable = (name: string) => string | undefined;

/** Undefined where neither the command line nor rtfig.toml sends a script away. Throws Failure. */
export function readRemoteSettings(
  config: Config | undefined,
  given: GivenOptions,
  cwd: string,
  variable: Variable,
): RemoteSettings | undefined {
  const isAsked = given.has("remote");
  const hinders = HINDERING.find((name) => given.has(name));
  if (isAsked && hinders !== undefined) throw new Failure(`--remote and --${hinders} exclude each other`);
  if (given.has("no-remote") || (!isAsked && (hinders !== undefined || !sendsAway(config)))) return undefined;
  const texts = new Map<string, string>();
  const headers: Record<string, string> = {};
  const properties: Record<string, string> = {};
  const scripts = new Map<string, RemoteScript>();
  const numbers = { timeout: TIMEOUT, concurrency: CONCURRENCY };
  for (const { path, value } of config?.settings ?? []) {
    const [section, part, name = "", ...rest] = path;
    if (section !== "run" || part !== "remote") continue;
    if (name === "headers") headers[rest[0]!] = fill(value as string, rest[0]!, variable);
    else if (name === "properties") properties[rest[0]!] = value as string;
    else if (name === "timeout" || name === "concurrency") numbers[name] = value as number;
    else if (name === "scripts") {
      const [script, field] = rest as [string, (typeof LISTS)[number] | "remote"];
      const before = scripts.get(script) ?? { ...NOTHING, name: script };
      scripts.set(script, { ...before, [field === "remote" ? "isRemote" : field]: value });
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
