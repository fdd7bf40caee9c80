// Matches members with a selector: by name, path or directory. Changes since a commit do not matter here.
//
// Invariants: the root of a declared workspace matches only an exact name or path.
import type { Selector } from "./filter-syntax.ts";
import { isGlob } from "./glob.ts";
import type { MemberPackage } from "./members.ts";
import { parentDirectory } from "./package-json.ts";

/** Loads node:path lazily: most selectors have a name, not a path. */
export function resolveFrom(from: string, path: string): string {
  return process.getBuiltinModule("node:path").resolve(from, path);
}

/** Returns matching positions. Plain names, the common case, are compared in a loop without a function call each. */
export function findMatching(selector: Selector, from: string, members: readonly MemberPackage[]): number[] {
  const { name, path, directory } = selector;
  const matches: number[] = [];
  if (path === "" && directory === "" && name !== "" && !isGlob(name)) {
    for (let index = 0; index < members.length; index++)
      if (members[index]!.name === name) matches.push(index);
    return matches;
  }
  const isMatch = compileMatch(selector, from);
  for (let index = 0; index < members.length; index++) if (isMatch(members[index]!)) matches.push(index);
  return matches;
}

export function compileMatch(
  { name, path, directory, revision }: Selector,
  from: string,
): (member: MemberPackage) => boolean {
  if (path !== "") return compilePathMatch(path, from);
  if (revision !== "" && name === "" && directory === "") return ({ isRoot }) => !isRoot;
  const isName = compileNameMatch(name);
  if (directory === "") return isName;
  const isInDirectory = compileDirectoryMatch(directory, from);
  return (member) => isInDirectory(member) && isName(member);
}

function compileNameMatch(name: string): (member: MemberPackage) => boolean {
  if (name === "") return () => true;
  if (name === "*" || name === "**") return ({ isRoot }) => !isRoot;
  if (!isGlob(name)) return (member) => member.name === name;
  const glob = new Bun.Glob(name);
  return (member) => member.name !== "" && !member.isRoot && glob.match(member.name);
}

function compilePathMatch(path: string, from: string): (member: MemberPackage) => boolean {
  if (!isGlob(path)) {
    const target = resolveFrom(from, path);
    return ({ directory }) => directory === target;
  }
  const glob = compileGlob(path, from);
  return ({ isRoot, directory }) => !isRoot && glob.match(directory);
}

export function compileDirectoryMatch(path: string, from: string): (member: MemberPackage) => boolean {
  if (!isGlob(path)) {
    const parent = resolveFrom(from, path);
    return ({ directory }) => isWithin(directory, parent);
  }
  const glob = compileGlob(path, from);
  return ({ isRoot, directory }) => {
    if (isRoot) return false;
    for (let at: string | null = directory; at !== null; at = parentDirectory(at))
      if (glob.match(at)) return true;
    return false;
  };
}

/** Escapes the glob characters of the current directory. */
function compileGlob(path: string, from: string): InstanceType<typeof Bun.Glob> {
  return new Bun.Glob(resolveFrom(from.replace(/[*?[\]{}!]/g, "\\$&"), path));
}

export function isWithin(directory: string, parent: string): boolean {
  return directory === parent || directory.startsWith(parent.endsWith("/") ? parent : `${parent}/`);
}
