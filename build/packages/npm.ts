// Builds the npm packages: `rt-runtime`, which users install, and one for each target with only its binary.
//
// npm installs the matching one, by the fields os, cpu and libc. The command is a script that starts the binary, which costs a
// start of Node. So the install script replaces it by the binary.
//
// The script stays if install scripts are disabled, and on Windows, whose command files name Node.
import type { ArchiveFile } from "../release/archive.ts";
import { PRODUCT } from "../product.ts";
import { RELEASE_FILES, type ReleaseFiles } from "../release/release-files.ts";

const { command, package: packageName, version, description, licence } = PRODUCT;

const OS = { linux: "linux", darwin: "darwin", windows: "win32" } as const;

function manifest(fields: object): ArchiveFile {
  const content = `${JSON.stringify({ ...fields, license: licence }, null, 2)}\n`;
  return { path: "package/package.json", content };
}

export function npmPlatformPackage(
  { npm, target }: ReleaseFiles,
  program: Uint8Array,
  notices: readonly ArchiveFile[],
): ArchiveFile[] {
  const { os, arch, libc, file } = target;
  return [
    manifest({
      name: npm.name,
      version,
      description: `The binary of ${packageName} for ${target.name}.`,
      os: [OS[os]],
      cpu: [arch],
      ...(libc ? { libc: [libc] } : {}),
      files: ["bin"],
      preferUnplugged: true,
    }),
    { path: `package/bin/${file}`, content: program, isExecutable: true },
    ...notices.map((each) => ({ ...each, path: `package/${each.path}` })),
  ];
}

/** Shared by both scripts: locates the binary. Node reports glibc's version if it was built for glibc. */
const LOCATE = `const TARGETS = ${JSON.stringify(
  Object.fromEntries(
    RELEASE_FILES.map(({ npm, target: { os, arch, libc, file } }) => [
      [OS[os], arch, ...(libc ? [libc] : [])].join(" "),
      `${npm.name}/bin/${file}`,
    ]),
  ),
  null,
  2,
)};

function libc() {
  if (process.platform !== "linux") return [];
  process.report.excludeNetwork = true;
  return [process.report.getReport().header.glibcVersionRuntime ? "glibc" : "musl"];
}

exports.locate = function locate() {
  const system = [process.platform, process.arch, ...libc()].join(" ");
  const file = TARGETS[system];
  if (!file) throw new Error("${packageName} has no binary for " + system);
  try {
    return require.resolve(file);
  } catch {
    const name = file.split("/bin/")[0];
    throw new Error(
      name + ' is not installed\\nhint: install without --omit=optional, or add "' + name + '" to the dependencies',
    );
  }
};
`;

const LAUNCHER = `#!/usr/bin/env node
// Starts the binary. Where install scripts run, the binary itself replaces this file.
"use strict";
const { spawnSync } = require("node:child_process");
const { locate } = require("../locate.js");

let binary;
try {
  binary = locate();
} catch (error) {
  console.error("error: " + error.message);
  process.exit(1);
}
const args = process.argv.slice(2);
if (process.platform !== "win32" && process.execve) process.execve(binary, ["${command}", ...args], process.env);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
const { status, signal, error } = spawnSync(binary, args, { stdio: "inherit" });
if (error) {
  console.error("error: Cannot start " + binary + ": " + error.code);
  process.exit(1);
}
if (signal) {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}
process.exitCode = status === null ? 1 : status;
`;

const INSTALLER = `// Replaces the script that starts the binary by the binary itself. If that fails, the script stays and works.
"use strict";
const { copyFileSync, chmodSync, linkSync, renameSync, rmSync } = require("node:fs");
const { join } = require("node:path");
const { locate } = require("./locate.js");

if (process.platform !== "win32") {
  const launcher = join(__dirname, "bin", "${command}");
  const draft = launcher + "." + process.pid;
  try {
    const binary = locate();
    try {
      linkSync(binary, draft);
    } catch {
      copyFileSync(binary, draft);
    }
    chmodSync(draft, 0o755);
    renameSync(draft, launcher);
  } catch (error) {
    rmSync(draft, { force: true });
    console.error("note: ${command} starts through Node: " + error.message);
  }
}
`;

export function npmMainPackage(documents: readonly ArchiveFile[]): ArchiveFile[] {
  return [
    manifest({
      name: packageName,
      version,
      description,
      bin: { [command]: `bin/${command}` },
      scripts: { postinstall: "node install.js" },
      files: ["bin", "install.js", "locate.js"],
      engines: { node: ">=18" },
      optionalDependencies: Object.fromEntries(RELEASE_FILES.map(({ npm }) => [npm.name, version])),
    }),
    { path: `package/bin/${command}`, content: LAUNCHER, isExecutable: true },
    { path: "package/install.js", content: INSTALLER },
    { path: "package/locate.js", content: `"use strict";\n${LOCATE}` },
    ...documents.map((each) => ({ ...each, path: `package/${each.path}` })),
  ];
}
