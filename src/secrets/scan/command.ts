// Runs `rt secrets check`: scans files for plaintext credentials.
//
// Invariants:
// - The output contains file, line and rule, never the credential. No request is sent to check whether a credential is valid.
// - Exit codes: 0 none found, 1 found, 2 error.
import { relative } from "node:path";
import { escapeJson, oneLine } from "../../printable.ts";
import { CHECK_FLAGS } from "../commands.ts";
import { isTerminal, print } from "../streams.ts";
import { reportProblem, parseArguments, ArgumentError } from "../command-arguments.ts";
import { findByContext } from "./context-rules.ts";
import { findKeys } from "./key-rules.ts";
import type { LeakFinding, CheckedText } from "./finding.ts";
import { installHook, uninstallHook } from "./hook.ts";
import { isIgnored } from "./ignore-comment.ts";
import { namedSources, projectSources, type Sources, stagedSources } from "./sources.ts";

const CLEAN = 0;
const FOUND = 1;

/** Runs the command and returns the exit code. @throws ArgumentError */
export async function runCheckCommand(
  args: readonly string[],
  showHelp: () => Promise<void>,
): Promise<number> {
  const { options, operands } = parseArguments(args, CHECK_FLAGS);
  if (options.has("help")) {
    await showHelp();
    return CLEAN;
  }
  const hookOptions = (["install", "uninstall"] as const).filter((option) => options.has(option));
  if (hookOptions.length > 0) {
    if (options.size > 1 || operands.length > 0)
      throw new ArgumentError(
        `--${hookOptions[0]} takes no other options or arguments`,
        `rt secrets check --${hookOptions[0]}`,
      );
    await print(hookOptions[0] === "install" ? installHook() : uninstallHook());
    return CLEAN;
  }
  if (options.has("staged") && operands.length > 0)
    throw new ArgumentError("--staged cannot be used with paths", "remove the paths or --staged");
  const sources = options.has("staged")
    ? stagedSources()
    : operands.length > 0
      ? namedSources(operands)
      : projectSources();
  const findings = await findAll(sources);
  await print(await render(findings, options.has("json")));
  for (const file of sources.large)
    reportProblem(`${oneLine(file)} is larger than 1 MiB and was not scanned`, undefined, "warning");
  for (const path of sources.unreadable)
    reportProblem(
      `${oneLine(path)} cannot be read (permission denied) and was not scanned`,
      undefined,
      "warning",
    );
  return findings.length > 0 ? FOUND : CLEAN;
}

async function findAll(sources: Sources): Promise<LeakFinding[]> {
  const { findBySecretlint } = await import("./secretlint-rules.ts");
  const findings: LeakFinding[] = [];
  for (const source of sources) {
    const candidates = [...(await findBySecretlint(source)), ...findKeys(source), ...findByContext(source)];
    if (candidates.length > 0) findings.push(...filterFindings(source, candidates));
  }
  return findings;
}

/** Sorts by line and keeps one finding per line, the most specific: secretlint's rules come first. */
function filterFindings({ text }: CheckedText, candidates: readonly LeakFinding[]): LeakFinding[] {
  const lines = text.split("\n");
  const reportedLines = new Set<number>();
  return candidates
    .filter(({ line }) => !isIgnored(lines, line) && !reportedLines.has(line) && reportedLines.add(line))
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
