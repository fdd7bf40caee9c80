// Keys of rtfig.toml for the places of installed packages.
import { describe, expect } from "bun:test";
import { existsSync, lstatSync, readdirSync } from "node:fs";
import { effect } from "./effects.ts";
import { install, pack, type Situation } from "./installation.ts";

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
  effect("install.publicHoistPattern", "makes packages visible to the project", async () => {
    await install(`${isolated}publicHoistPattern = ["lea*"]`, nested, ({ has }) =>
      expect(has("node_modules/leaf")).toBe(true),
    );
  });
  effect("install.hoistPattern", "selects the packages that other packages see", async () => {
    const leaf = "node_modules/.bun/node_modules/leaf";
    await install(isolated, nested, ({ has }) => expect(has(leaf)).toBe(true));
    await install(`${isolated}hoistPattern = ["other"]`, nested, ({ has }) => expect(has(leaf)).toBe(false));
  });
  effect("install.hoist", "= false hides packages from each other", async () => {
    await install(`${isolated}hoist = false`, nested, ({ has }) =>
      expect(has("node_modules/.bun/node_modules/leaf")).toBe(false),
    );
  });
  effect("install.globalStore", "stores packages outside of the project", async () => {
    await install(`${isolated}globalStore = true`, nested, ({ registry }) =>
      expect(existsSync(`${registry.cache}/links`)).toBe(true),
    );
    await install(isolated, nested, ({ registry }) =>
      expect(existsSync(`${registry.cache}/links`)).toBe(false),
    );
  });
  effect(
    "install.linkWorkspacePackages",
    "= false downloads packages that the workspace contains",
    async () => {
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
    },
  );
  const globally: Situation = {
    packages: [pack("dep", "1.0.0", { manifest: { bin: { dep: "index.js" } } })],
    dependencies: {},
    args: ["add", "--global", "dep"],
  };
  effect("install.globalDir", "is the directory of global packages", async () => {
    await install('[install]\nglobalDir = "./global"\nglobalBinDir = "./bin"', globally, ({ has }) =>
      expect(has("global/node_modules/dep")).toBe(true),
    );
  });
  effect("install.globalBinDir", "is the directory of global binaries", async () => {
    await install('[install]\nglobalDir = "./global"\nglobalBinDir = "./bin"', globally, ({ project }) =>
      expect(readdirSync(project.join("bin"))).toContain("dep"),
    );
  });
});
