// `rt secrets import .env`: moves credentials from a file of variables to the credential store, or with --to to a file that is
// encrypted with age.
//
// Contract: nothing is lost wherever this ends. In this order: both new texts are written beside their files and tried,
// the values are stored, each is read back and compared, rtfig.toml is exchanged, and at last the file that had them.
// Until then that is as it was, and the same command goes on where another one has stopped. What the store has under a
// name is never replaced. No value is printed.
//
// Surprising: what is called a credential is a guess by name and value; what was guessed is shown before anything happens.
import { basename, dirname, resolve } from "node:path";
import { errorCode, errorMessage } from "../../../platform/caught-error.ts";
import { splitRemedy } from "../../../platform/secrets/contract/secret-provider.ts";
import { host } from "../../../platform/processes/process.ts";
import { FILE_NAME } from "../../config/config-file-name.ts";
import { printable } from "../../printable.ts";
import { askGit } from "../scan/git.ts";
import { confirm } from "../confirm-prompt.ts";
import { IMPORT_FLAGS } from "../commands.ts";
import { faultOfName } from "../grants/variable-name.ts";
import { checkText } from "../api/secrets.ts";
import { print } from "../streams.ts";
import { complain, readWords, type ParsedArguments, ArgumentError } from "../command-arguments.ts";
import { readEngineValues } from "./engine-values.ts";
import { findAssignments, replaceSpans } from "./env-file.ts";
import { describeAddress, mappingPath, pathOf, storeAll } from "./destination.ts";
import { draftFile, type ProjectFile, readProjectFile } from "../atomic-file-edit.ts";
import { addToMapping, parseMappingText, tableAt } from "./mapping-editor.ts";
import { movedLine } from "./moved-comment.ts";
import { type CredentialAddress, type Move, type ImportPlan, planImport, type StoreAddress } from "./plan.ts";
import { defaultService } from "./project-service.ts";
import { undoImport } from "./undo.ts";
import { openOrCreate } from "../age/age-file.ts";
import { ensureProjectId } from "../age/project-id.ts";

const DONE = 0;
const DECLINED = 1;
const AGE = "age:";
const EXCLUSIVE = [
  ["yes", "dry-run"],
  ["undo", "all"],
  ["undo", "script"],
  ["undo", "service"],
  ["undo", "to"],
  ["service", "to"],
] as const;

/** Throws WordsError, and what the store throws. */
export async function runImportCommand(
  args: readonly string[],
  showHelp: () => Promise<void>,
): Promise<number> {
  const words = readWords(args, IMPORT_FLAGS);
  if (words.options.has("help")) {
    await showHelp();
    return DONE;
  }
  const [file, ...names] = words.operands;
  if (file === undefined)
    throw new ArgumentError("rt secrets import needs a file of variables", "rt secrets import .env");
  const [one, other] = EXCLUSIVE.find((pair) => pair.every((option) => words.options.has(option))) ?? [];
  if (one) throw new ArgumentError(`--${one} and --${other} exclude each other`);
  return words.options.has("undo") ? await undoImport(file, names, words) : await moveIn(file, names, words);
}

async function moveIn(path: string, names: readonly string[], words: ParsedArguments): Promise<number> {
  const file = readProjectFile(path);
  const mapping = readProjectFile(mappingPath(), true);
  const scripts = words.values.get("script") ?? [];
  const plan = await planFile(file, mapping, names, words);
  await print(describePlan(plan, path, names.length > 0, scripts));
  if (plan.moves.length === 0) {
    await print(`Nothing to move in ${printable(path)}\n`);
    return DONE;
  }
  if (words.options.has("dry-run")) return DONE;
  const count = plan.moves.length === 1 ? "1 value" : `${plan.moves.length} values`;
  if (
    !words.options.has("yes") &&
    !(await confirm(`Move ${count} to ${destinationOf(words)}?`, "nothing was moved"))
  ) {
    await print("Nothing was moved\n");
    return DECLINED;
  }
  await carryOut(plan.moves, file, mapping, scripts).catch(leadElsewhere);
  if (askGit(["ls-files", "--error-unmatch", "--", resolve(path)]))
    complain(
      `git tracks ${printable(path)}, and its history keeps what moved`,
      "change these credentials where they were issued",
      "warning",
    );
  await print(
    `Moved ${count} to ${destinationOf(words)}\n` +
      `To bring ${plan.moves.length === 1 ? "it" : "them"} back: rt secrets import --undo ${printable(path)}\n`,
  );
  return DONE;
}

async function planFile(
  env: ProjectFile,
  mapping: ProjectFile,
  names: readonly string[],
  words: ParsedArguments,
): Promise<ImportPlan> {
  const assignments = findAssignments(env.text);
  const assigned = new Set(assignments.map(({ name }) => name));
  const unknown = names.find((name) => !assigned.has(name));
  // It may be a value that was typed in the wrong place.
  if (unknown !== undefined)
    throw new ArgumentError(
      `${printable(env.path)} has no variable of ${names.length === 1 ? "that name" : "one of those names"}`,
    );
  const sources = tableAt(parseMappingText(mapping.text, mapping.path), "secrets");
  const [wanted] = words.values.get("service")?.slice(-1) ?? [];
  if (wanted !== undefined) checkService(wanted);
  const service = wanted ?? defaultService(dirname(resolve(mapping.path)));
  const file = fileOf(words);
  const all = words.options.has("all");
  const lines = names.length > 0 || all ? new Set<number>() : await linesOfFindings(env);
  const found = new Set(
    assignments.flatMap(({ name, start, end }) => {
      const [first, last] = [lineAt(env.text, start), lineAt(env.text, end)];
      return [...lines].some((line) => line >= first && line <= last) ? [name] : [];
    }),
  );
  const plan = planImport({
    isFound: (name) => found.has(name),
    assignments,
    values: readEngineValues(resolve(env.path), assigned),
    chosen: names.length > 0 ? new Set(names) : all ? "all" : "likely",
    isInEnvironment: (name) => host.originalVariable(name) !== undefined,
    addressOf: (name) =>
      faultOfName(name) ??
      (file === undefined ? addressIn(sources, name, wanted) : entryIn(sources, name, file)) ??
      (file === undefined ? { service, name } : { file, name }),
  });
  const refused = plan.stays.find(({ name, isImpossible }) => isImpossible && names.includes(name));
  if (refused) throw new ArgumentError(`${refused.name} ${refused.reason}`);
  return plan;
}

/** The lines in which `rt secrets check` finds a credential by its form. */
async function linesOfFindings({ path, text }: ProjectFile): Promise<Set<number>> {
  const { findByList } = await import("../scan/secretlint-rules.ts");
  return new Set((await findByList({ file: basename(path), text })).map(({ line }) => line));
}

/** From 1. */
function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

/** The file that --to names. Throws WordsError. */
function fileOf(words: ParsedArguments): string | undefined {
  const to = words.values.get("to")?.at(-1);
  if (to === undefined) return undefined;
  const file = to.startsWith(AGE) ? to.slice(AGE.length) : "";
  if (file === "")
    throw new ArgumentError('--to takes a file that is encrypted with age, as in "age:secrets.age"');
  if (/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u.test(file) || !file.isWellFormed())
    throw new ArgumentError("A path with control characters cannot be written into a file");
  return file;
}

function destinationOf(words: ParsedArguments): string {
  const file = fileOf(words);
  return file === undefined ? "the credential store" : printable(file);
}

function checkService(service: string): void {
  checkText("service", service);
  if (/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u.test(service))
    throw new ArgumentError("A service with control characters cannot be written into a file");
}

/** What the mapping says already; a reason where that is no entry of the store. */
function addressIn(
  sources: Readonly<Record<string, unknown>>,
  name: string,
  service: string | undefined,
): CredentialAddress | string | undefined {
  if (!Object.hasOwn(sources, name)) return undefined;
  const { from } = (sources[name] ?? {}) as { from?: unknown };
  const address = typeof from === "string" ? partAddress(from) : (from as Partial<StoreAddress> | undefined);
  if (typeof address?.service !== "string" || typeof address.name !== "string")
    return `comes from elsewhere by [secrets.${name}] of ${FILE_NAME}`;
  if (service !== undefined && service !== address.service)
    return `belongs to another service by [secrets.${name}] of ${FILE_NAME}`;
  return { service: address.service, name: address.name };
}

/** The same for a file that is encrypted. */
function entryIn(sources: Readonly<Record<string, unknown>>, name: string, file: string): string | undefined {
  if (!Object.hasOwn(sources, name)) return undefined;
  const { from } = (sources[name] ?? {}) as { from?: unknown };
  return from === AGE + file ? undefined : `comes from elsewhere by [secrets.${name}] of ${FILE_NAME}`;
}

function partAddress(from: string): StoreAddress | undefined {
  const [service, name] = [from.slice(0, from.indexOf("/")), from.slice(from.indexOf("/") + 1)];
  return from.startsWith(AGE) || service === "" || !from.includes("/") || name === ""
    ? undefined
    : { service, name };
}

function describePlan(
  { moves, stays: all }: ImportPlan,
  path: string,
  isNamed: boolean,
  scripts: readonly string[],
): string {
  // Who names some knows that the others stay.
  const stays = isNamed ? [] : all;
  const width = Math.max(0, ...[...moves, ...stays].map(({ name }) => name.length));
  const lines = [
    ...moves.map(({ name, address, isShown }) => {
      const note = isShown ? " (redact = false: too short to be hidden in what a script shows)" : "";
      return `move  ${name.padEnd(width)}  ${describeAddress(address)}${note}`;
    }),
    ...stays.map(({ name, reason }) => `stay  ${name.padEnd(width)}  ${reason}`),
  ];
  const guessed = stays.some(({ isImpossible }) => !isImpossible);
  if (guessed)
    lines.push(
      "",
      `Others move when they are named: rt secrets import ${printable(path)} <name>... or --all`,
    );
  if (moves.length > 0)
    lines.push(
      "",
      scripts.length > 0
        ? `These scripts get what moves: ${scripts.map(printable).join(", ")}`
        : `No script gets what moves until [run.secrets] of ${FILE_NAME} says so, or --script here`,
    );
  return [...lines, "", ""].join("\n");
}

async function carryOut(
  moves: readonly Move[],
  file: ProjectFile,
  mappingBefore: ProjectFile,
  scripts: readonly string[],
): Promise<void> {
  const mapping = await bindProject(moves, mappingBefore);
  const known = tableAt(parseMappingText(mapping.text, mapping.path), "secrets");
  const additions = moves.filter(({ name }) => !Object.hasOwn(known, name));
  const names = moves.map(({ name }) => name);
  using newMapping = draftFile(mapping, addToMapping(mapping.text, mapping.path, additions, names, scripts));
  const rest = replaceSpans(
    file.text,
    moves.map((move) => ({ ...move.assignment, by: movedLine(move) })),
  );
  using newFile = draftFile(file, rest);
  requireSameMeaning(file, newFile.path, new Set(names));
  await storeAll(moves, new Set(Object.keys(known)));
  newMapping.putInPlace();
  newFile.putInPlace();
}

/** An encrypted file is bound to the identifier of the project, which rtfig.toml needs before. */
async function bindProject(moves: readonly Move[], mapping: ProjectFile): Promise<ProjectFile> {
  const move = moves.find(({ address }) => address.file !== undefined);
  if (!move) return mapping;
  const path = pathOf(move.address.file!);
  await openOrCreate(path); // what stands in the way leaves rtfig.toml as it is
  ensureProjectId(path);
  return readProjectFile(mapping.path);
}

/** Where there is no store, a file can be one. */
function leadElsewhere(error: unknown): never {
  const code = errorCode(error);
  const message = errorMessage(error);
  if (code !== "ERR_SECRETS_UNAVAILABLE") throw error;
  const [what, remedy] = splitRemedy(message);
  const others = "--to age:secrets.age moves them into a file that is encrypted (rt help moving-in)";
  throw new ArgumentError(`${what}, so nothing was moved`, [remedy, others].filter(Boolean).join("; or "));
}

/** Throws WordsError unless the engine reads the new file as it reads the old one, without what moves. */
function requireSameMeaning(file: ProjectFile, draft: string, moved: ReadonlySet<string>): void {
  const names = new Set(findAssignments(file.text).map(({ name }) => name));
  const before = readEngineValues(resolve(file.path), names);
  const after = readEngineValues(resolve(draft), names);
  for (const name of moved) before.delete(name);
  if (Bun.deepEquals(before, after)) return;
  throw new ArgumentError(
    `${printable(file.path)} is written in a way that no value can be taken out of, so nothing was changed`,
    "move fewer values, by their names",
  );
}
