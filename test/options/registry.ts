// Starts an npm registry with the packages of a test.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProject, type Files } from "../support/project.ts";
import type { Environment } from "../support/rt.ts";

export interface PublishedPackage {
  name: string;
  version: string;
  files: Files;
  /** More fields of its package.json. */
  manifest?: Record<string, unknown>;
  /** The publishing time; long ago by default. */
  time?: string;
}

export interface Registry extends AsyncDisposable {
  readonly url: string;
  /** Requests such as "GET /dep", since the start or `forget()`. */
  readonly requests: string[];
  /** The received Authorization headers. */
  readonly credentials: string[];
  /** Variables for a separate cache and this registry. */
  readonly env: Environment;
  readonly cache: string;
  forget(): void;
  publish(each: PublishedPackage): Promise<void>;
  /** Makes cached responses look old, so that they must be requested again. */
  ageCache(): void;
}

export async function openRegistry(
  first: readonly PublishedPackage[],
  tls?: { key: string; cert: string },
): Promise<Registry> {
  const cache = await mkdtemp(join(tmpdir(), "rt-cache-"));
  const packages: PublishedPackage[] = [];
  const tarballs = new Map<string, Uint8Array>();
  const publish = async (each: PublishedPackage) => {
    tarballs.set(`/${each.name}-${each.version}.tgz`, await packTarball(each));
    packages.push(each);
  };
  for (const each of first) await publish(each);
  const requests: string[] = [];
  const credentials: string[] = [];
  const server: Bun.Server<undefined> = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls,
    fetch(request): Response {
      const { pathname } = new URL(request.url);
      const path = decodeURIComponent(pathname);
      requests.push(`${request.method} ${path}`);
      credentials.push(request.headers.get("authorization") ?? "");
      const tarball = tarballs.get(path);
      if (tarball) return new Response(tarball as Uint8Array<ArrayBuffer>);
      const versions = packages.filter(({ name }) => path === `/${name}`);
      if (versions.length === 0) return new Response("{}", { status: 404 });
      const origin = `${tls ? "https" : "http"}://127.0.0.1:${server.port}`;
      return Response.json(describePackage(versions, tarballs, origin));
    },
  });
  const url = `${tls ? "https" : "http"}://127.0.0.1:${server.port}/`;
  return {
    url,
    requests,
    credentials,
    cache,
    env: { BUN_CONFIG_REGISTRY: url, BUN_INSTALL_CACHE_DIR: cache },
    publish,
    ageCache: () => ageManifests(cache),
    forget() {
      requests.length = 0;
      credentials.length = 0;
    },
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await rm(cache, { recursive: true, force: true });
    },
  };
}

/** A cached manifest contains its expiry in seconds: the only number in it that is near the present time. */
function ageManifests(cache: string): void {
  const now = Date.now() / 1000;
  for (const name of readdirSync(cache)) {
    if (!name.endsWith(".npm")) continue;
    const bytes = readFileSync(join(cache, name));
    for (let offset = 0; offset + 4 <= bytes.length; offset += 1) {
      const second = bytes.readUInt32LE(offset);
      if (second > now - 1000 && second < now + 1000) bytes.writeUInt32LE(1, offset);
    }
    writeFileSync(join(cache, name), bytes);
  }
}

async function packTarball({ name, version, files, manifest }: PublishedPackage): Promise<Uint8Array> {
  await using project = await createProject({ "package/package.json": { name, version, ...manifest } });
  await project.write(
    Object.fromEntries(Object.entries(files).map(([path, text]) => [`package/${path}`, text])),
  );
  const tar = Bun.spawn(["tar", "-czf", "-", "package"], { cwd: project.path, stdout: "pipe" });
  return await new Response(tar.stdout).bytes();
}

function describePackage(
  versions: readonly PublishedPackage[],
  tarballs: ReadonlyMap<string, Uint8Array>,
  origin: string,
) {
  const { name } = versions[0]!;
  const entries = versions.map(({ version, manifest }) => {
    const path = `/${name}-${version}.tgz`;
    const integrity = `sha512-${new Bun.CryptoHasher("sha512").update(tarballs.get(path)!).digest("base64")}`;
    return [version, { name, version, ...manifest, dist: { tarball: origin + path, integrity } }] as const;
  });
  return {
    name,
    "dist-tags": { latest: versions.at(-1)!.version },
    versions: Object.fromEntries(entries),
    time: Object.fromEntries(
      versions.map(({ version, time }) => [version, time ?? "2020-01-01T00:00:00.000Z"]),
    ),
  };
}
