// `rt --help`, `rt help run`, `rt help <command>`: rendered by citty from the tables of options and commands.
//
// Surprising: citty colours whatever it is asked for and aligns its columns to the right, so what it renders is
// taken as lists of two columns, and those are laid out and coloured here, for terminals only.
import { type ArgsDef, type CommandDef, renderUsage } from "citty";
import { host } from "../../platform/process.ts";
import { VERSION } from "../version.ts";
import { COMMANDS } from "./commands.ts";
import { type Option, OPTIONS } from "./options.ts";
import { UsageError } from "./parse.ts";

export async function renderHelp(topic?: string): Promise<string> {
  const text = await renderTopic(topic);
  return Bun.enableANSIColors && host.isTerminal(1) ? text : Bun.stripANSI(text);
}

async function renderTopic(topic: string | undefined): Promise<string> {
  if (topic === undefined) return await renderOverview();
  if (topic === "run") return await renderRun();
  const command = COMMANDS[topic];
  if (!command) {
    throw new UsageError(`No help for "${topic}"`, "rt --help lists the commands", {
      word: topic,
      known: Object.keys(COMMANDS),
    });
  }
  const title = `${command.help}\n\n${heading("Usage")}\n  ${usageOf(topic)}`;
  return command.by === "engine" ? `${title}\n\nrt ${topic} --help shows its options` : title;
}

async function renderOverview(): Promise<string> {
  const subCommands: Record<string, CommandDef> = {};
  for (const [name, { help }] of Object.entries(COMMANDS)) {
    subCommands[name] = { meta: { name, description: help } };
  }
  const list = await renderList("COMMANDS", { meta: { name: "rt" }, subCommands });
  return [
    `rt ${VERSION}: run JavaScript, TypeScript and package.json scripts`,
    `${heading("Usage")}\n  rt [options] <file|script> [args]\n  rt [options] <command> [args]`,
    `${heading("Commands")}\n${list}`,
    "rt help run lists the options; rt help <command> tells more",
  ].join("\n\n");
}

async function renderRun(): Promise<string> {
  const groups = Map.groupBy(OPTIONS, ({ group }) => group);
  const sections = await Promise.all(
    [...groups].map(async ([title, options]) => {
      const args: ArgsDef = Object.fromEntries(options.map((option) => [option.name, describe(option)]));
      return `${heading(title)}\n${await renderList("OPTIONS", { meta: { name: "rt" }, args })}`;
    }),
  );
  const title = `${COMMANDS.run!.help}\n\n${heading("Usage")}\n  ${usageOf("run")}`;
  return [title, ...sections].join("\n\n");
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

/** Names longer than this get their description on a line of their own. */
const WIDEST_NAME = 32;

/** The list that citty puts under a heading of its own, in two columns that start on the left. */
async function renderList(title: string, command: CommandDef): Promise<string> {
  const usage = Bun.stripANSI(await renderUsage(command));
  const lines = usage.slice(usage.indexOf(`\n${title}\n`) + title.length + 2).split("\n");
  const rows = lines.flatMap((line) => {
    const [, name, help] = /^\s*(\S.*?)\s{3,}(\S.*?)\s*$/.exec(line) ?? [];
    return name && help ? [{ name, help }] : [];
  });
  const width = Math.max(...rows.map(({ name }) => name.length).filter((length) => length <= WIDEST_NAME));
  return rows
    .map(({ name, help }) => {
      const gap = name.length > width ? `\n${" ".repeat(width + 4)}` : " ".repeat(width - name.length + 2);
      return `  \x1b[36m${name}\x1b[39m${gap}${help}`;
    })
    .join("\n");
}

function heading(title: string): string {
  return `\x1b[1m${title}\x1b[22m`;
}
