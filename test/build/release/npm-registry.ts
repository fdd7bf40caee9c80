// Serves the packages of a release as an npm registry. Packages for other systems have only a description, which npm
// needs to leave them out.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { npmPlatformPackage } from "../../../build/packages/npm.ts";
import { NPM_FILE, RELEASE_FILES } from "../../../build/release/release-files.ts";
import manifest from "../../../package.json";

export interface Registry extends Disposable {
  readonly url: string;
  /** The requested files. */
  readonly fetched: string[];
}

export async function servePackages(directory: string): Promise<Registry> {
  const files = new Map<string, string>([[manifest.name, NPM_FILE]]);
  for (const { npm } of RELEASE_FILES) files.set(npm.name, npm.file);
  const descriptions = new Map<string, object>();
  for (const release of RELEASE_FILES)
    descriptions.set(
      release.npm.name,
      JSON.parse(npmPlatformPackage(release, Buffer.alloc(0), [])[0]!.content as string),
    );
  descriptions.set(
    manifest.name,
    JSON.parse(await Bun.$`tar -xzOf ${join(directory, NPM_FILE)} package/package.json`.text()),
  );

  const fetched: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname, origin } = new URL(request.url);
      const path = decodeURIComponent(pathname.slice(1));
      if (path.startsWith("files/")) {
        fetched.push(path.slice("files/".length));
        return new Response(Bun.file(join(directory, path.slice("files/".length))));
      }
      const file = files.get(path);
      if (!file) return new Response("{}", { status: 404 });
      const tarball = `${origin}/files/${file}`;
      const local = join(directory, file);
      const bytes = existsSync(local) ? readFileSync(local) : Buffer.from(file);
      const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
      const { version } = manifest;
      return Response.json({
        name: path,
        "dist-tags": { latest: version },
        versions: { [version]: { ...descriptions.get(path), dist: { tarball, integrity } } },
      });
    },
    error: () => new Response("{}", { status: 404 }),
  });
  return {
    url: `http://127.0.0.1:${server.port}/`,
    fetched,
    [Symbol.dispose]: () => void server.stop(true),
  };
}
