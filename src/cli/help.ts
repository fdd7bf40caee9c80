// `rt --help`, `rt help run`, `rt help <command>`: rendered by citty from the tables of options and commands.
import { type ArgsDef, type CommandDef, renderUsage } from "citty";
import { VERSION } from "../version.ts";
import { COMMANDS } from "./commands.ts";
import { UsageError } from "./parse.ts";
import { type Option, OPTIONS } from "./options.ts";

export async function renderHelp(topic?: string): Promise<string> {
  if (topic === undefined) return await renderOverview();
  const command = COMMANDS[topic];
  if (!command) {
    throw new UsageError(`No help for "${topic}"`, "rt --help lists the commands", {
      word: topic,
      known: Object.keys(COMMANDS),
    });
  }
  if (topic === "run") return await renderRun();
  return await renderUsage({
    meta: { name: ["rt", topic, command.usage].filter(Boolean).join(" "), description: command.help },
  });
}

async function renderOverview(): Promise<string> {
  const subCommands: Record<string, CommandDef> = {};
  for (const [name, { help }] of Object.entries(COMMANDS))
    subCommands[name] = { meta: { name, description: help } };
  const usage = await renderUsage({
    meta: {
      name: "rt",
      version: VERSION,
      description: "Run JavaScript, TypeScript and package.json scripts",
    },
    subCommands,
  });
  return `${usage}\nrt <file|script> is short for rt run <file|script>. rt help run lists the options.`;
}

async function renderRun(): Promise<string> {
  const overview = await renderUsage({
    meta: { name: `rt [options] run ${COMMANDS.run!.usage}`, description: COMMANDS.run!.help },
  });
  const groups = Map.groupBy(OPTIONS, ({ group }) => group);
  const sections = await Promise.all([...groups].map(([title, options]) => renderGroup(title, options)));
  return [overview.trimEnd(), ...sections].join("\n\n");
}

/** citty has no groups of options: each is rendered as a command of its own and loses all but its list. */
async function renderGroup(title: string, options: readonly Option[]): Promise<string> {
  const args: ArgsDef = Object.fromEntries(options.map((option) => [option.name, describe(option)]));
  const usage = await renderUsage({ meta: { name: "rt" }, args });
  const list = usage.slice(usage.indexOf("\n", usage.indexOf("OPTIONS")) + 1);
  return `${title.toUpperCase()}\n${list.trimEnd()}`;
}

function describe({ short, value, help, default: fallback }: Option): ArgsDef[string] {
  const alias = short ? { alias: short } : {};
  const description = fallback === undefined ? help : `${help} (default: ${fallback})`;
  if (!value) return { type: "boolean", description, ...alias };
  if (value.choices) return { type: "enum", options: [...value.choices], description, ...alias };
  return { type: "string", valueHint: value.hint, description, ...alias };
}
