// Selects the names that count in a listing of a folder above the project (/tmp). Unrelated files come and go there.
//
// Invariants:
// - Names are ignored only if the folder was listed on a walk from `/` down into the project, as by esbuild and Bun. After any
//   other listing (`ls ..`) all names count.
// - Packages, configuration files, lockfiles and repositories always count.
// - A name counts if it differs only in its extension from a path that the script used.
import { basename, dirname } from "node:path";
import type { TracedPath } from "../../../platform/tracing/contract/tracing.ts";
import { isBelow } from "../relocation/stored-path.ts";

const FOLDERS = /^(?:node_modules|\.git|\.hg|\.svn|\.yarn|\.config|\.pnp.*)$/;
const FILES =
  /\.(?:json[5c]?|toml|ya?ml|lockb?)$|(?:config|file|rc)\.[cm]?[jt]sx?$|^\.(?:env.*|pnp.*|git|.*rc|.*ignore|.*config|.*-version|tool-versions)$|^(?:Makefile|BUILD|WORKSPACE)$/i;

/** Files and folders of a home directory that do not belong to a project, and differ for each user. */
const PERSONAL =
  /^\.(?:bash|zsh|profile|vim|nano|input|screen|tmux|gitconfig|wget|curl|psql|python|lynx|dir_colors|config$|cshrc|kshrc|mkshrc|npmrc|yarnrc|nvmrc|netrc|xinitrc|gemrc|irbrc|pypirc|condarc|docker)/;

/** @param name prefixed with the letter of its type */
export function isSought(name: string, stems: readonly string[]): boolean {
  const text = name.slice(1);
  if (PERSONAL.test(text) && !stems.includes(stemOf(text))) return false;
  const isFolder = name[0] !== "f" && FOLDERS.test(text);
  return isFolder || (name[0] !== "d" && FILES.test(text)) || stems.includes(stemOf(text));
}

/** Returns the stems that count; undefined if all names count. */
export function stemsFor(
  { path, walks, isListedAlone }: TracedPath,
  root: string,
  used: ReadonlyMap<string, ReadonlySet<string>>,
): readonly string[] | undefined {
  const isAbove = path !== root && (path === "/" || isBelow(root, path));
  if (!isAbove || isListedAlone || !walks || walks.length === 0) return undefined;
  const isWalk = walks.every((end) => end === root || isBelow(end, root));
  return isWalk ? [...(used.get(path) ?? [])].sort() : undefined;
}

/** Collects, for each folder above the project, the stems of the paths in it that the script used. */
export function collectUsed(
  paths: readonly TracedPath[],
  root: string,
): ReadonlyMap<string, ReadonlySet<string>> {
  const used = new Map<string, Set<string>>();
  for (const { path } of paths) {
    const folder = dirname(path);
    const isAbove = folder === "/" || isBelow(root, folder);
    if (!isAbove || path === root || isBelow(root, path) || path === "/") continue;
    const stems = used.get(folder) ?? new Set();
    stems.add(stemOf(basename(path)));
    used.set(folder, stems);
  }
  return used;
}

/** Returns `page` for `page.test.ts`, and `.env` for `.env.local`. */
function stemOf(name: string): string {
  const end = name.indexOf(".", 1);
  return end < 0 ? name : name.slice(0, end);
}
