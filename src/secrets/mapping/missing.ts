// What is said where secrets are not there, and asking for them.
//
// Contract: one message for all of them, with the line that stores each. They are asked for where a person can answer:
// standard input and standard error are a terminal. A pipe never answers, and nothing is stored that was not typed.
import { Failure } from "../../failure.ts";
import { printable } from "../../printable.ts";
import type { Lack } from "./fetch.ts";
import type { MappedSecret } from "./mapping.ts";

export function missingFailure(lacking: readonly Lack[]): Failure {
  const names = lacking.map(({ secret }) => describe(secret)).join(", ");
  const what =
    lacking.length === 1 ? `The secret ${names} is not there` : `These secrets are not there: ${names}`;
  return new Failure(what, lacking.map(remedyFor));
}

function remedyFor({ secret, reason }: Lack): string {
  const { name, source } = secret;
  if (reason !== undefined || source.kind !== "store") return `${name}: ${reason ?? "it is not in the file"}`;
  return `rt secrets set ${wordsFor(source)}`;
}

function describe({ name, about }: MappedSecret): string {
  return about === undefined ? name : `${name} (${printable(about)})`;
}

function wordsFor({ service, name }: Extract<MappedSecret["source"], { kind: "store" }>): string {
  const words = [service, name].map(quote).join(" ");
  return [service, name].some((word) => word.startsWith("-")) ? `-- ${words}` : words;
}

/** For the shells of Linux and macOS. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
