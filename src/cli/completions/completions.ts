// Implements shell completion. `rt completions <shell>` prints a shell script, which sends a query at each Tab.
//
// Invariants:
// - The shell scripts contain no names: they pass the words to `rt completions query -- <words>`, so they never become outdated.
// - Each line of the response is a candidate, a tab and its description. A last line `:files` requests file names as well.
// - A candidate with a line break or a control character is omitted.
import { openTaskRules } from "../../config/tasks/project-task-rules.ts";
import { listTasks } from "../../config/tasks/project-tasks.ts";
import { findPackageJson, textField } from "../../workspace/package-json.ts";
import {
  CHECK_FLAGS,
  ENTRY_FLAGS,
  SHARE_ACTIONS,
  SHARE_FLAGS,
  type Flag,
  FLAGS,
  type HelperTool,
  HELPER_FLAGS,
  IMPORT_FLAGS,
  HELPERS,
  SECRETS_COMMANDS,
  TRUST_FLAGS,
} from "../../secrets/commands.ts";
import { COMMANDS } from "../../options/commands.ts";
import { UPGRADE_FLAGS } from "../upgrade/upgrade-flags.ts";
import { GUIDES } from "../help/guides.ts";
import { type Option, OPTIONS } from "../../options/options.ts";
import { UsageError } from "../../options/parse.ts";
import { oneLine } from "../../printable.ts";
import { COMPLETIONS } from "../help/embedded-texts.ts";

export interface CompletionCandidate {
  readonly value: string;
  readonly description: string;
}

export interface Completion {
  readonly candidates: readonly CompletionCandidate[];
  readonly files: boolean;
}

/**
 * Returns the name of the shell's script in embedded-texts.ts.
 * @throws UsageError for a missing or unsupported shell
 */
export function completionText(shell: string | undefined): string {
  if (shell !== undefined && Object.hasOwn(COMPLETIONS, shell)) return COMPLETIONS[shell]!;
  const shells = Object.keys(COMPLETIONS);
  if (shell === undefined)
    throw new UsageError("Missing shell for rt completions", `use one of: ${shells.join(", ")}`);
  throw new UsageError(`Unsupported shell "${shell}"`, `use one of: ${shells.join(", ")}`, {
    word: shell,
    known: shells,
  });
}

/** Returns the response to a query. The last word is the one being typed. */
export function completionLines(words: readonly string[], cwd: string): string {
  const { candidates, files } = complete(words, cwd);
  const lines = candidates
    .filter(({ value }) => oneLine(value) === value)
    .map(({ value, description }) => `${value}\t${oneLine(description.replaceAll(/\s+/g, " "))}`);
  return [...lines, ...(files ? [":files"] : [])].join("\n");
}

function complete(words: readonly string[], cwd: string): Completion {
  const typed = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  const startsWithTyped = ({ value }: CompletionCandidate) => value.startsWith(typed);
  const isTarget = (word: string, index: number) =>
    !word.startsWith("-") && !optionAwaitingValue(before.slice(0, index));
  const start = before.findIndex(isTarget);
  const command = start < 0 ? undefined : readOwn(before.slice(start));
  if (command) {
    const { own, awaiting } = command;
    if (awaiting) return { candidates: [], files: FILE_HINTS.includes(awaiting.value ?? "") };
    const candidates = typed.startsWith("-") ? own.flags.map(describeFlag) : own.words;
    return { candidates: candidates.filter(startsWithTyped), files: own.files };
  }
  const owner = optionAwaitingValue(before);
  if (owner) return { candidates: valuesOf(owner, cwd).filter(startsWithTyped), files: wantsFile(owner) };
  const equals = typed.indexOf("=");
  if (typed.startsWith("--") && equals > 0) return completeInline(typed.slice(0, equals), typed, cwd);
  const target = before.filter(isTarget);
  const takesScripts = target.length === 0 || (target.length === 1 && target[0] === "run");
  if (typed.startsWith("-"))
    return {
      candidates: takesScripts ? OPTIONS.map(describe).filter(startsWithTyped) : [],
      files: !takesScripts,
    };
  const takesMore = takesScripts || before.some((word) => word === "--parallel" || word === "--sequential");
  if (!takesMore || before.includes("--")) return { candidates: [], files: true };
  const commands = target.length === 0 ? candidatesOf(COMMANDS) : [];
  const scripts = before.some((word) => PACKAGE_OPTIONS.test(word)) ? scriptsOfPackages(cwd) : scriptsOf(cwd);
  return { candidates: [...scripts, ...commands].filter(startsWithTyped), files: true };
}

/** Options that select packages: with one of them, the target is a script of any package. */
const PACKAGE_OPTIONS = /^(?:--(?:filter|workspaces|affected)(?:=.*)?|-F.*)$/s;

interface OwnCompletion {
  readonly words: readonly CompletionCandidate[];
  readonly flags: readonly Flag[];
  readonly files: boolean;
}

/** Completes a built-in command. Its options are separate from run options, although some have the same name. */
function readOwn([command = "", ...words]: readonly string[]):
  { own: OwnCompletion; awaiting: Flag | undefined } | undefined {
  const operands = [command];
  let own = completeOwn(operands);
  let awaiting: Flag | undefined;
  for (const word of words) {
    if (!own) break;
    if (awaiting) awaiting = undefined;
    else if (word.startsWith("-"))
      awaiting = own.flags.find(({ name, value }) => value && word === `--${name}`);
    else {
      operands.push(word);
      own = completeOwn(operands);
    }
  }
  return own && { own, awaiting };
}

/** Returns the words and options that may follow a built-in command; undefined for any other target. */
function completeOwn([command, ...operands]: readonly string[]): OwnCompletion | undefined {
  const first = (words: readonly CompletionCandidate[]) => (operands.length === 0 ? words : []);
  switch (command) {
    case "secrets":
      if (operands[0] === "helper") return completeHelper(operands.slice(1));
      if (operands[0] === "check") return { words: [], flags: CHECK_FLAGS, files: true };
      if (operands[0] === "share")
        return {
          words: operands.length === 1 ? SHARE_ACTIONS.map((value) => ({ value, description: "" })) : [],
          flags: SHARE_FLAGS,
          files: false,
        };
      if (operands[0] === "import") return { words: [], flags: IMPORT_FLAGS, files: true };
      return {
        words: first(candidatesOf(SECRETS_COMMANDS)),
        flags: ENTRY_FLAGS,
        files: false,
      };
    case "cache":
      return {
        words: first(usedWith("cache")),
        flags: [],
        files: operands[0] === "import",
      };
    case "trust":
      return {
        words: [],
        flags: TRUST_FLAGS,
        files: true,
      };
    case "doctor":
      return { words: [], flags: FLAGS, files: false };
    case "help":
      return {
        words: first([
          ...candidatesOf(GUIDES),
          ...candidatesOf(COMMANDS).filter(({ value }) => !(value in GUIDES)),
        ]),
        flags: operands.length === 0 ? [{ name: "man", help: "Print the manual page" }] : [],
        files: false,
      };
    case "completions":
      return {
        words: first(Object.keys(COMPLETIONS).map((value) => ({ value, description: "" }))),
        flags: [],
        files: false,
      };
    case "config":
      return {
        words: first(usedWith("config")),
        flags: operands[0] === "migrate" ? [{ name: "dry-run", help: "Print the new file" }] : [],
        files: false,
      };
    case "permissions":
      return { words: first(usedWith("permissions")), flags: [], files: false };
    case "debug-config":
      return {
        words: first(usedWith("debug-config")),
        flags: [],
        files: false,
      };
    case "upgrade":
      return {
        words: [],
        flags: UPGRADE_FLAGS,
        files: true,
      };
    case "types":
      return { words: [], flags: [], files: true };
    default:
      return undefined;
  }
}

/** Returns the alternatives for a command's first argument. */
function usedWith(command: string): CompletionCandidate[] {
  return COMMANDS[command]!.usage!.split("|").map((use) => ({ value: use.split(" ")[0]!, description: "" }));
}

/** Completes `rt secrets helper`: a tool, then an action of its protocol. */
function completeHelper([tool, ...rest]: readonly string[]): OwnCompletion {
  const helper: HelperTool | undefined = Object.entries(HELPERS).find(([name]) => name === tool)?.[1];
  const actions = rest.length === 0 ? (helper?.actions ?? []) : [];
  const words =
    tool === undefined ? candidatesOf(HELPERS) : actions.map((value) => ({ value, description: "" }));
  return { words, flags: HELPER_FLAGS, files: false };
}

function describeFlag({ name, help }: Flag): CompletionCandidate {
  return { value: `--${name}`, description: help };
}

function candidatesOf(table: Readonly<Record<string, { readonly help: string }>>): CompletionCandidate[] {
  return Object.entries(table).map(([value, { help }]) => ({ value, description: help }));
}

function optionAwaitingValue(words: readonly string[]): Option | undefined {
  const last = words.at(-1);
  return OPTIONS.find(
    ({ name, short, value }) =>
      value && value.kind !== "optional" && (last === `--${name}` || (short && last === `-${short}`)),
  );
}

function completeInline(flag: string, typed: string, cwd: string): Completion {
  const option = OPTIONS.find(({ name }) => `--${name}` === flag);
  if (!option) return { candidates: [], files: false };
  const candidates = valuesOf(option, cwd).map((each) => ({ ...each, value: `${flag}=${each.value}` }));
  return { candidates: candidates.filter(({ value }) => value.startsWith(typed)), files: false };
}

function describe({ name, help }: Option): CompletionCandidate {
  return { value: `--${name}`, description: help };
}

function valuesOf({ name, value }: Option, cwd: string): CompletionCandidate[] {
  if (name === "filter") return packagesOf(cwd);
  return (value?.choices ?? []).map((choice) => ({ value: choice, description: "" }));
}

const FILE_HINTS = ["file", "directory", "module"];

function wantsFile({ value }: Option): boolean {
  return FILE_HINTS.includes(value?.hint ?? "");
}

/** Returns [] for an unreadable package.json: an error message would corrupt the user's prompt. */
function scriptsOf(cwd: string): CompletionCandidate[] {
  try {
    const located = findPackageJson(cwd);
    if (!located) return [];
    const own = { ...located, name: textField(located.manifest, "name") };
    return listTasks(
      own,
      openTaskRules(cwd, () => {}),
    ).map(({ name, command, description }) => ({
      value: name,
      description: description ?? command,
    }));
  } catch {
    return [];
  }
}

/** Returns each script name once, with the command of the first package that has it. */
function scriptsOfPackages(cwd: string): CompletionCandidate[] {
  try {
    const { openWorkspace } =
      require("../../workspace/members.ts") as typeof import("../../workspace/members.ts");
    const commands = new Map<string, string>();
    const rules = openTaskRules(cwd, () => {});
    for (const member of openWorkspace(cwd).members)
      for (const { name, command, description } of listTasks(member, rules))
        if (!commands.has(name)) commands.set(name, description ?? command);
    return [...commands].map(([value, description]) => ({ value, description }));
  } catch {
    return [];
  }
}

function packagesOf(cwd: string): CompletionCandidate[] {
  try {
    const { openWorkspace } =
      require("../../workspace/members.ts") as typeof import("../../workspace/members.ts");
    const named = openWorkspace(cwd).members.filter(({ name }) => name !== "");
    return named.map(({ name, path }) => ({ value: name, description: path }));
  } catch {
    return [];
  }
}
