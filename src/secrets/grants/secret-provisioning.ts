// What a run gives to what it starts: the one entry of this folder for the runner.
//
// Invariants:
// - A script gets the secrets that its rows name. The other secrets of the project are removed from its environment.
// - Values that the environment has are redacted in the output of every script.
// - The first place that has a value counts. The places are --secret NAME=service/name, the environment that rt was
//   started with, the source in rtfig.toml, and files of variables (.env, --env-file).
// - A value of the environment is not fetched, so a CI server without a credential store needs no change.
// - A source of rtfig.toml is read only where a person has allowed it (trust.ts). An address on the command line needs no
//   such consent.
import { host } from "../../../platform/processes/process.ts";
import type { Config } from "../../config/rtfig.ts";
import { UserError } from "../../user-error.ts";
import { printable } from "../../printable.ts";
import { isCommon } from "../../redaction/common-values.ts";
import { isLongEnough } from "../../redaction/minimum-length.ts";
import type { SecretValue } from "../../redaction/secret-value.ts";
import { fetchSecrets, type MissingSecret } from "./secret-fetch.ts";
import type { ScriptRules } from "../../config/unmatched-rules.ts";
import { describeSource, type MappedSecret, type Mapping, namesFor, readAddress } from "./mapping.ts";
import { grantedNames, isForOne, type ScriptName, withheldNames } from "./grants.ts";
import { findMapping } from "./mapping-file.ts";
import { isTrusted, requireTrust } from "../trust/trust.ts";
import { faultOfName } from "./variable-name.ts";
import { reportLine } from "../../output.ts";

/** One that the command line asks for. */
interface Asked {
  readonly name: string;
  /** "service/name"; undefined for the source that rtfig.toml has. */
  readonly address?: string | undefined;
}

export interface ProvisionRequest {
  readonly asked: readonly Asked[];
  /** The working directory, or that of the package whose script is started; absolute. */
  readonly from: string;
  /** What was read of the working directory's rtfig.toml, or of the file that --config names. */
  readonly config: Config | undefined;
  /** Whether rtfig.toml may give something to the target, which it does for scripts alone. */
  readonly isForScripts: boolean;
  /** Values are not kept out of what is shown, whatever rtfig.toml says. */
  readonly showsSecrets: boolean;
}

/** One that something of this run gets. */
interface Wanted extends MappedSecret {
  /** Its address is the command line's own. */
  readonly isFromLine: boolean;
}

/** For people, and for reports. */
export interface ShownSecret {
  readonly name: string;
  readonly source: string;
}

/** A script, or the target of the command line where that is none. */
export type Receiver = ScriptName | "target";

export interface SecretProvision {
  /** Those of [run.secrets]; undefined where rtfig.toml gives nothing. */
  readonly rows: ScriptRules | undefined;
  /**
   * Values that the environment has of the project's secrets. No output of the run shows them, whichever script writes it: a
   * value may also reach a script through a file or another variable. Values that are too short to be found are left out.
   */
  readonly inherited: readonly SecretValue[];
  /** Returns the project's secrets that a script is not given. Its environment must not have them from elsewhere either. */
  withheldFrom(receiver: Receiver): readonly string[];
  /** What a receiver gets: names and sources. */
  shown(receiver: Receiver): readonly ShownSecret[];
  /** Whether something that it may get is to be kept out of what it shows. */
  isRedacted(receiver: Receiver): boolean;
  /** Reads all that these get, anew. Throws Failure where one is not there that has to be. */
  fetch(receivers: readonly Receiver[]): Promise<void>;
  /** What a receiver gets of all that has been fetched. The bytes stay this object's. */
  valuesFor(receiver: Receiver): readonly SecretValue[];
  /** When nobody needs the values any more. */
  zero(): void;
}

/** Throws Failure, PackageJsonError. */
export function openProvision({
  asked,
  from,
  config,
  isForScripts,
  showsSecrets,
}: ProvisionRequest): SecretProvision {
  const needsMapping = isForScripts || asked.some(({ address }) => address === undefined);
  const mapping = needsMapping ? findMapping(from, config) : undefined;
  const onLine = new Map(asked.map(({ name, address }) => [name, readAsked(name, address, mapping)]));
  const values = new Map<string, SecretValue>();
  const warned = new Set<string>();
  /** What was replaced by a later fetch may still be compared with what a script shows. */
  const replaced: SecretValue[] = [];

  function wantedBy(receiver: Receiver): readonly Wanted[] {
    const isScript = receiver !== "target";
    const names = new Set(isScript && mapping ? namesFor(mapping, receiver) : []);
    if (!isScript || !receiver.isHook) for (const name of onLine.keys()) names.add(name);
    return [...names].map(
      (name) => onLine.get(name) ?? { ...mapping!.secrets.get(name)!, isFromLine: false },
    );
  }

  const projectSecrets = isForScripts && mapping ? [...mapping.secrets.values()] : [];
  const inherited = showsSecrets ? [] : projectSecrets.flatMap(readInherited);

  function warnIfCommon({ name, value }: SecretValue): void {
    if (showsSecrets || !isCommon(value) || warned.has(name)) return;
    warned.add(name);
    reportLine(
      `warning: The value of ${name} is a common word or number: [${name}] stands in its place wherever it is shown\n` +
        `hint: where it is no secret, write "redact = false" in [secrets.${name}] of rtfig.toml`,
    );
  }

  return {
    inherited,
    withheldFrom(receiver) {
      if (receiver === "target" || projectSecrets.length === 0) return [];
      const given = new Set([...wantedBy(receiver).map(({ name }) => name), ...grantedNames()]);
      return projectSecrets.map(({ name }) => name).filter((name) => !given.has(name));
    },
    rows: mapping && {
      section: "run.secrets",
      folder: mapping.folder,
      names: mapping.grants.map(({ pattern }) => pattern),
      isForOne,
    },
    shown: (receiver) =>
      wantedBy(receiver).map((wanted) => ({
        name: wanted.name,
        source: inheritedValue(wanted) === undefined ? describeSource(wanted.source) : "environment",
      })),
    isRedacted: (receiver) => !showsSecrets && wantedBy(receiver).some(({ isRedacted }) => isRedacted),
    async fetch(receivers) {
      const wanted = new Map(receivers.flatMap(wantedBy).map((each) => [each.name, each]));
      const all = [...wanted.values()];
      const absent = all.filter((each) => !each.isFromLine && inheritedValue(each) === undefined);
      if (all.length > 0) host.hideMemory?.();
      const fetched = await explainWithheld(absent, async () => {
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
      wantedBy(receiver).flatMap(({ name }) => {
        const found = values.get(name);
        return found ? { ...found, isRedacted: found.isRedacted && !showsSecrets } : [];
      }),
    zero() {
      for (const { value } of [...values.values(), ...replaced, ...inherited]) value.fill(0);
    },
  };
}

/** Adds a hint where an rt around this one had a value, and the script between both was not given it. Throws Failure. */
async function explainWithheld<Result>(
  absent: readonly MappedSecret[],
  read: () => Promise<Result>,
): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    const withheld = withheldNames();
    const names = absent.map(({ name }) => name).filter((name) => withheld.includes(name));
    const { name, message, hint, status } = error as UserError;
    if (name !== "Failure" || names.length === 0) throw error;
    const script = host.originalVariable("npm_lifecycle_event");
    throw new UserError(
      message,
      [
        `${names.join(", ")} was in the environment, but the script ${script === undefined ? "" : `"${printable(script)}" `}` +
          "that started this run is not given it; add a row for that script to [run.secrets]",
        ...[hint ?? []].flat(),
      ],
      status,
    );
  }
}

function readAsked(name: string, address: string | undefined, mapping: Mapping | undefined): Wanted {
  const mapped = mapping?.secrets.get(name);
  const fault = faultOfName(name);
  if (fault) throw new UserError(`--secret: "${printable(name)}" ${fault}`);
  if (address === undefined && mapped) return { ...mapped, isFromLine: false };
  if (address === undefined)
    throw new UserError(
      `--secret ${name}: the project's rtfig.toml has no [secrets.${name}]`,
      `name its address: --secret ${name}=service/name`,
    );
  const wrong = (message: string) =>
    new UserError(
      `--secret ${name} ${message}`,
      `write --secret ${name}=service/name; a value has no place on a command line, where other programs see it`,
    );
  // The address is the person's own: that the value may be shown, the project says only where it has been allowed.
  const isRedacted = !mapping || !mapped || mapped.isRedacted || !isTrusted(mapping, "scripts");
  return { name, source: readAddress(address, wrong), isOptional: false, isRedacted, isFromLine: true };
}

function readInherited({ name, isRedacted }: MappedSecret): SecretValue[] {
  const value = new TextEncoder().encode(isRedacted ? host.originalVariable(name) : "");
  return isLongEnough(value) ? [{ name, value, isRedacted }] : [];
}

/** What the environment says of it, unless the command line says otherwise. */
function inheritedValue({ name, isFromLine }: Wanted): string | undefined {
  return isFromLine ? undefined : host.originalVariable(name);
}

/** With what a person enters for those that are not there. Throws Failure, and has zeroed the values. */
async function complete(
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

async function fetchAll(wanted: readonly Wanted[], folder: string): Promise<Map<string, SecretValue>> {
  const absent = wanted.filter((each) => inheritedValue(each) === undefined);
  const { values: found, lacking } = await fetchSecrets(absent, folder);
  const missing = lacking.filter(({ secret }) => !secret.isOptional);
  const values = missing.length === 0 ? found : await complete(found, missing);
  return new Map(
    wanted.flatMap((each) => {
      const { name, isRedacted } = each;
      const inherited = inheritedValue(each);
      const value = inherited === undefined ? values.get(name) : new TextEncoder().encode(inherited);
      return value ? [[name, { name, value, isRedacted }] as const] : [];
    }),
  );
}
