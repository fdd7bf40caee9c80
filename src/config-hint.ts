// Formats the configuration in hints as lines that can be pasted into rtfig.toml.
//
// Invariants:
// - Each result is one line of printable text, and valid TOML under its section, whatever characters the names have.
import { quoted } from "./printable.ts";

type TomlValue = string | boolean | number | readonly string[];

/**
 * Returns the end of a hint: `add to [run.remote] of rtfig.toml: url = "grpcs://host"`.
 * @param path the names of the section, then the key
 */
export function configHint(path: readonly string[], value: TomlValue, file = "rtfig.toml"): string {
  const section = path.slice(0, -1).map(tomlKey).join(".");
  return `add to [${section}] of ${file}: ${tomlKey(path.at(-1)!)} = ${tomlValue(value)}`;
}

/** Formats a key: bare if possible, else in quotes. */
export function tomlKey(name: string): string {
  return /^[\w-]+$/.test(name) ? name : quoted(name);
}

export function tomlValue(value: TomlValue): string {
  if (typeof value === "boolean" || typeof value === "number") return String(value);
  return typeof value === "string" ? quoted(value) : `[${value.map(quoted).join(", ")}]`;
}
