// Rules about places where credentials are written: files of variables, .npmrc, scripts of a package.json, and the
// registries of rtfig.toml and bunfig.toml. There a name says what a value is, whatever it looks like.
//
// Contract: pure. A value that only mentions variables and commands ("$NPM_TOKEN", "$(cat token)") is no credential, unless
// what it is without them looks like one ("${NPM_TOKEN:-npm_4f81}").
import { basename } from "node:path";
import { isCredential } from "../../config/engine-config.ts";
import { lineOf } from "../../config/toml-line.ts";
import { parseConfig } from "../../config/rtfig.ts";
import { type Assignment, findAssignments } from "../import/env-file.ts";
import type { LeakFinding, CheckedText } from "./finding.ts";
import { isPlaceholder, looksLikeCredential } from "./credential-heuristics.ts";
import { withoutMentions } from "./variable-references.ts";
import { readWord } from "./shell-word.ts";

type ContextRule = (source: CheckedText) => LeakFinding[];

/** By the name of a file; the first that fits. */
const RULES: readonly (readonly [name: RegExp, rule: ContextRule])[] = [
  [/^(?:\.env(?:rc|\..+)?|.+\.env|\.dev\.vars(?:\..+)?)$/s, findVariables],
  [/^\.npmrc$/, findRegistryLogins],
  [/^package\.json$/, findInScripts],
  [/^(?:rtfig|bunfig)\.toml$/, findRegistryTokens],
];

export function findByContext(source: CheckedText): LeakFinding[] {
  return RULES.find(([name]) => name.test(basename(source.file)))?.[1](source) ?? [];
}

/** Whether credentials are looked for in such a file even where git does not know it. */
export function isPlaceOfCredentials(file: string): boolean {
  return RULES.some(([name]) => name.test(basename(file)));
}

function isPlainCredential(name: string, value: string): boolean {
  return looksLikeCredential(name, withoutMentions(value).trim());
}

/** As dotenvx writes it. */
const ENCRYPTED = "encrypted:";

function findVariables({ file, text }: CheckedText): LeakFinding[] {
  const isShells = basename(file) === ".envrc";
  return findAssignments(text)
    .filter((each) => !each.raw.startsWith(ENCRYPTED) && !isCommand(each, isShells))
    .filter(({ name, raw }) => isPlainCredential(name, raw))
    .map(({ name, line }) => ({ file, line, rule: "variable", name }));
}

/** Backquotes are a shell's for a command, and the engine's for a text. There, a program with arguments is a command. */
function isCommand({ quote, raw }: Assignment, isShells: boolean): boolean {
  return quote === "`" && (isShells || /^[\w./~][\w./~-]*[ \t]+\S.*$/.test(raw));
}

function findRegistryLogins({ file, text }: CheckedText): LeakFinding[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    const [, name, value] = /^\s*([^#;=\s][^=]*?)\s*=\s*["']?(.*?)["']?\s*$/.exec(line) ?? [];
    const isLogin = name !== undefined && /(?:^|:)_(?:authToken|auth|password)$/.test(name);
    return isLogin && isLoginValue(value!)
      ? [{ file, line: index + 1, rule: "npmrc", name: name.slice(name.lastIndexOf(":") + 1) }]
      : [];
  });
}

/** Of a place that has nothing but logins: whatever it is, it is one. A variable's default has to look like it. */
export function isLoginValue(value: string): boolean {
  const rest = withoutMentions(value);
  return rest === value ? !isPlaceholder(value) : looksLikeCredential("token", rest);
}

/** Up to the value. What follows an option and begins with "-" is another option. */
const ASSIGNED = /(?:^|[\s;&|(])([A-Za-z_]\w*)=/g;
const OPTION = /(?:^|\s)--?([a-z-]*(?:token|password|passwd|secret|api-?key|access-?key))(?:=|\s+)(?!-)/gi;

function findInScripts({ file, text }: CheckedText): LeakFinding[] {
  let scripts: unknown;
  try {
    ({ scripts } = JSON.parse(text) as { scripts?: unknown });
  } catch {
    return [];
  }
  return Object.entries((scripts ?? {}) as Record<string, unknown>).flatMap(([name, script]) => {
    if (typeof script !== "string" || !hasCredential(script)) return [];
    const place = text.indexOf(JSON.stringify(name), Math.max(0, text.indexOf('"scripts"') + 1));
    return [{ file, line: text.slice(0, Math.max(0, place)).split("\n").length, rule: "script", name }];
  });
}

function hasCredential(script: string): boolean {
  const found = [...script.matchAll(ASSIGNED), ...script.matchAll(OPTION)];
  return found.some(({ 0: start, 1: name, index }) =>
    isPlainCredential(name!.replaceAll("-", "_"), readWord(script, index + start.length)),
  );
}

/** What is no such file the rules of the list still see. */
function findRegistryTokens({ file, text }: CheckedText): LeakFinding[] {
  try {
    return parseConfig(text, file)
      .settings.filter(({ key, value }) => key.secret && isCredential(key.name, String(value)))
      .map(({ path }) => ({ file, line: lineOf(text, path), rule: "config", name: path.join(".") }));
  } catch {
    return [];
  }
}
