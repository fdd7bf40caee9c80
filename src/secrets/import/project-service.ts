// The service under which a project's credentials are kept, unless it is told otherwise: the package's name, or the
// folder's, as far as an address takes it.
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** @param folder of the root project, absolute */
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
