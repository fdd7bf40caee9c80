// Validates watch patterns (--watch-path, --watch-ignore, [watch] in rtfig.toml) and lists files that are ignored
// by default.
//
// Invariants: ignore lists use .gitignore syntax (gitignore.ts); the last match decides. Order: rt's list,
// .gitignore files, the user's list. So `!build/` includes a folder again.
import { UserError } from "../user-error.ts";
import { printable } from "../printable.ts";

/** Folders and files that tools generate. */
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

/** Outputs of many tools, but source folders in some projects. Used only without a .gitignore. */
export const LIKELY_OUTPUTS: readonly string[] = ["build/", "out/", "target/"];

/** Each pattern is matched against every change. */
const MAX_PATTERNS = 256;
const MAX_PATTERN_LENGTH = 1024;

/** @throws UserError for an invalid glob */
export function checkPatterns(option: string, patterns: readonly string[]): void {
  if (patterns.length > MAX_PATTERNS)
    throw new UserError(
      `--${option} is given ${patterns.length} times; the maximum is ${MAX_PATTERNS}`,
      "use a glob that matches many files: src/**/*.gen.ts",
    );
  for (const pattern of patterns) {
    const problem = problemOf(pattern);
    if (!problem) continue;
    const shown = pattern.length > 80 ? `${pattern.slice(0, 80)}...` : pattern;
    throw new UserError(`--${option} cannot be "${printable(shown)}": ${problem[0]}`, problem[1]);
  }
}

/** Returns the problem and a hint. The engine accepts any text as a glob; an invalid one matches nothing. */
function problemOf(pattern: string): readonly [string, string] | undefined {
  const example = "for example src, or src/**/*.gen.ts";
  if (/^!?$/.test(pattern)) return ["it is empty", example];
  if (pattern.length > MAX_PATTERN_LENGTH)
    return [`it has more than ${MAX_PATTERN_LENGTH} characters`, example];
  if (/[\0\n\r]/.test(pattern)) return ["it is more than one line", "give each its own --watch-ignore"];
  const open: string[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at]!;
    if (character === "\\" && ++at === pattern.length) return ["it ends with \\", example];
    if (open.at(-1) === "[") {
      if (character === "]") open.pop();
    } else if (character === "[" || character === "{") open.push(character);
    else if (character === "}" && open.pop() !== "{") return ["its } has no {", "write a brace as \\}"];
  }
  const unclosed = open.at(-1);
  if (unclosed) return [`its ${unclosed} is not closed`, `write it as \\${unclosed} if it is part of a name`];
  return undefined;
}
