// The settings of tsconfig.json that code running inside this process does not get from the engine.
//
// Surprising: the files are imported. The engine takes them with comments and trailing commas, and it is quicker than to
// open the C library, which a start in this process does without.

const SETTINGS = ["experimentalDecorators", "emitDecoratorMetadata", "useDefineForClassFields"];
/** A chain longer than this is a loop; the engine will say so. */
const LONGEST_CHAIN = 16;

interface DecoratorSettings {
  readonly extends?: unknown;
  readonly compilerOptions?: Readonly<Record<string, unknown>>;
}

/** Whether a file of the chain that starts in a directory names one of the settings, or may do so. */
export async function changesDecorators(directory: string): Promise<boolean> {
  let file = find("./tsconfig.json", directory);
  for (let length = 0; length < LONGEST_CHAIN; length += 1) {
    if (!file) return false;
    const settings = await readSettings(file);
    if (!settings) return true; // the engine says what is wrong with it
    for (const name of SETTINGS) if (settings.compilerOptions?.[name] !== undefined) return true;
    if (settings.extends === undefined) return false;
    if (typeof settings.extends !== "string") return true; // several parents: the engine sorts them out
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
