// Undoes what the engine did before our first line: it has entered the `.env` files of the working directory into the
// map behind process.env, which its fetch asks for a proxy, node:os for the temporary directory, and which children get
// unless they are given another. A command of rt's own is not the program that those files are for.
import { host } from "./process.ts";

/** Makes process.env what rt was started with. For commands in which no code of the user's runs. */
export function dropEnvironmentFiles(): void {
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

/** Case does not count on Windows. */
function fold(name: string): string {
  return process.platform === "win32" ? name.toUpperCase() : name;
}
