// Tests build/setup.mjs in an empty checkout: it starts an engine of a registry only if its checksum is the published
// one.
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { copyFile } from "node:fs/promises";
import { gzip, tar } from "../../build/release/archive.ts";
import { hostTarget, TARGETS } from "../../build/targets.ts";
import { createProject } from "../support/project.ts";
import { cleanEnvironment, REPOSITORY } from "../support/rt.ts";

const NAME = `@oven/${hostTarget().engine.replace("arm64", "aarch64")}`;

for (const checksum of ["with its own checksum", "with the published checksum"])
  test.skipIf(process.platform === "win32")(
    `setup rejects an engine that differs from the published one, ${checksum}`,
    async () => {
      await using checkout = await createProject({ "package.json": {}, "build/system-packages.json": "[]" });
      await copyFile(`${REPOSITORY}/build/setup.mjs`, checkout.join("build/setup.mjs"));
      const impostor = `#!/bin/sh\ntouch ${checkout.join("started")}\necho ${Bun.version}\n`;
      const files = [
        { path: "package/package.json", content: JSON.stringify({ name: NAME, version: Bun.version }) },
        { path: "package/bin/bun", content: impostor, isExecutable: true },
      ];
      const archive = gzip(tar(files), 1);
      const script = await Bun.file(`${REPOSITORY}/build/setup.mjs`).text();
      const [, published] = new RegExp(`"${NAME.replace("@oven/bun-", "")}":\\s+"(\\S+)"`).exec(script)!;
      const requested: string[] = [];
      using registry = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        fetch(request) {
          const { pathname, origin } = new URL(request.url);
          requested.push(decodeURIComponent(pathname.slice(1)));
          if (pathname.endsWith(".tgz")) return new Response(archive as Uint8Array<ArrayBuffer>);
          const own = `sha512-${createHash("sha512").update(archive).digest("base64")}`;
          const integrity = checksum === "with its own checksum" ? own : published;
          const dist = { tarball: `${origin}/${NAME}.tgz`, integrity };
          return Response.json({
            name: NAME,
            "dist-tags": { latest: Bun.version },
            versions: { [Bun.version]: { name: NAME, version: Bun.version, dist } },
          });
        },
      });
      const child = Bun.spawn(["node", checkout.join("build/setup.mjs"), "--version"], {
        env: {
          ...cleanEnvironment({ HOME: checkout.path }),
          npm_config_registry: `http://127.0.0.1:${registry.port}/`,
          npm_config_cache: checkout.join("cache"),
          npm_config_fetch_retries: "0",
        },
        stdout: "pipe",
        stderr: "pipe",
      });
      const stderr = await new Response(child.stderr).text();
      expect(await child.exited).toBe(1);
      expect(stderr).toContain("EINTEGRITY");
      expect(stderr).toContain(
        "\nhint: the npm registry in use has another engine than was published; see npm config get registry\n",
      );
      expect(requested.some((path) => path.endsWith(".tgz"))).toBe(checksum !== "with its own checksum");
      expect(await Bun.file(checkout.join("started")).exists()).toBe(false);
      expect(await Bun.file(checkout.join(".toolchain/node_modules/bun/bin/bun.exe")).exists()).toBe(false);
    },
    120_000,
  );

test("setup contains a checksum of the current engine for every target", async () => {
  const script = await Bun.file(`${REPOSITORY}/build/setup.mjs`).text();
  expect(script).toContain(`const ENGINE_VERSION = "${Bun.version}";`);
  const names = [...script.matchAll(/^ {2}"([\w-]+)":\s+"sha512-[\w+/]{86}==",$/gm)].map(
    ([, name]) => `bun-${name}`,
  );
  expect(names.toSorted()).toEqual(
    TARGETS.map(({ engine }) => engine.replace("arm64", "aarch64")).toSorted(),
  );
});
