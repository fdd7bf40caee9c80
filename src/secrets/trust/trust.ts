// Stores and checks trust: the user's consent before a project's files may read secrets or send them to registries.
//
// Invariants:
// - A trust record covers one fingerprint: folder, names, sources, redaction, grants and registries. Any change, or another
//   folder, is a new trust prompt.
// - The prompt needs a terminal. The only other consent is RT_TRUST of rt's start environment: `.env` cannot set it.
// - Records are in a directory that only this user can write.
//
// Non-obvious: a trust record also covers the scripts without the registries. A changed .npmrc of the user therefore needs a new
// prompt for `rt install`, but not for `rt run`.
import type { StateFiles } from "../../../platform/files/state-directory.ts";
import { errorCode, errorMessage } from "../../../platform/caught-error.ts";
import { host } from "../../../platform/processes/process.ts";
import type { ServerUse } from "../../config/server-use.ts";
import { UserError } from "../../user-error.ts";
import { oneLine, printable, quoted } from "../../printable.ts";
import { describeSource, type Mapping, type RegistryGrant, type SecretSource } from "../grants/mapping.ts";
import { isGivenTrust, TRUST_VARIABLE } from "./trust-variable.ts";
import { askYes, canAsk, printLines } from "./yes-no-prompt.ts";

/** The use that needs trust: secrets for scripts, or for scripts and registries. */
export type TrustSubject = "scripts" | "all";

/** Returns the hex SHA-256 of everything that the trust record covers. */
export function fingerprint(mapping: Mapping): string {
  return hashOf(mapping, mapping.registries?.() ?? []);
}

function hashOf(
  { folder, secrets, grants, servers, permissions }: Mapping,
  registries: readonly RegistryGrant[],
): string {
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
    ...(permissions && { permissions: permissions.toSorted() }),
    ...(registries.length > 0 && {
      registries: registries.map(({ url, names }) => JSON.stringify([url, names.toSorted()])).sort(),
    }),
  };
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(content)).digest("hex");
}

/** Converts a source to a list, so that the hash does not depend on the order of properties. */
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

/** A stored consent. */
export interface TrustRecord {
  readonly hash: string;
  readonly folder: string;
  readonly names: readonly string[];
  /** Fingerprint without the registries, if the mapping has registries. */
  readonly scripts?: string | undefined;
  /** Identifier that the age files are bound to. */
  readonly project?: string | undefined;
}

export function isTrusted(mapping: Mapping, subject: TrustSubject = "all"): boolean {
  if (subject === "all") return isAllowed(fingerprint(mapping));
  // The cheap checks first: the full fingerprint reads .npmrc files.
  const scripts = hashOf(mapping, []);
  return (
    isAllowed(scripts) ||
    listTrustRecords().some((each) => each.scripts === scripts) ||
    isAllowed(fingerprint(mapping))
  );
}

function isAllowed(hash: string): boolean {
  return isGivenTrust(hash) || readTrustRecord(hash) !== undefined;
}

/** Prompts if the mapping is not trusted yet. @throws UserError if trust is denied, or no prompt is possible */
export function requireTrust(mapping: Mapping, subject: TrustSubject = "all"): void {
  if (isTrusted(mapping, subject)) return;
  if (!canAsk()) throw untrustedError(mapping, [mapping]);
  printLines([
    mapping.permissions
      ? `rt: ${printable(mapping.folder)} gives tasks more permissions than the defaults:`
      : mapping.servers
        ? `rt: ${printable(mapping.folder)} wants to send your variables to a server:`
        : `rt: ${printable(mapping.folder)} requests secrets that you have not allowed yet:`,
    ...describeMapping(mapping).map((line) => `  ${line}`),
    ...(mapping.servers || mapping.permissions
      ? []
      : ["Scripts with these names get the secrets from now on, even if the scripts change."]),
  ]);
  if (!askYes("Allow it?"))
    throw new UserError("Trust denied; nothing was started", "rt help secrets-in-scripts");
  writeTrustRecord(mapping);
}

/** Prompts for each mapping that is not trusted yet. @throws UserError at the first denial */
export function requireAllTrust(mappings: readonly Mapping[]): void {
  const untrusted = mappings.filter((each) => !isTrusted(each));
  if (untrusted.length > 0 && !canAsk()) throw untrustedError(untrusted[0]!, untrusted);
  for (const each of untrusted) requireTrust(each);
}

/** @param all the untrusted mappings, whose fingerprints go into the hint for CI */
function untrustedError(mapping: Mapping, all: readonly Mapping[]): UserError {
  const { folder, servers } = mapping;
  const config = mapping.named === undefined ? "" : ` --config=${printable(mapping.named)}`;
  const reviewHint = `review the secrets with rt secrets env${config}, then allow them on a terminal: rt trust${config}`;
  const ciHint = `without a terminal, as in CI: ${TRUST_VARIABLE}=${all.map(fingerprint).join(",")}`;
  if (mapping.permissions)
    return new UserError(
      `${printable(folder)} is not allowed to give tasks more permissions than the defaults: ${mapping.permissions.join(", ")}`,
      ["review them, then allow them on a terminal: rt trust", ciHint],
    );
  if (servers)
    return new UserError(
      `${printable(folder)} is not allowed to send ${servers.map(describeServer).join(", and ")}`,
      [reviewHint, ciHint],
    );
  // Where all are set, the missing permission is for the registry that they are sent to.
  const areAllSet = [...mapping.secrets.keys()].every((name) => host.originalVariable(name) !== undefined);
  return new UserError(`${printable(folder)} is not allowed to read these secrets`, [
    reviewHint,
    ...(areAllSet ? [] : ["variables that are already set in the environment need no permission"]),
    ciHint,
  ]);
}

/** Describes a use for the end of a sentence: "NAME to server". */
function describeServer({ server, names }: ServerUse): string {
  return `${names.map(showName).join(" and ")} to ${oneLine(server)}`.replace(/,$/, "");
}

/** Describes everything that the trust record covers, one line each. */
function describeMapping(mapping: Mapping): string[] {
  const { secrets, grants } = mapping;
  const width = Math.max(0, ...[...secrets.keys()].map((name) => name.length));
  return [
    ...[...secrets.values()].map(({ name, source, about, isRedacted }) =>
      [
        `${name.padEnd(width)}  from ${describeSource(source)}`,
        ...(isRedacted ? [] : ["not redacted"]),
        ...(about === undefined ? [] : [quoted(shortened(about))]),
      ].join(", "),
    ),
    ...grants.map(({ pattern, names }) => `script ${quoted(pattern)} gets ${names.join(", ") || "none"}`),
    ...describeServers(mapping.servers ?? []),
    ...(mapping.permissions ?? []),
    ...describeRegistries(mapping),
    ...describeProject(mapping),
  ];
}

function projectOf({ secrets }: Mapping): string | undefined {
  return [...secrets.values()].flatMap(({ source }) =>
    source.kind === "age" ? source.project : undefined,
  )[0];
}

/** Describes the project of the age files, and other trusted folders with the same identifier: clones, or a copied identifier. */
function describeProject(mapping: Mapping): string[] {
  const project = projectOf(mapping);
  if (project === undefined) return [];
  const others = listTrustRecords().filter(
    (each) => each.project === project && each.folder !== mapping.folder,
  );
  return [
    `age files belong to the project ${quoted(project)}`,
    ...[...new Set(others.map(({ folder }) => folder))].map(
      (folder) =>
        `${quoted(folder)} has the same identifier: answer yes only if this is a copy of that project`,
    ),
  ];
}

/** Describes the servers, one line each. */
export function describeServers(servers: readonly ServerUse[]): string[] {
  return servers.map(({ server, names }) => `${oneLine(server)} gets ${names.map(showName).join(", ")}`);
}

/** Quotes a name that could be mistaken for other text. */
function showName(name: string): string {
  return /^\w+$/.test(name) ? name : quoted(name);
}

/** Describes the registries, one line each. */
export function describeRegistries({ registries }: Mapping): string[] {
  const lines = (registries?.() ?? []).map(
    ({ url, names }) => `registry ${printable(withoutLogin(url))} gets ${names.join(", ")}`,
  );
  return [...new Set(lines)].sort();
}

/** Removes user and password from an address. */
export function withoutLogin(address: string): string {
  const url = new URL(address);
  url.username = url.password = "";
  return url.href;
}

/** Characters. A long description by the project must not push the requested secrets off the screen. */
const MAX_ABOUT_LENGTH = 160;

function shortened(text: string): string {
  return text.length > MAX_ABOUT_LENGTH ? `${[...text].slice(0, MAX_ABOUT_LENGTH).join("")}...` : text;
}

/** Writes the trust record. @throws UserError if it cannot be written */
function writeTrustRecord(mapping: Mapping): void {
  const { folder, secrets, servers = [] } = mapping;
  const names = new Set([...secrets.keys(), ...servers.flatMap((each) => each.names)]);
  const [hash, scripts] = [fingerprint(mapping), hashOf(mapping, [])];
  const hint = `set ${TRUST_VARIABLE}=${hash} instead`;
  const files = openStateFiles("trust");
  if (!files) throw new UserError("Cannot store the trust decision: HOME is not set", hint);
  try {
    const project = projectOf(mapping);
    const content = { folder, names: [...names], ...(scripts !== hash && { scripts }), project };
    files.write(hash, `${JSON.stringify(content)}\n`);
  } catch (error) {
    const code = errorCode(error);
    const message = errorMessage(error);
    const reason = code === undefined ? message : `${files.directory} (${code})`;
    throw new UserError(`Cannot store the trust decision: ${printable(reason)}`, hint);
  }
}

/** Loads the module lazily: a CI server that sets RT_TRUST needs no file. */
function openStateFiles(kind: string): StateFiles | undefined {
  return (
    require("../../../platform/files/state-directory.ts") as typeof import("../../../platform/files/state-directory.ts")
  ).openStateFiles(kind);
}

const HASH = /^[0-9a-f]{64}$/;

function readTrustRecord(hash: string): TrustRecord | undefined {
  const text = openStateFiles("trust")?.read(hash);
  try {
    const { folder, names, scripts, project } = JSON.parse(text ?? "") as Readonly<Record<string, unknown>>;
    if (typeof folder === "string" && Array.isArray(names))
      return {
        ...{ hash, folder, names: names.map(String) },
        ...{ scripts: scripts as string | undefined, project: project as string | undefined },
      };
  } catch {
    // missing, or not a trust record
  }
  return undefined;
}

export function listTrustRecords(): TrustRecord[] {
  const names = openStateFiles("trust")?.list() ?? [];
  return names.filter((name) => HASH.test(name)).flatMap((hash) => readTrustRecord(hash) ?? []);
}

export function removeTrustRecord({ hash }: TrustRecord): void {
  openStateFiles("trust")?.remove(hash);
}
