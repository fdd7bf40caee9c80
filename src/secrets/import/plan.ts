// Which variables of a file move to where credentials are kept, and why the others stay.
//
// Contract: pure. What moves is one assignment whose value is all that is lost with it: a name that is assigned twice, a
// value that is put together from other variables, and one that others are put together from stay, unless they are
// named, and then with all that belongs to them. A value in which the engine puts nothing for a variable that does not exist
// stays in any case: what it drops, a password's "$" and more, would be lost.
import { looksLikeCredential } from "../scan/credential-heuristics.ts";
import type { Assignment } from "./env-file.ts";

/** Of an entry of the credential store, or of a file that is encrypted with age. */
export type CredentialAddress = StoreAddress | FileAddress;

export interface StoreAddress {
  readonly service: string;
  readonly name: string;
  readonly file?: undefined;
}

export interface FileAddress {
  /** Relative to the folder of rtfig.toml. */
  readonly file: string;
  readonly name: string;
}

export interface Move {
  readonly assignment: Assignment;
  readonly name: string;
  readonly value: string;
  readonly address: CredentialAddress;
  /** The value is too short to be redacted, so scripts may show it. */
  readonly isShown: boolean;
  /** Variables that the value was put together from. */
  readonly parts: readonly string[];
}

export interface SkippedVariable {
  readonly name: string;
  readonly reason: string;
  /** It cannot move at all; others do when they are named. */
  readonly isImpossible: boolean;
}

export interface ImportPlan {
  readonly moves: readonly Move[];
  readonly stays: readonly SkippedVariable[];
}

export interface ImportRequest {
  readonly assignments: readonly Assignment[];
  /** As the engine reads them. */
  readonly values: ReadonlyMap<string, string>;
  /** The names that the user wrote; "all", or "likely" for what looks like a credential. */
  readonly chosen: ReadonlySet<string> | "all" | "likely";
  /** Whether the rules of `rt secrets check` find a credential in the variable's lines. */
  isFound(name: string): boolean;
  /** Whether the environment has a variable, beside those of the file. */
  isInEnvironment(name: string): boolean;
  /** Where the value of a name belongs; a reason where that is nowhere. */
  addressOf(name: string): CredentialAddress | string;
}

/** What a script shows is searched for values of this length and more; in characters. */
const SHORTEST_HIDDEN = 8;
/** With ":-" there is something else for a variable that is not there. */
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
  const isKnown = (name: string) => assigned.has(name) || isInEnvironment(name);
  const moves = new Map<string, Move>();
  const stays = new Map<string, SkippedVariable>();
  const isNamed = (name: string) => chosen !== "likely" && (chosen === "all" || chosen.has(name));
  for (const assignment of assignments) {
    const { name } = assignment;
    if (stays.has(name)) continue;
    const stay = (reason: string, isImpossible = true) => stays.set(name, { name, reason, isImpossible });
    const value = values.get(name);
    const isShort = [...(value ?? "")].length < SHORTEST_HIDDEN;
    const isDropped = references(assignment, value).some((each) => !each.hasDefault && !isKnown(each.name));
    if (moves.delete(name)) stay("is assigned more than once; leave one");
    else if (value === undefined) stay("is nothing that the engine reads");
    else if (!assignment.isWhole) stay("has more in its line than a value; write that on a line of its own");
    else if (value === "" && !isDropped) stay("is empty");
    else if (value.includes("\0") || !value.isWellFormed()) stay("is no text");
    else if (typeof chosen === "object" && !isNamed(name)) stay("is not named", false);
    else if (typeof chosen === "string" && assignment.raw.includes("$("))
      stay("has a command in it, which a shell runs and the engine does not", false);
    else if (chosen === "likely" && !looksLikeCredential(name, value) && !isFound(name) && !isDropped)
      stay("does not look like a credential", false);
    // What the engine takes for a name may be a part of a password, so it is not shown.
    else if (isDropped)
      stay("has a $ that the engine drops, with what follows, since no variable has that name; write \\$");
    else if (typeof chosen === "string" && isShort)
      stay(`has less than ${SHORTEST_HIDDEN} characters, too few to be hidden in what a script shows`, false);
    else if (references(assignment, value).length > 0 && !isNamed(name))
      stay(`is put together from ${namesIn(references(assignment, value)).join(", ")}`, false);
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
  keepWhatOthersNeed(assignments, values, moves, stays);
  return { moves: [...moves.values()], stays: [...stays.values()] };
}

/** A value that stays and is put together from one that moves would be another one without it. */
function keepWhatOthersNeed(
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
        const reason = `is what ${assignment.name} is put together from; name both to move them`;
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

/** Other variables in a value, where the engine has put those in. */
function references({ raw }: Assignment, value: string | undefined): VariableReference[] {
  if (raw === value) return [];
  return [...raw.matchAll(REFERENCE)].map(([, braced, mark, plain]) => ({
    name: (braced ?? plain)!,
    hasDefault: mark !== undefined,
  }));
}

function namesIn(found: readonly VariableReference[]): string[] {
  return [...new Set(found.map(({ name }) => name))];
}
