// Flags win over rtfig.toml: every key has a flag with another value, or a reason why it has none.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { KEYS } from "../../src/config/keys.ts";
import { openRegistry, type Registry } from "../options/registry.ts";
import { createProject, type Files } from "../support/project.ts";
import { freePort } from "../support/servers/ports.ts";
import { RT, runRt } from "../support/rt.ts";
import { pack } from "./installation.ts";

interface Rival {
  readonly config: string;
  /** The arguments that both runs have. */
  readonly args: readonly string[];
  readonly flags: readonly string[];
  readonly files?: Files;
  /** The output with the file alone, and with the flags too. */
  readonly file: RegExp;
  readonly flag: RegExp;
  /** A file of the project that exists because of the flags. */
  readonly makes?: string;
  readonly needsTerminal?: true;
}

const program = (text: string): Files => ({ "a.tsx": text });
const scripts = (text: string): Files => ({
  "package.json": { name: "p", scripts: { s: text, t: "echo t" } },
});

const ELEMENTS: Files = {
  ...program(
    'const React = { createElement: () => "React" }, h = () => "h", k = () => "k"; const F = "F", G = "G";' +
      "console.log(<b/>); console.log([<></>].join());",
  ),
  "node_modules/react/package.json": { name: "react" },
  "node_modules/react/jsx-dev-runtime.js": 'export const jsxDEV = () => "automatic", Fragment = "";',
  "node_modules/react/jsx-runtime.js": 'export const jsx = () => "automatic", Fragment = "";',
  "node_modules/other/package.json": { name: "other" },
  "node_modules/other/jsx-dev-runtime.js": 'export const jsxDEV = () => "other", Fragment = "";',
  "node_modules/other/jsx-runtime.js": 'export const jsx = () => "other", Fragment = "";',
};
const FRAGMENTS = program(
  'const h = (kind) => String(kind); const F = "first", G = "second"; console.log(<></>)',
);
const MISSING = program('import "rt-test-absent-package";');
const DEEP = program("console.log({ a: { b: { c: { d: { e: 1 } } } } })");
const SERVER = program(
  "try { const s = Bun.serve({ fetch: () => new Response() }); console.log(s.port); s.stop() } catch (e) { console.log(e.message) }",
);
const OPTIONS = program('console.log(process.execArgv.filter((word) => word.startsWith("--prefer")).join())');
const COUNTED: Files = {
  "a.test.ts":
    'import { test, expect } from "bun:test"; import { f } from "./lib.ts"; test("named test ran first", () => { f(); console.log("on" + "ce"); expect(process.env.FAILS).toBe(undefined) });',
  "b.test.ts": 'import { test } from "bun:test"; test("other test ran too", () => {});',
  "lib.ts": "export function f() {}\n",
};
const tests = (
  rival: Pick<Rival, "config" | "flags" | "file" | "flag" | "makes">,
  ...words: string[]
): Rival => ({
  ...rival,
  config: `[test]\n${rival.config}`,
  files: COUNTED,
  args: ["test", ...words],
});
const run = (config: string, flags: readonly string[], files: Files, file: RegExp, flag: RegExp): Rival => ({
  config,
  flags,
  files,
  args: ["a.tsx"],
  file,
  flag,
});
const script = (
  config: string,
  flags: readonly string[],
  files: Files,
  file: RegExp,
  flag: RegExp,
): Rival => ({
  config,
  flags,
  files,
  args: ["run", "s"],
  file,
  flag,
});

/** With the flags the script waits for the other one. With the file alone it fails if another one runs. */
const meet = (mine: string, other: string) =>
  `touch ../${mine}.here; if [ "$WITH_FLAGS" ]; then until [ -e ../${other}.here ]; do sleep 0.05; done; echo together; ` +
  "else mkdir ../lock && sleep 0.1 && rmdir ../lock && echo alone; fi";

const PORTS = [freePort(), freePort()];
const FETCHED = /downloading package manifest/;
const NOT_FETCHED = /^(?![\s\S]*downloading)[\s\S]*Cannot find package/;

const RIVALS: Readonly<Record<string, Rival | readonly Rival[]>> = {
  env: run(
    "env = false",
    ["--env-file=x.env"],
    { ...program("console.log(process.env.X)"), "x.env": "X=named", ".env": "X=default" },
    /undefined/,
    /named/,
  ),
  jsx: [
    run('jsx = "react"', ["--jsx-runtime=automatic"], ELEMENTS, /React/, /automatic/),
    run('jsx = "react-jsx"', ["--jsx-runtime=classic"], ELEMENTS, /automatic/, /React/),
  ],
  jsxFactory: run('jsx = "react"\njsxFactory = "h"', ["--jsx-factory=k"], ELEMENTS, /^h$/m, /^k$/m),
  jsxFragment: run(
    'jsx = "react"\njsxFactory = "h"\njsxFragment = "F"',
    ["--jsx-fragment=G"],
    FRAGMENTS,
    /first/,
    /second/,
  ),
  jsxImportSource: run(
    'jsxImportSource = "react"',
    ["--jsx-import-source=other"],
    ELEMENTS,
    /automatic/,
    /other/,
  ),
  "define.*": run('[define]\nA = "1"', ["--define=A:2"], program("console.log(A)"), /1/, /2/),
  "loader.*": run(
    '[loader]\n".foo" = "text"',
    ["--loader=.foo:file"],
    { ...program('import x from "./x.foo"; console.log(x)'), "x.foo": "text of x" },
    /text of x/,
    /x\.foo/,
  ),
  "console.depth": run("[console]\ndepth = 6", ["--console-depth=1"], DEEP, /e: 1/, /^(?![^]*c:)/),
  "serve.port": run(
    `[serve]\nport = ${PORTS[0]}`,
    [`--port=${PORTS[1]}`],
    SERVER,
    new RegExp(`${PORTS[0]}`),
    new RegExp(`${PORTS[1]}`),
  ),
  "run.shell": script(
    '[run]\nshell = "rt"',
    ["--shell=system"],
    scripts("echo shell: $BASH_VERSION."),
    /^shell: \.$/m,
    /^shell: \d/m,
  ),
  "run.elide-lines": {
    config: "[run]\nelide-lines = 5",
    flags: ["--elide-lines=7"],
    files: {
      "package.json": { workspaces: ["p", "q"] },
      "p/package.json": { name: "p", scripts: { go: "seq 1 30" } },
      "q/package.json": { name: "q", scripts: { go: "true" } },
    },
    args: ["--filter", "*", "run", "go"],
    file: /25 lines elided/,
    flag: /23 lines elided/,
    needsTerminal: true,
  },
  "run.output": {
    config: '[run]\noutput = "errors"',
    flags: ["--output=stream"],
    files: scripts("echo shown"),
    args: ["run", "--sequential", "s", "t"],
    file: /^(?![^]*shown)/,
    flag: /shown/,
  },
  "run.ui": {
    config: '[run]\nui = "list"',
    flags: ["--ui=stream"],
    files: scripts("echo shown"),
    args: ["run", "--parallel", "s", "t"],
    file: /j\/k select/,
    flag: /^(?![^]*j\/k select)/,
    needsTerminal: true,
  },
  "run.log-prefix": {
    config: '[run]\nlog-prefix = "none"',
    flags: ["--log-prefix=auto"],
    files: scripts("echo shown"),
    args: ["run", "--sequential", "s", "t"],
    file: /^shown$/m,
    flag: /^s \| shown$/m,
  },
  "run.concurrency": {
    config: "[run]\nconcurrency = 1",
    flags: ["--concurrency=2"],
    files: {
      "package.json": { workspaces: ["a", "b"] },
      "a/package.json": { scripts: { go: meet("a", "b") } },
      "b/package.json": { scripts: { go: meet("b", "a") } },
    },
    args: ["--filter", "*", "run", "go"],
    file: /go: alone[^]*go: alone/,
    flag: /go: together[^]*go: together/,
  },
  "run.cache.*": {
    config: "[run.cache]\ns = true",
    flags: ["--no-cache"],
    files: scripts("echo $$"),
    args: ["run", "s"],
    file: /\d/,
    flag: /^(?![^]*cache)/,
  },
  "install.auto": (
    [
      ["disable", "--install=auto"],
      ["disable", "--install=fallback"],
      ["disable", "--install=force"],
      ["disable", "-i"],
      ["force", "--no-install"],
    ] as const
  ).map(([auto, flag]) => {
    const isOff = auto === "disable";
    const [file, both] = [isOff ? NOT_FETCHED : FETCHED, isOff ? FETCHED : NOT_FETCHED];
    return run(`[install]\nauto = "${auto}"`, [flag], MISSING, file, both);
  }),
  "install.prefer": [
    run(
      '[install]\nprefer = "offline"',
      ["--prefer-latest"],
      OPTIONS,
      /^--prefer-offline$/m,
      /^--prefer-latest$/m,
    ),
    run(
      '[install]\nprefer = "latest"',
      ["--prefer-offline"],
      OPTIONS,
      /^--prefer-latest$/m,
      /^--prefer-offline$/m,
    ),
  ],
  "test.pathIgnorePatterns": tests({
    config: 'pathIgnorePatterns = ["a*"]',
    flags: ["--path-ignore-patterns=b*"],
    file: /^(?![^]*once)/,
    flag: /once/,
  }),
  "test.coverage": tests(
    { config: "coverage = false", flags: ["--coverage"], file: /^(?![^]*% Funcs)/, flag: /% Funcs/ },
    "a.test.ts",
  ),
  "test.coverageReporter": tests(
    {
      config: 'coverage = true\ncoverageReporter = "lcov"',
      flags: ["--coverage-reporter=text"],
      file: /^(?![^]*% Funcs)/,
      flag: /% Funcs/,
    },
    "a.test.ts",
  ),
  "test.coverageDir": tests(
    {
      config: 'coverage = true\ncoverageReporter = "lcov"\ncoverageDir = "of-file"',
      flags: ["--coverage-dir=of-flag"],
      file: /1 pass/,
      flag: /1 pass/,
      makes: "of-flag/lcov.info",
    },
    "a.test.ts",
  ),
  "test.randomize": tests({
    config: "randomize = false",
    flags: ["--randomize"],
    file: /^(?![^]*--seed)/,
    flag: /--seed/,
  }),
  "test.seed": tests({
    config: "randomize = true\nseed = 42",
    flags: ["--seed=7"],
    file: /--seed=42/,
    flag: /--seed=7/,
  }),
  "test.rerunEach": tests(
    { config: "rerunEach = 2", flags: ["--rerun-each=1"], file: /2 pass/, flag: /1 pass/ },
    "a.test.ts",
  ),
  "test.retry": tests(
    {
      config: "retry = 1",
      flags: ["--retry=0"],
      file: /once[^]*once/,
      flag: /^(?![^]*once[^]*once)[^]*once/,
    },
    "a.test.ts",
  ),
  "test.onlyFailures": tests(
    { config: "onlyFailures = false", flags: ["--only-failures"], file: /named/, flag: /^(?![^]*named)/ },
    "a.test.ts",
  ),
  "test.reporter.dots": tests(
    { config: "reporter.dots = false", flags: ["--dots"], file: /named/, flag: /^(?![^]*named)/ },
    "a.test.ts",
  ),
  "test.reporter.junit": tests(
    {
      config: 'reporter.junit = "of-file.xml"',
      flags: ["--reporter=junit", "--reporter-outfile=of-flag.xml"],
      file: /1 pass/,
      flag: /1 pass/,
      makes: "of-flag.xml",
    },
    "a.test.ts",
  ),
};

/** Other tests that show it: the file and a part of its text. */
const OTHER_TESTS: Readonly<Record<string, readonly [file: string, title: string]>> = {
  "watch.paths": ["options/watch.test.ts", "watch-path"],
  "watch.ignore": ["options/watch.test.ts", "watch-ignore"],
  "cache.remote.enabled": ["options/caching.test.ts", "cache"],
  "run.remote.scripts.*.remote": ["options/general.test.ts", "--no-remote"],
  "run.remote.concurrency": ["remote-execution/many-packages.test.ts", "--concurrency"],
  "run.secrets.*": ["options/secrets.test.ts", "secret"],
  "secrets.*.from": ["options/secrets.test.ts", "secret"],
  "secrets.*.redact": ["options/secrets.test.ts", "no-redact"],
};

interface Installation {
  readonly config: Readonly<Record<string, string>>;
  readonly flags: readonly string[];
  /** Files that exist because of the flags, and files that would exist without them. */
  readonly makes?: readonly string[];
  readonly lacks?: readonly string[];
}

/** Flags of rt install: the engine reads the file and the flags, and its flags win. Keys that do not interact share an install. */
const INSTALLATIONS: readonly Installation[] = [
  {
    config: {
      "install.cache": '"./of-file"',
      "install.saveTextLockfile": "false",
      "install.optional": "true",
      "install.linker": '"isolated"',
    },
    flags: ["--cache-dir=./of-flag", "--save-text-lockfile", "--omit=optional", "--linker=hoisted"],
    makes: ["of-flag", "bun.lock", "node_modules/dep", "node_modules/tool"],
    lacks: ["of-file", "bun.lockb", "node_modules/extra", "node_modules/.bun"],
  },
  {
    config: {
      "install.cache.dir": '"./of-file"',
      "install.lockfile.save": "true",
      "install.dev": "true",
      "install.registry": '"http://127.0.0.1:9/"',
    },
    flags: ["--cache-dir=./of-flag", "--no-save", "--omit=dev", "--registry=$REGISTRY"],
    makes: ["of-flag", "node_modules/dep", "node_modules/extra"],
    lacks: ["of-file", "bun.lock", "node_modules/tool"],
  },
  {
    config: {
      "install.lockfile.print": '"bun"',
      "install.production": "false",
      "install.registry.url": '"http://127.0.0.1:9/"',
    },
    flags: ["--yarn", "--production", "--registry=$REGISTRY"],
    makes: ["yarn.lock", "node_modules/dep"],
    lacks: ["node_modules/tool"],
  },
  { config: { "install.dryRun": "false" }, flags: ["--dry-run"], lacks: ["node_modules"] },
  { config: { "install.offline": "false" }, flags: ["--offline"], lacks: ["node_modules"] },
  {
    config: { "install.minimumReleaseAge": "0" },
    flags: ["--minimum-release-age=99999999999"],
    lacks: ["node_modules"],
  },
];

/** Keys without an opposite flag: the engine and rt have a switch that only turns them on, or none. */
const NO_FLAG = [
  ...[
    "smol",
    "macros",
    "project.id",
    "run.silent",
    "run.rt",
    "run.if-present",
    "run.no-exit-on-error",
    "permissions.default",
    "test.smol",
  ],
  ...["install.frozenLockfile", "install.ignoreScripts", "install.exact", "install.peer"],
  ...["logLevel", "telemetry", "debug.editor", "install.logLevel"],
  // The modules of the file are imported first, those of the flags after them.
  ...["preload", "test.preload"],
  ...[
    "test.root",
    "test.coverageSkipTestFiles",
    "test.coverageIgnoreSourcemaps",
    "test.coveragePathIgnorePatterns",
  ],
  ...["test.concurrentTestGlob", "install.concurrentScripts", "install.ca", "install.cafile"],
  ...["install.minimumReleaseAgeExcludes", "install.globalStore", "install.linkWorkspacePackages"],
  ...["install.globalDir", "install.globalBinDir", "install.security.scanner"],
];
const NO_FLAG_SECTIONS =
  /^(?:serve\.static\.|run\.cache\.\*\.|cache\.remote\.|run\.remote\.|tasks\.\*\.|secrets\.\*\.|test\.coverageThreshold|install\.(?:permissions|scopes\.|registry\.|cache\.|hoist|publicHoist))/;

test("every key of rtfig.toml has a flag that wins over it, or is listed without one", () => {
  const tables = [RIVALS, OTHER_TESTS, ...INSTALLATIONS.map(({ config }) => config)];
  const known = tables.flatMap((table) => Object.keys(table)).concat(NO_FLAG);
  const names = KEYS.map(({ name }) => name);
  expect(names.filter((name) => !known.includes(name) && !NO_FLAG_SECTIONS.test(name))).toEqual([]);
  expect(known.filter((name) => !names.includes(name))).toEqual([]);
});

test("the other tests that show a flag to win exist", async () => {
  for (const [file, title] of Object.values(OTHER_TESTS))
    expect(await Bun.file(join(import.meta.dir, "..", file)).text()).toContain(title);
});

interface Ran {
  readonly output: string;
  /** Whether the file of `makes` exists. */
  readonly isMade: boolean;
}

async function runRival(
  { config, files, args, needsTerminal, makes }: Rival,
  flags: readonly string[],
): Promise<Ran> {
  await using project = await createProject({ ...files, "rtfig.toml": config });
  const words = args[0] === "test" ? [...args, ...flags] : [...flags, ...args];
  const program = needsTerminal && [
    "script",
    "-qec",
    [RT, ...words].map((word) => `'${word}'`).join(" "),
    "/dev/null",
  ];
  const env = {
    BUN_CONFIG_REGISTRY: "http://127.0.0.1:9/",
    FAILS: config.includes("retry") ? "1" : undefined,
    WITH_FLAGS: flags.length > 0 ? "1" : undefined,
  };
  const { stdout, stderr } = await runRt({
    ...(program ? { program } : { args: words }),
    cwd: project.path,
    env,
  });
  const isMade = makes !== undefined && existsSync(project.join(makes));
  return { output: Bun.stripANSI(stdout + stderr), isMade };
}

/** Runs without flags, which are the same for several flags. */
const runsOfFile = new Map<string, Promise<Ran>>();

function runWithFile(rival: Rival): Promise<Ran> {
  const key = JSON.stringify([rival.config, rival.args, rival.files]);
  const ran = runsOfFile.get(key) ?? runRival(rival, []);
  runsOfFile.set(key, ran);
  return ran;
}

/** With a key that the engine reads, the engine gets the whole file. */
const ENGINE_KEY = "telemetry = false\n";

/** The engine runs code, and may read such a key itself. rt makes an option of it. */
const canReachEngine = (name: string, { args }: Rival) =>
  args[0] === "a.tsx" && KEYS.some((key) => key.name === name && key.as);

describe.concurrent("a flag wins over the key", () => {
  for (const [name, rivals] of Object.entries(RIVALS)) {
    for (const rival of [rivals].flat()) {
      test(`${rival.config.replaceAll("\n", " ")} against ${rival.flags.join(" ")} (${name})`, async () => {
        expect((await runWithFile(rival)).output).toMatch(rival.file);
        for (const begin of canReachEngine(name, rival) ? ["", ENGINE_KEY] : [""]) {
          const both = await runRival({ ...rival, config: begin + rival.config }, rival.flags);
          expect(both.output).toMatch(rival.flag);
          expect(both.isMade).toBe(rival.makes !== undefined);
        }
      });
    }
  }
});

describe.concurrent("a flag of rt install wins over the key", () => {
  let registry: Registry;
  beforeAll(async () => {
    registry = await openRegistry(["dep", "tool", "extra"].map((each) => pack(each)));
  });
  afterAll(() => registry[Symbol.asyncDispose]());

  for (const { config, flags, makes = [], lacks = [] } of INSTALLATIONS) {
    const names = Object.keys(config);
    test(`${flags.join(" ")} against ${names.join(", ")}`, async () => {
      await using project = await createProject({
        "package.json": {
          dependencies: { dep: "1.0.0" },
          devDependencies: { tool: "1.0.0" },
          optionalDependencies: { extra: "1.0.0" },
        },
        "rtfig.toml": names.map((name) => `${name} = ${config[name]}\n`).join(""),
        "home/.keep": "",
      });
      const isInFile = names.some((name) => name.startsWith("install.registry"));
      const env = {
        HOME: project.join("home"), // with the cache of packages
        BUN_INSTALL_CACHE_DIR: "",
        BUN_CONFIG_REGISTRY: isInFile ? undefined : registry.url,
      };
      const words = flags.map((flag) => flag.replace("$REGISTRY", registry.url));
      await runRt({ args: ["install", ...words], cwd: project.path, env });
      const found = (paths: readonly string[]) => paths.filter((path) => existsSync(project.join(path)));
      expect(found(makes)).toEqual([...makes]);
      expect(found(lacks)).toEqual([]);
    });
  }
});
