// Provides for tests of install.sh: a server with valid and invalid releases, one without TLS, and a user's home.
import { createHash } from "node:crypto";
import { chmod, mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { gzip, tar } from "../../../build/release/archive.ts";
import { createKeyPair, signContent, signForSsh } from "../../../build/release/minisign.ts";
import { fillInstaller } from "../../../build/packages/fill-installer.mjs";
import { hostTarget } from "../../../build/targets.ts";
import { createCertificates } from "../../support/servers/certificates.ts";
import { NEXT_KEY, TEST_KEY } from "../../support/programs/release-key.ts";
import { createProject, type Project } from "../../support/project.ts";
import { REPOSITORY, runRt, type RtResult } from "../../support/rt.ts";
import { compileProgram, compileVersion } from "../../support/programs/programs.ts";

export const INSTALLER = join(REPOSITORY, "build", "packages", "install.sh");
const HOST = hostTarget().name;
export const archiveOf = (version: string) => `rt-${version}-${HOST}.tar.gz`;

interface InstallOptions {
  args?: readonly string[];
  env?: Record<string, string | undefined>;
  prefix?: readonly string[];
}

export interface InstallSite extends AsyncDisposable {
  /** The user's home. */
  readonly user: Project;
  /** The files of the servers. */
  readonly released: Project;
  readonly url: string;
  /** URL of the server without TLS. */
  readonly plainUrl: string;
  /** The script as in a release, but with the key of the tests. */
  readonly script: string;
  /** Variables that make curl and wget trust the server's certificate. */
  trusting(): Record<string, string>;
  /** Runs the script for a release of the server, or for the one in `args`. */
  install(release: string, options?: InstallOptions): Promise<RtResult>;
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Publishes SHA256SUMS and its signatures. */
async function publishSums(
  released: Project,
  folder: string,
  sums: string,
  secretKey: string = TEST_KEY.secretKey,
) {
  const bytes = Buffer.from(sums);
  await released.write({
    [`${folder}/SHA256SUMS`]: sums,
    [`${folder}/SHA256SUMS.minisig`]: signContent(bytes, "rt 2.0.0", secretKey),
    [`${folder}/SHA256SUMS.sig`]: signForSsh(bytes, secretKey),
  });
}

interface Publication {
  /** Changes the archive after its checksum was computed. */
  change?(archive: Uint8Array): Uint8Array;
  /** Replaces the default archive. */
  archive?: Uint8Array;
  secretKey?: string;
}

/** Publishes a release in a folder. */
async function publish(
  released: Project,
  folder: string,
  version: string,
  program: Uint8Array,
  { change = (bytes) => bytes, archive, secretKey }: Publication = {},
) {
  const name = `rt-${version}-${HOST}`;
  archive ??= gzip(tar([{ path: `${name}/rt`, content: program, isExecutable: true }]), 1);
  await released.write({ [`${folder}/${name}.tar.gz`]: change(archive) });
  // First a file of another target, whose name begins like this target's.
  const sums = `${"0".repeat(64)}  rt-${version}-${HOST}-other.tar.gz\n${sha256(archive)}  ${name}.tar.gz\n`;
  await publishSums(released, folder, sums, secretKey);
}

/** Returns an archive whose rt is created by a command. */
async function packCommand(command: string): Promise<Uint8Array> {
  await using project = await createProject({ [`rt-2.0.0-${HOST}/.keep`]: "" });
  await Bun.$`sh -c ${`${command} rt-2.0.0-${HOST}/rt && tar -czf x.tar.gz rt-2.0.0-${HOST}`}`.cwd(
    project.path,
  );
  return await readFile(project.join("x.tar.gz"));
}

export async function openInstallSite(): Promise<InstallSite> {
  const [released, user] = [await createProject(), await createProject()];
  await mkdir(released.join("programs"));
  await compileVersion(released.join("programs/new"), "2.0.0");
  await compileVersion(released.join("programs/old"), "1.5.0");
  await compileProgram(released.join("programs/broken"), "return 4;");
  const [newer, older, broken] = await Promise.all(
    ["new", "old", "broken"].map(async (name) => await readFile(released.join("programs", name))),
  );
  await Promise.all([
    publish(released, "good/latest/download", "2.0.0", newer!),
    publish(released, "good/download/v1.5.0", "1.5.0", older!),
    publish(released, "good/download/v9.9.9", "1.5.0", older!),
    publish(released, "next/latest/download", "2.0.0", newer!, { secretKey: NEXT_KEY.secretKey }),
    publish(released, "strange/latest/download", "2.0.0", newer!, { secretKey: createKeyPair().secretKey }),
    publish(released, "unsigned/latest/download", "2.0.0", newer!),
    publish(released, "resigned/latest/download", "2.0.0", newer!),
    publish(released, "linked/latest/download", "2.0.0", newer!, {
      archive: await packCommand("ln -s /bin/true"),
    }),
    publish(released, "folder/latest/download", "2.0.0", newer!, { archive: await packCommand("mkdir") }),
    publish(released, "exchanged/latest/download", "2.0.0", newer!, {
      change: () => Buffer.from("something else"),
    }),
    publish(released, "cut/latest/download", "2.0.0", newer!, { change: (bytes) => bytes.subarray(0, 500) }),
    publish(released, "broken/latest/download", "2.0.0", broken!),
    publish(released, "lost/latest/download", "2.0.0", newer!),
    publishSums(released, "other/latest/download", `${"0".repeat(64)}  rt-2.0.0-beos-x64.tar.gz\n`),
  ]);
  for (const kind of ["minisig", "sig"])
    await rm(released.join(`unsigned/latest/download/SHA256SUMS.${kind}`));
  await released.write({
    "resigned/latest/download/SHA256SUMS": `${"0".repeat(64)}  rt-2.0.0-${HOST}.tar.gz\n`,
  });
  await Bun.file(released.join("lost/latest/download", archiveOf("2.0.0"))).delete();
  const script = user.join("install.sh");
  await user.write({
    "install.sh": fillInstaller("install.sh", [TEST_KEY.publicKey, NEXT_KEY.publicKey]),
  });
  const certificates = await createCertificates();
  await user.write({ wgetrc: `ca_certificate = ${certificates.authority}\n` });
  await chmod(user.path, 0o755);
  /** Redirects paths below /away/ to the other server. */
  const answer = (request: Request, other: string) => {
    const { pathname } = new URL(request.url);
    const [, where, ...rest] = pathname.split("/");
    if (where === "away") return Response.redirect(`${other}/${rest.join("/")}`, 302);
    return new Response(Bun.file(released.join(pathname.slice(1))));
  };
  const settings = { port: 0, hostname: "127.0.0.1", error: () => new Response("none", { status: 404 }) };
  const plain = Bun.serve({ ...settings, fetch: (request): Response => answer(request, url) });
  const server = Bun.serve({
    ...settings,
    tls: { key: certificates.key, cert: certificates.cert },
    fetch: (request) => answer(request, plainUrl),
  });
  const url = `https://127.0.0.1:${server.port}`;
  const plainUrl = `http://127.0.0.1:${plain.port}`;
  const trusting = () => ({ CURL_CA_BUNDLE: certificates.authority, WGETRC: user.join("wgetrc") });
  return {
    user,
    released,
    url,
    plainUrl,
    script,
    trusting,
    install: (release, { args = [], env, prefix = [] } = {}) =>
      runRt({
        program: [...prefix, "dash", script],
        args: [...(release ? ["--url", `${url}/${release}`] : []), ...args],
        cwd: "/",
        env: { HOME: user.path, SHELL: "/bin/bash", ...trusting(), ...env },
      }),
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await plain.stop(true);
      await certificates[Symbol.asyncDispose]();
      await released[Symbol.asyncDispose]();
      await user[Symbol.asyncDispose]();
    },
  };
}
