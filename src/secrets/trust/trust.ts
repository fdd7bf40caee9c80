// Whether a person has allowed what an rtfig.toml asks for: a project that one has cloned must not get at a keyring by
// itself.
//
// Contract: what is allowed is one mapping in one folder: the names, where each comes from, whether it may be shown, which
// scripts get it, and which registries it is sent to. Any other mapping, and the same one elsewhere, is another question. It
// is asked on a terminal and nowhere else. What says yes besides is RT_TRUST of the environment that rt was started with: the
// project's `.env` is not asked, and the file that remembers lies where only this user can write.
//
// Surprising: who has allowed the whole has allowed it without its registries too. Scripts need no more than that, so that an
// .npmrc of the user's own that has changed is another question to `rt install`, and none to `rt run`.
import { errorCode, errorMessage } from "../../../platform/caught-error.ts";
import type { StateFiles } from "../../../platform/files/state-directory.ts";
import { host } from "../../../platform/processes/process.ts";
import type { ServerUse } from "../../config/server-use.ts";
import { UserError } from "../../user-error.ts";
import { oneLine, printable, quoted } from "../../printable.ts";
import { describeSource, type Mapping, type RegistryGrant, type SecretSource } from "../grants/mapping.ts";
import { askYes, canAsk, tell } from "./yes-no-prompt.ts";

const VARIABLE = "RT_TRUST";

/** What somebody is about to do with secrets: give them to scripts, or that and send them to registries. */
export type TrustSubject = "scripts" | "all";

/** SHA-256 in hex of all that is allowed with it. */
export function fingerprint(mapping: Mapping): string {
  return hashOf(mapping, mapping.registries?.() ?? []);
}

function hashOf({ folder, secrets, grants, servers }: Mapping, registries: readonly RegistryGrant[]): string {
  const byName = (a: readonly [string, ...unknown[]], b: readonly [string, ...unknown[]]) =>
    a[0] < b[0] ? -1 : 1;
  const content = {
    version: 1,
    folder,
    secrets: [...secrets.values()]
      .map(({ name, source, isRedacted }) => [name, asList(source), isRedacted] as const)
      .sort(byName),
    scripts: grants.map(({ pattern, names }) => [pattern, names.toSorted()] as const).sort(byName),
    ...(servers && {
      servers: servers.map(({ server, names }) => [server, names.toSorted()] as const).sort(byName),
    }),
    ...(registries.length > 0 && {
      registries: registries.map(({ url, names }) => JSON.stringify([url, names.toSorted()])).sort(),
    }),
  };
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(content)).digest("hex");
}

/** The same list for the same source, in whatever order its properties were made. */
function asList(source: SecretSource): unknown[] {
  switch (source.kind) {
    case "store":
      return [source.kind, source.service, source.name];
    case "command":
      return [source.kind, ...source.argv];
    case "age":
      return [source.kind, source.file, ...(source.project === undefined ? [] : [source.project])];
  }
}

/** What is remembered of a mapping that was allowed. */
export interface TrustRecord {
  readonly hash: string;
  readonly folder: string;
  readonly names: readonly string[];
  /** The hash of the same without its registries, where it has some. */
  readonly scripts?: string | undefined;
  /** The identifier that its files of age are bound to. */
  readonly project?: string | undefined;
}

export function isTrusted(mapping: Mapping, purpose: TrustSubject = "all"): boolean {
  if (purpose === "all") return isAllowed(fingerprint(mapping));
  // In this order, since most projects have no registry, and need not be asked for one.
  const scripts = hashOf(mapping, []);
  return (
    isAllowed(scripts) ||
    listAllowances().some((each) => each.scripts === scripts) ||
    isAllowed(fingerprint(mapping))
  );
}

function isAllowed(hash: string): boolean {
  const given = host.originalVariable(VARIABLE)?.split(",") ?? [];
  return given.some((each) => each.trim() === hash) || readAllowance(hash) !== undefined;
}

/** Asks where it has to. Throws Failure where it is not allowed. */
export function requireTrust(mapping: Mapping, purpose: TrustSubject = "all"): void {
  if (isTrusted(mapping, purpose)) return;
  if (!canAsk()) throw refusal(mapping, [mapping]);
  tell([
    mapping.servers
      ? `rt: ${printable(mapping.folder)} names a server, and variables of yours that it gets:`
      : `rt: ${printable(mapping.folder)} asks for secrets, for the first time or for others than before:`,
    ...describeMapping(mapping).map((line) => `  ${line}`),
    ...(mapping.servers ? [] : ["Scripts of these names get them from now on, whatever they do by then."]),
  ]);
  if (!askYes("Allow it?"))
    throw new UserError("Not allowed, so nothing was started", "rt help secrets-in-scripts");
  remember(mapping);
}

/** Asks for each that is not allowed yet. Throws Failure, at the first that is refused. */
export function requireAllTrust(mappings: readonly Mapping[]): void {
  const asked = mappings.filter((each) => !isTrusted(each));
  if (asked.length > 0 && !canAsk()) throw refusal(asked[0]!, asked);
  for (const each of asked) requireTrust(each);
}

/** @param all that is not allowed, and is in the value for CI */
function refusal(mapping: Mapping, all: readonly Mapping[]): UserError {
  const { folder, servers } = mapping;
  const config = mapping.named === undefined ? "" : ` --config=${printable(mapping.named)}`;
  const show = `rt secrets env${config} shows what it asks for, and rt trust${config} allows it, on a terminal`;
  const allow = `without a terminal, as in CI: ${VARIABLE}=${all.map(fingerprint).join(",")}`;
  if (servers)
    return new UserError(
      `${printable(folder)} has not been allowed to give ${servers.map(describeServer).join(", and ")}`,
      [show, allow],
    );
  return new UserError(
    `${printable(folder)} has not been allowed to read secrets, or asks for others than before`,
    [show, "what the environment has already is read from nowhere, and need not be allowed", allow],
  );
}

/** As the end of a sentence that begins with who gives. */
function describeServer({ server, names }: ServerUse): string {
  return `${names.map(showName).join(" and ")} to ${oneLine(server)}`.replace(/,$/, "");
}

/** All that is allowed: secrets with their sources, and who gets them. */
function describeMapping(mapping: Mapping): string[] {
  const { secrets, grants } = mapping;
  const width = Math.max(0, ...[...secrets.keys()].map((name) => name.length));
  return [
    ...[...secrets.values()].map(({ name, source, about, isRedacted }) =>
      [
        `${name.padEnd(width)}  from ${describeSource(source)}`,
        ...(isRedacted ? [] : ["shown where it is printed"]),
        ...(about === undefined ? [] : [quoted(shortened(about))]),
      ].join(", "),
    ),
    ...grants.map(({ pattern, names }) => `script ${quoted(pattern)} gets ${names.join(", ") || "none"}`),
    ...describeServers(mapping.servers ?? []),
    ...describeRegistries(mapping),
    ...describeProject(mapping),
  ];
}

function projectOf({ secrets }: Mapping): string | undefined {
  return [...secrets.values()].flatMap(({ source }) =>
    source.kind === "age" ? source.project : undefined,
  )[0];
}

/** The project whose files of age are read, and folders that are allowed to read the same: clones, or what is copied here. */
function describeProject(mapping: Mapping): string[] {
  const project = projectOf(mapping);
  if (project === undefined) return [];
  const others = listAllowances().filter(
    (each) => each.project === project && each.folder !== mapping.folder,
  );
  return [
    `files of age are those of the project ${quoted(project)}`,
    ...[...new Set(others.map(({ folder }) => folder))].map(
      (folder) => `${quoted(folder)} has the same identifier: say yes if this is a copy of that project`,
    ),
  ];
}

/** A line for each. */
export function describeServers(servers: readonly ServerUse[]): string[] {
  return servers.map(({ server, names }) => `${oneLine(server)} gets ${names.map(showName).join(", ")}`);
}

/** Quoted where it may be taken for more than a name. */
function showName(name: string): string {
  return /^\w+$/.test(name) ? name : quoted(name);
}

/** A line for each. */
export function describeRegistries({ registries }: Mapping): string[] {
  const lines = (registries?.() ?? []).map(
    ({ url, names }) => `registry ${printable(withoutLogin(url))} gets ${names.join(", ")}`,
  );
  return [...new Set(lines)].sort();
}

/** A password within an address is nobody's to see. */
export function withoutLogin(address: string): string {
  const url = new URL(address);
  url.username = url.password = "";
  return url.href;
}

/** Characters. What the project says of itself must not push away what it asks for. */
const LONGEST_ABOUT = 160;

function shortened(text: string): string {
  return text.length > LONGEST_ABOUT ? `${[...text].slice(0, LONGEST_ABOUT).join("")}...` : text;
}

/** Throws Failure where there is no place for it. */
function remember(mapping: Mapping): void {
  const { folder, secrets, servers = [] } = mapping;
  const names = new Set([...secrets.keys(), ...servers.flatMap((each) => each.names)]);
  const [hash, scripts] = [fingerprint(mapping), hashOf(mapping, [])];
  const hint = `set ${VARIABLE}=${hash} instead`;
  const files = openStateFiles("trust");
  if (!files) throw new UserError("There is no place to remember what is allowed: HOME is not set", hint);
  try {
    const project = projectOf(mapping);
    const content = { folder, names: [...names], ...(scripts !== hash && { scripts }), project };
    files.write(hash, `${JSON.stringify(content)}\n`);
  } catch (error) {
    const code = errorCode(error);
    const message = errorMessage(error);
    const reason = code === undefined ? message : `${files.directory} (${code})`;
    throw new UserError(`What is allowed cannot be remembered: ${printable(reason)}`, hint);
  }
}

/** Not imported before: who says it by the variable, as a CI server does, needs no file. */
function openStateFiles(kind: string): StateFiles | undefined {
  return (
    require("../../../platform/files/state-directory.ts") as typeof import("../../../platform/files/state-directory.ts")
  ).openStateFiles(kind);
}

const HASH = /^[0-9a-f]{64}$/;

function readAllowance(hash: string): TrustRecord | undefined {
  const text = openStateFiles("trust")?.read(hash);
  try {
    const { folder, names, scripts, project } = JSON.parse(text ?? "") as Readonly<Record<string, unknown>>;
    if (typeof folder === "string" && Array.isArray(names))
      return {
        ...{ hash, folder, names: names.map(String) },
        ...{ scripts: scripts as string | undefined, project: project as string | undefined },
      };
  } catch {
    // none, or no file of ours
  }
  return undefined;
}

export function listAllowances(): TrustRecord[] {
  const names = openStateFiles("trust")?.list() ?? [];
  return names.filter((name) => HASH.test(name)).flatMap((hash) => readAllowance(hash) ?? []);
}

export function removeAllowance({ hash }: TrustRecord): void {
  openStateFiles("trust")?.remove(hash);
}
