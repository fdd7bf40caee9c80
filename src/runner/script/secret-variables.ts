// Converts secrets to environment variables of one child, immediately before it starts.
//
// Non-obvious: strings cannot be zeroized, so they are created as late as possible.
import { sameName } from "../../../platform/processes/dotenv-reset.ts";
import { host } from "../../../platform/processes/process.ts";
import { GRANTED, grantedNames, WITHHELD, withheldNames } from "../../secrets/grants/grants.ts";
import type { SecretValue } from "../../redaction/secret-value.ts";

/** Does not zeroize the values: if rt stays, they are still needed for redaction. */
export function variablesOf(secrets: readonly SecretValue[]): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const { name, value } of secrets)
    variables[name] = new TextDecoder("utf-8", { ignoreBOM: true }).decode(value);
  const names = Object.keys(variables);
  if (names.length > 0) variables[GRANTED] = [...new Set([...grantedNames(), ...names])].join(",");
  return variables;
}

/** Returns changes of an environment that remove these variables, and list those that were there. */
export function withoutVariables(
  names: readonly string[],
  ...reasons: readonly string[]
): Record<string, string | undefined> {
  return { ...Object.fromEntries(names.map((name) => [name, undefined])), ...markWithheld(names, reasons) };
}

/** Returns the variable that lists which of these the environment has, and the reasons. */
export function markWithheld(
  names: readonly string[],
  reasons: readonly string[] = [],
): Record<string, string> {
  const present = names.filter((name) => host.originalVariable(name) !== undefined);
  if (present.length === 0) return {};
  return { [WITHHELD]: [...new Set([...withheldNames(), ...present, ...reasons])].join(",") };
}

/** Returns the environment without these variables. On Windows the case of their names does not count. */
export function removeVariables<Value>(
  environment: Readonly<Record<string, Value>>,
  names: readonly string[],
): Record<string, Value> {
  if (names.length === 0) return environment;
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !names.some((each) => sameName(each, name))),
  );
}

/** A hint for an environment that is too long, possibly because of one of these. */
export function largestOf(secrets: readonly SecretValue[]): string | undefined {
  const [largest] = secrets.toSorted((a, b) => b.value.length - a.value.length);
  return (
    largest && `the value of ${largest.name} has ${largest.value.length} bytes; keep large ones in a file`
  );
}
