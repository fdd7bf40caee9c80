// Finds rules of rtfig.toml that match no script: misspelled names, or names of removed scripts. Such a rule would otherwise be
// ignored silently.
//
// Invariants:
// - No rule is reported if a package cannot be read, or if rtfig.toml is outside the workspace root: the rule may match others.
import { realPath } from "../../platform/files/real-path.ts";
import type { MemberPackage, Workspace } from "../workspace/members.ts";
import { scriptNames, scriptOf } from "../workspace/package-json.ts";

export interface ScriptRules {
  /** Table of the rules, such as "run.cache". */
  readonly section: string;
  /** Folder of rtfig.toml. */
  readonly folder: string;
  readonly names: readonly string[];
  /** Returns whether a rule matches a script of the package. */
  isForOne(name: string, member: Named): boolean;
}

type Named = Pick<MemberPackage, "name" | "manifest" | "path">;

/** Returns whether a package has the script: `build` for any package, or `web#build`. */
export function isNamed(name: string, member: Named): boolean {
  if (scriptOf(member.manifest, name) !== null) return true;
  const start = `${member.name}#`;
  return name.startsWith(start) && scriptOf(member.manifest, name.slice(start.length)) !== null;
}

/** Rules reported for one section. */
const MAX_REPORTED = 3;
/** Characters of a name. */
const MAX_NAME_LENGTH = 100;

/** Returns one line per unmatched rule, up to a limit. The caller escapes the lines: the project chose the names. */
export function describeStrayRules(
  rules: readonly ScriptRules[],
  { root, members, broken }: Workspace,
): string[] {
  if (broken.length > 0) return [];
  return rules.flatMap(({ section, folder, names, isForOne }) => {
    if (names.length === 0 || realPath(folder) !== root) return [];
    const unmatched = names.filter((name) => !members.some((member) => isForOne(name, member)));
    const lines = unmatched.slice(0, MAX_REPORTED).map((name) => describe(section, name, members));
    const rest = unmatched.length - lines.length;
    return rest > 0 ? [...lines, `[${section}]: no package has ${rest} more of these scripts`] : lines;
  });
}

function describe(section: string, name: string, members: readonly MemberPackage[]): string {
  const scripts = new Set(
    members.flatMap((member) =>
      scriptNames(member.manifest).map((script) =>
        name.includes("#") ? `${member.name}#${script}` : script,
      ),
    ),
  );
  const { suggestNames } = require("../did-you-mean.ts") as typeof import("../did-you-mean.ts");
  const [similar] = suggestNames(name, scripts);
  const shown = name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}...` : name;
  const hint = similar === undefined ? "" : `; did you mean "${similar}"?`;
  return `[${section}]: no package has a script "${shown}"${hint}`;
}
