// Reads [secrets] and [run.secrets] of rtfig.toml: the project's secrets, their sources, and the scripts that get them.
//
// Invariants:
// - A mapping that this returns is valid: every name can be a variable, every source is complete, and every granted name is in
//   [secrets].
import { errorMessage } from "../../../platform/caught-error.ts";
import type { ConfigSection } from "../../config/config-content.ts";
import type { Config } from "../../config/rtfig.ts";
import { configHint } from "../../config-hint.ts";
import { lineOf } from "../../config/toml-line.ts";
import { projectIdIn } from "../../config/project-id.ts";
import type { ServerUse } from "../../config/server-use.ts";
import { UserError } from "../../user-error.ts";
import { suggestNames } from "../../did-you-mean.ts";
import { escapeJson, printable, quoted } from "../../printable.ts";
import { checkText } from "../api/secrets.ts";
import { splitTaskName, type TaskName } from "../../config/tasks/task-name.ts";
import { grantPathOf, type GrantRow, grantRowsIn, isFor, type ScriptName } from "./grants.ts";
import { variableNameFault } from "./variable-name.ts";

export type SecretSource =
  | { readonly kind: "store"; readonly service: string; readonly name: string }
  | { readonly kind: "command"; readonly argv: readonly string[] }
  /** The entry of the same name in an age-encrypted file that is bound to this project. */
  | { readonly kind: "age"; readonly file: string; readonly project: string | undefined };

export interface MappedSecret {
  readonly name: string;
  readonly source: SecretSource;
  readonly about?: string | undefined;
  /** If true, scripts run without a missing value. */
  readonly isOptional: boolean;
  readonly isRedacted: boolean;
}

/** A row of [run.secrets], or of [tasks] with secrets. */
export interface Grant extends GrantRow, TaskName {}

/** A package registry that `rt install` and other package commands send secrets to. */
export interface RegistryGrant {
  readonly url: string;
  readonly names: readonly string[];
}

export interface Mapping {
  /** Path of the rtfig.toml, as messages show it. */
  readonly file: string;
  /** Value of --config, if the file was given by it. */
  readonly named?: string | undefined;
  /** Folder of the file: absolute, without symbolic links. */
  readonly folder: string;
  readonly secrets: ReadonlyMap<string, MappedSecret>;
  readonly grants: readonly Grant[];
  /** Computed on demand: a script that is trusted already does not need them. */
  readonly registries?: (() => readonly RegistryGrant[]) | undefined;
  /** The servers, if this mapping is a separate consent to send variables to servers. */
  readonly servers?: readonly ServerUse[] | undefined;
  /** Permissions of tasks beyond the defaults, if this mapping is a separate consent to them. */
  readonly permissions?: readonly string[] | undefined;
}

type SecretRow = NonNullable<ConfigSection<"secrets">[string]>;

/**
 * Reads and validates the secrets of a configuration.
 * @param folder the folder of `config`
 * @param project identifier that age files must be bound to
 * @throws UserError
 */
export function readMapping(config: Config, folder: string, project = projectIdIn(config)): Mapping {
  const { secrets = {} } = config.content;
  const declared = new Map(
    Object.entries(secrets).map(([name, row]) => [name, readSecret(name, row, config, project)]),
  );
  const grants = grantRowsIn(config.content).map((row) => readGrant(row, declared, config));
  return { file: config.file, folder, secrets: declared, grants };
}

/** Returns the names that a script gets, without duplicates, in file order. */
export function namesFor({ grants }: Mapping, script: ScriptName): string[] {
  return [...new Set(grants.filter((grant) => isFor(grant, script)).flatMap(({ names }) => names))];
}

function readSecret(name: string, row: SecretRow, config: Config, project: string | undefined): MappedSecret {
  const fault = variableNameFault(name);
  if (fault) throw failureAt(config, ["secrets", name], `"${printable(name)}" ${fault}`);
  const { from, about, optional = false, redact = true } = row;
  if (from === undefined)
    throw failureAt(
      config,
      ["secrets", name],
      `secrets.${name} has no source`,
      configHint(["secrets", name, "from"], `service/${name}`, config.file),
    );
  return {
    name,
    source: readSource(name, from, config, project),
    about,
    isOptional: optional,
    isRedacted: redact,
  };
}

const AGE = "age:";

function readSource(
  name: string,
  from: NonNullable<SecretRow["from"]>,
  config: Config,
  project: string | undefined,
): SecretSource {
  const wrong = (message: string, hint?: string) =>
    failureAt(config, ["secrets", name, "from"], `secrets.${name}.from ${message}`, hint);
  if (typeof from === "string") {
    if (!from.startsWith(AGE)) return readAddress(from, wrong);
    if (from === AGE) throw wrong("names no file after age:", 'write it as "age:secrets.age"');
    return { kind: "age", file: from.slice(AGE.length), project };
  }
  const keys = Object.keys(from).sort().join();
  if (keys === "name,service") return checkAddress(from.service!, from.name!, wrong);
  if (keys !== "command")
    throw wrong("needs service and name, or command alone", 'write { command = ["op", "read", "..."] }');
  const argv = from.command!;
  if (!argv[0]) throw wrong("has a command without a program", 'write { command = ["op", "read", "..."] }');
  if (argv.some((word) => word.includes("\0")))
    throw wrong("has a NUL character in its command, which no program can receive");
  return { kind: "command", argv };
}

/**
 * Splits "service/name" at the first slash. A service that contains a slash needs the form { service, name }.
 * @param wrong creates the error from the end of its sentence
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
    throw wrong(`is not an address: ${errorMessage(error)}`);
  }
}

function readGrant(row: GrantRow, declared: ReadonlyMap<string, MappedSecret>, config: Config): Grant {
  const { pattern, names, isOfTask } = row;
  const section = isOfTask ? "tasks" : "run.secrets";
  const path = grantPathOf(pattern, isOfTask);
  const missing = names.find((name) => !declared.has(name));
  if (missing !== undefined) {
    const [similar] = suggestNames(missing, declared.keys());
    throw failureAt(
      config,
      path,
      `${section}."${printable(pattern)}" names ${printable(missing)}, which is not in [secrets]`,
      similar === undefined
        ? configHint(["secrets", missing, "from"], `service/${missing}`, config.file)
        : `did you mean ${similar}?`,
    );
  }
  const taskName = splitTaskName(pattern);
  if (taskName.task === "" || taskName.package === "")
    throw failureAt(
      config,
      path,
      `${section}."${printable(pattern)}" names no ${taskName.task === "" ? "script" : "package"}`,
      'write it as "script" or "package#script"',
    );
  return { ...row, ...taskName };
}

function failureAt(
  { file, text }: Config,
  path: readonly string[],
  message: string,
  hint?: string,
): UserError {
  return new UserError(`${file}:${lineOf(text, path)}: ${message}`, hint);
}

/** ASCII without blanks, quotes and backslashes, which needs no quotes in a line of several texts. */
const PLAIN = /^[!#-[\]-~]+$/;

export function plainOrQuoted(text: string): string {
  return PLAIN.test(text) ? text : quoted(text);
}

/** Describes a source for the user: address, command or file. Different sources have different descriptions. */
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
