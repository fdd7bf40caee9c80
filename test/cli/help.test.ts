// `rt help`: guides, help of commands and the manual page, in a pipe and on a terminal.
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { GUIDES } from "../../src/cli/help/guides.ts";
import { renderPage } from "../../src/cli/help/guide.ts";
import { renderManual } from "../../build/docs/man-page.ts";
import { COMMANDS } from "../../src/options/commands.ts";
import { OPTIONS } from "../../src/options/options.ts";
import { createProject } from "../support/project.ts";
import { cleanEnvironment, expectRt, REPOSITORY, RT, runRt } from "../support/rt.ts";
import { startOnTerminal } from "../support/programs/terminal.ts";

const ESCAPE = /\x1b/;

async function help(...words: string[]): Promise<string> {
  const { stdout, stderr, status } = await runRt({ args: ["help", ...words] });
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  return stdout;
}

/** Returns the letters and digits, which remain when lines are broken and markup is removed. */
function lettersOf(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]/gu, "");
}

describe("a rendered guide", () => {
  test.each(Object.entries(GUIDES))(
    "rt help %s prints the page of docs/ as plain text",
    async (name, { page }) => {
      const shown = await help(name);
      expect(shown).not.toMatch(ESCAPE);
      // No Markdown syntax and no frame of the renderer remains.
      expect(shown).not.toMatch(/<!--|\]\(|```|^ *\+-(?: |$)/m);
      expect(shown).toBe(`${renderPage(await Bun.file(`${REPOSITORY}/docs/${page}`).text(), 0, false)}\n`);
    },
  );

  test("contains all words of its page", async () => {
    const markdown = await Bun.file(`${REPOSITORY}/docs/reference/errors.md`).text();
    const shown = lettersOf(await help("errors"));
    for (const [, cell] of markdown.matchAll(/^\| `(ERR_\w+)`/gm)) expect(shown).toContain(lettersOf(cell!));
    for (const [, title] of markdown.matchAll(/^#+ (.+)$/gm)) expect(shown).toContain(lettersOf(title!));
  });

  test("shows code unchanged and separates it from its output", () => {
    const page =
      "# T\n\n```ts\nlet a = 1; // |\n\n  deep();\n```\n\n```text\n1\n```\n\n| a | b |\n| - | - |\n| c | d |\n";
    const plain = renderPage(page, 80, false);
    expect(plain).toContain("    let a = 1; // |\n\n      deep();\n");
    expect(plain).toContain("  prints\n    1\n");
    expect(plain).toMatch(/^\| c +\| d +\|$/m);
    expect(Bun.stripANSI(renderPage(page, 80, true))).toContain("    let a = 1; // |\n\n      deep();\n");
  });

  test("leaves code unchanged that looks like a link, a table or a comment", () => {
    const code = "map[key](value);\n| a | b | c |\n| - | - | - |\n<!-- d -->";
    expect(renderPage(`\`\`\`js\n${code}\n\`\`\`\n`, 80, false)).toBe(code.replaceAll(/^/gm, "    "));
  });

  test("shows a table that is too wide as a list, with the name of each column", () => {
    const cell = "word ".repeat(9).trim();
    const wide = `| Key | Meaning | More |\n| --- | --- | --- |\n| \`a\\|b\` | ${cell} | ${cell} |\n| c | d | |\n`;
    const shown = renderPage(wide, 80, false);
    expect(shown.replaceAll(/\s+/g, " ")).toBe(` * a|b - ${cell}; more: ${cell} * c - d`);
    expect(renderPage(wide, 0, false)).toBe(shown);
    expect(renderPage(wide.replaceAll(cell, "e"), 80, false)).toContain("| Key ");
  });

  test("keeps one blank line before a list", () => {
    expect(renderPage("Text:\n\n- a\n  more\n- b\n\n1. c\n", 80, false)).toMatch(/^Text:\n\n {2}\* a/);
    expect(renderPage("```sh\nls --long\n```\n\n- a\n", 80, false)).toBe("    ls --long\n\n  * a");
  });

  test("replaces a link to another guide by its command, and removes links to other files", () => {
    const text = renderPage(
      "See [the codes](../reference/errors.md#x), [here](../a.ts), [there](https://a.example/).",
      80,
      false,
    );
    expect(text).toBe("See the codes (rt help errors), here, there (https://a.example/).");
  });

  test("fits the terminal's width and sets no background colours", async () => {
    for (const columns of [60, 100]) {
      const command = `stty cols ${columns}; exec "$0" help csrf`;
      await using terminal = startOnTerminal(["bash", "-c", command, RT], cleanEnvironment());
      await terminal.awaitOutput("String");
      await terminal.awaitExit();
      const lines = Bun.stripANSI(terminal.shown).split("\r\n");
      const prose = lines.filter((line) => !line.startsWith("    ") && !line.startsWith("  prints"));
      expect(Math.max(...prose.map((line) => Bun.stringWidth(line)))).toBeLessThanOrEqual(columns);
      expect(prose.some((line) => line.length > columns - 15)).toBe(true);
      expect(terminal.shown).toMatch(ESCAPE);
      expect(terminal.shown).not.toMatch(/\x1b\[4[0-8]/);
    }
  });

  test("omits colours with NO_COLOR", async () => {
    const environment = cleanEnvironment({ NO_COLOR: "1" });
    await using terminal = startOnTerminal([RT, "help", "errors"], environment);
    await terminal.awaitOutput("rt doctor");
    await terminal.awaitExit();
    expect(terminal.shown).not.toMatch(ESCAPE);
  });
});

describe("rt help", () => {
  test("lists commands and guides", async () => {
    const overview = await help();
    for (const [name, { help: text }] of Object.entries(GUIDES))
      expect(overview).toMatch(new RegExp(`^  ${name} +${RegExp.escape(text)}$`, "m"));
    expect(overview).toMatch(/^ {2}install, i +Install dependencies$/m);
  });

  test("suggests the nearest command or guide and exits with 1 when the name is unknown", async () => {
    await expectRt({
      args: ["help", "secert"],
      stderr: 'error: No help for "secert"\nhint: did you mean secrets?\n',
      status: 1,
    });
    await expectRt({
      args: ["help", "constructor"],
      stderr: 'error: No help for "constructor"\nhint: list the commands and guides: rt help\n',
      status: 1,
    });
    await expectRt({ args: ["help", "migrations"], stderr: /hint: did you mean migration\?/, status: 1 });
  });

  test("shows an optional value in brackets", async () => {
    const text = await help("run");
    expect(text).toContain("--dry-run[=json|html|mermaid]");
    expect(text).toContain("--inspect[=address]");
    expect(text).toContain("--filter=<pattern>");
  });

  test("accepts `options` as a name of the list of options", async () => {
    expect(await help("options")).toBe(await help("run"));
  });

  test("wraps no line in a pipe, and every long line on a terminal", async () => {
    const { help: text } = OPTIONS.find(({ name }) => name === "no-addons")!;
    expect(await help("run")).toContain(text);
    const command = 'stty cols 72; exec "$0" help run';
    await using terminal = startOnTerminal(["bash", "-c", command, RT], cleanEnvironment());
    await terminal.awaitOutput("Guides: rt help scripts");
    const lines = Bun.stripANSI(terminal.shown).split("\r\n");
    const long = lines.filter((line) => Bun.stringWidth(line) > 72);
    // Names are not broken: the list of an option's choices is one word.
    expect(long.filter((line) => !line.trimStart().startsWith("-"))).toEqual([]);
  });

  test.each(["secrets", "doctor"])("rt %s --help has the layout of every command's help", async (command) => {
    const { stdout, stderr, status } = await runRt({ args: [command, "--help"] });
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(stdout).toStartWith(`${COMMANDS[command]!.help}\n\nUsage\n  rt ${command} `);
    expect(stdout).toMatch(/\n\nOptions\n {2}--json {6,}Print JSON\n {2}-h, --help {2,}Show this help\n/);
    expect(stdout).toMatch(/\n\nExit codes\n {2}0 +\S/);
  });

  test("prints all of a long text to a slow reader", async () => {
    const { stdout } = await runRt({
      program: ["bash", "-c", '"$0" help configuration | { IFS= read -r first; echo "$first"; cat; }', RT],
    });
    expect(stdout).toBe(await help("configuration"));
  });
});

describe("the manual page", () => {
  test("rt help --man prints the manual page that the build creates", async () => {
    expect(await help("--man")).toBe(renderManual());
  });

  test("passes mandoc without a report", async () => {
    await using project = await createProject({ "rt.1": renderManual() });
    await expectRt({ program: ["mandoc", "-Tlint", "-Wall", project.join("rt.1")] });
  });

  test("names every command, option, guide and exit code", async () => {
    await using project = await createProject({ "rt.1": renderManual() });
    const { stdout } = await runRt({ program: ["mandoc", "-Tascii", "-Owidth=100", project.join("rt.1")] });
    const text = stdout.replaceAll(/.\x08/g, "");
    for (const { name, short } of OPTIONS) {
      expect(text).toMatch(new RegExp(`^ +--${RegExp.escape(name)}(?:$|[ =,[])`, "m"));
      if (short) expect(text).toMatch(new RegExp(`, -${short}(?: |$)`, "m"));
    }
    for (const name of [...Object.keys(COMMANDS), ...Object.keys(GUIDES)])
      expect(text).toMatch(new RegExp(`^ {5}(?:\\w+, )?${name}(?:,? |$)`, "m"));
    expect(text).toContain("--dry-run[=json | html | mermaid]");
    expect(text).not.toMatch(/\\[efm&-]/);
  });
});

test("README, rt help secrets and rt types mark rt.secrets as new and experimental", async () => {
  const texts = await Promise.all([
    Bun.file(join(REPOSITORY, "README.md")).text(),
    runRt({ args: ["help", "secrets"] }).then(({ stdout }) => stdout),
    runRt({ args: ["types"] }).then(({ stdout }) => stdout),
  ]);
  expect(texts.map((text) => /new\s+and\s+experimental/i.test(text))).toEqual([true, true, true]);
});

describe.concurrent("--help after a command", () => {
  for (const [command, { by }] of Object.entries(COMMANDS)) {
    if (by !== "rt") continue;
    for (const flag of ["--help", "-h"])
      test(`rt ${command} ${flag} prints the command's help`, async () => {
        const { stdout, stderr, status } = await runRt({ args: [command, flag] });
        expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
        expect(stdout).toContain(`\n  rt ${command}`);
      });
  }
});
