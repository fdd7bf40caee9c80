// What a run comes to, for who has asked for it.
import type { ExitStatus } from "./script/step-wait.ts";

/** The user's program starts when nothing of ours can be mistaken for a failure of its own. */
type Program = () => Promise<void>;

export type RunOutcome = ExitStatus | Program | void;

/** Reads what was asked for again, and gives what does it. Throws Failure. */
export type Reopen = () => Promise<() => Promise<RunOutcome>>;
