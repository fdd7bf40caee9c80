// Generates docs/options.md: every option, its implementation, and the test that demonstrates it.
import { type Option, OPTIONS } from "../../src/options/options.ts";
import { collectProofs } from "../../test/options/proofs.ts";
import { format, GENERATED_NOTE, renderTable } from "./markdown.ts";

/** Engine options without a visible effect. */
const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  "preserve-symlinks-main": "the engine goes by the real path all the same",
  "heap-prof-interval": "the engine's profile is a snapshot and has no samples",
};

const INTRODUCTION = `# Options

${GENERATED_NOTE("src/options/options.ts")}

Options stand right after \`rt\` or after \`run\`, in front of what is run; what stands behind it belongs to it. A value
follows as \`--name=value\` or \`--name value\`; one in brackets may be left out and follows only as \`--name=value\`. For
options that are repeatable every value counts, for the others the last.

"Who acts": *rt* acts on scripts, binaries and commands, the *engine* on code. In front of a script, an option of the
engine alone has nothing to act on; rt says so and runs the script.
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
  return format(`${[INTRODUCTION, ...groups].join("\n\n")}\n`, "docs/options.md");
}
