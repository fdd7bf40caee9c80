// `rt secrets check`: credentials that stand in files as plain text.
//
// Contract: it names file, line and rule, and never what stands there. Exit code 0 when there is nothing, 1 when there is
// something, 2 when it could not look. It asks no service whether a credential works.
import { relative } from "node:path";
import { escapeJson, oneLine } from "../../printable.ts";
import { CHECK_FLAGS } from "../commands.ts";
import { isTerminal, print } from "../streams.ts";
import { complain, readWords, ArgumentError } from "../command-arguments.ts";
import { findByContext } from "./context-rules.ts";
import { findKeys } from "./key-rules.ts";
import type { LeakFinding, CheckedText } from "./finding.ts";
import { installHook, uninstallHook } from "./hook.ts";
import { isIgnored } from "./ignore-comment.ts";
import { namedSources, projectSources, type Sources, stagedSources } from "./sources.ts";

const CLEAN = 0;
const FOUND = 1;

/** Throws WordsError. */
export async function runCheckCommand(
  args: readonly string[],
  showHelp: () => Promise<void>,
): Promise<number> {
  const { options, operands } = readWords(args, CHECK_FLAGS);
  if (options.has("help")) {
    await showHelp();
    return CLEAN;
  }
  const changes = (["install", "uninstall"] as const).filter((option) => options.has(option));
  if (changes.length > 0) {
    if (options.size > 1 || operands.length > 0)
      throw new ArgumentError(`--${changes[0]} stands alone`, `rt secrets check --${changes[0]}`);
    await print(changes[0] === "install" ? installHook() : uninstallHook());
    return CLEAN;
  }
  if (options.has("staged") && operands.length > 0)
    throw new ArgumentError("--staged looks at all that is staged", "leave out the paths, or --staged");
  const sources = options.has("staged")
    ? stagedSources()
    : operands.length > 0
      ? namedSources(operands)
      : projectSources();
  const findings = await findAll(sources);
  await print(await render(findings, options.has("json")));
  for (const file of sources.large)
    complain(`${oneLine(file)} is larger than 1 MiB and was not looked at`, undefined, "warning");
  for (const path of sources.closed)
    complain(`${oneLine(path)} may not be read by you and was not looked at`, undefined, "warning");
  return findings.length > 0 ? FOUND : CLEAN;
}

async function findAll(sources: Sources): Promise<LeakFinding[]> {
  const { findByList } = await import("./secretlint-rules.ts");
  const findings: LeakFinding[] = [];
  for (const source of sources) {
    const found = [...(await findByList(source)), ...findKeys(source), ...findByContext(source)];
    if (found.length > 0) findings.push(...withoutIgnored(source, found));
  }
  return findings;
}

/** In order, each line once: a rule of the list says more than that a name looks like one. */
function withoutIgnored({ text }: CheckedText, found: readonly LeakFinding[]): LeakFinding[] {
  const lines = text.split("\n");
  const seen = new Set<number>();
  return found
    .filter(({ line }) => !isIgnored(lines, line) && !seen.has(line) && seen.add(line))
    .toSorted((a, b) => a.line - b.line);
}

async function render(findings: readonly LeakFinding[], isJson: boolean): Promise<string> {
  if (isJson) return `${escapeJson(JSON.stringify(findings, null, 2))}\n`;
  if (!(await isTerminal(1))) return findings.map(renderLine).join("");
  if (findings.length === 0) return "No credentials in plain text\n";
  const files = [...Map.groupBy(findings, ({ file }) => file)];
  const parts = files.map(([file, own]) => {
    const width = String(own.at(-1)!.line).length;
    const rows = own.map(
      ({ line, rule, name }) =>
        `  ${String(line).padStart(width)}  ${[rule, name]
          .filter(Boolean)
          .map((word) => oneLine(word!))
          .join("  ")}\n`,
    );
    return `${oneLine(file)}\n${rows.join("")}`;
  });
  const movable = files
    .filter(([, own]) => own.some(({ rule }) => rule === "variable"))
    .map(([file]) => file);
  const advice = movable.map((file) => `rt secrets import ${oneLine(relative(".", file))}\n`);
  const count = findings.length === 1 ? "1 credential" : `${findings.length} credentials`;
  return `${parts.join("\n")}\n${count} in plain text${advice.length > 0 ? `. To move them:\n${advice.join("")}` : "\n"}`;
}

function renderLine({ file, line, rule, name }: LeakFinding): string {
  return `${oneLine(file)}:${line}: ${rule}${name === undefined ? "" : ` ${oneLine(name)}`}\n`;
}
