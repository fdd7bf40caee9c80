// Generates docs/README.md: the index of the guides, from the table of `rt help`.
import { join } from "node:path";
import { GUIDES } from "../../src/cli/help/guides.ts";
import { format, GENERATED_NOTE, renderTable, ROOT } from "./markdown.ts";

export async function renderContents(): Promise<string> {
  const guides = await Promise.all(
    Object.entries(GUIDES).map(async ([name, { page, help }]) => [
      `[${await titleOf(page)}](${page})`,
      help,
      `\`rt help ${name}\``,
    ]),
  );
  const text = [
    "# Guides",
    GENERATED_NOTE("src/cli/help/guides.ts"),
    "The program carries these pages with it; `rt help` shows the same text in the terminal.",
    renderTable(
      ["Guide", "What it is about", "In the terminal"],
      [
        ...guides,
        ["[Options](reference/options.md)", "Every option, and the test that shows it", "`rt help run`"],
      ],
    ),
    "How the program is made: [architecture](architecture.md), [targets](reference/targets.md), [releases](releasing.md).",
  ];
  return format(`${text.join("\n\n")}\n`, "docs/README.md");
}

async function titleOf(page: string): Promise<string> {
  const text = await Bun.file(join(ROOT, "docs", page)).text();
  return /^# (.+)$/m.exec(text)![1]!;
}
