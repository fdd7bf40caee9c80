// docs/README.md: the index of the guides, from the table that `rt help` reads.
import { GUIDES } from "../../src/cli/guides.ts";
import { format, GENERATED_NOTE, renderTable } from "./page.ts";

export function renderContents(): string {
  const guides = Object.entries(GUIDES).map(([name, { page, help }]) => [
    `[${help}](${page})`,
    `\`rt help ${name}\``,
  ]);
  const text = [
    "# Guides",
    GENERATED_NOTE("src/cli/guides.ts"),
    "The program carries these pages with it; `rt help` shows the same text in the terminal.",
    renderTable(["Guide", "In the terminal"], [...guides, ["[Every option](options.md)", "`rt help run`"]]),
    "How the program is made: [architecture](architecture.md).",
  ];
  return format(`${text.join("\n\n")}\n`, "docs/README.md");
}
