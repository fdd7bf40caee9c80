// Keys of rtfig.toml that act on packages: `rt install`, `rt add`, and packages fetched while running.
import { describe, expect } from "bun:test";
import { existsSync, lstatSync, readdirSync } from "node:fs";
import { createCertificates } from "../options/certificates.ts";
import { openRegistry, type PublishedPackage, type Registry } from "../options/registry.ts";
import { createProject, type Files, type Project } from "../support/project.ts";
import { type RtResult, runRt } from "../support/rt.ts";
import { effect } from "./effects.ts";

const pack = (name: string, version = "1.0.0", more: Partial<PublishedPackage> = {}): PublishedPackage => ({
  name,
  version,
  files: { "index.js": `module.exports = "${name} ${version}"` },
  ...more,
});

interface Installed extends RtResult {
  project: Project;
  registry: Registry;
  has(path: string): boolean;
}

interface Situation {
  packages?: readonly PublishedPackage[];
  dependencies?: Record<string, unknown>;
  files?: Files;
  args?: readonly string[];
  /** Leaves the registry to the configuration, where `$REGISTRY` stands for its address. */
  isConfigured?: boolean;
  env?: Record<string, string>;
}

/** `rt install` with this configuration; `use` looks at the result while the project is there. */
async function install(
  config: string,
  situation: Situation,
  use: (result: Installed) => unknown,
): Promise<void> {
  const { packages = [pack("dep")], dependencies = { dependencies: { dep: "1.0.0" } } } = situation;
  await using registry = await openRegistry(packages);
  await using project = await createProject({
    "package.json": { name: "app", ...dependencies },
    "rtfig.toml": config.replaceAll("$REGISTRY", registry.url).replaceAll("$CACHE", registry.cache),
    ...situation.files,
  });
  const { BUN_CONFIG_REGISTRY: address, ...rest } = registry.env;
  const env = {
    ...(situation.isConfigured ? rest : { ...rest, BUN_CONFIG_REGISTRY: address }),
    ...situation.env,
  };
  const result = await runRt({ args: situation.args ?? ["install"], cwd: project.path, env });
  await use({ ...result, project, registry, has: (path) => existsSync(project.join(path)) });
}

const DEP = "node_modules/dep/index.js";
const source = { "a.ts": 'import v from "dep"; console.log(v);' };
const running: Situation = { dependencies: {}, files: source, args: ["a.ts"] };

describe("fetching while running", () => {
  effect("install.auto", "chooses when packages are fetched", async () => {
    await install('[install]\nauto = "auto"', running, ({ stdout }) => expect(stdout).toBe("dep 1.0.0\n"));
    await install('[install]\nauto = "disable"', running, ({ status }) => expect(status).toBe(1));
    await install("[install]\nauto = false", running, ({ status }) => expect(status).toBe(1));
    const some = { ...running, files: { ...source, "node_modules/x/i.js": "" } };
    await install('[install]\nauto = "auto"', some, ({ status }) => expect(status).toBe(1));
    await install('[install]\nauto = "fallback"', some, ({ stdout }) => expect(stdout).toBe("dep 1.0.0\n"));
  });
  effect("install.prefer", "chooses how versions are looked up", async () => {
    for (const [value, expected] of [
      ["online", "dep 1.1.0\n"],
      ["latest", "dep 1.1.0\n"],
      ["offline", "dep 1.0.0\n"],
    ]) {
      await install(`[install]\nprefer = "${value}"`, running, async ({ stdout, registry, project }) => {
        expect(stdout).toBe("dep 1.0.0\n");
        await registry.publish(pack("dep", "1.1.0"));
        registry.ageCache();
        expect((await runRt({ args: ["a.ts"], cwd: project.path, env: registry.env })).stdout).toBe(
          expected!,
        );
      });
    }
  });
});

describe("registries", () => {
  effect("install.registry", "is where packages come from, while installing and while running", async () => {
    const config = '[install]\nregistry = "$REGISTRY"';
    await install(config, { isConfigured: true }, ({ has }) => expect(has(DEP)).toBe(true));
    await install(config, { ...running, isConfigured: true }, ({ stdout }) =>
      expect(stdout).toBe("dep 1.0.0\n"),
    );
  });
  const sent = async (lines: string, env: Record<string, string> = {}) => {
    let credentials: string[] = [];
    await install(
      `[install]\nregistry = { url = "$REGISTRY", ${lines} }`,
      { isConfigured: true, env },
      (result) => {
        expect(result.has(DEP)).toBe(true);
        credentials = result.registry.credentials;
      },
    );
    return credentials[0];
  };
  effect("install.registry.url", "is where packages come from", async () => {
    expect(await sent('username = ""')).toBe("");
  });
  effect("install.registry.token", "is sent, also when it is the name of a variable", async () => {
    expect(await sent('token = "abc"')).toBe("Bearer abc");
    expect(await sent('token = "$TOKEN_OF_TEST"', { TOKEN_OF_TEST: "from env" })).toBe("Bearer from env");
  });
  effect("install.registry.username", "is sent with the password", async () => {
    expect(await sent('username = "me", password = "pass"')).toBe(`Basic ${btoa("me:pass")}`);
  });
  effect("install.registry.password", "is sent with the username", async () => {
    expect(await sent('username = "me", password = "other"')).toBe(`Basic ${btoa("me:other")}`);
  });

  const scoped: Situation = {
    packages: [pack("@team/x")],
    dependencies: { dependencies: { "@team/x": "1.0.0" } },
    env: { BUN_CONFIG_REGISTRY: "http://127.0.0.1:9/" },
  };
  const scope = async (value: string) => {
    let credential: string | undefined;
    await install(`[install.scopes]\nteam = ${value}`, scoped, ({ has, registry }) => {
      expect(has("node_modules/@team/x/package.json")).toBe(true);
      credential = registry.credentials[0];
    });
    return credential;
  };
  effect("install.scopes.*", "gives a scope its registry", async () => {
    expect(await scope('"$REGISTRY"')).toBe("");
  });
  effect("install.scopes.*.url", "gives a scope its registry", async () => {
    expect(await scope('{ url = "$REGISTRY" }')).toBe("");
  });
  effect("install.scopes.*.token", "is sent", async () => {
    expect(await scope('{ url = "$REGISTRY", token = "t" }')).toBe("Bearer t");
  });
  effect("install.scopes.*.username", "is sent with the password", async () => {
    expect(await scope('{ url = "$REGISTRY", username = "u", password = "p" }')).toBe(`Basic ${btoa("u:p")}`);
  });
  effect("install.scopes.*.password", "is sent with the username", async () => {
    expect(await scope('{ url = "$REGISTRY", username = "u", password = "q" }')).toBe(`Basic ${btoa("u:q")}`);
  });

  const secure = async (config: (authority: string) => Promise<string> | string) => {
    await using certificates = await createCertificates();
    await using registry = await openRegistry([pack("dep")], certificates);
    await using project = await createProject({
      "package.json": { name: "app", dependencies: { dep: "1.0.0" } },
      "rtfig.toml": `[install]\nregistry = "${registry.url}"\n${await config(certificates.authority)}`,
    });
    await runRt({ args: ["install"], cwd: project.path, env: { BUN_INSTALL_CACHE_DIR: registry.cache } });
    return existsSync(project.join(DEP));
  };
  effect("install.ca", "trusts a certificate", async () => {
    expect(await secure(() => "")).toBe(false);
    expect(await secure(async (file) => `ca = ${JSON.stringify(await Bun.file(file).text())}`)).toBe(true);
  });
  effect("install.cafile", "trusts a file of certificates", async () => {
    expect(await secure((file) => `cafile = "${file}"`)).toBe(true);
  });
});

describe("the cache", () => {
  const entries = (directory: string) => (existsSync(directory) ? readdirSync(directory).length : 0);
  const elsewhere = { BUN_INSTALL_CACHE_DIR: "" };
  effect("install.cache", "is a directory, or false for none", async () => {
    await install('[install]\ncache = "./kept"', { env: elsewhere }, ({ project }) =>
      expect(entries(project.join("kept"))).toBeGreaterThan(0),
    );
  });
  effect("install.cache.dir", "is the directory", async () => {
    await install('[install.cache]\ndir = "./kept"', { env: elsewhere }, ({ project }) =>
      expect(entries(project.join("kept"))).toBeGreaterThan(0),
    );
  });
  const again = async (config: string): Promise<string[]> => {
    let requests: string[] = [];
    await install(config, {}, async ({ project, registry }) => {
      for (const path of ["node_modules", "bun.lock"]) await Bun.$`rm -rf ${project.join(path)}`.quiet();
      registry.forget();
      await runRt({ args: ["install"], cwd: project.path, env: registry.env });
      requests = [...registry.requests];
    });
    return requests;
  };
  effect("install.cache.disable", "downloads packages again", async () => {
    expect(await again("[install.cache]\ndisable = false")).toEqual([]);
    expect(await again("[install.cache]\ndisable = true")).toContain("GET /dep-1.0.0.tgz");
  });
  effect("install.cache.disableManifest", "asks for versions again", async () => {
    expect(await again("[install.cache]\ndisableManifest = true")).toContain("GET /dep");
  });
});

describe("the lockfile", () => {
  effect("install.lockfile.save", "decides whether one is written", async () => {
    await install("[install.lockfile]\nsave = false", {}, ({ has }) =>
      expect([has(DEP), has("bun.lock")]).toEqual([true, false]),
    );
  });
  effect("install.lockfile.print", "writes another one", async () => {
    await install('[install.lockfile]\nprint = "yarn"', {}, ({ has }) => expect(has("yarn.lock")).toBe(true));
  });
  effect("install.saveTextLockfile", "= false writes a binary one", async () => {
    await install("[install]\nsaveTextLockfile = false", {}, ({ has }) =>
      expect([has("bun.lock"), has("bun.lockb")]).toEqual([false, true]),
    );
  });
  effect("install.frozenLockfile", "refuses to change it", async () => {
    await install("", { packages: [pack("dep"), pack("left")] }, async ({ project, registry }) => {
      const more = { name: "app", dependencies: { dep: "1.0.0", left: "1.0.0" } };
      await project.write({ "package.json": more, "rtfig.toml": "[install]\nfrozenLockfile = true" });
      const frozen = await runRt({ args: ["install"], cwd: project.path, env: registry.env });
      expect([frozen.status, frozen.stderr]).toEqual([1, expect.stringContaining("frozen")]);
    });
  });
});

describe("what is installed", () => {
  const packages = [
    pack("dep"),
    pack("tool"),
    pack("extra"),
    pack("host"),
    pack("guest", "1.0.0", { manifest: { peerDependencies: { host: "1.0.0" } } }),
  ];
  const all: Situation = {
    packages,
    dependencies: {
      dependencies: { dep: "1.0.0", guest: "1.0.0" },
      devDependencies: { tool: "1.0.0" },
      optionalDependencies: { extra: "1.0.0" },
    },
  };
  const names = async (config: string) => {
    let found: string[] = [];
    await install(config, all, ({ project }) => {
      const directory = project.join("node_modules");
      found = existsSync(directory) ? readdirSync(directory).filter((name) => !name.startsWith(".")) : [];
    });
    return found.sort().join();
  };
  effect("install.dev", "= false leaves development dependencies out", async () => {
    expect(await names("")).toBe("dep,extra,guest,host,tool");
    expect(await names("[install]\ndev = false")).toBe("dep,extra,guest,host");
  });
  effect("install.optional", "= false leaves optional dependencies out", async () => {
    expect(await names("[install]\noptional = false")).toBe("dep,guest,host,tool");
  });
  effect("install.peer", "= false leaves peer dependencies out", async () => {
    expect(await names("[install]\npeer = false")).toBe("dep,extra,guest,tool");
  });
  effect("install.production", "leaves development dependencies out", async () => {
    expect(await names("[install]\nproduction = true")).not.toContain("tool");
  });
  effect("install.dryRun", "installs nothing", async () => {
    expect(await names("[install]\ndryRun = true")).toBe("");
  });
  effect("install.exact", "writes exact versions", async () => {
    const added: Situation = { dependencies: {}, args: ["add", "dep"] };
    const written = async (config: string) => {
      let text = "";
      await install(
        config,
        added,
        async ({ project }) => (text = await Bun.file(project.join("package.json")).text()),
      );
      return text;
    };
    expect(await written("")).toContain('"^1.0.0"');
    expect(await written("[install]\nexact = true")).toContain('"1.0.0"');
  });
  effect("install.ignoreScripts", "runs no lifecycle scripts", async () => {
    const scripted: Situation = {
      dependencies: { dependencies: { dep: "1.0.0" }, scripts: { postinstall: "touch ran" } },
    };
    await install("[install]\nignoreScripts = false", scripted, ({ has }) => expect(has("ran")).toBe(true));
    await install("[install]\nignoreScripts = true", scripted, ({ has }) =>
      expect([has(DEP), has("ran")]).toEqual([true, false]),
    );
  });
  effect("install.concurrentScripts", "bounds how many lifecycle scripts run at a time", async () => {
    const lock = (name: string) =>
      pack(name, "1.0.0", {
        manifest: { scripts: { postinstall: "mkdir ../../lock && rmdir ../../lock && touch done" } },
      });
    const locked: Situation = {
      packages: ["a", "b", "c"].map(lock),
      dependencies: {
        dependencies: { a: "1.0.0", b: "1.0.0", c: "1.0.0" },
        trustedDependencies: ["a", "b", "c"],
      },
    };
    await install("[install]\nconcurrentScripts = 1", locked, ({ has, status }) =>
      expect([status, ...["a", "b", "c"].map((name) => has(`node_modules/${name}/done`))]).toEqual([
        0,
        true,
        true,
        true,
      ]),
    );
  });
  effect("install.offline", "never touches the network", async () => {
    await install("[install]\noffline = true", {}, ({ status, registry }) =>
      expect([status, registry.requests]).toEqual([1, []]),
    );
  });
  effect("install.minimumReleaseAge", "leaves out what is too new", async () => {
    const young = [pack("dep"), pack("dep", "1.1.0", { time: new Date(Date.now() - 60_000).toISOString() })];
    const situation: Situation = { packages: young, dependencies: { dependencies: { dep: "^1.0.0" } } };
    const version = async (config: string) => {
      let text = "";
      await install(
        config,
        situation,
        async ({ project }) => (text = await Bun.file(project.join(DEP)).text()),
      );
      return text;
    };
    expect(await version("")).toContain("1.1.0");
    expect(await version("[install]\nminimumReleaseAge = 3600")).toContain("1.0.0");
  });
  effect("install.minimumReleaseAgeExcludes", "lets packages be new", async () => {
    const young = [pack("dep"), pack("dep", "1.1.0", { time: new Date(Date.now() - 60_000).toISOString() })];
    const situation: Situation = { packages: young, dependencies: { dependencies: { dep: "^1.0.0" } } };
    const config = '[install]\nminimumReleaseAge = 3600\nminimumReleaseAgeExcludes = ["dep"]';
    await install(config, situation, async ({ project }) =>
      expect(await Bun.file(project.join(DEP)).text()).toContain("1.1.0"),
    );
  });
  effect("install.security.scanner", "checks what is installed", async () => {
    const files = {
      "scanner.ts":
        'export const scanner = { version: "1", async scan({ packages }) { return packages.map(({ name }) => ({ level: "fatal", package: name, url: null, description: "not on my watch" })) } };',
    };
    await install('[install.security]\nscanner = "./scanner.ts"', { files }, ({ status, stdout, stderr }) =>
      expect([status, (stdout + stderr).includes("not on my watch")]).toEqual([1, true]),
    );
  });
  effect("install.logLevel", "is taken; the engine shows no difference", async () => {
    await install('[install]\nlogLevel = "error"', {}, ({ has }) => expect(has(DEP)).toBe(true));
    await install('[install]\nlogLevel = "loud"', {}, ({ status }) => expect(status).toBe(1));
  });
});

describe("the layout of node_modules", () => {
  const nested: Situation = {
    packages: [pack("leaf"), pack("dep", "1.0.0", { manifest: { dependencies: { leaf: "1.0.0" } } })],
  };
  const isolated = '[install]\nlinker = "isolated"\n';
  effect("install.linker", "is hoisted or isolated", async () => {
    await install('[install]\nlinker = "hoisted"', nested, ({ has }) =>
      expect(has("node_modules/leaf")).toBe(true),
    );
    await install(isolated, nested, ({ has, project }) =>
      expect([
        has("node_modules/leaf"),
        lstatSync(project.join("node_modules/dep")).isSymbolicLink(),
      ]).toEqual([false, true]),
    );
  });
  effect("install.publicHoistPattern", "shows packages to the project", async () => {
    await install(`${isolated}publicHoistPattern = ["lea*"]`, nested, ({ has }) =>
      expect(has("node_modules/leaf")).toBe(true),
    );
  });
  effect("install.hoistPattern", "chooses what packages see", async () => {
    const leaf = "node_modules/.bun/node_modules/leaf";
    await install(isolated, nested, ({ has }) => expect(has(leaf)).toBe(true));
    await install(`${isolated}hoistPattern = ["other"]`, nested, ({ has }) => expect(has(leaf)).toBe(false));
  });
  effect("install.hoist", "= false lets packages see nothing", async () => {
    await install(`${isolated}hoist = false`, nested, ({ has }) =>
      expect(has("node_modules/.bun/node_modules/leaf")).toBe(false),
    );
  });
  effect("install.globalStore", "keeps packages outside of the project", async () => {
    await install(`${isolated}globalStore = true`, nested, ({ registry }) =>
      expect(existsSync(`${registry.cache}/links`)).toBe(true),
    );
    await install(isolated, nested, ({ registry }) =>
      expect(existsSync(`${registry.cache}/links`)).toBe(false),
    );
  });
  effect("install.linkWorkspacePackages", "= false fetches what a workspace has", async () => {
    const situation: Situation = {
      packages: [pack("inner")],
      dependencies: { workspaces: ["p/*"] },
      files: {
        "p/inner/package.json": { name: "inner", version: "1.0.0" },
        "p/outer/package.json": { name: "outer", dependencies: { inner: "^1.0.0" } },
      },
    };
    await install("[install]\nlinkWorkspacePackages = true", situation, ({ registry }) =>
      expect(registry.requests).toEqual([]),
    );
    await install("[install]\nlinkWorkspacePackages = false", situation, ({ registry }) =>
      expect(registry.requests).toContain("GET /inner"),
    );
  });
  const globally: Situation = {
    packages: [pack("dep", "1.0.0", { manifest: { bin: { dep: "index.js" } } })],
    dependencies: {},
    args: ["add", "--global", "dep"],
  };
  effect("install.globalDir", "is where global packages are installed", async () => {
    await install('[install]\nglobalDir = "./global"\nglobalBinDir = "./bin"', globally, ({ has }) =>
      expect(has("global/node_modules/dep")).toBe(true),
    );
  });
  effect("install.globalBinDir", "is where their binaries are linked", async () => {
    await install('[install]\nglobalDir = "./global"\nglobalBinDir = "./bin"', globally, ({ project }) =>
      expect(readdirSync(project.join("bin"))).toContain("dep"),
    );
  });
});
