// The settings of tsconfig.json that code running inside this process does not get from the engine.
import { files } from "../../platform/files.ts";
import { parentDirectory } from "../workspace/package-json.ts";

const SETTINGS = ['"experimentalDecorators"', '"emitDecoratorMetadata"', '"useDefineForClassFields"'];
const EXTENDS = /"extends"\s*:\s*(?:(\[)|"([^"]+)")/;
/** A chain longer than this is a loop; the engine will say so. */
const LONGEST_CHAIN = 16;

/** Whether a file of the chain that starts in the working directory names one of the settings. */
export function changesDecorators(cwd: string): boolean {
  let file = `${cwd}/tsconfig.json`;
  for (let length = 0; length < LONGEST_CHAIN; length += 1) {
    const content = files.readFile(file);
    if (typeof content === "string") return false;
    const text = new TextDecoder().decode(content);
    if (SETTINGS.some((setting) => text.includes(setting))) return true;
    if (!text.includes('"extends"')) return false; // before the pattern, which takes longer
    const [, list, parent] = EXTENDS.exec(text) ?? [];
    if (list) return true; // several parents: the engine sorts them out
    const next = parent && resolveParent(parent, parentDirectory(file) ?? "/");
    if (!next) return false;
    file = next;
  }
  return true;
}

function resolveParent(specifier: string, from: string): string | undefined {
  for (const candidate of [specifier, `${specifier}.json`, `${specifier}/tsconfig.json`]) {
    try {
      return Bun.resolveSync(candidate, from);
    } catch {}
  }
  return undefined;
}
