// Distinguishes paths of the machine, which are the same for all checkouts, from those that depend on the checkout.
import { ancestorsOf } from "./stored-path.ts";

/** System directories, which programs do not reach by `..`. */
const SYSTEM = /^\/(?:bin|sbin|lib\w*|usr|etc|opt|var|run|nix|snap|gnu)(?:\/|$)/;

/**
 * Returns whether a path outside the project is the same for all checkouts. Dot files that do not exist are excluded:
 * tools look for them in every parent directory.
 */
export type IsMachinePath = (path: string, isThere: boolean) => boolean;

/** @param home value of HOME @param path value of PATH */
export function machinePaths(home: string, path: string): IsMachinePath {
  // Computed lazily: only entries of another checkout need it.
  const ways = () => {
    const programs = new Set(path.split(":"));
    const named = [home, ...programs].filter((each) => each.startsWith("/"));
    return { programs, all: new Set(named.flatMap((each) => [each, ...ancestorsOf(each)])) };
  };
  let snapshot: ReturnType<typeof ways> | undefined;
  return (each, isThere) => {
    const { programs, all } = (snapshot ??= ways());
    return (
      SYSTEM.test(each) ||
      all.has(each) ||
      (isThere && home !== "" && each.startsWith(`${home}/.`)) ||
      programs.has(each.slice(0, each.lastIndexOf("/")))
    );
  };
}
