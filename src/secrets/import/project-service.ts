// Derives the default service name of a project's credentials from the package name, or the folder name.
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** Returns the service name, limited to characters of an address. @param folder absolute path of the root project */
export function defaultService(folder: string): string {
  const name = packageName(folder) ?? basename(folder);
  // "@acme/shop" is "acme.shop": the slash ends the service in an address.
  return (
    name
      .replace(/[^\p{L}\p{N}._@-]+/gu, ".")
      .replace(/^[@.-]+|[.-]+$/g, "")
      .slice(0, 100) || "rt"
  );
}

function packageName(folder: string): string | undefined {
  try {
    const { name } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { name?: unknown };
    return typeof name === "string" && name !== "" ? name : undefined;
  } catch {
    return undefined;
  }
}
