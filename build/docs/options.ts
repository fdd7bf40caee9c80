// Generates docs/reference/options.md: every option, its implementation, and the test that demonstrates it.
import { type Option, OPTIONS } from "../../src/options/options.ts";
import { collectProofs } from "../../test/options/proofs.ts";
import { format, GENERATED_NOTE, renderTable } from "./markdown.ts";

/** Engine options without a visible effect. */
const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  "preserve-symlinks-main": "the engine uses the real path anyway",
  "heap-prof-interval": "the engine's profile is a snapshot and has no samples",
};

const INTRODUCTION = `# Options

${GENERATED_NOTE("src/options/options.ts")}

Options come right after \`rt\` or \`run\`, before the target. Arguments after the target are passed to it. Write a value as
\`--name=value\` or \`--name value\`, and an optional value (in brackets) only as \`--name=value\`. If an option is repeatable,
all its values count; otherwise the last one counts.

"Who acts": *rt* acts on scripts, binaries and commands, the *engine* on code. An option of the engine has no effect on a
script; rt prints a warning and runs the script.
`;

const WHO: Readonly<Record<Option["by"], string>> = { engine: "engine", runner: "rt", both: "rt and engine" };

function describeOption(option: Option): string {
  const { name, short, value, aliasOf } = option;
  const hint = value && (value.kind === "optional" ? `[=${value.hint}]` : `=<${value.hint}>`);
  const names = [`\`--${name}${hint ?? ""}\``, ...(short ? [`\`-${short}\``] : [])].join(", ");
  return aliasOf ? `${names} (\`--${aliasOf}\`)` : names;
}

function rowOf(option: Option, proofs: ReadonlyMap<string, readonly string[]>): string[] {
  const idle = WITHOUT_EFFECT[option.name];
  const help = idle ? `${option.help}. No visible effect: ${idle}` : option.help;
  const tests = (proofs.get(option.name) ?? []).map((test) => `\`${test}\``).join("<br>");
  return [describeOption(option), help, option.default ?? "", WHO[option.by], tests];
}

const HEAD = ["Option", "Meaning", "Default", "Who acts", "Shown by the test"];

export async function renderOptions(): Promise<string> {
  const proofs = await collectProofs();
  const groups = [...Map.groupBy(OPTIONS, ({ group }) => group)].map(
    ([title, options]) =>
      `## ${title}\n\n${renderTable(
        HEAD,
        options.map((option) => rowOf(option, proofs)),
      )}`,
  );
  return format(`${[INTRODUCTION, ...groups].join("\n\n")}\n`, "docs/reference/options.md");
}
