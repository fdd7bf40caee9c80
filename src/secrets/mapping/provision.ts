// What a run gives to what it starts: the one entry of this folder for the runner.
//
// Contract: who is named gets what it is named for, and nobody else. Of several places that have a value, in this order:
// the address on the command line (--secret NAME=service/name), the environment that rt was started with, the source in
// rtfig.toml; files of variables (.env, --env-file) come last. What the environment has is fetched from nowhere, so that a
// CI server without a credential store needs no change.
import { host } from "../../../platform/process.ts";
import type { Config } from "../../config/rtfig.ts";
import { Failure } from "../../failure.ts";
import { printable } from "../../printable.ts";
import type { SecretValue } from "../../redaction/secret-value.ts";
import { fetchSecrets } from "./fetch.ts";
import { describeSource, type MappedSecret, namesFor, readAddress, type ScriptName } from "./mapping.ts";
import { findMapping } from "./mapping-file.ts";
import { missingFailure } from "./missing.ts";
import { faultOfName } from "./variable-name.ts";

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
}

/** One that something of this run gets. */
export interface Wanted extends MappedSecret {
  /** Its address is the command line's own. */
  readonly isFromLine: boolean;
}

/** For people, and for reports. */
export interface ShownSecret {
  readonly name: string;
  readonly source: string;
}

export interface Provision {
  /** What a script gets, or without one what the target of the command line gets. */
  wantedBy(script?: ScriptName): readonly Wanted[];
  /** Throws Failure where one is not there that has to be. The bytes are the caller's to zero. */
  fetch(wanted: readonly Wanted[]): Promise<readonly SecretValue[]>;
}

/** Throws Failure, PackageJsonError. */
export function openProvision({ asked, from, config, isForScripts }: ProvisionRequest): Provision {
  const needsMapping = isForScripts || asked.some(({ address }) => address === undefined);
  const mapping = needsMapping ? findMapping(from, config) : undefined;
  const onLine = asked.map(({ name, address }): Wanted => {
    const fault = faultOfName(name);
    if (fault) throw new Failure(`--secret: "${printable(name)}" ${fault}`);
    if (address !== undefined) return { ...fromAddress(name, address), isFromLine: true };
    const mapped = mapping?.secrets.get(name);
    if (mapped) return { ...mapped, isFromLine: false };
    throw new Failure(
      `--secret ${name}: the project's rtfig.toml has no [secrets.${name}]`,
      `name its address: --secret ${name}=service/name`,
    );
  });
  return {
    wantedBy(script) {
      const wanted = new Map<string, Wanted>();
      if (script && mapping)
        for (const name of namesFor(mapping, script))
          wanted.set(name, { ...mapping.secrets.get(name)!, isFromLine: false });
      if (!script?.isHook) for (const each of onLine) wanted.set(each.name, each);
      return [...wanted.values()];
    },
    async fetch(wanted) {
      const given = wanted.filter((each) => inheritedValue(each) !== undefined);
      const lookedUp = wanted.filter((each) => inheritedValue(each) === undefined);
      const { values, lacking } = await fetchSecrets(lookedUp, mapping?.folder ?? from);
      const missing = lacking.filter(({ secret }) => !secret.isOptional);
      if (missing.length > 0) {
        for (const value of values.values()) value.fill(0);
        throw missingFailure(missing);
      }
      const encoder = new TextEncoder();
      return [
        ...given.map((each) => toValue(each, encoder.encode(inheritedValue(each)))),
        ...lookedUp.flatMap((each) => (values.has(each.name) ? toValue(each, values.get(each.name)!) : [])),
      ];
    },
  };
}

function fromAddress(name: string, address: string): MappedSecret {
  const wrong = (message: string) =>
    new Failure(
      `--secret ${name} ${message}`,
      `write --secret ${name}=service/name; a value has no place on a command line, where other programs see it`,
    );
  return { name, source: readAddress(address, wrong), isOptional: false, isRedacted: true };
}

/** What the environment says of it, unless the command line says otherwise. */
function inheritedValue({ name, isFromLine }: Wanted): string | undefined {
  return isFromLine ? undefined : host.originalVariable(name);
}

function toValue({ name, isRedacted }: Wanted, value: Uint8Array): SecretValue {
  return { name, value, isRedacted };
}

/** Names and sources, as they may be shown. */
export function show(wanted: readonly Wanted[]): ShownSecret[] {
  return wanted.map((each) => ({
    name: each.name,
    source: inheritedValue(each) === undefined ? describeSource(each.source) : "environment",
  }));
}
