// Keys of rtfig.toml for registries, and for downloads while a program runs.
import { describe, expect } from "bun:test";
import { existsSync } from "node:fs";
import { createCertificates } from "../support/servers/certificates.ts";
import { openRegistry } from "../options/registry.ts";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { effect } from "./effects.ts";
import { DEP, install, pack, type Situation } from "./installation.ts";

const source = { "a.ts": 'import v from "dep"; console.log(v);' };
const running: Situation = { dependencies: {}, files: source, args: ["a.ts"] };

describe("downloads while running", () => {
  effect("install.auto", "chooses when packages are downloaded", async () => {
    await install('[install]\nauto = "auto"', running, ({ stdout }) => expect(stdout).toBe("dep 1.0.0\n"));
    await install('[install]\nauto = "disable"', running, ({ status }) => expect(status).toBe(1));
    await install("[install]\nauto = false", running, ({ status }) => expect(status).toBe(1));
    const some = { ...running, files: { ...source, "node_modules/x/i.js": "" } };
    await install('[install]\nauto = "auto"', some, ({ status }) => expect(status).toBe(1));
    await install('[install]\nauto = "fallback"', some, ({ stdout }) => expect(stdout).toBe("dep 1.0.0\n"));
  });
  effect("install.prefer", "chooses how versions are resolved", async () => {
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
  effect("install.registry", "is the source of packages, while installing and while running", async () => {
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
  effect("install.registry.url", "is the source of packages", async () => {
    expect(await sent('username = ""')).toBe("");
  });
  effect("install.registry.token", "is sent, also when it names a variable", async () => {
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
