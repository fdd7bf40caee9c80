// TLS verification and proxies of `rt upgrade`. They depend on the environment that rt was started with, not on `.env` in the
// working directory. No variable disables the verification.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { type Certificates, createCertificates } from "../support/servers/certificates.ts";
import { compileProgram } from "../support/programs/programs.ts";
import type { Project } from "../support/project.ts";
import { createProject } from "../support/project.ts";
import { type Environment, runRt } from "../support/rt.ts";
import { expectUntouched, installRt, NEW, sha256, versionOf } from "./release.ts";

let certificates: Certificates;
let released: Project;
let program: Buffer;
beforeAll(async () => {
  certificates = await createCertificates();
  released = await createProject();
  // Records whether the program got a variable of .env.
  const record = `FILE *file = fopen("told", "w"); fputs(getenv("FROM_DOTENV") ? "yes" : "no", file); fclose(file);`;
  await compileProgram(
    released.join("rt"),
    `extern char *getenv(const char *); ${record} puts("${NEW}"); return 0;`,
  );
  program = await readFile(released.join("rt"));
});
afterAll(async () => {
  await certificates[Symbol.asyncDispose]();
  await released[Symbol.asyncDispose]();
});

/** A server with an untrusted certificate that serves the program to every client. */
function serve(isSecure: boolean): { url: string; requests: string[] } & Disposable {
  const requests: string[] = [];
  const { key, cert } = certificates;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    ...(isSecure ? { tls: { key, cert } } : {}),
    fetch(request) {
      requests.push(request.url);
      return new Response(new Uint8Array(program));
    },
  });
  const url = `${isSecure ? "https" : "http"}://127.0.0.1:${server.port}/rt`;
  return { url, requests, [Symbol.dispose]: () => void server.stop(true) };
}

async function upgrade(url: string, dotenv: string, env: Environment = {}) {
  const { home, rt } = await installRt();
  await home.write({ ".env": dotenv });
  const args = ["upgrade", url, "--sha256", sha256(program)];
  const result = await runRt({ program: [rt], args, cwd: home.path, env });
  return { home, rt, result };
}

describe.skipIf(process.platform !== "linux").concurrent("rt upgrade", () => {
  const refused = {
    stdout: "",
    stderr: expect.stringContaining("error: Cannot download https://"),
    status: 1,
  };

  test.each([
    ["NODE_TLS_REJECT_UNAUTHORIZED in .env", "NODE_TLS_REJECT_UNAUTHORIZED=0", {}],
    ["NODE_TLS_REJECT_UNAUTHORIZED in the environment", "", { NODE_TLS_REJECT_UNAUTHORIZED: "0" }],
    ["NODE_EXTRA_CA_CERTS in .env", "NODE_EXTRA_CA_CERTS=$AUTHORITY", {}],
    ["SSL_CERT_FILE in .env", "SSL_CERT_FILE=$AUTHORITY", {}],
    ["SSL_CERT_DIR in .env", "SSL_CERT_DIR=$DIRECTORY\nBUN_OPTIONS=--use-openssl-ca", {}],
  ])("verifies the server despite %s", async (_, dotenv, env) => {
    using server = serve(true);
    const lines = dotenv
      .replace("$AUTHORITY", certificates.authority)
      .replace("$DIRECTORY", certificates.directory);
    const { home, rt, result } = await upgrade(server.url, lines, env);
    await using _home = home;
    expect(result).toEqual(refused);
    expect(server.requests).toEqual([]);
    await home.write({ ".env": "" });
    await expectUntouched(home, rt);
  });

  test("accepts a certificate authority from the environment", async () => {
    using server = serve(true);
    const { home, rt, result } = await upgrade(server.url, "", {
      NODE_EXTRA_CA_CERTS: certificates.authority,
    });
    await using _home = home;
    expect(result).toMatchObject({ stderr: "", status: 0 });
    expect(await versionOf(rt)).toBe(NEW);
  });

  for (const name of ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
    test(`ignores ${name} in .env`, async () => {
      using server = serve(false);
      using proxy = serve(false);
      const { home, result } = await upgrade(server.url, `${name}=${proxy.url}`);
      await using _home = home;
      expect(result).toMatchObject({ stderr: "", status: 0 });
      expect(proxy.requests).toEqual([]);
      expect(server.requests.length).toBe(1);
    });

  test("uses the proxy of the environment", async () => {
    using proxy = serve(false);
    const url = "http://release.invalid/rt";
    const { home, result } = await upgrade(url, "", { HTTP_PROXY: proxy.url.replace("/rt", "") });
    await using _home = home;
    expect(result).toMatchObject({ stderr: "", status: 0 });
    expect(proxy.requests).toEqual([url]);
  });

  test("starts the new program without variables of .env", async () => {
    using server = serve(false);
    const { home, result } = await upgrade(server.url, "FROM_DOTENV=1");
    await using _home = home;
    expect(result).toMatchObject({ stderr: "", status: 0 });
    expect(await Bun.file(home.join("told")).text()).toBe("no");
  });
});
