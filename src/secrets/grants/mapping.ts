// [secrets] and [run.secrets] of an rtfig.toml: which secrets a project has, where each comes from, and which scripts get it.
//
// Contract: what can be read is complete: every name can be a variable, every source says where to look, and what a script
// is to get is there. A script gets what rows name by its name, by a glob (not as a hook: that must be named exactly), or
// by "package#script" for one package alone; without a package a row is for the scripts of all packages.
import { errorMessage } from "../../../platform/caught-error.ts";
import type { Config } from "../../config/rtfig.ts";
import { lineOf } from "../../config/toml-line.ts";
import { projectIdIn } from "../../config/project-id.ts";
import type { ServerUse } from "../../config/server-use.ts";
import { UserError } from "../../user-error.ts";
import { suggestNames } from "../../did-you-mean.ts";
import { escapeJson, printable, quoted } from "../../printable.ts";
import { checkText } from "../api/secrets.ts";
import { isFor, parseRowName, type RowName, type ScriptName } from "./grants.ts";
import { faultOfName } from "./variable-name.ts";

export type SecretSource =
  | { readonly kind: "store"; readonly service: string; readonly name: string }
  | { readonly kind: "command"; readonly argv: readonly string[] }
  /** The entry of the same name in a file that is encrypted with age and bound to this project. */
  | { readonly kind: "age"; readonly file: string; readonly project: string | undefined };

export interface MappedSecret {
  /** The variable's. */
  readonly name: string;
  readonly source: SecretSource;
  readonly about?: string | undefined;
  /** Where it is not there, scripts run without it. */
  readonly isOptional: boolean;
  readonly isRedacted: boolean;
}

/** A row of [run.secrets]. */
export interface Grant extends RowName {
  /** As it is written. */
  readonly pattern: string;
  readonly names: readonly string[];
}

/** A registry of packages that `rt install` and its like send secrets to. */
export interface RegistryGrant {
  readonly url: string;
  readonly names: readonly string[];
}

export interface Mapping {
  /** The rtfig.toml, as messages name it. */
  readonly file: string;
  /** The rtfig.toml that --config names, as it was written. */
  readonly named?: string | undefined;
  /** Where it lies: absolute and without symbolic links. */
  readonly folder: string;
  readonly secrets: ReadonlyMap<string, MappedSecret>;
  readonly grants: readonly Grant[];
  /** Read when they are asked for: a script that has been allowed already needs none. */
  readonly registries?: (() => readonly RegistryGrant[]) | undefined;
  /** The servers that it is for, where this is a part that is allowed by itself. */
  readonly servers?: readonly ServerUse[] | undefined;
}

type GrantRow = Readonly<Record<string, unknown>>;

/** @param folder that `config` lies in. Throws Failure. @param project the identifier that its files of age are bound to */
export function readMapping(config: Config, folder: string, project = projectIdIn(config)): Mapping {
  const { secrets = {}, run = {} } = config.content as { secrets?: GrantRow; run?: GrantRow };
  const known = new Map(
    Object.entries(secrets).map(([name, row]) => [name, readSecret(name, row as GrantRow, config, project)]),
  );
  const grants = Object.entries((run.secrets ?? {}) as Record<string, readonly string[]>).map(
    ([pattern, names]) => readGrant(pattern, names, known, config),
  );
  return { file: config.file, folder, secrets: known, grants };
}

/** The names that a script gets, each once, in the order of the file. */
export function namesFor({ grants }: Mapping, script: ScriptName): string[] {
  return [...new Set(grants.filter((grant) => isFor(grant, script)).flatMap(({ names }) => names))];
}

function readSecret(name: string, row: GrantRow, config: Config, project: string | undefined): MappedSecret {
  const fault = faultOfName(name);
  if (fault) throw failureAt(config, ["secrets", name], `"${printable(name)}" ${fault}`);
  const { from, about, optional = false, redact = true } = row;
  if (from === undefined)
    throw failureAt(
      config,
      ["secrets", name],
      `secrets.${name} does not say where it comes from`,
      `write from = "service/name", the address in the credential store`,
    );
  return {
    name,
    source: readSource(name, from, config, project),
    about: about as string | undefined,
    isOptional: optional as boolean,
    isRedacted: redact as boolean,
  };
}

const AGE = "age:";

function readSource(name: string, from: unknown, config: Config, project: string | undefined): SecretSource {
  const wrong = (message: string, hint?: string) =>
    failureAt(config, ["secrets", name, "from"], `secrets.${name}.from ${message}`, hint);
  if (typeof from === "string") {
    if (!from.startsWith(AGE)) return readAddress(from, wrong);
    if (from === AGE) throw wrong("names no file behind age:", 'write it as "age:secrets.age"');
    return { kind: "age", file: from.slice(AGE.length), project };
  }
  const table = from as { service?: string; name?: string; command?: readonly string[] };
  const keys = Object.keys(table).sort().join();
  if (keys === "name,service") return checkAddress(table.service!, table.name!, wrong);
  if (keys !== "command")
    throw wrong("needs service and name, or command alone", 'write { command = ["op", "read", "..."] }');
  const argv = table.command!;
  if (!argv[0]) throw wrong("has a command without a program", 'write { command = ["op", "read", "..."] }');
  if (argv.some((word) => word.includes("\0")))
    throw wrong("has a NUL character in its command, which no program can be given");
  return { kind: "command", argv };
}

/**
 * Parted at the first slash; a service with one in it needs the form { service, name }.
 * @param wrong makes an error of what is wrong, which is the end of a sentence
 */
export function readAddress(text: string, wrong: (message: string) => UserError): SecretSource {
  const slash = text.indexOf("/");
  if (slash < 0) throw wrong('needs "service/name", the address in the credential store');
  return checkAddress(text.slice(0, slash), text.slice(slash + 1), wrong);
}

function checkAddress(service: string, name: string, wrong: (message: string) => UserError): SecretSource {
  try {
    return { kind: "store", service: checkText("service", service), name: checkText("name", name) };
  } catch (error) {
    throw wrong(`is no address: ${errorMessage(error)}`);
  }
}

function readGrant(
  pattern: string,
  names: readonly string[],
  known: ReadonlyMap<string, MappedSecret>,
  config: Config,
): Grant {
  const missing = names.find((name) => !known.has(name));
  if (missing !== undefined) {
    const [similar] = suggestNames(missing, known.keys());
    throw failureAt(
      config,
      ["run", "secrets", pattern],
      `run.secrets."${printable(pattern)}" names ${printable(missing)}, which is not in [secrets]`,
      similar === undefined
        ? `add [secrets.${missing}] with from = "service/name"`
        : `did you mean ${similar}?`,
    );
  }
  const { package: owner, script } = parseRowName(pattern);
  if (script === "" || owner === "")
    throw failureAt(
      config,
      ["run", "secrets", pattern],
      `run.secrets."${printable(pattern)}" names no ${script === "" ? "script" : "package"}`,
      'write it as "script" or "package#script"',
    );
  return { pattern, package: owner, script, names };
}

function failureAt(
  { file, text }: Config,
  path: readonly string[],
  message: string,
  hint?: string,
): UserError {
  return new UserError(`${file}:${lineOf(text, path)}: ${message}`, hint);
}

/** ASCII without blanks, quotes and backslashes: needs no quotes in a line of several texts. */
const PLAIN = /^[!#-[\]-~]+$/;

export function plainOrQuoted(text: string): string {
  return PLAIN.test(text) ? text : quoted(text);
}

/** For people: the address, the command as a list of words, or the file. No two sources look alike. */
export function describeSource(source: SecretSource): string {
  switch (source.kind) {
    case "store": {
      const { service, name } = source;
      const isPlain = !service.includes("/") && !service.startsWith(AGE);
      return isPlain && PLAIN.test(service) && PLAIN.test(name)
        ? `${service}/${name}`
        : `service ${quoted(service)}, name ${quoted(name)}`;
    }
    case "command":
      return `command ${escapeJson(JSON.stringify(source.argv))}`;
    case "age":
      return `${AGE}${plainOrQuoted(source.file)}`;
  }
}
