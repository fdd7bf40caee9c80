// Reads decorator settings of tsconfig.json, which code in this process does not get from the engine.
//
// Non-obvious: the files are imported, because the engine's loader accepts comments and trailing commas, and is
// faster than opening the C library.

const SETTINGS = ["experimentalDecorators", "emitDecoratorMetadata", "useDefineForClassFields"];
/** A longer chain is a loop, which the engine reports. */
const LONGEST_CHAIN = 16;

interface DecoratorSettings {
  readonly extends?: unknown;
  readonly compilerOptions?: Readonly<Record<string, unknown>>;
}

/** Whether a file of the `extends` chain that starts in a directory has one of the settings, or may have it. */
export async function changesDecorators(directory: string): Promise<boolean> {
  let file = find("./tsconfig.json", directory);
  for (let length = 0; length < LONGEST_CHAIN; length += 1) {
    if (!file) return false;
    const settings = await readSettings(file);
    if (!settings) return true; // the engine reports the error
    for (const name of SETTINGS) if (settings.compilerOptions?.[name] !== undefined) return true;
    if (settings.extends === undefined) return false;
    if (typeof settings.extends !== "string") return true; // several parents: the engine resolves them
    file = findParent(settings.extends, `${file}/..`);
  }
  return true;
}

async function readSettings(file: string): Promise<DecoratorSettings | undefined> {
  try {
    return ((await import(file)) as { default: DecoratorSettings }).default;
  } catch {
    return undefined;
  }
}

function findParent(specifier: string, from: string): string | undefined {
  return find(specifier, from) ?? find(`${specifier}.json`, from) ?? find(`${specifier}/tsconfig.json`, from);
}

function find(specifier: string, from: string): string | undefined {
  try {
    return Bun.resolveSync(specifier, from);
  } catch {
    return undefined;
  }
}
