// The kinds of run targets. resolution.ts finds one, plan.ts decides how to execute it.
import type { LocatedPackage } from "../../workspace/package-json.ts";

export type RunTarget =
  /** A source file, by its absolute path. */
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "script"; readonly name: string; readonly package: LocatedPackage }
  /** A program: a package's binary, an executable given by path, or a command of the system. */
  | {
      readonly kind: "program";
      readonly path: string;
      readonly name: string;
      /** Arguments in front of the user's. */
      readonly words?: readonly string[];
    }
  | { readonly kind: "stdin" }
  /** Code of -e or -p, or an engine tool: nothing to resolve. */
  | { readonly kind: "none" }
  | { readonly kind: "missing"; readonly name: string; readonly what: "Module" | "Script" }
  | { readonly kind: "unrunnable"; readonly path: string; readonly why: string };

/** `./x`, `../x`, `/x`, `.\x`, `C:\x`, "." and "..": always a file, never a script. */
export function isExplicitPath(name: string): boolean {
  const start = name[0] === "." ? (name[1] === "." ? 2 : 1) : name[1] === ":" ? 2 : 0;
  const next = name[start];
  return next === "/" || next === "\\" || (next === undefined && name[0] === ".");
}
