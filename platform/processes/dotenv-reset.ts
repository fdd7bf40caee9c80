// Removes the values of `.env` files from process.env for rt's own commands.
//
// Non-obvious: the engine loads the working directory's `.env` files before the first line of rt. Its fetch reads the proxy from
// process.env, node:os reads the temporary directory, and children inherit it.
import { host } from "./process.ts";

/** Resets process.env to the environment that rt was started with. Only for commands that run no user code. */
export function resetEnvironment(): void {
  const { env } = process;
  const original = host.originalEnvironment();
  const known = new Set(Object.keys(original).map(fold));
  for (const name of Object.keys(env)) if (!known.has(fold(name))) delete env[name];
  for (const name in original) if (env[name] !== original[name]) env[name] = original[name];
}

/** Returns whether both name one variable. */
export function sameName(one: string, other: string): boolean {
  return fold(one) === fold(other);
}

/** Variable names are case-insensitive on Windows. */
function fold(name: string): string {
  return process.platform === "win32" ? name.toUpperCase() : name;
}
