// Chooses the test files for a source file: the folder of the same name in test/, and the folders of the table below.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { REPOSITORY } from "../support/rt.ts";

/** Folders of test/ whose names differ from the source folder. The longest matching path applies. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  "platform/files": ["posix", "cache", "runner"],
  "platform/native": ["posix", "cache/tracing", "runner"],
  "platform/native/linux/recorder": ["cache/tracing"],
  "platform/processes": ["posix", "runner", "tasks"],
  "platform/secrets": ["secrets"],
  "platform/secrets/macos": ["macos"],
  "platform/terminal": ["runner"],
  "platform/tracing": ["cache/tracing", "cache/entry"],
  src: ["cli", "runner"],
  "src/cache/key": ["cache/entry", "cache/tracing"],
  "src/cli/upgrade": ["upgrade"],
  platform: ["posix", "cli"],
  "src/config/settings": ["config", "options"],
  "src/runner/script": ["runner"],
  "src/secrets/trust": ["secrets"],
};

/**
 * Returns names such as "tasks/signals" for test/tasks/signals.test.ts. Tests whose names begin with the source file's name
 * are first, because they are the most likely to fail.
 */
export function findRelatedTests(file: string): string[] {
  const names = foldersOf(dirname(file)).flatMap(listTests);
  const stem = file.replace(/^.*\/|\.ts$/g, "");
  const isNamesake = (name: string) => name.slice(name.lastIndexOf("/") + 1).startsWith(stem);
  return names.toSorted((a, b) => Number(isNamesake(b)) - Number(isNamesake(a)));
}

function foldersOf(folder: string): readonly string[] {
  if (folder.split("/")[2] === "windows") return ["windows"];
  const named = FOLDERS[folder];
  if (named) return named;
  const own = folder.replace(/^src\//, "");
  if (folder.includes("/") && existsSync(join(REPOSITORY, "test", own))) return [own];
  if (!folder.includes("/")) return [folder];
  return foldersOf(dirname(folder));
}

function listTests(folder: string): string[] {
  const paths = [...new Bun.Glob("**/*.test.ts").scanSync(join(REPOSITORY, "test", folder))];
  return paths.map((path) => `${folder}/${path.replace(/\.test\.ts$/, "")}`).toSorted();
}
