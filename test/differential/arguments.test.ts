// Arguments, globals and environment of a program.
import { compareAll, type Fixture } from "./compare.ts";

const SHOW_ARGUMENTS =
  "console.log(JSON.stringify([process.argv, process.argv0, process.execArgv, process.execPath, process.title === process.argv0, Bun.argv]))";

const ARGUMENTS: readonly Fixture[] = [
  {
    name: "argv, argv0, execArgv, execPath",
    files: { "main.ts": SHOW_ARGUMENTS },
    oneMode: "--smol is in execArgv",
  },
  ...[
    ["a", "b c", "", "-x", "--flag=1", "--help", "--version", "-e", "1"],
    ["--", "a"],
    ["a", "--", "b"],
    ["--", "--", "a"],
    ["--watch"],
    ["--smol", "--silent"],
    ["-"],
    ["日本", "é", "🙂", "a\nb", "\t", "'\"`$HOME*?"],
    ["run", "test"],
  ].flatMap((args): Fixture[] => [
    {
      name: `arguments ${JSON.stringify(args)}`,
      files: {
        "main.ts": "console.log(JSON.stringify(process.argv.slice(2)), JSON.stringify(Bun.argv.slice(2)))",
      },
      args: ["main.ts", ...args],
    },
    {
      name: `arguments ${JSON.stringify(args)} after run`,
      files: {
        "main.ts":
          "console.log(JSON.stringify(process.argv.slice(1)), process.execArgv.filter((o) => o !== '--smol'))",
      },
      args: ["run", "main.ts", ...args],
    },
  ]),
  {
    name: "node:util parseArgs and a CommonJS main",
    files: {
      "main.cjs":
        'const { parseArgs } = require("util"); console.log(parseArgs({ options: { a: { type: "boolean", short: "a" } }, allowPositionals: true }))',
    },
    args: ["main.cjs", "-a", "x"],
  },
  {
    name: "a user's preload with the name of rt's preload, in a thread",
    files: {
      "preload-mine.js": "",
      "main.ts": 'new Worker("./worker.ts")',
      "worker.ts": "console.log(process.execArgv.filter((o) => o !== '--smol'))",
    },
    args: ["--preload=./preload-mine.js", "main.ts"],
  },
  {
    name: "process.title can be set",
    files: { "main.ts": "process.title = 'x'; console.log(process.title)" },
  },
  {
    name: "versions and features",
    files: {
      "main.ts":
        "console.log(process.version, process.versions.bun, Bun.version, process.release.name, process.platform, process.features, Bun.revision, typeof Bun, navigator.userAgent, process.isBun, Bun.isMainThread, Bun.enableANSIColors)",
    },
  },
  {
    name: "globals",
    files: {
      "main.ts":
        "console.log(Object.getOwnPropertyNames(globalThis).filter((n) => n !== 'rt').sort().join())",
    },
  },
  {
    name: "enumerable globals",
    files: {
      "main.ts":
        "console.log(Object.keys(globalThis).sort().join()); for (const k in globalThis) if (k === 'rt') console.log('rt shows')",
    },
  },
  {
    name: "properties of Bun and process",
    files: {
      "main.ts":
        "console.log(Object.keys(Bun).sort().join()); console.log(Object.keys(process).sort().join())",
    },
  },
];

const SHOW_ENV =
  "console.log(JSON.stringify(Object.fromEntries(Object.entries(process.env).filter(([k]) => k.startsWith('X_') || k === 'NODE_ENV').sort())), JSON.stringify(Bun.env.X_A), process.env.NODE_ENV)";

const DOTENV = {
  ".env":
    'X_A=env\nX_B=\'single $X_A\'\nX_C="double ${X_A}"\n# c\nexport X_D=exported\nX_E=a b # comment\nX_F="line\nline"\nX_G=${X_NONE:-fallback}\nX_H=\\$X_A',
  ".env.local": "X_LOCAL=local\nX_A=local",
  ".env.development": "X_MODE=development\nX_A=dev",
  ".env.production": "X_MODE=production",
  ".env.test": "X_MODE=test",
  ".env.development.local": "X_MODE_LOCAL=dl",
  "main.ts": SHOW_ENV,
};

const ENVIRONMENT: readonly Fixture[] = [
  { name: ".env files", files: DOTENV },
  { name: ".env files with NODE_ENV=production", files: DOTENV, env: { NODE_ENV: "production" } },
  { name: ".env files with NODE_ENV=test", files: DOTENV, env: { NODE_ENV: "test" } },
  { name: ".env files with NODE_ENV=development", files: DOTENV, env: { NODE_ENV: "development" } },
  { name: ".env files with an empty NODE_ENV", files: DOTENV, env: { NODE_ENV: "" } },
  { name: ".env files with BUN_ENV", files: DOTENV, env: { BUN_ENV: "production" } },
  { name: "variables of the environment win over .env files", files: DOTENV, env: { X_A: "set", X_B: "" } },
  {
    name: ".env files of the working directory, not of the program's",
    files: { ...DOTENV, "sub/.env": "X_A=sub", "sub/x": "" },
    in: "sub",
    args: ["../main.ts"],
  },
  { name: "NODE_ENV written in .env", files: { ".env": "NODE_ENV=production\nX_A=1", "main.ts": SHOW_ENV } },
  { name: "a directory called .env", files: { ".env/x": "", "main.ts": SHOW_ENV } },
  { name: "a malformed .env", files: { ".env": '=\n==\nX_A\nX_B="open\nX_C=3', "main.ts": SHOW_ENV } },
  {
    name: "process.env: set, delete, enumerate, coerce",
    files: {
      "main.ts":
        "process.env.X_N = 1 as never; console.log(process.env.X_N, 'X_A' in process.env, delete process.env.X_A, process.env.X_A, typeof process.env.X_U); process.env.TZ = 'Asia/Tokyo'; console.log(new Date(0).getHours())",
    },
    env: { X_A: "a" },
  },
  {
    name: "process.env as a child sees it",
    files: {
      ".env": "X_A=dotenv",
      "main.ts":
        "process.env.X_N = 'n'; console.log(Bun.spawnSync(['sh', '-c', 'env | grep ^X_ | sort']).stdout.toString()); console.log(require('child_process').execSync('env | grep ^X_ | sort').toString())",
    },
  },
  {
    name: "variables with odd bytes and a repeated name",
    files: { "main.ts": "console.log(JSON.stringify(process.env.X_A), JSON.stringify(process.env['X_Ü']))" },
    env: { X_A: "tab\tnl\n=é", X_Ü: "ü" },
  },
  {
    name: "TZ and LANG of the environment",
    files: {
      "main.ts": "console.log(new Date(0).toString(), Intl.DateTimeFormat().resolvedOptions().timeZone)",
    },
    env: { TZ: "America/New_York" },
  },
  {
    name: "NO_COLOR and FORCE_COLOR",
    files: { "main.ts": "console.log(Bun.enableANSIColors, { a: 1 })" },
    env: { FORCE_COLOR: "1" },
  },
  {
    name: "BUN_OPTIONS of the user",
    files: {
      "main.ts": "console.log(process.execArgv.filter((o) => o !== '--smol'), { a: { b: { c: { d: 1 } } } })",
    },
    env: { BUN_OPTIONS: "--console-depth=1" },
    differs: {
      mode: "in process",
      reason: "options that the environment added are not shown, as with options compiled in",
      stdout: "[] {\n  a: {\n    b: [Object],\n  },\n}\n",
    },
  },
];

compareAll("arguments and globals", ARGUMENTS);
compareAll("environment", ENVIRONMENT);
