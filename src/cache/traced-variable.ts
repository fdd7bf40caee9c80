// RT_TRACED: marks a traced script, so that a nested rt does not trace again.
//
// Non-obvious: it is in a separate file, because runs of many scripts read it without the code of the cache.
import { host } from "../../platform/processes/process.ts";

export const TRACED_VARIABLE = "RT_TRACED";

export function isInsideTracedScript(): boolean {
  return host.originalVariable(TRACED_VARIABLE) !== undefined;
}
