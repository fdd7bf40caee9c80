// Runs `rt secrets env [script]`: lists the project's secrets, or those of one script, with source, state and trust. Never a
// value.
//
// Invariants:
// - The store is not unlocked and no command is started, so the state of some secrets is unknown.
// - Exit codes: 0 no required secret is known to be missing, 1 one is missing, 2 error.
import { host } from "../../../platform/processes/process.ts";
import { openProvider } from "../../../platform/secrets/secret-provider.ts";
import { printError } from "../../error-output.ts";
import { readConfig, readOwnConfig } from "../../config/rtfig.ts";
import { suggestNames } from "../../did-you-mean.ts";
import { escapeJson, oneLine, printable } from "../../printable.ts";
import { findPackageJson, scriptNames, scriptOf, textField } from "../../workspace/package-json.ts";
import { print } from "../streams.ts";
import { describeSource, type MappedSecret, type Mapping, namesFor, plainOrQuoted } from "./mapping.ts";
import { splitTaskName } from "../../config/tasks/task-name.ts";
import type { FindServerUses } from "../../config/server-use.ts";
import { findConsents, type ProjectConsents } from "../trust/project-consents.ts";
import { describeRegistries, describeServers, fingerprint, isTrusted, withoutLogin } from "../trust/trust.ts";
import { reportLine } from "../../output.ts";

const DONE = 0;
const ABSENT = 1;
const FAILED = 2;

type Availability = "environment" | "present" | "missing" | "unknown";

const STATES: Readonly<Record<Availability, string>> = {
  environment: "in the environment",
  present: "stored",
  missing: "missing",
  unknown: "unchecked",
};

/** Prints the report and returns the exit code. @param config path of --config */
export async function describeEnvironment(
  script: string | undefined,
  isJson: boolean,
  config: string | undefined,
  findUses: FindServerUses,
): Promise<number> {
  let consents: ProjectConsents;
  try {
    consents = findConsents(config === undefined ? readOwnConfig() : readConfig(config), findUses);
  } catch (error) {
    const { name, message, hint } = error as Error & { hint?: string };
    if (name !== "UserError" && name !== "PackageJsonError") throw error;
    return printError(message, hint, FAILED);
  }
  if (!consents.mapping && consents.servers.length === 0)
    return printError("This project's rtfig.toml declares no secrets", "rt help secrets-in-scripts", FAILED);
  const mapping: Mapping = consents.mapping ?? {
    ...consents.servers[0]!,
    secrets: new Map(),
    servers: undefined,
  };
  const names =
    script === undefined ? [...mapping.secrets.keys()] : namesFor(mapping, resolveScriptName(script));
  const secrets = names.map((name) => mapping.secrets.get(name)!);
  const states = await findStates(secrets);
  await print(
    isJson
      ? renderJson(mapping, consents, secrets, states)
      : renderText(mapping, consents, secrets, states, script),
  );
  if (script !== undefined && names.length === 0) warnOfUnknownScript(script);
  return secrets.some(({ name, isOptional }) => !isOptional && states.get(name) === "missing")
    ? ABSENT
    : DONE;
}

/** Resolves "package#script", or a script of the package in the working directory. */
function resolveScriptName(text: string) {
  const { package: owner, task: script } = splitTaskName(text);
  const located = owner === undefined ? findPackageJson(process.cwd()) : null;
  return {
    package: owner ?? (located ? textField(located.manifest, "name") : ""),
    script,
    isHook: false,
  };
}

/** Warns if package.json has no such script. Scripts of other packages are not checked. */
function warnOfUnknownScript(script: string): void {
  const located = script.includes("#") ? null : findPackageJson(process.cwd());
  if (!located || scriptOf(located.manifest, script) !== null) return;
  const [similar] = suggestNames(script, scriptNames(located.manifest));
  reportLine(
    `warning: No script "${oneLine(script)}" in package.json` +
      (similar === undefined ? "" : `\nhint: did you mean ${oneLine(similar)}?`),
  );
}

async function findStates(secrets: readonly MappedSecret[]): Promise<Map<string, Availability>> {
  const stored = await listStored(secrets);
  return new Map(secrets.map((secret) => [secret.name, stateOf(secret, stored)]));
}

function stateOf({ name, source }: MappedSecret, stored: ReadonlySet<string> | undefined): Availability {
  if (host.originalVariable(name) !== undefined) return "environment";
  if (source.kind !== "store" || !stored) return "unknown";
  return stored.has(keyOf(source)) ? "present" : "missing";
}

function keyOf({ service, name }: { readonly service: string; readonly name: string }): string {
  return `${service}\0${name}`;
}

/** Lists the stored names; undefined if the store is unavailable, locked or cannot list. */
async function listStored(secrets: readonly MappedSecret[]): Promise<ReadonlySet<string> | undefined> {
  const services = new Set(
    secrets.flatMap(({ source }) => (source.kind === "store" ? [source.service] : [])),
  );
  if (services.size === 0) return new Set();
  try {
    const store = await openProvider();
    if (!store.list) return undefined;
    const lists = await Promise.all([...services].map((service) => store.list!(service)));
    return new Set(lists.flat().map(keyOf));
  } catch {
    return undefined;
  }
}

function scriptsWith({ grants }: Mapping, name: string): string[] {
  return grants.filter(({ names }) => names.includes(name)).map(({ pattern }) => pattern);
}

function renderJson(
  mapping: Mapping,
  consents: ProjectConsents,
  secrets: readonly MappedSecret[],
  states: ReadonlyMap<string, Availability>,
): string {
  const report = {
    folder: mapping.folder,
    trusted: !consents.mapping || isTrusted(mapping),
    hash: fingerprint(mapping),
    registries: (mapping.registries?.() ?? []).map(({ url, names }) => ({ url: withoutLogin(url), names })),
    servers: consents.servers.flatMap((consent) =>
      consent.servers!.map(({ server, names }) => ({
        server,
        names,
        trusted: isTrusted(consent),
        hash: fingerprint(consent),
      })),
    ),
    secrets: secrets.map(({ name, source, about, isOptional, isRedacted }) => ({
      name,
      source: describeSource(source),
      state: states.get(name),
      about,
      optional: isOptional,
      redact: isRedacted,
      scripts: scriptsWith(mapping, name),
    })),
  };
  return `${escapeJson(JSON.stringify(report, null, 2))}\n`;
}

function renderText(
  mapping: Mapping,
  consents: ProjectConsents,
  secrets: readonly MappedSecret[],
  states: ReadonlyMap<string, Availability>,
  script: string | undefined,
): string {
  const rows = secrets.map(({ name, source, isOptional, about }) => [
    name,
    STATES[states.get(name)!] + (isOptional ? ", optional" : ""),
    describeSource(source),
    scriptsWith(mapping, name).map(plainOrQuoted).join(" "),
    about === undefined ? "" : printable(about),
  ]);
  const widths = [0, 1, 2, 3].map((column) => Math.max(0, ...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  if (lines.length === 0 && script !== undefined) lines.push(`${printable(script)} gets no secrets`);
  if (script === undefined) {
    lines.push(...describeRegistries(mapping));
    for (const consent of consents.servers) {
      const status = isTrusted(consent) ? "allowed" : "not allowed";
      lines.push(...describeServers(consent.servers!).map((line) => `${line}: ${status}`));
    }
  }
  if (consents.mapping) lines.push("", `${printable(mapping.folder)} ${describeTrust(mapping)}`);
  return `${lines.join("\n")}\n`;
}

function describeTrust(mapping: Mapping): string {
  if (isTrusted(mapping)) return "is allowed to read secrets";
  return isTrusted(mapping, "scripts")
    ? "is allowed to read secrets, but not to send them to these registries"
    : "is not allowed to read secrets";
}
