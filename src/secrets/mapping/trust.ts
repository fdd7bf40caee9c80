// Whether a person has allowed what an rtfig.toml asks for: a project that one has cloned must not get at a keyring by
// itself.
//
// Contract: what is allowed is one mapping in one folder: the names, where each comes from, whether it may be shown, and which
// scripts get it. Any other mapping, and the same one elsewhere, is another question. It is asked on a terminal and
// nowhere else. What says yes besides is RT_TRUST of the environment that rt was started with: the project's `.env` is not
// asked, and the file that remembers lies where only this user can write.
import type { OwnFiles } from "../../../platform/state-directory.ts";
import { host } from "../../../platform/process.ts";
import { Failure } from "../../failure.ts";
import { printable } from "../../printable.ts";
import { describeSource, type Mapping, type Source } from "./mapping.ts";
import { askYes, canAsk, tell } from "./question.ts";

const VARIABLE = "RT_TRUST";

/** SHA-256 in hex of all that is allowed with it. */
export function fingerprint({ folder, secrets, grants }: Mapping): string {
  const byName = (a: readonly [string, ...unknown[]], b: readonly [string, ...unknown[]]) =>
    a[0] < b[0] ? -1 : 1;
  const content = {
    version: 1,
    folder,
    secrets: [...secrets.values()]
      .map(({ name, source, isRedacted }) => [name, asList(source), isRedacted] as const)
      .sort(byName),
    scripts: grants.map(({ pattern, names }) => [pattern, names.toSorted()] as const).sort(byName),
  };
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(content)).digest("hex");
}

/** The same list for the same source, in whatever order its properties were made. */
function asList(source: Source): unknown[] {
  switch (source.kind) {
    case "store":
      return [source.kind, source.service, source.name];
    case "command":
      return [source.kind, ...source.argv];
    case "age":
      return [source.kind, source.file];
  }
}

/** What is remembered of a mapping that was allowed. */
export interface Allowance {
  readonly hash: string;
  readonly folder: string;
  readonly names: readonly string[];
}

export function isTrusted(mapping: Mapping): boolean {
  const hash = fingerprint(mapping);
  const given = host.originalVariable(VARIABLE)?.split(",") ?? [];
  return given.some((each) => each.trim() === hash) || readAllowance(hash) !== undefined;
}

/** Asks where it has to. Throws Failure where it is not allowed. */
export function requireTrust(mapping: Mapping): void {
  if (isTrusted(mapping)) return;
  if (!canAsk()) throw refusal(mapping);
  tell([
    `rt: ${printable(mapping.folder)} asks for secrets, for the first time or for others than before:`,
    ...describeMapping(mapping).map((line) => `  ${line}`),
    "Scripts of these names get them from now on, whatever they do by then.",
  ]);
  if (!askYes("Allow it?"))
    throw new Failure("Not allowed, so nothing was started", "rt help secrets-in-scripts");
  remember(mapping);
}

function refusal(mapping: Mapping): Failure {
  const config = mapping.named === undefined ? "" : ` --config=${printable(mapping.named)}`;
  return new Failure(
    `${printable(mapping.folder)} has not been allowed to read secrets, or asks for others than before`,
    [
      `rt secrets env${config} shows what it asks for, and rt trust${config} allows it, on a terminal`,
      "what the environment has already is read from nowhere, and need not be allowed",
      `without a terminal, as in CI: ${VARIABLE}=${fingerprint(mapping)}`,
    ],
  );
}

/** All that is allowed: secrets with their sources, and who gets them. */
export function describeMapping({ secrets, grants }: Mapping): string[] {
  const width = Math.max(0, ...[...secrets.keys()].map((name) => name.length));
  return [
    ...[...secrets.values()].map(({ name, source, about, isRedacted }) =>
      [
        `${name.padEnd(width)}  from ${describeSource(source)}`,
        ...(isRedacted ? [] : ["shown where it is printed"]),
        ...(about === undefined ? [] : [`"${shortened(printable(about))}"`]),
      ].join(", "),
    ),
    ...grants.map(({ pattern, names }) => `script ${printable(pattern)} gets ${names.join(", ") || "none"}`),
  ];
}

/** Characters. What the project says of itself must not push away what it asks for. */
const LONGEST_ABOUT = 160;

function shortened(text: string): string {
  return text.length > LONGEST_ABOUT ? `${[...text].slice(0, LONGEST_ABOUT).join("")}...` : text;
}

/** Throws Failure where there is no place for it. */
function remember(mapping: Mapping): void {
  const { folder, secrets } = mapping;
  const hash = fingerprint(mapping);
  const hint = `set ${VARIABLE}=${hash} instead`;
  const files = openOwnFiles("trust");
  if (!files) throw new Failure("There is no place to remember what is allowed: HOME is not set", hint);
  try {
    files.write(hash, `${JSON.stringify({ folder, names: [...secrets.keys()] })}\n`);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === undefined ? message : `${files.directory} (${code})`;
    throw new Failure(`What is allowed cannot be remembered: ${printable(reason)}`, hint);
  }
}

/** Not imported before: who says it by the variable, as a CI server does, needs no file. */
function openOwnFiles(kind: string): OwnFiles | undefined {
  return (
    require("../../../platform/state-directory.ts") as typeof import("../../../platform/state-directory.ts")
  ).openOwnFiles(kind);
}

const HASH = /^[0-9a-f]{64}$/;

function readAllowance(hash: string): Allowance | undefined {
  const text = openOwnFiles("trust")?.read(hash);
  try {
    const { folder, names } = JSON.parse(text ?? "") as { folder?: unknown; names?: unknown };
    if (typeof folder === "string" && Array.isArray(names)) return { hash, folder, names: names.map(String) };
  } catch {
    // none, or no file of ours
  }
  return undefined;
}

export function listAllowances(): Allowance[] {
  const names = openOwnFiles("trust")?.list() ?? [];
  return names.filter((name) => HASH.test(name)).flatMap((hash) => readAllowance(hash) ?? []);
}

export function removeAllowance({ hash }: Allowance): void {
  openOwnFiles("trust")?.remove(hash);
}
