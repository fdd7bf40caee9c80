// Declares the servers that a project's files name, with the variables that rt would send to each.

import type { Config } from "./rtfig.ts";

export interface ServerUse {
  /** Description for prompts and messages: "the shared cache https://cache.example.com". */
  readonly server: string;
  readonly names: readonly string[];
  /**
   * Variables that need consent even if they are set in the environment, because a project file chose the variable or the
   * server. For the others, the environment or the command line chose both.
   */
  readonly named: readonly string[];
}

/** Returns the server uses of a project's settings. @throws UserError */
export type FindServerUses = (config: Config | undefined) => readonly ServerUse[];
