// Runs `rt secrets import .env`: moves credentials from an env file to the credential store, or with --to to an age file.
//
// Invariants:
// - No value is lost at any interruption, and the command is idempotent. Order: write and check both new texts beside their
//   files, store the values, read each back, replace rtfig.toml, and last the env file.
// - An existing value in the store is never replaced. No value is printed.
//
// Non-obvious: names and values decide by heuristics what is a credential. The plan is shown before anything changes.
import { basename, dirname, resolve } from "node:path";
import { errorCode, errorMessage } from "../../../platform/caught-error.ts";
import { splitRemedy } from "../../../platform/secrets/contract/secret-provider.ts";
import { host } from "../../../platform/processes/process.ts";
import { FILE_NAME } from "../../config/config-file-name.ts";
import { printable } from "../../printable.ts";
import { readPackageJson, scriptNames } from "../../workspace/package-json.ts";
import { runGit } from "../scan/git.ts";
import { confirm } from "../confirm-prompt.ts";
import { IMPORT_FLAGS } from "../commands.ts";
import { rowKeyOf } from "../grants/grants.ts";
import { variableNameFault } from "../grants/variable-name.ts";
import { checkText } from "../api/secrets.ts";
import { print } from "../streams.ts";
import { reportProblem, parseArguments, type ParsedArguments, ArgumentError } from "../command-arguments.ts";
import { readEngineValues } from "./engine-values.ts";
import { findAssignments, replaceSpans } from "./env-file.ts";
import { describeAddress, mappingPath, pathOf, storeAll } from "./destination.ts";
import { draftFile, type ProjectFile, readProjectFile } from "../atomic-file-edit.ts";
import { addToMapping, grantHint, parseMappingText, tableAt } from "./mapping-editor.ts";
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

/** Runs the command and returns the exit code. @throws ArgumentError, SecretsError */
export async function runImportCommand(
  args: readonly string[],
  showHelp: () => Promise<void>,
): Promise<number> {
  const words = parseArguments(args, IMPORT_FLAGS);
  if (words.options.has("help")) {
    await showHelp();
    return DONE;
  }
  const [file, ...names] = words.operands;
  if (file === undefined)
    throw new ArgumentError("rt secrets import needs an env file", "rt secrets import .env");
  const [one, other] = EXCLUSIVE.find((pair) => pair.every((option) => words.options.has(option))) ?? [];
  if (one) throw new ArgumentError(`--${one} cannot be used with --${other}`, "remove one of them");
  return words.options.has("undo")
    ? await undoImport(file, names, words)
    : await moveVariables(file, names, words);
}

async function moveVariables(
  path: string,
  names: readonly string[],
  words: ParsedArguments,
): Promise<number> {
  const file = readProjectFile(path);
  const mapping = readProjectFile(mappingPath(), true);
  const scripts = words.values.get("script") ?? [];
  const plan = await planFile(file, mapping, names, words);
  await print(describePlan(plan, path, names.length > 0, scripts, mapping));
  if (plan.moves.length === 0) {
    await print(`No value to move in ${printable(path)}\n`);
    return DONE;
  }
  if (words.options.has("dry-run")) return DONE;
  const count = plan.moves.length === 1 ? "1 value" : `${plan.moves.length} values`;
  if (
    !words.options.has("yes") &&
    !(await confirm(`Move ${count} to ${destinationOf(words)}?`, "nothing was moved"))
  ) {
    await print("No value was moved\n");
    return DECLINED;
  }
  await executePlan(plan.moves, file, mapping, scripts).catch(addFileHint);
  if (runGit(["ls-files", "--error-unmatch", "--", resolve(path)]))
    reportProblem(
      `git tracks ${printable(path)}, and its history still contains the moved values`,
      "replace these credentials at the services that issued them",
      "warning",
    );
  await print(
    `Moved ${count} to ${destinationOf(words)}\n` +
      `To restore ${plan.moves.length === 1 ? "it" : "them"}: rt secrets import --undo ${printable(path)}\n`,
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
  // The message does not repeat the argument: it may be a secret value typed in the wrong position.
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
      variableNameFault(name) ??
      (file === undefined ? addressIn(sources, name, wanted) : entryIn(sources, name, file)) ??
      (file === undefined ? { service, name } : { file, name }),
  });
  const refused = plan.stays.find(({ name, isImpossible }) => isImpossible && names.includes(name));
  if (refused) throw new ArgumentError(`${refused.name} ${refused.reason}`);
  return plan;
}

/** Returns the lines in which `rt secrets check` finds a credential by its format. */
async function linesOfFindings({ path, text }: ProjectFile): Promise<Set<number>> {
  const { findBySecretlint } = await import("../scan/secretlint-rules.ts");
  return new Set((await findBySecretlint({ file: basename(path), text })).map(({ line }) => line));
}

/** Returns the line number from 1. */
function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

/** Returns the file of --to. @throws ArgumentError */
function fileOf(words: ParsedArguments): string | undefined {
  const to = words.values.get("to")?.at(-1);
  if (to === undefined) return undefined;
  const file = to.startsWith(AGE) ? to.slice(AGE.length) : "";
  if (file === "") throw new ArgumentError('--to takes an age-encrypted file, such as "age:secrets.age"');
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

/** Returns the existing source in rtfig.toml, or a reason if it is not an entry of the store. */
function addressIn(
  sources: Readonly<Record<string, unknown>>,
  name: string,
  service: string | undefined,
): CredentialAddress | string | undefined {
  if (!Object.hasOwn(sources, name)) return undefined;
  const { from } = (sources[name] ?? {}) as { from?: unknown };
  const address = typeof from === "string" ? parseAddress(from) : (from as Partial<StoreAddress> | undefined);
  if (typeof address?.service !== "string" || typeof address.name !== "string")
    return `has another source in [secrets.${name}] of ${FILE_NAME}`;
  if (service !== undefined && service !== address.service)
    return `has another service in [secrets.${name}] of ${FILE_NAME}`;
  return { service: address.service, name: address.name };
}

/** Returns a reason if rtfig.toml has a source other than this age file. */
function entryIn(sources: Readonly<Record<string, unknown>>, name: string, file: string): string | undefined {
  if (!Object.hasOwn(sources, name)) return undefined;
  const { from } = (sources[name] ?? {}) as { from?: unknown };
  return from === AGE + file ? undefined : `has another source in [secrets.${name}] of ${FILE_NAME}`;
}

function parseAddress(from: string): StoreAddress | undefined {
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
  mapping: ProjectFile,
): string {
  // If the user names variables, the others are not listed.
  const stays = isNamed ? [] : all;
  const width = Math.max(0, ...[...moves, ...stays].map(({ name }) => name.length));
  const lines = [
    ...moves.map(({ name, address, isShown }) => {
      const note = isShown ? " (redact = false: too short to redact)" : "";
      return `move  ${name.padEnd(width)}  ${describeAddress(address)}${note}`;
    }),
    ...stays.map(({ name, reason }) => `stay  ${name.padEnd(width)}  ${reason}`),
  ];
  const guessed = stays.some(({ isImpossible }) => !isImpossible);
  if (guessed)
    lines.push("", `To move others, name them: rt secrets import ${printable(path)} <name>... or use --all`);
  if (moves.length > 0)
    lines.push(
      "",
      scripts.length > 0
        ? `These scripts get the moved secrets: ${scripts.map(printable).join(", ")}`
        : `No script gets the moved secrets yet: use --script, or ${exampleGrant(moves, mapping)}`,
    );
  return [...lines, "", ""].join("\n");
}

/** Returns a hint with a row for the first script of package.json. */
function exampleGrant(moves: readonly Move[], { text, path }: ProjectFile): string {
  const [script = "dev"] = scriptNames(readPackageJson(dirname(resolve(path))) ?? {});
  return grantHint(
    parseMappingText(text, path),
    rowKeyOf(script),
    moves.map(({ name }) => name),
  );
}

async function executePlan(
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
  newMapping.commit();
  newFile.commit();
}

/** Ensures the project identifier in rtfig.toml, which an age file is bound to. Returns the updated rtfig.toml. */
async function bindProject(moves: readonly Move[], mapping: ProjectFile): Promise<ProjectFile> {
  const move = moves.find(({ address }) => address.file !== undefined);
  if (!move) return mapping;
  const path = pathOf(move.address.file!);
  await openOrCreate(path); // fails before rtfig.toml is changed
  ensureProjectId(path);
  return readProjectFile(mapping.path);
}

/** Adds a hint about --to if the store is unavailable. */
function addFileHint(error: unknown): never {
  const code = errorCode(error);
  const message = errorMessage(error);
  if (code !== "ERR_SECRETS_UNAVAILABLE") throw error;
  const [what, remedy] = splitRemedy(message);
  const others = "use --to age:secrets.age to move them to an encrypted file (rt help encrypted-file)";
  throw new ArgumentError(`${what}, so nothing was moved`, [remedy, others].filter(Boolean).join("; or "));
}

/** @throws ArgumentError unless the engine reads the same values from the new file, except for the moved ones */
function requireSameMeaning(file: ProjectFile, draft: string, moved: ReadonlySet<string>): void {
  const names = new Set(findAssignments(file.text).map(({ name }) => name));
  const before = readEngineValues(resolve(file.path), names);
  const after = readEngineValues(resolve(draft), names);
  for (const name of moved) before.delete(name);
  if (Bun.deepEquals(before, after)) return;
  throw new ArgumentError(
    `rt cannot remove these values from ${printable(file.path)} without changing others, so nothing was changed`,
    "move fewer values, by their names",
  );
}
