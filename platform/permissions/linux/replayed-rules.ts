// Describes the rules of a child for a start memo. The front starts the same child by it (../../native/linux/front/restricted.h).
import type { ChildPermissions } from "../contract/permissions.ts";
import { landlockVersion } from "./landlock.ts";
import { isInsidePermissions } from "./nesting.ts";
import { ruleLines } from "./rule-list.ts";

export interface ReplayedRules {
  /** Version of Landlock. */
  readonly version: string;
  /** As in `guard_request`. */
  readonly network: string;
  /** Without the terminals, which the front adds. */
  readonly rules: readonly string[];
}

/** A connection to this host is permitted. */
const LOOPBACK = "1";

/** @throws an Error for other rules than the defaults */
export function describeRules({ rules, isTraced }: ChildPermissions): ReplayedRules {
  const isDefault = rules.network === "loopback" && rules.hosts.length === 0 && rules.isFirst;
  if (!isDefault || isTraced || isInsidePermissions()) throw new Error("The child has other rules");
  const files = rules.files.filter(({ path }) => !path.startsWith("/dev/pts/"));
  return { version: `${landlockVersion()}`, network: LOOPBACK, rules: ruleLines({ ...rules, files }) };
}
