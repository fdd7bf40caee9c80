// Flags win over rtfig.toml: every key has a flag with another value, or a reason why it has none.
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { KEYS } from "../../src/config/keys.ts";
import { createProject, type Files } from "../support/project.ts";
import { freePort } from "../support/servers/ports.ts";
import { RT, runRt } from "../support/rt.ts";

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
  "install.auto": ["disable", "force"].flatMap((auto) =>
    [
      [["--install=auto"], FETCHED],
      [["--install=fallback"], FETCHED],
      [["--install=force"], FETCHED],
      [["-i"], FETCHED],
      [["--no-install"], NOT_FETCHED],
    ].map(([flags, flag]) =>
      run(
        `[install]\nauto = "${auto}"`,
        flags as string[],
        MISSING,
        auto === "disable" ? NOT_FETCHED : FETCHED,
        flag as RegExp,
      ),
    ),
  ),
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

/** Flags of rt install and related commands: the engine reads the file and the flags, and its flags win. */
const ENGINES: Readonly<
  Record<string, { config: string; flags: readonly string[]; makes?: string; lacks?: string }>
> = {
  "install.cache": {
    config: 'cache = "./of-file"',
    flags: ["--cache-dir=./of-flag"],
    makes: "of-flag",
    lacks: "of-file",
  },
  "install.cache.dir": {
    config: 'cache.dir = "./of-file"',
    flags: ["--cache-dir=./of-flag"],
    makes: "of-flag",
    lacks: "of-file",
  },
  "install.lockfile.save": { config: "lockfile.save = true", flags: ["--no-save"], lacks: "bun.lock" },
  "install.lockfile.print": { config: 'lockfile.print = "bun"', flags: ["--yarn"], makes: "yarn.lock" },
  "install.saveTextLockfile": {
    config: "saveTextLockfile = false",
    flags: ["--save-text-lockfile"],
    makes: "bun.lock",
    lacks: "bun.lockb",
  },
  "install.production": { config: "production = false", flags: ["--production"], lacks: "node_modules/tool" },
  "install.dev": { config: "dev = true", flags: ["--omit=dev"], lacks: "node_modules/tool" },
  "install.optional": { config: "optional = true", flags: ["--omit=optional"], lacks: "node_modules/extra" },
  "install.dryRun": { config: "dryRun = false", flags: ["--dry-run"], lacks: "node_modules" },
  "install.offline": { config: "offline = false", flags: ["--offline"], lacks: "node_modules" },
  "install.minimumReleaseAge": {
    config: "minimumReleaseAge = 0",
    flags: ["--minimum-release-age=99999999999"],
    lacks: "node_modules",
  },
  "install.linker": {
    config: 'linker = "isolated"',
    flags: ["--linker=hoisted"],
    lacks: "node_modules/.bun",
  },
  "install.registry": {
    config: 'registry = "http://127.0.0.1:9/"',
    flags: ["--registry=$REGISTRY"],
    makes: "node_modules/dep",
  },
  "install.registry.url": {
    config: 'registry.url = "http://127.0.0.1:9/"',
    flags: ["--registry=$REGISTRY"],
    makes: "node_modules/dep",
  },
};

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
  /^(?:serve\.static\.|run\.cache\.\*\.|cache\.remote\.|run\.remote\.|tasks\.\*\.|secrets\.\*\.|test\.coverageThreshold|install\.(?:scopes\.|registry\.|cache\.|hoist|publicHoist))/;

test("every key of rtfig.toml has a flag that wins over it, or is listed without one", () => {
  const known = [RIVALS, OTHER_TESTS, ENGINES].flatMap((table) => Object.keys(table)).concat(NO_FLAG);
  const names = KEYS.map(({ name }) => name);
  expect(names.filter((name) => !known.includes(name) && !NO_FLAG_SECTIONS.test(name))).toEqual([]);
  expect(known.filter((name) => !names.includes(name))).toEqual([]);
});

test("the other tests that show a flag to win exist", async () => {
  for (const [file, title] of Object.values(OTHER_TESTS))
    expect(await Bun.file(join(import.meta.dir, "..", file)).text()).toContain(title);
});

async function outputOf({ config, files, args, needsTerminal }: Rival, flags: readonly string[]) {
  const project = await createProject({ ...files, "rtfig.toml": config });
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
  return { output: Bun.stripANSI(stdout + stderr), project };
}

/** With a key that the engine reads, the engine gets the whole file. */
const ENGINE_KEY = "telemetry = false\n";

describe.concurrent("a flag wins over the key", () => {
  for (const [name, rivals] of Object.entries(RIVALS)) {
    for (const rival of [rivals].flat()) {
      for (const config of [rival.config, ENGINE_KEY + rival.config]) {
        const title = `${config.replaceAll("\n", " ")} against ${rival.flags.join(" ")} (${name})`;
        test(title, async () => {
          const alone = await outputOf({ ...rival, config }, []);
          await using _first = alone.project;
          expect(alone.output).toMatch(rival.file);
          const both = await outputOf({ ...rival, config }, rival.flags);
          await using project = both.project;
          expect(both.output).toMatch(rival.flag);
          if (rival.makes) expect(existsSync(project.join(rival.makes))).toBe(true);
        });
      }
    }
  }
});

describe.concurrent("a flag of rt install wins over the key", () => {
  for (const [name, { config, flags, makes, lacks }] of Object.entries(ENGINES)) {
    test(`${config} against ${flags.join(" ")} (${name})`, async () => {
      const { openRegistry } = await import("../options/registry.ts");
      const { pack } = await import("./installation.ts");
      await using registry = await openRegistry(["dep", "tool", "extra"].map((each) => pack(each)));
      await using project = await createProject({
        "package.json": {
          dependencies: { dep: "1.0.0" },
          devDependencies: { tool: "1.0.0" },
          optionalDependencies: { extra: "1.0.0" },
        },
        "rtfig.toml": `[install]\n${config}\n`,
      });
      const { BUN_CONFIG_REGISTRY: address, ...rest } = registry.env;
      const env = {
        ...rest,
        BUN_INSTALL_CACHE_DIR: "",
        ...(!config.startsWith("registry") && { BUN_CONFIG_REGISTRY: address }),
      };
      const words = flags.map((flag) => flag.replace("$REGISTRY", registry.url));
      await runRt({ args: ["install", ...words], cwd: project.path, env });
      if (makes) expect(existsSync(project.join(makes))).toBe(true);
      if (lacks) expect(existsSync(project.join(lacks))).toBe(false);
    });
  }
});
