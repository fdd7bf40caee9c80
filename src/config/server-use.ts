// Servers that a project's files name, and the variables that rt would send them or use for them.

import type { Config } from "./rtfig.ts";

/** One server, as questions and messages name it, and all variables that it is sent. */
export interface ServerUse {
  /** As in "the shared cache https://cache.example.com". */
  readonly server: string;
  readonly names: readonly string[];
  /**
   * Those that need a person's consent also if the environment has them, because a file of the project chose the variable
   * or the server. For the others, the environment or the command line said both.
   */
  readonly named: readonly string[];
}

/** Returns the uses that a project's settings say. Throws Failure. */
export type FindServerUses = (config: Config | undefined) => readonly ServerUse[];
