// Provides the secrets of a run to the processes that it starts; the entry point of this folder for the runner.
//
// Invariants:
// - A script gets the secrets that its rows grant. Other secrets of the project are removed from its environment.
// - Values in the environment are redacted in the output of every script.
// - Precedence: --secret NAME=service/name, the environment that rt was started with, the source in rtfig.toml, env files.
// - A value in the environment is not fetched, so a CI server needs no credential store.
// - A source of rtfig.toml is read only after trust (trust.ts). An address on the command line needs no trust.
import { host } from "../../../platform/processes/process.ts";
import type { Config } from "../../config/rtfig.ts";
import { configHint } from "../../config-hint.ts";
import { UserError } from "../../user-error.ts";
import { printable } from "../../printable.ts";
import { isCommon } from "../../redaction/common-values.ts";
import { isLongEnough } from "../../redaction/minimum-length.ts";
import type { SecretValue } from "../../redaction/secret-value.ts";
import { fetchSecrets, type MissingSecret } from "./secret-fetch.ts";
import type { ScriptRules } from "../../config/unmatched-rules.ts";
import { describeSource, type MappedSecret, type Mapping, namesFor, readAddress } from "./mapping.ts";
import {
  grantPathOf,
  grantedNames,
  isForOne,
  type ScriptName,
  WITHHELD_BY_INSTALL,
  withheldNames,
  rowKeyOf,
} from "./grants.ts";
import { findMapping } from "./mapping-file.ts";
import { isTrusted, requireTrust } from "../trust/trust.ts";
import { variableNameFault } from "./variable-name.ts";
import { reportLine } from "../../output.ts";

interface CommandLineSecret {
  readonly name: string;
  /** "service/name"; undefined for the source in rtfig.toml. */
  readonly address?: string | undefined;
}

export interface ProvisionRequest {
  readonly asked: readonly CommandLineSecret[];
  /** Absolute path of the working directory, or of the package whose script is started. */
  readonly from: string;
  /** The rtfig.toml of the working directory, or the file of --config. */
  readonly config: Config | undefined;
  /** Whether the target is a script, so that rows of rtfig.toml apply. */
  readonly isForScripts: boolean;
  /** Disables redaction, whatever rtfig.toml says. */
  readonly showsSecrets: boolean;
  /** An earlier start of the same watched run has given the warnings already. */
  readonly isRestart: boolean;
}

/** A secret that a receiver of this run gets. */
interface RequestedSecret extends MappedSecret {
  /** The address is from the command line. */
  readonly isFromLine: boolean;
}

/** Name and source for messages and reports. */
export interface ShownSecret {
  readonly name: string;
  readonly source: string;
}

/** A script, or the target of the command line if that is not a script. */
export type Receiver = ScriptName | "target";

export interface SecretProvision {
  /** Rows of [run.secrets]; undefined if rtfig.toml has no secrets. */
  readonly rows: ScriptRules | undefined;
  /**
   * Values of the project's secrets in the environment. They are redacted in the output of every script, because a value may
   * also reach a script through a file or another variable. Values too short for redaction are omitted.
   */
  readonly inherited: readonly SecretValue[];
  /** Returns the project's secrets that a script does not get. Its environment must not contain them from any source. */
  withheldFrom(receiver: Receiver): readonly string[];
  shown(receiver: Receiver): readonly ShownSecret[];
  isRedacted(receiver: Receiver): boolean;
  /** Fetches the secrets of these receivers again. @throws UserError if a required one is missing */
  fetch(receivers: readonly Receiver[]): Promise<void>;
  /** Returns the fetched values of a receiver. This object keeps the bytes and zeroizes them. */
  valuesFor(receiver: Receiver): readonly SecretValue[];
  /** Zeroizes all values. */
  zero(): void;
}

/** @throws UserError, PackageJsonError */
export function openProvision({
  asked,
  from,
  config,
  isForScripts,
  showsSecrets,
  isRestart,
}: ProvisionRequest): SecretProvision {
  const needsMapping = isForScripts || asked.some(({ address }) => address === undefined);
  const mapping = needsMapping ? findMapping(from, config) : undefined;
  const onLine = new Map(
    asked.map(({ name, address }) => [name, resolveCommandLineSecret(name, address, mapping)]),
  );
  const values = new Map<string, SecretValue>();
  const warned = new Set<string>();
  /** Values that a later fetch replaced. Redaction may still compare output with them. */
  const replaced: SecretValue[] = [];

  function secretsOf(receiver: Receiver): readonly RequestedSecret[] {
    const isScript = receiver !== "target";
    const names = new Set(isScript && mapping ? namesFor(mapping, receiver) : []);
    if (!isScript || !(receiver.isHook || receiver.isDependency))
      for (const name of onLine.keys()) names.add(name);
    return [...names].map(
      (name) => onLine.get(name) ?? { ...mapping!.secrets.get(name)!, isFromLine: false },
    );
  }

  const projectSecrets = isForScripts && mapping ? [...mapping.secrets.values()] : [];
  const inherited = showsSecrets ? [] : projectSecrets.flatMap(readInherited);

  function warnIfCommon({ name, value }: SecretValue): void {
    if (showsSecrets || isRestart || !isCommon(value) || warned.has(name)) return;
    warned.add(name);
    reportLine(
      `warning: The value of ${name} is a common word or number; every occurrence in the output is shown as [${name}]\n` +
        `hint: if it is not secret, ${configHint(["secrets", name, "redact"], false)}`,
    );
  }

  return {
    inherited,
    withheldFrom(receiver) {
      if (receiver === "target" || projectSecrets.length === 0) return [];
      const given = new Set([...secretsOf(receiver).map(({ name }) => name), ...grantedNames()]);
      return projectSecrets.map(({ name }) => name).filter((name) => !given.has(name));
    },
    rows: mapping && {
      section: "run.secrets",
      folder: mapping.folder,
      // [tasks] has its own check.
      names: mapping.grants.filter(({ isOfTask }) => !isOfTask).map(({ pattern }) => pattern),
      isForOne,
    },
    shown: (receiver) =>
      secretsOf(receiver).map((wanted) => ({
        name: wanted.name,
        source: inheritedValue(wanted) === undefined ? describeSource(wanted.source) : "environment",
      })),
    isRedacted: (receiver) => !showsSecrets && secretsOf(receiver).some(({ isRedacted }) => isRedacted),
    async fetch(receivers) {
      const wanted = new Map(receivers.flatMap(secretsOf).map((each) => [each.name, each]));
      const all = [...wanted.values()];
      const absent = all.filter((each) => !each.isFromLine && inheritedValue(each) === undefined);
      if (all.length > 0) host.hideMemory?.();
      const fetched = await explainWithheld(absent, mapping, async () => {
        if (mapping && absent.length > 0) requireTrust(mapping, "scripts");
        return await fetchAll(all, mapping?.folder ?? from);
      });
      for (const name of wanted.keys()) {
        const before = values.get(name);
        if (before) replaced.push(before);
        values.delete(name);
      }
      for (const [name, value] of fetched) {
        values.set(name, value);
        if (value.isRedacted) warnIfCommon(value);
      }
      inherited.forEach(warnIfCommon);
    },
    valuesFor: (receiver) =>
      secretsOf(receiver).flatMap(({ name }) => {
        const found = values.get(name);
        return found ? { ...found, isRedacted: found.isRedacted && !showsSecrets } : [];
      }),
    zero() {
      for (const { value } of [...values.values(), ...replaced, ...inherited]) value.fill(0);
    },
  };
}

/** Adds a hint if an outer rt had the value but did not give it to the script that started this rt. @throws UserError */
async function explainWithheld<Result>(
  absent: readonly MappedSecret[],
  mapping: Mapping | undefined,
  read: () => Promise<Result>,
): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    const withheld = withheldNames();
    const names = absent.map(({ name }) => name).filter((name) => withheld.includes(name));
    const { name, message, hint, status } = error as UserError;
    if (name !== "UserError" || names.length === 0) throw error;
    const script = host.originalVariable("npm_lifecycle_event") ?? "";
    const row = rowKeyOf(script);
    const grant = mapping?.grants.find(({ pattern }) => pattern === row);
    const path = grantPathOf(
      row,
      grant?.isOfTask ?? mapping?.grants.every(({ isOfTask }) => isOfTask) ?? true,
    );
    const reason = withheld.includes(WITHHELD_BY_INSTALL)
      ? "rt install gives it to no script of a package; start this run after rt install"
      : `the script "${printable(script)}" that started this run does not get it; ` +
        configHint(path, [...(grant?.names ?? []), ...names]);
    throw new UserError(
      message,
      [`${names.join(", ")} was in the environment, but ${reason}`, ...[hint ?? []].flat()],
      status,
    );
  }
}

function resolveCommandLineSecret(
  name: string,
  address: string | undefined,
  mapping: Mapping | undefined,
): RequestedSecret {
  const mapped = mapping?.secrets.get(name);
  const fault = variableNameFault(name);
  if (fault) throw new UserError(`--secret: "${printable(name)}" ${fault}`);
  if (address === undefined && mapped) return { ...mapped, isFromLine: false };
  if (address === undefined)
    throw new UserError(
      `--secret ${name}: the project's rtfig.toml has no [secrets.${name}]`,
      `give its address: --secret ${name}=service/name`,
    );
  const wrong = (message: string) =>
    new UserError(
      `--secret ${name} ${message}`,
      `write --secret ${name}=service/name; never put a value on the command line, where other programs can read it`,
    );
  // The user chose the address. An untrusted project must not disable its redaction.
  const isRedacted = !mapping || !mapped || mapped.isRedacted || !isTrusted(mapping, "scripts");
  return { name, source: readAddress(address, wrong), isOptional: false, isRedacted, isFromLine: true };
}

function readInherited({ name, isRedacted }: MappedSecret): SecretValue[] {
  const value = new TextEncoder().encode(isRedacted ? host.originalVariable(name) : "");
  return isLongEnough(value) ? [{ name, value, isRedacted }] : [];
}

/** Returns the value in the environment; undefined if the command line overrides it. */
function inheritedValue({ name, isFromLine }: RequestedSecret): string | undefined {
  return isFromLine ? undefined : host.originalVariable(name);
}

/** Prompts for the missing secrets and adds the entered values. @throws UserError after zeroizing all values */
async function promptForMissing(
  found: ReadonlyMap<string, Uint8Array>,
  missing: readonly MissingSecret[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const { askForMissing, missingFailure } = await import("./missing-secrets.ts");
  const entered = await askForMissing(missing);
  const values = new Map([...found, ...entered]);
  const rest = missing.filter(({ secret }) => !entered.has(secret.name));
  if (rest.length === 0) return values;
  for (const value of values.values()) value.fill(0);
  throw missingFailure(rest);
}

async function fetchAll(
  wanted: readonly RequestedSecret[],
  folder: string,
): Promise<Map<string, SecretValue>> {
  const absent = wanted.filter((each) => inheritedValue(each) === undefined);
  const { values: found, missing } = await fetchSecrets(absent, folder);
  const required = missing.filter(({ secret }) => !secret.isOptional);
  const values = required.length === 0 ? found : await promptForMissing(found, required);
  return new Map(
    wanted.flatMap((each) => {
      const { name, isRedacted } = each;
      const inherited = inheritedValue(each);
      const value = inherited === undefined ? values.get(name) : new TextEncoder().encode(inherited);
      return value ? [[name, { name, value, isRedacted }] as const] : [];
    }),
  );
}
