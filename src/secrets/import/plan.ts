// Plans which variables of an env file move, and why the others stay.
//
// Invariants:
// - Pure functions. Moving a variable changes no other value: a name that is assigned twice, a value with references, and a
//   value that others reference stay. Naming the variables, together with those that reference them, overrides this.
// - A value with a reference that the engine drops always stays. The dropped text (a "$" in a password) would be lost.
import { MIN_REDACTED_LENGTH } from "../../redaction/minimum-length.ts";
import { looksLikeCredential } from "../scan/credential-heuristics.ts";
import type { Assignment } from "./env-file.ts";

/** Address of an entry in the credential store or in an age file. */
export type CredentialAddress = StoreAddress | FileAddress;

export interface StoreAddress {
  readonly service: string;
  readonly name: string;
  readonly file?: undefined;
}

export interface FileAddress {
  /** Path relative to the folder of rtfig.toml. */
  readonly file: string;
  readonly name: string;
}

export interface Move {
  readonly assignment: Assignment;
  readonly name: string;
  readonly value: string;
  readonly address: CredentialAddress;
  /** The value is too short for redaction, so `redact = false` is written. */
  readonly isShown: boolean;
  /** Variables that the value references. */
  readonly parts: readonly string[];
}

export interface SkippedVariable {
  readonly name: string;
  readonly reason: string;
  /** The variable cannot move even if the user names it. */
  readonly isImpossible: boolean;
}

export interface ImportPlan {
  readonly moves: readonly Move[];
  readonly stays: readonly SkippedVariable[];
}

export interface ImportRequest {
  readonly assignments: readonly Assignment[];
  /** Values as the engine reads them. */
  readonly values: ReadonlyMap<string, string>;
  /** The names that the user chose, "all", or "likely" for likely credentials. */
  readonly chosen: ReadonlySet<string> | "all" | "likely";
  /** Returns whether `rt secrets check` finds a credential in the variable's lines. */
  isFound(name: string): boolean;
  /** Returns whether the environment has a variable. */
  isInEnvironment(name: string): boolean;
  /** Returns the destination of a name, or the reason why it has none. */
  addressOf(name: string): CredentialAddress | string;
}

/** The second group, ":-", marks a reference with a default. */
const REFERENCE = /(?<!\\)\$(?:\{(\w+)(:-)?|(\w+))/g;

export function planImport({
  assignments,
  values,
  chosen,
  isFound,
  isInEnvironment,
  addressOf,
}: ImportRequest): ImportPlan {
  const assigned = new Set(assignments.map(({ name }) => name));
  const isSet = (name: string) => assigned.has(name) || isInEnvironment(name);
  const moves = new Map<string, Move>();
  const stays = new Map<string, SkippedVariable>();
  const isNamed = (name: string) => chosen !== "likely" && (chosen === "all" || chosen.has(name));
  for (const assignment of assignments) {
    const { name } = assignment;
    if (stays.has(name)) continue;
    const stay = (reason: string, isImpossible = true) => stays.set(name, { name, reason, isImpossible });
    const value = values.get(name);
    const isShort = [...(value ?? "")].length < MIN_REDACTED_LENGTH;
    const isDropped = references(assignment, value).some((each) => !each.hasDefault && !isSet(each.name));
    if (moves.delete(name)) stay("is assigned more than once; keep one");
    else if (value === undefined) stay("is not read by the engine");
    else if (!assignment.isWhole) stay("shares its line with other text; put that on a separate line");
    else if (value === "" && !isDropped) stay("is empty");
    else if (value.includes("\0") || !value.isWellFormed()) stay("is not text");
    else if (typeof chosen === "object" && !isNamed(name)) stay("is not named", false);
    else if (typeof chosen === "string" && assignment.raw.includes("$("))
      stay("contains a command, which a shell runs and the engine does not", false);
    else if (chosen === "likely" && !looksLikeCredential(name, value) && !isFound(name) && !isDropped)
      stay("does not look like a credential", false);
    // The name is not shown: it may be a part of a password.
    else if (isDropped)
      stay("references an unset variable, which the engine drops; write \\$ for a literal $");
    else if (typeof chosen === "string" && isShort)
      stay(`has fewer than ${MIN_REDACTED_LENGTH} characters, too few to redact`, false);
    else if (references(assignment, value).length > 0 && !isNamed(name))
      stay(`references ${namesIn(references(assignment, value)).join(", ")}`, false);
    else {
      const address = addressOf(name);
      if (typeof address === "string") stay(address);
      else
        moves.set(name, {
          ...{ assignment, name, value, address, isShown: isShort },
          parts: namesIn(references(assignment, value)),
        });
    }
  }
  keepReferenced(assignments, values, moves, stays);
  return { moves: [...moves.values()], stays: [...stays.values()] };
}

/** Keeps variables that a staying value references: moving them would change that value. */
function keepReferenced(
  assignments: readonly Assignment[],
  values: ReadonlyMap<string, string>,
  moves: Map<string, Move>,
  stays: Map<string, SkippedVariable>,
): void {
  let isDone = false;
  while (!isDone) {
    isDone = true;
    for (const assignment of assignments) {
      if (moves.has(assignment.name)) continue;
      for (const name of namesIn(references(assignment, values.get(assignment.name)))) {
        if (!moves.delete(name)) continue;
        const reason = `is referenced by ${assignment.name}; name both to move them`;
        stays.set(name, { name, reason, isImpossible: true });
        isDone = false;
      }
    }
  }
}

interface VariableReference {
  readonly name: string;
  readonly hasDefault: boolean;
}

/** Returns the references in a value that the engine substituted. */
function references({ raw }: Assignment, value: string | undefined): VariableReference[] {
  if (raw === value) return [];
  return [...raw.matchAll(REFERENCE)].map(([, braced, mark, plain]) => ({
    name: (braced ?? plain)!,
    hasDefault: mark !== undefined,
  }));
}

function namesIn(references: readonly VariableReference[]): string[] {
  return [...new Set(references.map(({ name }) => name))];
}
