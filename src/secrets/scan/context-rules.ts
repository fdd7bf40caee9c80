// Finds credentials by context: env files, .npmrc, scripts of package.json, registries of rtfig.toml and bunfig.toml. The name
// in such a file identifies a credential, whatever the value looks like.
//
// Invariants:
// - Pure functions. A value that consists of references ("$NPM_TOKEN", "$(cat token)") is not a credential, unless the rest
//   looks like one ("${NPM_TOKEN:-npm_4f81}").
import { basename } from "node:path";
import { isCredential } from "../../config/engine-config.ts";
import { lineOf } from "../../config/toml-line.ts";
import { parseConfig } from "../../config/rtfig.ts";
import { type Assignment, findAssignments } from "../import/env-file.ts";
import type { LeakFinding, CheckedText } from "./finding.ts";
import { isPlaceholder, looksLikeCredential } from "./credential-heuristics.ts";
import { stripReferences } from "./variable-references.ts";
import { readWord } from "./shell-word.ts";

type ContextRule = (source: CheckedText) => LeakFinding[];

/** Rules by file name; the first match applies. */
const RULES: readonly (readonly [name: RegExp, rule: ContextRule])[] = [
  [/^(?:\.env(?:rc|\..+)?|.+\.env|\.dev\.vars(?:\..+)?)$/s, findVariables],
  [/^\.npmrc$/, findRegistryLogins],
  [/^package\.json$/, findInScripts],
  [/^(?:rtfig|bunfig)\.toml$/, findRegistryTokens],
];

export function findByContext(source: CheckedText): LeakFinding[] {
  return RULES.find(([name]) => name.test(basename(source.file)))?.[1](source) ?? [];
}

/** Returns whether such a file is scanned even if git does not track it. */
export function isCredentialFile(file: string): boolean {
  return RULES.some(([name]) => name.test(basename(file)));
}

function isPlainCredential(name: string, value: string): boolean {
  return looksLikeCredential(name, stripReferences(value).trim());
}

/** Prefix of values that dotenvx encrypted. */
const ENCRYPTED = "encrypted:";

function findVariables({ file, text }: CheckedText): LeakFinding[] {
  const isShellFile = basename(file) === ".envrc";
  return findAssignments(text)
    .filter((each) => !each.raw.startsWith(ENCRYPTED) && !isCommand(each, isShellFile))
    .filter(({ name, raw }) => isPlainCredential(name, raw))
    .map(({ name, line }) => ({ file, line, rule: "variable", name }));
}

/** Backquotes are a command in a shell (.envrc) and a string for the engine. In other files only a program with arguments counts. */
function isCommand({ quote, raw }: Assignment, isShellFile: boolean): boolean {
  return quote === "`" && (isShellFile || /^[\w./~][\w./~-]*[ \t]+\S.*$/.test(raw));
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

/** Any value of a login setting counts. The default of a variable reference has to look like a credential. */
export function isLoginValue(value: string): boolean {
  const rest = stripReferences(value);
  return rest === value ? !isPlaceholder(value) : looksLikeCredential("token", rest);
}

/** Both match up to the value. A word that begins with "-" after an option is another option. */
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
    const position = text.indexOf(JSON.stringify(name), Math.max(0, text.indexOf('"scripts"') + 1));
    return [{ file, line: text.slice(0, Math.max(0, position)).split("\n").length, rule: "script", name }];
  });
}

function hasCredential(script: string): boolean {
  const found = [...script.matchAll(ASSIGNED), ...script.matchAll(OPTION)];
  return found.some(({ 0: start, 1: name, index }) =>
    isPlainCredential(name!.replaceAll("-", "_"), readWord(script, index + start.length)),
  );
}

/** Returns nothing for an invalid file; secretlint's rules still scan it. */
function findRegistryTokens({ file, text }: CheckedText): LeakFinding[] {
  try {
    return parseConfig(text, file)
      .settings.filter(({ key, value }) => key.secret && isCredential(key.name, String(value)))
      .map(({ path }) => ({ file, line: lineOf(text, path), rule: "config", name: path.join(".") }));
  } catch {
    return [];
  }
}
