// Which files are watched, as the user says it: --watch-path, --watch-ignore and [watch] in rtfig.toml; and what is left
// alone unasked.
//
// Contract: what is left alone is told in the lines of a .gitignore (see gitignore.ts), of which the last that matches
// decides: rt's own list first, then what Git ignores, then the user's, so that `!build/` takes a folder back in.
import { UserError } from "../user-error.ts";
import { printable } from "../printable.ts";

/** Folders and files that tools make, and that nobody writes by hand. */
export const OUTPUTS: readonly string[] = [
  ...["node_modules/", ".git/", ".hg/", ".svn/", ".jj/", ".idea/", ".venv/", "__pycache__/"],
  ...[
    "dist/",
    "coverage/",
    ".nyc_output/",
    "storybook-static/",
    ".cache/",
    ".parcel-cache/",
    ".turbo/",
    ".nx/",
  ],
  ...[
    ".next/",
    ".nuxt/",
    ".nitro/",
    ".output/",
    ".svelte-kit/",
    ".astro/",
    ".angular/",
    ".docusaurus/",
    ".expo/",
  ],
  ...[".react-router/", ".vite/", ".vinxi/", ".vercel/", ".netlify/", ".wrangler/", ".serverless/"],
  ...["*.tsbuildinfo", "next-env.d.ts", "*.timestamp-*.mjs", "*~", ".#*"],
];

/** Outputs of many tools, and folders of sources in many projects. Where there is a .gitignore, Git knows. */
export const LIKELY_OUTPUTS: readonly string[] = ["build/", "out/", "target/"];

/** Each is compared with every change. */
const MOST_PATTERNS = 256;
const LONGEST_PATTERN = 1024;

/** Throws Failure where one of them is no glob. */
export function checkPatterns(option: string, patterns: readonly string[]): void {
  if (patterns.length > MOST_PATTERNS)
    throw new UserError(
      `--${option} is given ${patterns.length} times, and ${MOST_PATTERNS} is the most`,
      "one glob can stand for many files: src/**/*.gen.ts",
    );
  for (const pattern of patterns) {
    const problem = problemOf(pattern);
    if (!problem) continue;
    const shown = pattern.length > 80 ? `${pattern.slice(0, 80)}...` : pattern;
    throw new UserError(`--${option} cannot be "${printable(shown)}": ${problem[0]}`, problem[1]);
  }
}

/** What is wrong and what to do. The engine takes any text for a glob; one that is no glob matches nothing. */
function problemOf(pattern: string): readonly [string, string] | undefined {
  const example = "for example src, or src/**/*.gen.ts";
  if (/^!?$/.test(pattern)) return ["it is empty", example];
  if (pattern.length > LONGEST_PATTERN) return [`it has more than ${LONGEST_PATTERN} characters`, example];
  if (/[\0\n\r]/.test(pattern)) return ["it is more than one line", "give each its own --watch-ignore"];
  const open: string[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at]!;
    if (character === "\\" && ++at === pattern.length) return ["nothing stands behind its last \\", example];
    if (open.at(-1) === "[") {
      if (character === "]") open.pop();
    } else if (character === "[" || character === "{") open.push(character);
    else if (character === "}" && open.pop() !== "{") return ["its } has no {", "write a brace as \\}"];
  }
  const left = open.at(-1);
  if (left) return [`its ${left} is not closed`, `write it as \\${left} where it belongs to a name`];
  return undefined;
}
