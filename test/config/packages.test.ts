// Keys of rtfig.toml for `rt install` and `rt add`: the cache, the lockfile and the selection of packages.
import { describe, expect } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { runRt } from "../support/rt.ts";
import { effect } from "./effects.ts";
import { DEP, install, pack, type Situation } from "./installation.ts";

describe("the package cache", () => {
  const entries = (directory: string) => (existsSync(directory) ? readdirSync(directory).length : 0);
  const elsewhere = { BUN_INSTALL_CACHE_DIR: "" };
  effect("install.cache", "is a directory, or false for no cache", async () => {
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
  effect("install.cache.disableManifest", "requests versions again", async () => {
    expect(await again("[install.cache]\ndisableManifest = true")).toContain("GET /dep");
  });
});

describe("the lockfile", () => {
  effect("install.lockfile.save", "decides whether a lockfile is written", async () => {
    await install("[install.lockfile]\nsave = false", {}, ({ has }) =>
      expect([has(DEP), has("bun.lock")]).toEqual([true, false]),
    );
  });
  effect("install.lockfile.print", "writes a lockfile of another format", async () => {
    await install('[install.lockfile]\nprint = "yarn"', {}, ({ has }) => expect(has("yarn.lock")).toBe(true));
  });
  effect("install.saveTextLockfile", "= false writes a binary lockfile", async () => {
    await install("[install]\nsaveTextLockfile = false", {}, ({ has }) =>
      expect([has("bun.lock"), has("bun.lockb")]).toEqual([false, true]),
    );
  });
  effect("install.frozenLockfile", "rejects changes of the lockfile", async () => {
    await install("", { packages: [pack("dep"), pack("left")] }, async ({ project, registry }) => {
      const more = { name: "app", dependencies: { dep: "1.0.0", left: "1.0.0" } };
      await project.write({ "package.json": more, "rtfig.toml": "[install]\nfrozenLockfile = true" });
      const frozen = await runRt({ args: ["install"], cwd: project.path, env: registry.env });
      expect([frozen.status, frozen.stderr]).toEqual([1, expect.stringContaining("frozen")]);
    });
  });
});

describe("the installed packages", () => {
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
  effect("install.dev", "= false omits development dependencies", async () => {
    expect(await names("")).toBe("dep,extra,guest,host,tool");
    expect(await names("[install]\ndev = false")).toBe("dep,extra,guest,host");
  });
  effect("install.optional", "= false omits optional dependencies", async () => {
    expect(await names("[install]\noptional = false")).toBe("dep,guest,host,tool");
  });
  effect("install.peer", "= false omits peer dependencies", async () => {
    expect(await names("[install]\npeer = false")).toBe("dep,extra,guest,tool");
  });
  effect("install.production", "omits development dependencies", async () => {
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
  effect("install.concurrentScripts", "limits the number of concurrent lifecycle scripts", async () => {
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
      // With permissions, a script could not make the lock, which is outside of its package.
      args: ["install", "--no-permissions"],
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
  effect("install.offline", "never uses the network", async () => {
    await install("[install]\noffline = true", {}, ({ status, registry }) =>
      expect([status, registry.requests]).toEqual([1, []]),
    );
  });
  effect("install.minimumReleaseAge", "rejects versions that are too new", async () => {
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
  effect("install.minimumReleaseAgeExcludes", "exempts packages from the minimum age", async () => {
    const young = [pack("dep"), pack("dep", "1.1.0", { time: new Date(Date.now() - 60_000).toISOString() })];
    const situation: Situation = { packages: young, dependencies: { dependencies: { dep: "^1.0.0" } } };
    const config = '[install]\nminimumReleaseAge = 3600\nminimumReleaseAgeExcludes = ["dep"]';
    await install(config, situation, async ({ project }) =>
      expect(await Bun.file(project.join(DEP)).text()).toContain("1.1.0"),
    );
  });
  effect("install.security.scanner", "checks packages before their installation", async () => {
    const files = {
      "scanner.ts":
        'export const scanner = { version: "1", async scan({ packages }) { return packages.map(({ name }) => ({ level: "fatal", package: name, url: null, description: "not on my watch" })) } };',
    };
    await install('[install.security]\nscanner = "./scanner.ts"', { files }, ({ status, stdout, stderr }) =>
      expect([status, (stdout + stderr).includes("not on my watch")]).toEqual([1, true]),
    );
  });
  effect("install.logLevel", "is accepted; the engine behaves the same", async () => {
    await install('[install]\nlogLevel = "error"', {}, ({ has }) => expect(has(DEP)).toBe(true));
    await install('[install]\nlogLevel = "loud"', {}, ({ status }) => expect(status).toBe(1));
  });
});
