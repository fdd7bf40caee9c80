// Secrets as variables of one child's environment: the last step before it is started.
//
// Surprising: a text cannot be zeroed as bytes can, so it is made as late as this, where rt is about to become the program.
import type { SecretValue } from "../../redaction/secret-value.ts";

/** Zeroes nothing: where rt stays, what the script shows is still compared with the values. */
export function variablesOf(secrets: readonly SecretValue[]): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const { name, value } of secrets)
    variables[name] = new TextDecoder("utf-8", { ignoreBOM: true }).decode(value);
  return variables;
}

/** What to do where the environment is too long, and the reason may be one of these. */
export function largestOf(secrets: readonly SecretValue[]): string | undefined {
  const [largest] = secrets.toSorted((a, b) => b.value.length - a.value.length);
  return (
    largest && `the value of ${largest.name} has ${largest.value.length} bytes; keep large ones in a file`
  );
}
