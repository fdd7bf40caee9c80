// Real tools, each with a small project.
import { hasProgram } from "../../../build/system-programs.ts";
import { devDependencies } from "../../../package.json";
import type { Files } from "../../support/project.ts";

/** The package in the version of this repository. */
const own = (name: keyof typeof devDependencies) => `${name}@${devDependencies[name]}`;

export interface Workload {
  readonly script: string;
  readonly files: Files;
  /** Installed with npm. */
  readonly packages?: readonly string[];
  /** Uses this repository's packages, unless each input of the tool is tried. */
  readonly isLinked?: boolean;
  /** The tool writes to the home directory in its first run. */
  readonly isWarmed?: boolean;
  /** A program that must be installed. */
  readonly program?: string;
}

const CODE: Files = {
  "src/index.ts":
    'import { add } from "./add";\nimport data from "./data.json";\nexport const sum: number = add(1, data.two);\n',
  "src/add.ts": "export function add(a: number, b: number): number {\n  return a + b;\n}\n",
  "src/data.json": '{ "two": 2 }\n',
};

const RUST: Files = {
  "src/main.rs": 'mod part;\nfn main() { println!("{}", part::TEXT); }\n',
  "src/part.rs": 'pub const TEXT: &str = include_str!("text");\n',
  "src/text": "text",
};

const TSCONFIG = {
  compilerOptions: { outDir: "dist", rootDir: "src", resolveJsonModule: true, strict: true },
  include: ["src"],
};

/** Fast tools, for each `npm test`. */
export const QUICK: Readonly<Record<string, Workload>> = {
  bash: {
    script: "bash work.sh",
    files: {
      "work.sh":
        "for file in src/*; do test -e $file.skip || cat $file; done > out; . ./lib/helper.sh; ls lib; test -e missing/deep || true",
      "lib/helper.sh": "cat lib/link > /dev/null\n",
      ...CODE,
    },
  },
  node: {
    script: "node work.cjs",
    files: {
      "work.cjs":
        'const fs = require("fs"); require("./lib"); try { require("absent-package") } catch {}; fs.readdirSync("src").forEach((name) => fs.statSync("src/" + name)); fs.writeFileSync("out", fs.readFileSync("src/add.ts"))',
      "lib/index.js": 'require("./part"); require("child_process").execFileSync("cat", ["src/data.json"])',
      "lib/part.json": "{}",
      ...CODE,
    },
  },
};

export const WORKLOADS: Readonly<Record<string, Workload>> = {
  ...QUICK,
  bun: { script: `${process.execPath} build src/index.ts --outdir=dist`, files: CODE },
  esbuild: {
    script: "esbuild --bundle src/index.ts --outfile=dist/out.js",
    files: CODE,
    isLinked: true,
    packages: [own("esbuild")],
  },
  vite: {
    script: "vite build",
    files: { ...CODE, "index.html": '<script type="module" src="/src/index.ts"></script>' },
    isLinked: true,
    packages: [own("vite")],
  },
  vitest: {
    script: "vitest run --globals",
    files: {
      ...CODE,
      "src/add.test.ts": 'import { add } from "./add";\ntest("adds", () => expect(add(1, 2)).toBe(3));\n',
    },
    isLinked: true,
    packages: [own("vitest")],
    isWarmed: true,
  },
  rustc: { script: "rustc src/main.rs -o out", files: RUST, program: "rustc" },
  cargo: {
    script: "CARGO_HOME=$PWD/.home cargo build --offline",
    files: {
      ...RUST,
      "Cargo.toml": '[package]\nname = "work"\nversion = "0.1.0"\nedition = "2021"\n',
      "build.rs": 'fn main() { println!("cargo:rerun-if-changed=src/text"); }\n',
    },
    program: "cargo",
  },
  go: {
    script: "GOCACHE=$PWD/.cache GOPROXY=off go build -o out .",
    files: {
      "go.mod": "module work\n\ngo 1.19\n",
      "main.go":
        'package main\n\nimport (\n\t_ "embed"\n\t"work/part"\n)\n\n//go:embed text\nvar text string\n\nfunc main() { println(text, part.Text) }\n',
      "part/part.go": 'package part\n\nconst Text = "part"\n',
      text: "text",
    },
    program: "go",
  },
  tsc: { script: "tsc", files: { ...CODE, "tsconfig.json": TSCONFIG }, packages: ["typescript"] },
  eslint: {
    script: "eslint src",
    files: {
      "src/a.js": "export const a = 1;\n",
      "eslint.config.mjs": 'import js from "@eslint/js";\nexport default [js.configs.recommended];\n',
    },
    packages: ["eslint", "@eslint/js"],
  },
  biome: { script: "biome lint src", files: { ...CODE, "biome.json": {} }, packages: ["@biomejs/biome"] },
  swc: { script: "swc src -d dist --extensions .ts", files: CODE, packages: ["@swc/cli", "@swc/core"] },
};

/** Includes the folders in the home directory where installers put programs. */
export const PATH = `${process.env.HOME}/.cargo/bin:${process.env.PATH}`;

/** Returns the name of the tool's program if it is not installed. */
export function missingProgram({ program }: Workload): string | undefined {
  return program !== undefined && !hasProgram(program, PATH) ? program : undefined;
}
