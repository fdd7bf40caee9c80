// Renders `rt help`, `rt help <command>`, `rt help <guide>` and `rt <command> --help` from the tables of options, commands and
// guides.
//
// Non-obvious:
// - citty always colours its output and aligns columns to the right, so its output is parsed into rows and laid out here.
// - Colours and wrapping are for terminals; in a pipe each option is one line, for grep.
import { type ArgsDef, type CommandDef, renderUsage } from "citty";
import { outputs } from "../../../platform/terminal/output.ts";
import { host } from "../../../platform/processes/process.ts";
import {
  DOCTOR_EXIT_CODES,
  type Flag,
  FLAGS,
  SECRETS_COMMANDS,
  SECRETS_EXIT_CODES,
  type HelperTool,
  CHECK_FLAGS,
  ENTRY_FLAGS,
  SHARE_FLAGS,
  HELPER_FLAGS,
  IMPORT_FLAGS,
  HELPERS,
  TRUST_FLAGS,
} from "../../secrets/commands.ts";
import { wantsColor } from "../../color.ts";
import { VERSION } from "../../version.ts";
import { heading, layOut, type HelpRow } from "./columns.ts";
import { type BuiltinCommand, COMMANDS } from "../../options/commands.ts";
import { UPGRADE_FLAGS } from "../upgrade/upgrade-flags.ts";
import { GUIDES } from "./guides.ts";
import { type Option, OPTIONS } from "../../options/options.ts";
import { UsageError } from "../../options/parse.ts";
import { MANUAL, readText } from "./embedded-texts.ts";

/** Returns the output of `rt help <words>`. @throws UsageError for an unknown topic */
export async function renderHelpTopic(words: readonly string[]): Promise<string> {
  const [word] = words;
  if (word === "--man") return (await readText(MANUAL)).trimEnd();
  if (word === undefined || !(word in GUIDES)) return await renderHelp(word);
  const { renderGuide } = await import("./guide.ts");
  return await renderGuide(word, terminalColumns(), isColored());
}

/** Returns the help of a command, or the overview. @throws UsageError for an unknown command */
export async function renderHelp(command?: string): Promise<string> {
  const text = await renderTopic(command);
  return isColored() ? text : Bun.stripANSI(text);
}

function isColored(): boolean {
  return host.isTerminal(1) && wantsColor(host.originalVariable, () => true);
}

/** Returns 0 without a terminal. */
function terminalColumns(): number {
  return host.isTerminal(1) ? (outputs.terminalSize()?.columns ?? 80) : 0;
}

async function renderTopic(topic: string | undefined): Promise<string> {
  if (topic === undefined) return await renderOverview();
  if (topic === "run" || topic === "options") return await renderRun();
  const command = COMMANDS[topic];
  if (!command) {
    throw new UsageError(`No help for "${topic}"`, "list the commands and guides: rt help", {
      word: topic,
      known: [...Object.keys(GUIDES), ...Object.keys(COMMANDS)],
    });
  }
  const { sections, closing } = detailsOf(topic, command);
  return join([
    command.help,
    `${heading("Usage")}\n  ${usageOf(topic)}`,
    ...Object.entries(sections).map(([title, rows]) => renderSection(title, rows)),
    closing,
  ]);
}

/** Returns the sections that follow the usage of a command. */
function detailsOf(
  name: string,
  { by }: BuiltinCommand,
): { sections: Readonly<Record<string, readonly HelpRow[]>>; closing?: string } {
  if (name === "secrets")
    return {
      sections: {
        Commands: Object.entries(SECRETS_COMMANDS).map(([word, { usage, help }]) => ({
          name: `${word} ${usage}`,
          help,
        })),
        Helpers: Object.entries(HELPERS).map(([word, helper]) => describeHelper(word, helper)),
        Options: ENTRY_FLAGS.map(describeFlag),
        "Options of rt secrets share": SHARE_FLAGS.map(describeFlag),
        "Options of rt secrets import": IMPORT_FLAGS.map(describeFlag),
        "Options of rt secrets check": CHECK_FLAGS.map(describeFlag),
        "Options of rt secrets helper": HELPER_FLAGS.map(describeFlag),
        "Exit codes": describeCodes(SECRETS_EXIT_CODES),
      },
      closing: "Guide: rt help secrets",
    };
  if (name === "doctor")
    return {
      sections: { Options: FLAGS.map(describeFlag), "Exit codes": describeCodes(DOCTOR_EXIT_CODES) },
      closing: "Guide: rt help secrets",
    };
  if (name === "trust")
    return {
      sections: { Options: TRUST_FLAGS.map(describeFlag) },
      closing: "Guide: rt help secrets-in-scripts",
    };
  if (name === "upgrade")
    return {
      sections: { Options: UPGRADE_FLAGS.map(describeFlag) },
      closing:
        "rt reads SHA256SUMS and SHA256SUMS.minisig beside the file, and verifies them with its built-in keys",
    };
  if (name === "help")
    return {
      sections: {
        Guides: guideRows(),
        Options: [{ name: "--man", help: "Print the manual page; view it with: rt help --man | man -l -" }],
      },
    };
  if (name === "completions")
    return {
      sections: {
        "Start-up files": [
          { name: "~/.bashrc", help: "source <(rt completions bash)" },
          { name: "~/.zshrc, after compinit", help: "source <(rt completions zsh)" },
          { name: "~/.config/fish/config.fish", help: "rt completions fish | source" },
          { name: "$PROFILE", help: "rt completions powershell | Out-String | Invoke-Expression" },
        ],
      },
    };
  if (name === "types")
    return {
      sections: {},
      closing:
        "Run rt types > rt.d.ts in a folder that tsconfig.json includes, and add its dependency: rt add --dev bun-types",
    };
  if (name === "debug-config") return { sections: {}, closing: "Guide: rt help debugging" };
  return { sections: {}, ...(by === "engine" && { closing: `rt ${name} --help shows its options` }) };
}

function describeFlag({ name, short, value, help }: Flag): HelpRow {
  const long = value ? `--${name}=<${value}>` : `--${name}`;
  return { name: short ? `-${short}, ${long}` : long, help };
}

function describeHelper(name: string, { help, actions, operand }: HelperTool): HelpRow {
  return { name: [name, actions.join("|"), operand].filter(Boolean).join(" "), help };
}

function describeCodes(codes: Readonly<Record<number, string>>): HelpRow[] {
  return Object.entries(codes).map(([name, help]) => ({ name, help }));
}

function guideRows(): HelpRow[] {
  return Object.entries(GUIDES).map(([name, { help }]) => ({ name, help }));
}

async function renderOverview(): Promise<string> {
  const own = await commandRows(({ by }) => by !== "engine");
  const tools = await commandRows(({ by }) => by === "engine");
  return join([
    `rt ${VERSION}: run JavaScript, TypeScript and package.json scripts`,
    `${heading("Usage")}\n  rt [options] <file|script> [args]\n  rt [options] <command> [args]`,
    renderSection("Commands", own),
    renderSection("Tools and packages", tools),
    renderSection("Guides", guideRows()),
    "Options: rt help run. Details: rt help <command or guide>",
  ]);
}

async function commandRows(isWanted: (command: BuiltinCommand) => boolean): Promise<HelpRow[]> {
  const entries = Object.entries(COMMANDS).filter(([, each]) => isWanted(each) && !each.aliasOf);
  const subCommands: Record<string, CommandDef> = {};
  for (const [name, { help }] of entries) subCommands[name] = { meta: { name, description: help } };
  const rows = await readRows("COMMANDS", { meta: { name: "rt" }, subCommands });
  return rows.map(({ name, help }) => ({ name: [name, ...aliasesOf(name)].join(", "), help }));
}

function aliasesOf(name: string): string[] {
  return Object.keys(COMMANDS).filter((other) => COMMANDS[other]!.aliasOf === name);
}

async function renderRun(): Promise<string> {
  const groups = Map.groupBy(OPTIONS, ({ group }) => group);
  const sections = await Promise.all(
    [...groups].map(async ([title, options]) => {
      const args: ArgsDef = Object.fromEntries(options.map((option) => [option.name, describe(option)]));
      const rows = await readRows("OPTIONS", { meta: { name: "rt" }, args });
      return renderSection(
        title,
        rows.map((row, index) => (options[index]!.value?.kind === "optional" ? bracketValue(row) : row)),
      );
    }),
  );
  return join([
    COMMANDS.run!.help,
    `${heading("Usage")}\n  ${usageOf("run")}`,
    ...sections,
    "Guides: rt help scripts, rt help workspaces",
  ]);
}

function usageOf(name: string): string {
  return ["rt", ...(name === "run" ? ["[options]"] : []), name, COMMANDS[name]!.usage]
    .filter(Boolean)
    .join(" ");
}

function describe({ short, value, help, default: fallback }: Option): ArgsDef[string] {
  const alias = short ? { alias: short } : {};
  const description = fallback === undefined ? help : `${help} (default: ${fallback})`;
  if (!value) return { type: "boolean", description, ...alias };
  if (value.choices) return { type: "enum", options: [...value.choices], description, ...alias };
  return { type: "string", valueHint: value.hint, description, ...alias };
}

/** Marks an optional value, which citty cannot express. */
function bracketValue({ name, help }: HelpRow): HelpRow {
  return { name: name.replace(/=<(.*)>$/, "[=$1]"), help };
}

/** Parses the list that citty renders under `title`. */
async function readRows(title: string, command: CommandDef): Promise<HelpRow[]> {
  const usage = Bun.stripANSI(await renderUsage(command));
  const lines = usage.slice(usage.indexOf(`\n${title}\n`) + title.length + 2).split("\n");
  return lines.flatMap((line) => {
    const [, name, help] = /^\s*(\S.*?)\s{3,}(\S.*?)\s*$/.exec(line) ?? [];
    return name && help ? [{ name, help }] : [];
  });
}

function renderSection(title: string, rows: readonly HelpRow[]): string {
  return `${heading(title)}\n${layOut(rows, terminalColumns())}`;
}

function join(blocks: readonly (string | undefined)[]): string {
  return blocks.filter((block) => block !== undefined).join("\n\n");
}
