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
  readonly chosen: ReadonlySet<string> | "all" | "likely";
  /** Returns whether `rt secrets check` finds a credential in the variable's lines. */
  isFound(name: string): boolean;
  isInEnvironment(name: string): boolean;
  /** Returns the destination of a name, or the reason why it has none. */
  addressOf(name: string): CredentialAddress | string;
}

/** The second group, ":-", marks a reference with a default. */
const REFERENCE = /(?<!\\)\$(?:\{(\w+)(:-)?|(\w+))/g;

/** A variable, as the rules see it. */
interface ImportCandidate extends Pick<ImportRequest, "chosen"> {
  readonly assignment: Assignment;
  /** Undefined if the engine reads none. */
  readonly value: string | undefined;
  readonly isRepeated: boolean;
  /** The user wants this variable to move. */
  readonly isNamed: boolean;
  /** The user has named single variables, and not this one. */
  readonly isOmitted: boolean;
  readonly isShort: boolean;
  /** The engine drops a part of the value. */
  readonly isDropped: boolean;
  /** Names that the value references. */
  readonly parts: readonly string[];
  isLikely(): boolean;
}

interface StayRule {
  applies(candidate: ImportCandidate): boolean;
  /** Follows the variable's name in a message. */
  readonly reason: string | ((candidate: ImportCandidate) => string);
  /** The variable moves if the user names it. */
  readonly isOptional?: boolean;
}

/** In order: the first rule that applies gives the reason. */
const STAY_RULES: readonly StayRule[] = [
  { applies: ({ isRepeated }) => isRepeated, reason: "is assigned more than once; keep one" },
  { applies: ({ value }) => value === undefined, reason: "is not read by the engine" },
  {
    applies: ({ assignment }) => !assignment.isWhole,
    reason: "shares its line with other text; put that on a separate line",
  },
  { applies: ({ value, isDropped }) => value === "" && !isDropped, reason: "is empty" },
  { applies: ({ value }) => value!.includes("\0") || !value!.isWellFormed(), reason: "is not text" },
  { applies: ({ isOmitted }) => isOmitted, reason: "is not named", isOptional: true },
  {
    applies: ({ chosen, assignment }) => typeof chosen === "string" && assignment.raw.includes("$("),
    reason: "contains a command, which a shell runs and the engine does not",
    isOptional: true,
  },
  {
    applies: ({ chosen, isDropped, isLikely }) => chosen === "likely" && !isDropped && !isLikely(),
    reason: "does not look like a credential",
    isOptional: true,
  },
  {
    // The name is not shown: it may be a part of a password.
    applies: ({ isDropped }) => isDropped,
    reason: "references an unset variable, which the engine drops; write \\$ for a literal $",
  },
  {
    applies: ({ chosen, isShort }) => typeof chosen === "string" && isShort,
    reason: `has fewer than ${MIN_REDACTED_LENGTH} characters, too few to redact`,
    isOptional: true,
  },
  {
    applies: ({ isNamed, parts }) => parts.length > 0 && !isNamed,
    reason: ({ parts }) => `references ${parts.join(", ")}`,
    isOptional: true,
  },
];

export function planImport(request: ImportRequest): ImportPlan {
  const { assignments, values, chosen, isFound, isInEnvironment, addressOf } = request;
  const assigned = new Set(assignments.map(({ name }) => name));
  const isSet = (name: string) => assigned.has(name) || isInEnvironment(name);
  const moves = new Map<string, Move>();
  const stays = new Map<string, SkippedVariable>();
  for (const assignment of assignments) {
    const { name } = assignment;
    if (stays.has(name)) continue;
    const value = values.get(name);
    const found = references(assignment, value);
    const isNamed = chosen === "all" || (typeof chosen === "object" && chosen.has(name));
    const candidate: ImportCandidate = {
      ...{ assignment, value, chosen, isNamed },
      isRepeated: moves.delete(name),
      isOmitted: typeof chosen === "object" && !isNamed,
      isShort: [...(value ?? "")].length < MIN_REDACTED_LENGTH,
      isDropped: found.some((each) => !each.hasDefault && !isSet(each.name)),
      parts: namesIn(found),
      isLikely: () => looksLikeCredential(name, value!) || isFound(name),
    };
    const rule = STAY_RULES.find(({ applies }) => applies(candidate));
    const address = rule ? undefined : addressOf(name);
    if (rule) {
      const reason = typeof rule.reason === "string" ? rule.reason : rule.reason(candidate);
      stays.set(name, { name, reason, isImpossible: !rule.isOptional });
    } else if (typeof address === "string") stays.set(name, { name, reason: address, isImpossible: true });
    else {
      const { isShort, parts } = candidate;
      moves.set(name, { assignment, name, value: value!, address: address!, isShown: isShort, parts });
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
