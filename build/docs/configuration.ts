// docs/reference/configuration.md and rtfig.toml.example: every key of rtfig.toml.
import { type ConfigKey, KEYS } from "../../src/config/keys.ts";
import { format, GENERATED_NOTE, renderTable } from "./markdown.ts";

const HEADER = `# Every key of rtfig.toml, the configuration of rt. Made by build/docs.ts from src/config/keys.ts.
#
# rt reads rtfig.toml of the working directory, or the file that --config names. Options override the
# file, and the file overrides defaults. Unknown keys and values of the wrong type are errors. In the values of
# [install.registry] and [install.scopes], "$NAME" is the variable NAME of the environment.
`;

/** Tables take one line each: "install.registry" is a key and a table, and TOML allows only one of them. */
function renderKey({ name, kinds, choices, help, example }: ConfigKey, section: string): string {
  const rest = section === "" ? name : name.slice(section.length + 1);
  const written =
    rest === "*" ? PLACEHOLDERS[section]! : rest.replaceAll("*", PLACEHOLDERS[section] ?? "team");
  return `# ${help}: ${allowedIn({ kinds, choices }).join(", ")}\n# ${written} = ${example}`;
}

function allowedIn({ kinds, choices }: Pick<ConfigKey, "kinds" | "choices">): string[] {
  return choices ? choices.map((choice) => JSON.stringify(choice)) : kinds.map((kind) => KIND_WORDS[kind]);
}

const PLACEHOLDERS: Readonly<Record<string, string>> = {
  define: '"process.env.NODE_ENV"',
  loader: '".svg"',
  "serve.static.define": "VERSION",
  "install.scopes": "team",
  "run.cache": "build",
  "run.remote.headers": "x-api-key",
  "run.remote.properties": "container-image",
  "run.secrets": "release",
};

/** Tables with user-defined names. */
const SECTIONS: Readonly<Record<string, string>> = {
  "secrets.*": "secrets.NPM_TOKEN",
  "run.remote.scripts.*": "run.remote.scripts.build",
  "tasks.*": "tasks.build",
  "tasks.*.ready": "tasks.build.ready",
};

const KIND_WORDS: Readonly<Record<ConfigKey["kinds"][number], string>> = {
  boolean: "true or false",
  string: "string",
  strings: "list of strings",
  integer: "whole number",
  number: "number",
};

/** Returns the table of a key in the example; sub-keys of a key that may be a table stay with it. */
function sectionOf({ name }: ConfigKey): string {
  const parts = name.split(".");
  const isSubKey = KEYS.some((other) => name.startsWith(`${other.name}.`));
  return parts.slice(0, isSubKey ? -2 : -1).join(".");
}

export function renderExample(): string {
  const sections = [...Map.groupBy(KEYS, sectionOf)].map(([section, keys]) =>
    [
      ...(section === "" ? [] : [`[${SECTIONS[section] ?? section}]`, ""]),
      keys.map((key) => renderKey(key, section)).join("\n\n"),
    ].join("\n"),
  );
  return `${[HEADER, ...sections].join("\n").replaceAll("\n[", "\n\n[")}\n`;
}

const INTRODUCTION = `# Configuration

${GENERATED_NOTE("src/config/keys.ts")}

The file rtfig.toml has options, so that you need not write them on each command line. It also has settings without an option.
rt reads it from the working directory, unless \`--config\` names another. [rtfig.toml.example](../../rtfig.toml.example) shows every key.

\`rtfig.toml\`:

\`\`\`toml file=rtfig.toml
preload = ["./setup.ts"]

[define]
STAGE = "'test'"

[run]
silent = true
concurrency = 4
\`\`\`

\`setup.ts\`:

\`\`\`ts file=setup.ts
console.log("set up");
\`\`\`

\`\`\`sh
echo 'console.log(STAGE)' > stage.ts
rt stage.ts
rt --define STAGE:"'production'" stage.ts
\`\`\`

\`\`\`text
set up
test
set up
production
\`\`\`

- **Options** override the file, and the file overrides defaults. Lists of both are combined.
- **Mistakes** are errors with a line number: an unknown key, or a value of the wrong type. Until you correct them, nothing
  runs.
- **Credentials** do not belong into the file. In \`install.registry\` and \`install.scopes\`, \`"$NAME"\` is the variable
  NAME of the environment.

A \`*\` in a key is a name of your choice.`;

const LIMITATIONS = `## Limitations

- The engine's bunfig.toml is not read.
- rt does not read rtfig.toml of parent folders. The exceptions are \`[tasks]\`, \`[secrets]\`, \`[run.secrets]\`,
  \`[run.cache]\` and \`[cache.remote]\`: in every folder of a workspace, rt reads those of the root project.
- \`rt help\`, \`rt upgrade\` and \`rt secrets get\`, \`set\`, \`delete\` and \`list\` ignore the file.`;

const SECTION_TITLES: Readonly<Record<string, string>> = {
  "": "Running code",
  run: "Scripts",
  tasks: "Tasks",
  secrets: "Secrets of scripts",
  test: "Tests",
  install: "Packages",
};

function titleOf({ name }: ConfigKey): string {
  const [section] = name.split(".") as [string];
  return SECTION_TITLES[section] ?? SECTION_TITLES[""]!;
}

function optionsFor({ as }: ConfigKey): string {
  const names = typeof as === "string" ? [as] : Object.values(as ?? {}).flatMap((words) => words?.[0] ?? []);
  return [...new Set(names)].map((name) => `\`--${name}\``).join(", ");
}

function rowOf(key: ConfigKey): string[] {
  const values = key.choices ? allowedIn(key).map((value) => `\`${value}\``) : allowedIn(key);
  return [`\`${key.name}\``, key.help, values.join(", "), optionsFor(key)];
}

export function renderConfiguration(): string {
  const sections = [...Map.groupBy(KEYS, titleOf)].map(
    ([title, keys]) =>
      `## ${title}\n\n${renderTable(["Key", "Meaning", "Value", "Option"], keys.map(rowOf))}`,
  );
  return format(
    `${[INTRODUCTION, ...sections, LIMITATIONS].join("\n\n")}\n`,
    "docs/reference/configuration.md",
  );
}
