// RT_TRUST: hashes of what a run without a terminal, as in CI, may do.
import { host } from "../../../platform/processes/process.ts";

export const TRUST_VARIABLE = "RT_TRUST";

export function isGivenTrust(hash: string): boolean {
  const given = host.originalVariable(TRUST_VARIABLE)?.split(",") ?? [];
  return given.some((each) => each.trim() === hash);
}
