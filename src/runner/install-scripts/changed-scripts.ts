// Asks for changed lifecycle scripts of dependencies, for `rt trust`.
import { findRoot } from "../../config/root-project.ts";
import { colorLabel, printLine } from "../../output.ts";
import { oneLine } from "../../printable.ts";
import { TRUST_VARIABLE } from "../../secrets/trust/trust-variable.ts";
import { askYes, canAsk, printLines } from "../../secrets/trust/yes-no-prompt.ts";
import { UserError } from "../../user-error.ts";
import { realpathSync } from "node:fs";
import { allow, describeChange, fingerprintOf, listChangedScripts } from "./known-scripts.ts";
import { describeRelease } from "./release-date.ts";

/** Asks for each change that has stopped an installation. Returns whether there was one. @throws UserError */
export async function allowChangedScripts(cwd: string): Promise<boolean> {
  const root = realpathSync(findRoot(cwd) ?? cwd);
  const changes = listChangedScripts(root);
  for (const change of changes) {
    const [subject, ...difference] = describeChange(change);
    const lines = [...difference, await describeRelease(change, root)];
    if (!canAsk())
      throw new UserError(
        [subject!, ...lines].join("; "),
        `without a terminal, as in CI: ${TRUST_VARIABLE}=${fingerprintOf(change)}`,
      );
    printLines([colorLabel(`rt: ${subject}`), ...lines.map((line) => `  ${line}`)]);
    if (!askYes("Allow it?")) throw new UserError("Trust denied; the scripts will not be run");
    allow(change);
    printLine(`allowed: install scripts of ${oneLine(change.name)} ${oneLine(change.after.version)}`);
  }
  return changes.length > 0;
}
