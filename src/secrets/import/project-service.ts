// The service under which a project's credentials are kept, unless it is told otherwise: the package's name, or the
// folder's, as far as an address takes it.
import { readFileSync } from "node:fs";
import { basename, resolve } from "node:path";

export function defaultService(): string {
  const name = packageName() ?? basename(resolve("."));
  // "@acme/shop" is "acme.shop": the slash ends the service in an address.
  return (
    name
      .replace(/[^\p{L}\p{N}._@-]+/gu, ".")
      .replace(/^[@.-]+|[.-]+$/g, "")
      .slice(0, 100) || "rt"
  );
}

function packageName(): string | undefined {
  try {
    const { name } = JSON.parse(readFileSync("package.json", "utf8")) as { name?: unknown };
    return typeof name === "string" && name !== "" ? name : undefined;
  } catch {
    return undefined;
  }
}
