// Rules about places where credentials are written: files of variables, .npmrc, scripts of a package.json, and the
// registries of rtfig.toml and bunfig.toml. There a name says what a value is, whatever it looks like.
//
// Contract: pure. A value that only mentions a variable ("$NPM_TOKEN", "${NPM_TOKEN}") is no credential.
import { basename } from "node:path";
import { isCredential } from "../../config/handover.ts";
import { lineOf } from "../../config/location.ts";
import { parseConfig } from "../../config/rtfig.ts";
import { findAssignments } from "../import/env-file.ts";
import type { Finding, Source } from "./finding.ts";
import { looksSecret } from "./likeness.ts";

type Rule = (source: Source) => Finding[];

/** By the name of a file; the first that fits. */
const RULES: readonly (readonly [name: RegExp, rule: Rule])[] = [
  [/^(?:\.env(?:rc|\..+)?|.+\.env|\.dev\.vars(?:\..+)?)$/s, findVariables],
  [/^\.npmrc$/, findRegistryLogins],
  [/^package\.json$/, findInScripts],
  [/^(?:rtfig|bunfig)\.toml$/, findRegistryTokens],
];

export function findByContext(source: Source): Finding[] {
  return RULES.find(([name]) => name.test(basename(source.file)))?.[1](source) ?? [];
}

/** Whether credentials are looked for in such a file even where git does not know it. */
export function isPlaceOfCredentials(file: string): boolean {
  return RULES.some(([name]) => name.test(basename(file)));
}

function isMention(value: string): boolean {
  return /^(?:\$\{?\w+(?::?[-?+][^}]*)?\}?|\$\([^)]*\)|encrypted:.*)$/s.test(value);
}

function findVariables({ file, text }: Source): Finding[] {
  return findAssignments(text)
    .filter(({ name, raw }) => !isMention(raw) && looksSecret(name, raw))
    .map(({ name, line }) => ({ file, line, rule: "variable", name }));
}

function findRegistryLogins({ file, text }: Source): Finding[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    const [, name, value] = /^\s*([^#;=\s][^=]*?)\s*=\s*["']?(.*?)["']?\s*$/.exec(line) ?? [];
    const isLogin = name !== undefined && /(?:^|:)_(?:authToken|auth|password)$/.test(name);
    return isLogin && value !== "" && !isMention(value!)
      ? [{ file, line: index + 1, rule: "npmrc", name: name.slice(name.lastIndexOf(":") + 1) }]
      : [];
  });
}

const ASSIGNED = /(?:^|[\s;&|(])([A-Za-z_]\w*)=("[^"]*"|'[^']*'|[^\s;&|)"']+)/g;
const OPTION =
  /(?:^|\s)--?([a-z-]*(?:token|password|passwd|secret|api-?key|access-?key))(?:=|\s+)("[^"]*"|'[^']*'|[^\s;&|)"'-][^\s;&|)"']*)/gi;

function findInScripts({ file, text }: Source): Finding[] {
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
  const plain = (value: string) => value.replace(/^(["'])(.*)\1$/s, "$2");
  const found = [...script.matchAll(ASSIGNED), ...script.matchAll(OPTION)];
  return found.some(
    ([, name, value]) => !isMention(plain(value!)) && looksSecret(name!.replaceAll("-", "_"), plain(value!)),
  );
}

/** What is no such file the rules of the list still see. */
function findRegistryTokens({ file, text }: Source): Finding[] {
  try {
    return parseConfig(text, file)
      .settings.filter(({ key, value }) => key.secret && isCredential(key.name, String(value)))
      .map(({ path }) => ({ file, line: lineOf(text, path), rule: "config", name: path.join(".") }));
  } catch {
    return [];
  }
}
