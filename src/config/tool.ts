// What a tool of the engine gets of rtfig.toml beside the file itself.
import type { Config } from "./rtfig.ts";

/** A tool's own words may name the configuration; it is ours to read first. */
export function findOwnConfig(args: readonly string[]): { args: readonly string[]; path?: string } {
  const end = args.indexOf("--");
  const index = args.findIndex(
    (word, position) => (end < 0 || position < end) && (word === "--config" || word.startsWith("--config=")),
  );
  if (index < 0) return { args };
  const isSplit = args[index] === "--config";
  const path = isSplit ? args[index + 1] : args[index]!.slice("--config=".length);
  if (path === undefined) return { args };
  return { args: [...args.slice(0, index), ...args.slice(index + (isSplit ? 2 : 1))], path };
}

/** The engine would run these before `rt` is there: see rtfig.ts. */
export function testPreloads({ settings }: Config): string[] {
  const setting = settings.find(({ path }) => path.join(".") === "test.preload");
  return [setting?.value ?? []].flat().map((module) => `--preload=${String(module)}`);
}
