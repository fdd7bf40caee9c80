// Tests the structure of the source: import directions, calls that are limited to some files, file headers and names.
//
// Invariants (docs/architecture.md): a layer imports only lower layers, without exceptions. MAY_IMPORT lists them.
import { expect, test } from "bun:test";
import { Glob } from "bun";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

const ROOT = join(import.meta.dir, "..");

interface Source {
  readonly path: string;
  readonly text: string;
  /** `text` without comments and string literals. */
  readonly code: string;
  readonly imports: readonly { readonly path: string; readonly isType: boolean }[];
}

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s+(type\s)?(?:[^"';]*?\sfrom\s+)?"([^"]+)"|(?:\bimport|\brequire)\(\s*"([^"]+)"/g;

function readSource(path: string, text: string): Source {
  const imports = [...text.matchAll(IMPORT)].map(([, type, declared, called]) => ({
    path: resolveImport(path, (declared ?? called)!),
    isType: type !== undefined,
  }));
  const code = text
    .replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*/g, "")
    .replace(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, '""');
  return { path, text, code, imports };
}

function resolveImport(from: string, specifier: string): string {
  return specifier.startsWith(".") ? join(dirname(from), specifier) : specifier;
}

const sources: Source[] = [];
for (const path of [...new Glob("{src,platform,build,bench}/**/*.{ts,mjs,cjs}").scanSync(ROOT)].toSorted()) {
  if (!path.endsWith(".d.ts")) sources.push(readSource(path, await Bun.file(join(ROOT, path)).text()));
}

const product = sources.filter(({ path }) => /^(?:src|platform)\//.test(path));

/** Returns "cli/picker" for `src/cli/picker/x.ts`, because MAY_IMPORT has it, and "cli" for `src/cli/x.ts`. */
function layerOf(path: string): string {
  const [top, name = "", inner = ""] = path.split("/");
  if (top !== "src") return top!;
  const folder = `${name}/${inner}`;
  return folder in MAY_IMPORT ? folder : name.replace(/\.ts$/, "");
}

/** Single files of src/ that import only each other. */
const GROUND = [
  ...[
    "color",
    "config-hint",
    "error-output",
    "user-error",
    "did-you-mean",
    "printable",
    "process-id",
    "shell-quoting",
    "source-extensions",
    "variable-names",
    "output",
    "repository-name",
  ],
  "version",
];

const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  main: ["cli", "runner", "platform"],
  cli: [
    ...[
      "cli/doctor",
      "cli/picker",
      "cli/upgrade",
      "runner",
      "debugger",
      "cache",
      "config/settings",
      "config",
      "options",
    ],
    ...["secrets", "workspace", "platform", ...GROUND],
  ],
  "cli/doctor": ["cache", "secrets", "config", "workspace", "platform", ...GROUND],
  "cli/picker": ["config", "workspace", "platform", ...GROUND],
  "cli/upgrade": ["platform", ...GROUND],
  runner: [
    ...[
      "reporters",
      "tasks",
      "watch",
      "permissions",
      "remote-execution",
      "reapi",
      "distributed",
      "cache",
      "config/settings",
      "config",
    ],
    ...["options", "debugger", "runtime", "secrets", "redaction", "workspace", "platform", ...GROUND],
  ],
  watch: ["reporters", "config/settings", "tasks", "workspace", "platform", ...GROUND],
  reporters: ["tasks", "config/settings", "config", "redaction", "workspace", "platform", ...GROUND],
  "remote-execution": ["tasks", "reapi", "cache", "config/settings", "workspace", "platform", ...GROUND],
  permissions: ["secrets", "config/settings", "config", "workspace", "platform", ...GROUND],
  tasks: [
    "cache",
    "permissions",
    "distributed",
    "config/settings",
    "config",
    "redaction",
    "workspace",
    "platform",
    ...GROUND,
  ],
  cache: ["reapi", "config/settings", "config", "redaction", "workspace", "platform", ...GROUND],
  "config/settings": ["config", "options", "platform", ...GROUND],
  config: ["options", "workspace", "platform", ...GROUND],
  options: [],
  workspace: ["platform", ...GROUND],
  runtime: ["secrets", "csrf", "platform"],
  debugger: GROUND,
  secrets: ["redaction", "config", "workspace", "platform", "errors", ...GROUND],
  redaction: GROUND,
  reapi: ["repository-name"],
  distributed: GROUND,
  csrf: ["platform", "errors"],
  errors: [],
  platform: [],
  ...Object.fromEntries(GROUND.map((name) => [name, GROUND])),
  output: ["platform", ...GROUND],
  version: ["package.json"],
};

test("every folder of src is a layer in MAY_IMPORT", () => {
  const layers = new Set(product.map(({ path }) => layerOf(path)));
  expect([...layers].filter((layer) => !(layer in MAY_IMPORT))).toEqual([]);
});

test("a layer imports only lower layers", () => {
  const wrong = product.flatMap(({ path, imports }) => {
    const from = layerOf(path);
    return imports.flatMap((each) => {
      if (!/^(?:src|platform|build|test|bench|package\.json)\b/.test(each.path)) return [];
      const to = layerOf(each.path);
      return from === to || MAY_IMPORT[from]?.includes(to) ? [] : [`${path} imports ${each.path}`];
    });
  });
  expect(wrong).toEqual([]);
});

test("only cli and config/settings import the parser of options", () => {
  const wrong = product.flatMap(({ path, imports }) =>
    imports.some((each) => each.path === "src/options/parse.ts") &&
    !/^src\/(?:cli|config\/settings)\//.test(path)
      ? [path]
      : [],
  );
  expect(wrong).toEqual([]);
});

test("tasks import only types of the cache", () => {
  const wrong = product.flatMap(({ path, imports }) =>
    path.startsWith("src/tasks/") &&
    imports.some((each) => each.path.startsWith("src/cache/") && !each.isType)
      ? [path]
      : [],
  );
  expect(wrong).toEqual([]);
});

test("every imported module exists", async () => {
  const missing = product.flatMap(({ path, imports }) =>
    imports.flatMap((each) =>
      /^(?:src|platform)\//.test(each.path) &&
      !sources.some((source) => source.path === each.path) &&
      !each.path.endsWith(".d.ts") &&
      !existsSync(join(ROOT, each.path))
        ? [`${path}: ${each.path}`]
        : [],
    ),
  );
  expect(missing).toEqual([]);
});

test("static imports have no cycle", () => {
  const graph = new Map(
    product.map(({ path, text }) => [
      path,
      [...text.matchAll(/(?:^|\n)(?:import|export)\s+(?!type\s)[^"';]*?\sfrom\s+"(\.[^"]+)"/g)].map(
        ([, specifier]) => resolveImport(path, specifier!),
      ),
    ]),
  );
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, above: readonly string[]) => {
    if (above.includes(path)) cycles.push([...above.slice(above.indexOf(path)), path].join(" -> "));
    if (done.has(path) || above.includes(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...above, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  expect(cycles).toEqual([]);
});

test("modules of an operating system are not imported by another system's modules or by src", () => {
  const systems = /^platform\/(?:[^/]+\/)+?(linux|macos|windows|posix)\//;
  const wrong = product.flatMap(({ path, imports }) =>
    imports.flatMap((each) => {
      const [, target] = systems.exec(each.path) ?? [];
      const [, own] = systems.exec(path) ?? [];
      const isOpener = /^platform\/[^/]+\/[^/]+$/.test(path);
      const isShared = target === "posix" && (own === "linux" || own === "macos");
      return target === undefined || target === own || isOpener || isShared
        ? []
        : [`${path} imports ${each.path}`];
    }),
  );
  expect(wrong).toEqual([]);
});

function placesWith(pattern: RegExp, allowed: (path: string) => boolean): string[] {
  return product.filter(({ path, code }) => !allowed(path) && pattern.test(code)).map(({ path }) => path);
}

test("only platform/ reads process.platform", () => {
  expect(
    placesWith(/\bprocess\s*\.\s*(?:platform|arch)\b|\bos\.platform\(/, (path) =>
      path.startsWith("platform/"),
    ),
  ).toEqual([]);
});

test("only listed files call process.exit", () => {
  // A process cannot be replaced on Windows, so rt waits for the child and exits with its code. If the debugger's
  // bootstrap fails, the user's program must not continue.
  const allowed = ["src/main.ts", "platform/processes/windows/process.ts", "src/debugger/bootstrap.ts"];
  expect(
    placesWith(/\bprocess\s*\.\s*(?:exit|reallyExit|abort)\s*\(|\bprocess\.exitCode\s*=/, (path) =>
      allowed.includes(path),
    ),
  ).toEqual([]);
});

/** Files that read or change process.env, which contains the values of `.env` files. */
const ENVIRONMENT: Readonly<Record<string, string>> = {
  "platform/processes/dotenv-reset.ts": "removes the values of .env files, for rt's own commands",
  "src/debugger/bootstrap.ts":
    "removes rt's debugger settings, passes the editor's address to child processes",
  "src/runner/file/in-process.ts":
    "a quick check for VS Code, before isAwaited() reads the environment of the start",
  "src/runtime/preload/internal-env-filter.ts": "removes rt's own variables before the program's first line",
  "src/runtime/preload/option-effects.ts":
    "reads the path of a program's certificates, removes a variable of rt",
};

test("only listed files read process.env, which .env files change", () => {
  // node:os reads both directories from process.env.
  const pattern =
    /\b(?:process|Bun|import\s*\.\s*meta)\s*\.\s*env\b|\benv\b[^{}=;]*\}\s*=\s*(?:process|Bun)\b|\b(?:tmpdir|homedir|userInfo)\s*\(/;
  const readers = product.filter(({ code }) => pattern.test(code)).map(({ path }) => path);
  expect(readers).toEqual(Object.keys(ENVIRONMENT));
});

/** Files that start programs with process.env, and why that is safe. */
const SPAWNERS: Readonly<Record<string, string>> = {
  "platform/processes/posix/process-table.ts": "macOS' own ps, by its path",
  "src/cli/upgrade/executable-swap.ts": "one of rt's own commands, which removes the values of .env files",
};

test("rt starts and finds programs with the environment that rt was started with", () => {
  const spawns = /\bspawn(?:Sync)?\((?:(?!\benv\b)[\s\S])*?\}\s*,?\s*\)/;
  expect(product.filter(({ code }) => spawns.test(code)).map(({ path }) => path)).toEqual(
    Object.keys(SPAWNERS),
  );
  const searches = /\b(?:Bun\.which|(?<!function )findOnPath)\((?![^;]*\bPATH\b)/;
  expect(placesWith(searches, () => false)).toEqual([]);
});

/** Files that use standard streams directly, and why. */
const STREAM_USERS: Readonly<Record<string, string>> = {
  "platform/terminal/posix/output.ts": "the system calls of src/output.ts and of the reporters",
  "platform/native/posix/pipe.ts": "pipes to children",
  "platform/processes/posix/process.ts": "the first write of a script's line; src/output.ts writes the rest",
  "platform/terminal/windows/output.ts": "the same for Windows, and the terminal's size",
  "platform/processes/windows/process.ts": "the same for Windows",
  "src/debugger/server/announcement.ts": "runs in the engine's process, beside the program",
  "src/debugger/bootstrap.ts": "runs in the engine's process, beside the program",
  "src/cli/picker/line-prompt.ts": "a library reads lines and echoes them on a stream",
  "src/cli/picker/prompt.ts": "a library draws on a stream",
  "src/runner/file/in-process.ts": "the address of a server, as the engine prints it in the user's program",
  "src/runtime/preload/option-effects.ts": "runs in the user's program",
};

test("only src/output.ts and the reporters' queue write to standard output and error", () => {
  const pattern =
    /\bconsole\s*\.\s*\w+\s*\(|\bprocess\s*\.\s*std(?:out|err)\b|\bstd(?:out|err)\b[^;=]*\}\s*=\s*process\b|\bBun\s*\.\s*std(?:out|err)\b|\bwriteSync\s*\(\s*(?:descriptor|1|2)\b|\blibc\(\)\.write\(\s*(?:descriptor|actual|1|2)\b|\bBun\.file\(\s*[12]\s*\)|\/dev\/(?:stdout|stderr|fd\/[12])\b/;
  const users = product.filter(({ code }) => pattern.test(code)).map(({ path }) => path);
  expect(users.filter((path) => !(path in STREAM_USERS))).toEqual([]);
  expect(Object.keys(STREAM_USERS).filter((path) => !users.includes(path))).toEqual([]);
  const callers = product
    .filter(
      ({ path, code }) => !path.startsWith("platform/") && /\bwriteSome\s*\(|\bhost\.write\s*\(/.test(code),
    )
    .map(({ path }) => path);
  expect(callers).toEqual(["src/output.ts", "src/runner/script/launch.ts", "src/tasks/output-queue.ts"]);
});

/** Lines of a file that needs no header. */
const MAX_TRIVIAL = 12;

test("every longer file begins with a comment", () => {
  const uncommented = sources.filter(
    ({ text }) => text.split("\n").length > MAX_TRIVIAL && !/^(?:#!.*\n)?\/\/ \S/.test(text),
  );
  expect(uncommented.map(({ path }) => path)).toEqual([]);
});

/** Generated from src/reapi/proto. */
const isGenerated = ({ path }: Source) => path.startsWith("src/reapi/messages/");

test("no type name is declared twice", () => {
  const files = new Map<string, Set<string>>();
  // Generated code names its types after the protocol.
  for (const { path, code } of sources.filter((each) => !/^bench|\/messages\//.test(each.path)))
    for (const [, name] of code.matchAll(/^(?:export )?(?:abstract )?(?:interface|type|class|enum) (\w+)/gm))
      files.set(name!, (files.get(name!) ?? new Set()).add(path));
  const twice = [...files].filter(([, paths]) => paths.size > 1);
  expect(twice.map(([name, paths]) => `${name}: ${[...paths].join(", ")}`)).toEqual([]);
});

test("files have lower-case names without utils or helpers, and at most 360 lines", () => {
  expect(
    sources
      .filter((source) => !isGenerated(source))
      .filter(
        ({ path }) =>
          !/^[a-z0-9-]+$/.test(
            path
              .split("/")
              .at(-1)!
              .replace(/(?:\.test|\.d)?\.(?:ts|mjs|cjs)$/, ""),
          ),
      )
      .map(({ path }) => path),
  ).toEqual([]);
  expect(
    sources
      .filter(({ path }) => /(?:[/-](?:utils?|helpers?|manager|common)|\/(?:index|misc))\.ts$/.test(path))
      .map(({ path }) => path),
  ).toEqual([]);
  const tables = ["src/options/options.ts", "src/config/keys.ts"];
  expect(
    product
      .filter((source) => !isGenerated(source))
      .filter(({ path, text }) => !tables.includes(path) && text.split("\n").length > 360)
      .map(({ path, text }) => `${path}: ${text.split("\n").length}`),
  ).toEqual([]);
});

test("the static imports of src/main.ts contain no node: module or package", () => {
  // Each adds 0.3 ms to 3 ms to every start.
  const graph = new Map(product.map((source) => [source.path, source]));
  const reached = new Set<string>();
  const visit = (path: string) => {
    const source = graph.get(path);
    if (!source || reached.has(path)) return;
    reached.add(path);
    for (const [, specifier] of source.text.matchAll(
      /(?:^|\n)(?:import|export)\s+(?!type\s)[^"';]*?\sfrom\s+"([^"]+)"/g,
    )) {
      if (/^platform\/.*\/windows\//.test(path)) continue;
      if (specifier!.startsWith(".")) visit(resolveImport(path, specifier!));
      else if (
        /^(?:node:|[a-z])/.test(specifier!) &&
        !specifier!.startsWith("rt:") &&
        specifier !== "bun:ffi"
      )
        offending.push(`${path} imports ${specifier}`);
    }
  };
  const offending: string[] = [];
  visit("src/main.ts");
  visit("src/cli/command-line.ts");
  expect(offending).toEqual([]);
  expect(reached.size).toBeGreaterThan(10);
});
