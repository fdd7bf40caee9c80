// Rules of rtfig.toml that are named after scripts, and are for none: mistyped, or left over from a script that has another
// name by now. Nobody would tell otherwise: a script that no rule is for is nothing out of the ordinary.
//
// Contract: only who knows all packages can tell. Nothing is said where one of them cannot be read, nor of a file that lies
// elsewhere than they begin: it may be for others, too.
import { realPath } from "../../platform/files/real-path.ts";
import type { MemberPackage, Workspace } from "../workspace/members.ts";
import { scriptNames, scriptOf } from "../workspace/package-json.ts";

export interface ScriptRules {
  /** As in "run.cache". */
  readonly section: string;
  /** Of rtfig.toml. */
  readonly folder: string;
  readonly names: readonly string[];
  /** Whether one is for a script of this package. */
  isForOne(name: string, member: Named): boolean;
}

type Named = Pick<MemberPackage, "name" | "manifest">;

/** `build`, of whichever package, or `web#build`. */
export function isNamed(name: string, member: Named): boolean {
  if (scriptOf(member.manifest, name) !== null) return true;
  const start = `${member.name}#`;
  return name.startsWith(start) && scriptOf(member.manifest, name.slice(start.length)) !== null;
}

/** Of one section. */
const MOST_TOLD = 3;
/** Characters of a name. */
const LONGEST = 100;

/** A line for people for each, as long as there are few. What stands in it others have chosen. */
export function describeStrayRules(
  rules: readonly ScriptRules[],
  { root, members, broken }: Workspace,
): string[] {
  if (broken.length > 0) return [];
  return rules.flatMap(({ section, folder, names, isForOne }) => {
    if (names.length === 0 || realPath(folder) !== root) return [];
    const stray = names.filter((name) => !members.some((member) => isForOne(name, member)));
    const lines = stray.slice(0, MOST_TOLD).map((name) => describe(section, name, members));
    const rest = stray.length - lines.length;
    return rest > 0 ? [...lines, `[${section}] names ${rest} more that no package has as a script`] : lines;
  });
}

function describe(section: string, name: string, members: readonly MemberPackage[]): string {
  const known = new Set(
    members.flatMap((member) =>
      scriptNames(member.manifest).map((script) =>
        name.includes("#") ? `${member.name}#${script}` : script,
      ),
    ),
  );
  const { suggestNames } = require("../did-you-mean.ts") as typeof import("../did-you-mean.ts");
  const [similar] = suggestNames(name, known);
  const shown = name.length > LONGEST ? `${name.slice(0, LONGEST)}...` : name;
  const hint = similar === undefined ? "" : `; did you mean "${similar}"?`;
  return `[${section}] names "${shown}", which no package has as a script${hint}`;
}
