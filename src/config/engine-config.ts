// Chooses the configuration file for the engine: the user's file, a copy without settings that the engine must not see, or none.
//
// Non-obvious:
// - The copy is in a private directory of the user and is content-addressed, so that a second run reuses it.
// - A credential is never copied. In a file that needs a copy, it has to be the name of a variable.
import { writePrivateFile } from "../../platform/files/private-file.ts";
import { configHint } from "../config-hint.ts";
import { UserError } from "../user-error.ts";
import { type Config, readConfig, type Setting } from "./rtfig.ts";
import type { MutableTomlTable } from "./toml-table.ts";

export type Purpose = "code" | "test" | "tool";

/**
 * Returns the absolute path for the engine; undefined if the file has no setting of the engine.
 * @throws UserError if a copy is needed and the file contains a credential
 */
export function fileForEngine(config: Config, purpose: Purpose, cwd: string): string | undefined {
  const { settings, content, file, overriddenBy } = config;
  const isForEngine = ({ key, path }: Setting) =>
    key.as === undefined && !key.isOfSecrets && !key.isOwn && (purpose !== "code" || path[0] !== "test");
  if (!settings.some((setting) => (purpose === "code" ? isForEngine(setting) : true))) return undefined;
  const mustHide = (setting: Setting) => isHiddenFromEngine(setting, purpose);
  const hidden = overriddenBy ?? settings.find(mustHide)?.path.join(".");
  if (hidden === undefined) return absolute(file, cwd);
  for (const { key, path, value } of settings) {
    if (!key.secret || !isCredential(key.name, String(value))) continue;
    const name = path.join(".");
    throw new UserError(
      `${file}: ${name} cannot be a plaintext credential together with ${hidden}`,
      `set NAME to it in the environment, and ${configHint(path, "$NAME", file)}`,
    );
  }
  const {
    preload: _preload,
    run: _run,
    ...rest
  } = structuredClone(content) as Record<string, MutableTomlTable>;
  if (rest.test) delete rest.test.preload;
  resolvePlugins(rest.serve, cwd);
  return writePrivateFile("config", "json", JSON.stringify(rest));
}

/** Reads a configuration again by its path and returns the file for the engine. @throws UserError */
export function readFileForEngine(file: string | undefined): string | undefined {
  return file === undefined ? undefined : fileForEngine(readConfig(file), "code", process.cwd());
}

/** Returns whether the engine must not see a setting: preloads, which would run before `rt` exists, and rt's shell. */
function isHiddenFromEngine({ path, value }: Setting, purpose: Purpose): boolean {
  const name = path.join(".");
  if (name === "run.shell") return value === "rt";
  return (name === "preload" && purpose === "code") || (name === "test.preload" && purpose === "test");
}

/** Returns whether the value of a key that may hold a credential is one, and not the name of a variable. */
export function isCredential(name: string, value: string): boolean {
  if (value.startsWith("$")) return false;
  return /(?:token|password)$/.test(name) || /\/\/[^/@]*:[^/@]*@/.test(value);
}

/** Resolves plugins to absolute paths: the engine resolves them from the folder of the configuration file. */
function resolvePlugins(serve: MutableTomlTable | undefined, cwd: string): void {
  const pages = serve?.static as MutableTomlTable | undefined;
  if (!pages?.plugins) return;
  pages.plugins = [pages.plugins].flat().map((plugin) => Bun.resolveSync(plugin as string, cwd));
}

function absolute(file: string, cwd: string): string {
  return /^(?:[/\\]|[A-Za-z]:)/.test(file) ? file : `${cwd === "/" ? "" : cwd}/${file}`;
}
