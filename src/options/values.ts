// Validates option values from the command line and from rtfig.toml.
//
// Invariants:
// - An option with a required value rejects an empty one, except code (-e "").
// - A value from rtfig.toml may be a credential, so no message contains the value of a --define.
import type { Option, Value } from "./options.ts";

/** The part of an error message after the name of the option or key. */
export interface Fault {
  readonly reason: string;
  /** Applies to an option and to a key alike. */
  readonly hint?: string;
}

/** The loaders that the engine accepts. */
export const LOADERS: readonly string[] =
  "js jsx ts tsx json jsonc json5 toml yaml xml text txt md file wasm napi node css html sqlite sqlite_embedded base64 dataurl sh".split(
    " ",
  );

export function findFault({ value: expected }: Option, value: string): Fault | undefined {
  if (!expected || expected.isCode) return undefined;
  const isOptional = expected.kind === "optional";
  if (value === "" && !isOptional) return { reason: "needs a value" };
  if (expected.isAddress) return checkAddress(value);
  if (expected.choices && !expected.choices.includes(value))
    return { reason: `cannot be "${value}"`, hint: `use one of: ${expected.choices.join(", ")}` };
  if (expected.kind === "number") return checkNumber(expected, value);
  return expected.form && CHECKS[expected.form](value);
}

function checkNumber({ max }: Value, value: string): Fault | undefined {
  if (/^\d+$/.test(value) && Number(value) <= (max ?? Number.MAX_SAFE_INTEGER)) return undefined;
  const range = max === undefined ? "" : ` from 0 to ${max}`;
  return { reason: `needs a whole number${range}, not "${value}"` };
}

function checkAddress(value: string): Fault | undefined {
  const port = /^(?:ws:\/\/)?(?:(?:\[[\da-f:.]+\]|[\w.-]*):)?(\d+)(?:[/?]|$)/i.exec(value)?.[1];
  const isOther = /^(?:[a-z+]+:\/\/|unix:|\/|[^:]*$)/i.test(value);
  if (port === undefined ? isOther : Number(port) <= 65_535) return undefined;
  return { reason: `needs a port, or an address with one, not "${value}"` };
}

const CHECKS: Readonly<Record<NonNullable<Value["form"]>, (value: string) => Fault | undefined>> = {
  define: checkDefinition,
  loader: checkLoader,
  extensions: checkExtensions,
  names: (value) => (namesIn(value).length === 0 ? { reason: `needs a name, not "${value}"` } : undefined),
};

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200C\u200D]*$/u;

/** Validates a --define. Without this check the engine substitutes {} for an empty value, and ignores an invalid name. */
function checkDefinition(definition: string): Fault | undefined {
  const at = definition.search(/[:=]/);
  if (at < 0) return { reason: `needs a name, a colon and a value, not "${definition}"` };
  const name = definition.slice(0, at);
  const value = definition.slice(at + 1);
  if (!name.split(".").every((part) => IDENTIFIER.test(part)))
    return { reason: `cannot substitute "${name}": it is not an identifier` };
  if (value.trim() === "")
    return { reason: `needs a value for "${name}"`, hint: "write an empty string as '\"\"'" };
  try {
    new Bun.Transpiler({ define: { [name]: value } });
  } catch {
    return { reason: `needs JSON as the value of "${name}"` };
  }
  return undefined;
}

function checkLoader(rule: string): Fault | undefined {
  const at = rule.indexOf(":");
  if (at < 0) return { reason: `needs an extension, a colon and a loader, not "${rule}"` };
  const [extension, loader] = [rule.slice(0, at), rule.slice(at + 1)];
  if (!isExtension(extension))
    return { reason: `needs an extension that begins with a dot, not "${extension}"` };
  if (LOADERS.includes(loader)) return undefined;
  return {
    reason: `cannot load "${extension}" with "${loader}"`,
    hint: `use one of: ${LOADERS.join(", ")}`,
  };
}

function checkExtensions(list: string): Fault | undefined {
  const names = namesIn(list);
  if (names.length > 0 && names.every(isExtension)) return undefined;
  const wrong = names.find((name) => !isExtension(name)) ?? list;
  return { reason: `needs extensions that begin with a dot, not "${wrong}"` };
}

function isExtension(text: string): boolean {
  return /^\.[^\s/\\]+$/.test(text);
}

/** Splits a comma-separated list; trims the names and drops empty ones. */
export function namesIn(list: string): string[] {
  return list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
