// Tests a release of this system: the archives, installation by each package manager, the bill of materials, and the
// same files from another checkout.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { homebrewFormula, scoopManifest } from "../../../build/packages/manifests.ts";
import { CHECKSUMS, NPM_FILE, RELEASE_FILES, SCHEMA } from "../../../build/release/release-files.ts";
import { buildRelease } from "../../../build/release.ts";
import { hostTarget, TARGETS } from "../../../build/targets.ts";
import { PREPARATION_TIMEOUT } from "../../support/programs/compiled.ts";
import { createProject, type Project } from "../../support/project.ts";
import { REPOSITORY, runRt } from "../../support/rt.ts";
import { ELSEWHERE_LIMIT, checksumsOfOtherCheckout, RELEASE } from "../executable/elsewhere.ts";
import type { BuildChecksums } from "../executable/make-elsewhere.ts";
import { servePackages } from "./npm-registry.ts";
import manifest from "../../../package.json";

const HOST = RELEASE_FILES.find(({ target }) => target.name === hostTarget().name)!;

let top: string;
let directory: string;
let unpacked: string;
let otherChecksums: Promise<BuildChecksums>;

function sha256(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

beforeAll(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), "rt-release-")));
  directory = join(top, "release");
  unpacked = join(top, "unpacked");
  otherChecksums = checksumsOfOtherCheckout(); // in a separate process
  await buildRelease({ ...RELEASE, directory });
  await Bun.$`mkdir ${unpacked} && tar -xzf ${join(directory, HOST.archive)} -C ${unpacked}`;
}, PREPARATION_TIMEOUT);

afterAll(async () => {
  await otherChecksums.catch(() => {});
  await rm(top, { recursive: true, force: true });
});

describe.skipIf(process.platform !== "linux")("a release", () => {
  test("contains a checksum of every file, which sha256sum accepts", async () => {
    const { stdout } = await Bun.$`sha256sum --check ${CHECKSUMS}`.cwd(directory).quiet();
    const names = (await readdir(directory)).filter((name) => name !== CHECKSUMS);
    expect(stdout.toString().trim().split("\n").toSorted()).toEqual(
      names.map((name) => `${name}: OK`).toSorted(),
    );
    expect(names).toContain(NPM_FILE);
    const schema = await runRt({ args: ["config", "schema"] });
    expect(await readFile(join(directory, SCHEMA), "utf8")).toBe(schema.stdout);
  });

  test("contains an archive with one folder: the binary, documents, licences and completions", async () => {
    const list = await Bun.$`tar -tvzf ${join(directory, HOST.archive)}`
      .env({ ...process.env, TZ: "UTC" })
      .text();
    const lines = list
      .trim()
      .split("\n")
      .map((line) => line.split(/\s+/));
    const names = lines.map((columns) => columns.at(-1)!.slice(HOST.folder.length + 1));
    for (const name of [
      "rt",
      "README.md",
      "LICENSE",
      "THIRD-PARTY.txt",
      "completions/_rt",
      "completions/rt.bash",
      "man/rt.1",
    ])
      expect(names).toContain(name);
    expect(lines.every((columns) => columns.at(-1)!.startsWith(`${HOST.folder}/`))).toBe(true);
    expect(new Set(lines.map(([, owner, , day, time]) => `${owner} ${day} ${time}`))).toEqual(
      new Set(["root/root 2026-01-01 00:00"]),
    );
    expect(lines.filter(([mode]) => mode === "-rwxr-xr-x").map((columns) => columns.at(-1)!)).toEqual([
      `${HOST.folder}/rt`,
    ]);
    const { stdout } = await runRt({ program: [join(unpacked, HOST.folder, "rt")], args: ["--version"] });
    expect(stdout).toBe(`${manifest.version}\n`);
    const completions = await readFile(join(unpacked, HOST.folder, "completions", "rt.bash"), "utf8");
    expect((await runRt({ args: ["completions", "bash"] })).stdout).toBe(completions);
  });

  test(
    "has the same bytes from another checkout",
    async () => {
      // The list is of every file, and right: the first test.
      expect((await otherChecksums).release).toBe(await readFile(join(directory, CHECKSUMS), "utf8"));
    },
    ELSEWHERE_LIMIT,
  );

  test("lists the embedded components", async () => {
    const bom = JSON.parse(await readFile(join(directory, HOST.bom), "utf8"));
    const binary = await readFile(join(unpacked, HOST.folder, "rt"));
    expect(bom.metadata.component.hashes).toEqual([{ alg: "SHA-256", content: sha256(binary) }]);
    const components = bom.components as Array<{
      name: string;
      version: string;
      purl: string;
      licenses: object[];
    }>;
    const names = components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["bun", "citty", "dbus-next", "damerau-levenshtein"]));
    expect(names).not.toContain("happy-dom");
    for (const { name, version, purl, licenses } of components) {
      expect(purl).toBe(`pkg:npm/${name.replace("@", "%40")}@${version}`);
      expect(licenses.length).toBe(1);
      if (name === "bun") continue;
      // A package may be installed in several versions, each in its dependent's folder.
      const modules = join(REPOSITORY, "node_modules");
      const manifests = ["", "*/node_modules/", "@*/*/node_modules/"].flatMap((above) => [
        ...new Bun.Glob(`${above}${name}/package.json`).scanSync(modules),
      ]);
      const installed = await Promise.all(
        manifests.map(async (path) => (await Bun.file(join(modules, path)).json()).version),
      );
      expect(installed).toContain(version);
    }
    const notices = await readFile(join(unpacked, HOST.folder, "THIRD-PARTY.txt"), "utf8");
    for (const name of names) expect(notices).toContain(`\n${name} `);
  });

  test("installs as a Debian package", async () => {
    const file = join(directory, HOST.debian!.file);
    const field = async (name: string) => (await Bun.$`dpkg-deb --field ${file} ${name}`.text()).trim();
    expect(await field("Package")).toBe(manifest.name);
    expect(await field("Version")).toBe(manifest.version);
    expect(await field("Architecture")).toBe((await Bun.$`dpkg --print-architecture`.text()).trim());
    const root = join(top, "debian");
    await Bun.$`mkdir -p ${root}/var/lib/dpkg/updates ${root}/var/lib/dpkg/info && touch ${root}/var/lib/dpkg/status ${root}/var/lib/dpkg/available`;
    // The empty root has no libc6.
    const install = [
      "dpkg",
      `--root=${root}`,
      "--force-depends",
      "--force-not-root",
      "--force-bad-path",
      "--install",
      file,
    ];
    const child = Bun.spawn(install, { stdout: "pipe", stderr: "pipe" });
    const errors = await new Response(child.stderr).text();
    expect({ errors, status: await child.exited }).toMatchObject({ status: 0 });
    const { stdout } = await runRt({ program: [join(root, "usr/bin/rt")], args: ["--version"] });
    expect(stdout).toBe(`${manifest.version}\n`);
    const listed = await Bun.$`dpkg --root=${root} --listfiles ${manifest.name}`.text();
    for (const path of [
      "/usr/share/man/man1/rt.1",
      "/usr/share/bash-completion/completions/rt",
      `/usr/share/doc/${manifest.name}/copyright`,
    ])
      expect(listed.split("\n")).toContain(path);
    const verified = await Bun.$`dpkg --root=${root} --verify ${manifest.name}`.text();
    expect(verified).toBe("");
    await Bun.$`dpkg --root=${root} --force-not-root --force-bad-path --remove ${manifest.name}`.quiet();
    expect(await Bun.file(join(root, "usr/bin/rt")).exists()).toBe(false);
  });

  describe("a release, installed with npm,", () => {
    const runNpm = async (project: Project, ...words: string[]) => {
      const child = Bun.spawn(["npm", ...words], {
        cwd: project.path,
        stdout: "pipe",
        stderr: "pipe",
        env: { ...process.env, HOME: project.path },
      });
      const output = (await new Response(child.stdout).text()) + (await new Response(child.stderr).text());
      expect({ output, status: await child.exited }).toMatchObject({ status: 0 });
    };

    async function install(...options: string[]) {
      const project = await createProject({ "package.json": { name: "user", private: true } });
      using registry = await servePackages(directory);
      const args = [
        "--no-audit",
        "--no-fund",
        `--registry=${registry.url}`,
        `--cache=${project.join(".npm")}`,
      ];
      await runNpm(project, "install", ...args, ...options, manifest.name);
      await rm(project.join(".npm"), { recursive: true, force: true });
      return { project, fetched: registry.fetched };
    }

    const rtOf = (path: string, args: readonly string[], stdin?: string) =>
      runRt({ program: [join(path, "node_modules/.bin/rt")], args, cwd: path, stdin });

    test("downloads only this system's binary, which a script starts until the install script replaces it", async () => {
      const { project, fetched } = await install("--ignore-scripts");
      await using _ = project;
      // npm 9 does not read the field libc, and downloads the binary for musl as well.
      const ignoresLibc = Number.parseInt(await Bun.$`npm --version`.text()) < 10;
      const needed = fetched.filter((file) => !(ignoresLibc && file.includes("-musl-")));
      expect(needed.toSorted()).toEqual([NPM_FILE, HOST.npm.file].toSorted());
      expect((await readFile(project.join("node_modules/.bin/rt"), "utf8")).slice(0, 19)).toBe(
        "#!/usr/bin/env node",
      );
      const code = "console.log(await Bun.stdin.text(), process.argv.slice(2)); process.exit(7)";
      await project.write({ "a.ts": code });
      expect(await rtOf(project.path, ["a.ts", "x y"], "in")).toEqual({
        stdout: 'in [ "x y" ]\n',
        stderr: "",
        status: 7,
      });
      await project.write({ "b.ts": "process.kill(process.pid, 'SIGTERM'); await Bun.sleep(10_000)" });
      expect((await rtOf(project.path, ["b.ts"])).status).toBe("SIGTERM");

      // An installation with scripts runs them in this way, but extracts the binary again.
      await runNpm(project, "rebuild");
      const head = Bun.file(project.join("node_modules/.bin/rt")).slice(0, 4);
      expect(await head.text()).toBe("\x7fELF");
      expect(await rtOf(project.path, ["--version"])).toEqual({
        stdout: `${manifest.version}\n`,
        stderr: "",
        status: 0,
      });
    });

    test("names the missing package when the binary is not installed", async () => {
      const { project, fetched } = await install("--omit=optional");
      await using _ = project;
      expect(fetched).toEqual([NPM_FILE]);
      expect(await rtOf(project.path, ["--version"])).toEqual({
        stdout: "",
        stderr: `error: ${HOST.npm.name} is not installed\nhint: install without --omit=optional, or add "${HOST.npm.name}" to the dependencies\n`,
        status: 1,
      });
    });

    test("contains the files that npm pack would include", async () => {
      await using project = await createProject();
      await Bun.$`tar -xzf ${join(directory, NPM_FILE)} -C ${project.path}`;
      const child = Bun.spawn(["npm", "pack", "--dry-run", "--json", "--ignore-scripts"], {
        cwd: project.join("package"),
        stdout: "pipe",
        stderr: "ignore",
        env: { ...process.env, HOME: project.path },
      });
      const packed = JSON.parse(await new Response(child.stdout).text());
      const [{ files, filename }] = Array.isArray(packed) ? packed : Object.values(packed);
      const listed = (await Bun.$`tar -tzf ${join(directory, NPM_FILE)}`.text()).trim().split("\n");
      const actual = listed
        .filter((path) => !path.endsWith("/"))
        .map((path) => path.slice("package/".length));
      const npms = (files as Array<{ path: string }>).map(({ path }) => path);
      expect(actual.toSorted()).toEqual(npms.toSorted());
      expect(filename).toBe(NPM_FILE);
    });
  });
});

describe("manifests of package managers", () => {
  const sums = new Map(RELEASE_FILES.map(({ archive }) => [archive, sha256(archive)]));

  test("contain the checksum of each archive in Homebrew's formula", () => {
    const formula = homebrewFormula("https://releases.example", sums);
    const pairs = [...formula.matchAll(/url "(\S+)"\n\s+sha256 "(\w+)"/g)].map(([, url, sum]) => [url, sum]);
    const expected = ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64"].map((name) => {
      const { archive } = RELEASE_FILES.find(({ target }) => target.name === name)!;
      return [`https://releases.example/download/v${manifest.version}/${archive}`, sha256(archive)];
    });
    expect(pairs).toEqual(expected);
    expect(formula).toStartWith("class RtRuntime < Formula\n");
    const opened = formula.match(/^\s*(?:class|def|test do|on_\w+ do)\b/gm)!.length;
    expect(formula.match(/^\s*end$/gm)!.length).toBe(opened);
  });

  test("contain the checksum of each archive in Scoop's manifest", () => {
    const { architecture, bin, autoupdate } = JSON.parse(scoopManifest("https://releases.example", sums));
    for (const [name, target] of [
      ["64bit", "windows-x64"],
      ["arm64", "windows-arm64"],
    ] as const) {
      const { archive, folder } = RELEASE_FILES.find((files) => files.target.name === target)!;
      expect(architecture[name]).toEqual({
        url: `https://releases.example/download/v${manifest.version}/${archive}`,
        hash: sha256(archive),
        extract_dir: folder,
      });
      expect(autoupdate.architecture[name].url).toBe(
        `https://releases.example/download/v$version/rt-$version-${target}.zip`,
      );
    }
    expect(bin).toBe("rt.exe");
  });

  test("files of a release have different names", () => {
    const names = RELEASE_FILES.flatMap(({ archive, bom, npm, debian }) => [
      archive,
      bom,
      npm.file,
      debian?.file ?? archive,
    ]);
    expect(new Set(names).size).toBe(TARGETS.length * 3 + 2);
  });
});

describe("npm run build", () => {
  const build = async (...args: string[]) => {
    const child = Bun.spawn([process.execPath, "build/release.ts", ...args], {
      cwd: join(import.meta.dir, "../../.."),
      stdout: "pipe",
      stderr: "pipe",
    });
    const stderr = await new Response(child.stderr).text();
    return { stderr, status: await child.exited };
  };

  test("lists the targets when a target is unknown", async () => {
    expect(await build("--target", "beos")).toEqual({
      stderr: `error: There is no target "beos"; the targets are: ${TARGETS.map(({ name }) => name).join(", ")}\n`,
      status: 1,
    });
  });

  test("rejects an invalid URL", async () => {
    expect(await build("--all", "--url", "here")).toEqual({
      stderr: 'error: "here" is no address\n',
      status: 1,
    });
  });
});
