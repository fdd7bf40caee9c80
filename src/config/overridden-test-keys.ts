// Removes keys of [test] that a flag of `rt test` overrides from the configuration.
//
// Non-obvious: for most of these keys the engine prefers its file over its flags, so it must not see the keys.
import type { Config, Setting } from "./rtfig.ts";
import type { MutableTomlTable } from "./toml-table.ts";

/** @param words arguments of `rt test` */
export function dropOverridden(config: Config, words: readonly string[]): Config {
  const end = words.indexOf("--");
  const given = (end < 0 ? words : words.slice(0, end)).map((word) => word.split("=", 1)[0]!);
  const flagOf = ({ key, value }: Setting) =>
    value === true ? undefined : key.flags?.find((flag) => given.includes(flag));
  const settings = config.settings.filter((setting) => flagOf(setting) === undefined);
  const overridden = config.settings.filter((setting) => !settings.includes(setting));
  if (overridden.length === 0) return config;
  const content = structuredClone(config.content);
  for (const { path } of overridden) remove(content, path);
  return { ...config, content, settings, overriddenBy: flagOf(overridden[0]!) };
}

function remove(content: MutableTomlTable, path: readonly string[]): void {
  let table = content;
  for (const name of path.slice(0, -1)) table = table[name] as MutableTomlTable;
  delete table[path.at(-1)!];
}
