// Compiles the front as an ordinary program that prints its plan, with the tables of a build.
import { join } from "node:path";
import { frontTables } from "../../build/executable/front.ts";
import { createProject, type Project } from "../support/project.ts";
import { cleanEnvironment, type Environment } from "../support/rt.ts";

const SOURCE = join(import.meta.dir, "plan-program.c");
export const PRELOAD = "data:text/javascript;base64,AA==";

export interface FrontPlan {
  readonly mode: "doubt" | "engine" | "print";
  /** The engine's command line. */
  readonly words: readonly string[];
  /** The printed line. */
  readonly line: string;
}

export interface PlanProgram extends AsyncDisposable {
  /** @param words with the program's name */
  plan(words: readonly string[], cwd: string, more?: Surroundings): FrontPlan;
}

export interface Surroundings {
  /** A program that starts the plan program. */
  readonly by?: readonly string[];
  readonly env?: Environment;
  readonly stdin?: "empty" | "closed" | Blob;
}

const SOME_INPUT = new Blob(["1"]);

/** @param flags of the compiler */
export async function makePlanProgram(flags: readonly string[] = ["-O1"]): Promise<PlanProgram> {
  const project: Project = await createProject({ tables: frontTables(PRELOAD, new Uint8Array(8)) });
  const program = project.join("plan");
  const words = ["cc", "-std=gnu11", "-D_GNU_SOURCE", "-DPLAN", "-Wall", "-Wextra", "-Werror", ...flags];
  const { exitCode, stderr } = Bun.spawnSync([...words, "-o", program, SOURCE]);
  if (exitCode !== 0) throw new Error(stderr.toString());
  return {
    plan(args, cwd, { by = [], env, stdin = SOME_INPUT } = {}) {
      const { stdout, stderr: errors } = Bun.spawnSync([...by, program, project.join("tables"), ...args], {
        cwd,
        env: cleanEnvironment(env),
        stdin: stdin === "empty" ? "ignore" : stdin === "closed" ? null : stdin,
      });
      if (errors.length > 0) throw new Error(errors.toString());
      return JSON.parse(stdout.toString()) as FrontPlan;
    },
    [Symbol.asyncDispose]: () => project[Symbol.asyncDispose](),
  };
}
