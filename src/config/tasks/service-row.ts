// Reads the keys of services and interactive tasks in a row of [tasks], and checks which keys cannot be combined.
import { printable } from "../../printable.ts";
import type { UserError } from "../../user-error.ts";
import { parseDuration } from "./duration.ts";

/** At most one of the first four. Without them, a service is ready when it listens. */
export interface ReadyRule {
  readonly port?: number;
  readonly log?: string;
  readonly http?: string;
  readonly command?: readonly string[];
  /** As written in rtfig.toml; valid. */
  readonly timeout?: string;
}

type Fail = (key: string, problem: string, hint: string) => UserError;

/** Keys that a service or an interactive task cannot have; their names are equal in rtfig.toml and in a rule. */
const CONFLICTS = {
  service: ["interactive", "cache", "retries", "timeout", "outputs", "lock", "remote"],
  interactive: ["cache", "retries", "timeout", "remote"],
} as const;

const REASONS = {
  service: "a service is not cached, retried or limited; remove the line",
  interactive: "an interactive task runs on the terminal once; remove the line",
} as const;

/** Returns the keys that `service` or `interactive` rule out. */
export function conflictingKeys(keys: Readonly<Record<string, unknown>>): readonly string[] {
  if (keys.service === true) return CONFLICTS.service;
  return keys.interactive === true ? CONFLICTS.interactive : [];
}

/** @throws UserError if a row has such a key; `false` says what is true anyway */
export function refuseConflicts(keys: Readonly<Record<string, unknown>>, fail: Fail): void {
  const other = conflictingKeys(keys).find((key) => keys[key] !== undefined && keys[key] !== false);
  if (other === undefined) return;
  const kind = keys.service === true ? "service" : "interactive";
  throw fail(other, `cannot be used with ${kind} = true`, REASONS[kind]);
}

const CHECKS = ["port", "log", "http", "command"] as const;

/** @throws UserError */
export function readReady(value: unknown, fail: Fail): ReadyRule {
  const rule = value as ReadyRule;
  const [first, second] = CHECKS.filter((check) => rule[check] !== undefined);
  if (second !== undefined) throw fail("ready", `has ${first} and ${second}`, "write one of them");
  const { log, http, command, timeout } = rule;
  if (log !== undefined && log.trim() === "")
    throw fail("ready", "has an empty log", 'for example ready = { log = "ready in" }');
  if (http !== undefined && !isHttpUrl(http))
    throw fail(
      "ready",
      `has http = "${printable(http)}", which is not a URL`,
      'for example ready = { http = "http://localhost:3000/health" }',
    );
  if (command !== undefined && (command.length === 0 || command[0] === "" || command.join("").includes("\0")))
    throw fail(
      "ready",
      "has a command without a program",
      'for example ready = { command = ["pg_isready"] }',
    );
  if (timeout !== undefined && parseDuration(timeout) === undefined)
    throw fail("ready", `has timeout = "${printable(timeout)}"`, 'for example "90s" or "2m"');
  return rule;
}

function isHttpUrl(text: string): boolean {
  return ["http:", "https:"].includes(URL.parse(text)?.protocol ?? "");
}
