// The file that the engine reads: the user's own, a copy without what the engine must not see, or none.
//
// The copy lies in the user's own directory for such things and is named after its content, so that a second
// run finds it. A credential is never copied: in a file that needs a copy it must be the name of a variable.
import { writePrivateFile } from "../../platform/files/private-file.ts";
import { UserError } from "../user-error.ts";
import { type Config, readConfig, type Setting } from "./rtfig.ts";

/** What the engine is about to do: run code, run tests, or anything else. */
export type Purpose = "code" | "test" | "tool";

/** The path to name to the engine, absolute; undefined when nothing in the file is the engine's business. */
export function fileForEngine(config: Config, purpose: Purpose, cwd: string): string | undefined {
  const { settings, content, file, overriddenBy } = config;
  const isEngines = ({ key, path }: Setting) =>
    key.as === undefined && !key.isOfSecrets && !key.isOwn && (purpose !== "code" || path[0] !== "test");
  if (!settings.some((setting) => (purpose === "code" ? isEngines(setting) : true))) return undefined;
  const isForeign = (setting: Setting) => isUnfit(setting, purpose);
  const foreign = overriddenBy ?? settings.find(isForeign)?.path.join(".");
  if (foreign === undefined) return absolute(file, cwd);
  for (const { key, path, value } of settings) {
    if (!key.secret || !isCredential(key.name, String(value))) continue;
    const name = path.join(".");
    throw new UserError(
      `${file}: ${name} is a credential, and beside ${foreign} it may not be`,
      `write ${name} = "$NAME" and set NAME in the environment`,
    );
  }
  const { preload: _preload, run: _run, ...rest } = structuredClone(content) as Record<string, Table>;
  if (rest.test) delete rest.test.preload;
  anchorPlugins(rest.serve, cwd);
  return writePrivateFile("config", "json", JSON.stringify(rest));
}

/** The same for a file that was read before and is only known by its path. */
export function readFileForEngine(file: string | undefined): string | undefined {
  return file === undefined ? undefined : fileForEngine(readConfig(file), "code", process.cwd());
}

type Table = Record<string, unknown>;

/** Preloads that the engine would run before `rt` is there, and a shell that it does not know. */
function isUnfit({ path, value }: Setting, purpose: Purpose): boolean {
  const name = path.join(".");
  if (name === "run.shell") return value === "rt";
  return (name === "preload" && purpose === "code") || (name === "test.preload" && purpose === "test");
}

/** Whether the value of a key that may hold a credential is one, and not the name of a variable. */
export function isCredential(name: string, value: string): boolean {
  if (value.startsWith("$")) return false;
  return /(?:token|password)$/.test(name) || /\/\/[^/@]*:[^/@]*@/.test(value);
}

/** The engine looks for plugins from where the file is. */
function anchorPlugins(serve: Table | undefined, cwd: string): void {
  const pages = serve?.static as Table | undefined;
  if (!pages?.plugins) return;
  pages.plugins = [pages.plugins].flat().map((plugin) => Bun.resolveSync(plugin as string, cwd));
}

function absolute(file: string, cwd: string): string {
  return /^(?:[/\\]|[A-Za-z]:)/.test(file) ? file : `${cwd === "/" ? "" : cwd}/${file}`;
}
