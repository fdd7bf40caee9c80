// The result of a run.
import type { ExitStatus } from "./script/step-wait.ts";

/** Starts the user's program, after all work of rt whose failures could be mistaken for the program's. */
type Program = () => Promise<void>;

export type RunOutcome = ExitStatus | Program | void;

/** Reads the configuration again and returns the run. @throws UserError */
export type Reopen = () => Promise<() => Promise<RunOutcome>>;
