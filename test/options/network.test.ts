// Options for HTTP, DNS and TLS.
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { createSocket } from "node:dgram";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { freePort } from "../support/servers/ports.ts";
import { createProject } from "../support/project.ts";
import { RT, startRt } from "../support/rt.ts";
import { type Certificates, createCertificates } from "../support/servers/certificates.ts";
import { outputOf, prove, runIn } from "./prove.ts";

let certificates: Certificates;
beforeAll(async () => {
  certificates = await createCertificates();
});
afterAll(async () => {
  await certificates[Symbol.asyncDispose]();
});

describe("HTTP", () => {
  prove("port", "is the default port of Bun.serve", async () => {
    const port = freePort();
    const files = {
      "a.ts": "const s = Bun.serve({ fetch: () => new Response() }); console.log(s.port); s.stop()",
    };
    expect(await outputOf(files, [`--port=${port}`, "a.ts"])).toBe(String(port));
  });

  prove("port", "sets PORT for a script", async () => {
    const files = { "package.json": { scripts: { s: "echo $PORT" } } };
    expect(await outputOf(files, ["--port=8123", "run", "s"])).toBe("8123");
  });

  prove(
    "port",
    "wins over the variables of the environment and of .env, for code and for scripts",
    async () => {
      const server =
        "const s = Bun.serve({ fetch: () => new Response() }); console.log(s.port, process.env.PORT); s.stop()";
      const [flag, other] = [freePort(), freePort()];
      for (const name of ["PORT", "BUN_PORT", "NODE_PORT"]) {
        const files = { "a.ts": server, "package.json": { scripts: { s: `${RT} a.ts` } } };
        const [environment, file] = [{ env: { [name]: `${other}` } }, { ".env": `${name}=${other}` }];
        for (const words of [["a.ts"], ["--silent", "run", "s"]]) {
          const args = [`--port=${flag}`, ...words];
          expect(await outputOf(files, args, environment)).toBe(`${flag} ${flag}`);
          expect(await outputOf({ ...files, ...file }, args)).toBe(`${flag} ${flag}`);
        }
        expect(await outputOf(files, ["a.ts"], environment)).toStartWith(`${other} `);
        expect(await outputOf({ ...files, ...file }, ["a.ts"])).toStartWith(`${other} `);
      }
    },
  );

  prove("port", "in rtfig.toml is weaker than PORT, and sets no PORT for scripts", async () => {
    const [key, variable] = [freePort(), freePort()];
    const files = {
      "rtfig.toml": `[serve]\nport = ${key}`,
      "a.ts": "const s = Bun.serve({ fetch: () => new Response() }); console.log(s.port); s.stop()",
      "package.json": { scripts: { s: "echo $PORT." } },
    };
    expect(await outputOf(files, ["a.ts"])).toBe(`${key}`);
    expect(await outputOf(files, ["a.ts"], { env: { PORT: `${variable}` } })).toBe(`${variable}`);
    expect(await outputOf({ ...files, ".env": `PORT=${variable}` }, ["a.ts"])).toBe(`${variable}`);
    expect(await outputOf(files, ["--silent", "run", "s"])).toBe(".");
    expect(await outputOf(files, ["--silent", "run", "s"], { env: { PORT: "1" } })).toBe("1.");
  });

  prove("fetch-preconnect", "connects before the program asks", async () => {
    const { promise: connected, resolve } = Promise.withResolvers<void>();
    using server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { open: () => resolve(), data() {} },
    });
    await using project = await createProject({ "a.ts": "setInterval(() => {}, 1000)" });
    const child = startRt({
      args: [`--fetch-preconnect=http://127.0.0.1:${server.port}`, "a.ts"],
      cwd: project.path,
    });
    await connected;
    child.kill();
  });

  prove("max-http-header-size", "limits the headers of a request", async () => {
    const files = {
      "a.ts": `import http from "node:http";
        const server = http.createServer((_, response) => response.end("taken")).listen(0, async () => {
          const { port } = server.address();
          const response = await fetch("http://127.0.0.1:" + port, { headers: { long: "x".repeat(3000) } });
          console.log(response.status);
          server.close();
        });`,
    };
    expect(await outputOf(files, ["a.ts"])).toBe("200");
    expect(await outputOf(files, ["--max-http-header-size=1024", "a.ts"])).toBe("431");
  });

  prove("insecure-http-parser", "accepts invalid headers", async () => {
    const files = {
      "a.ts": `import http from "node:http"; import net from "node:net";
        const server = http.createServer((request, response) => response.end()).listen(0, () => {
          const socket = net.connect(server.address().port, "127.0.0.1");
          socket.once("data", (data) => { console.log(String(data).split(" ")[1]); process.exit(); });
          socket.write("GET / HTTP/1.1\\r\\nHost: a\\r\\nBad: a\\x01b\\r\\n\\r\\n");
        });`,
    };
    expect(await outputOf(files, ["a.ts"])).toBe("400");
    expect(await outputOf(files, ["--insecure-http-parser", "a.ts"])).toBe("200");
  });

  prove("user-agent", "is sent with requests", async () => {
    const files = {
      "a.ts":
        'const s = Bun.serve({ port: 0, fetch: (r) => new Response(r.headers.get("user-agent")) }); console.log(await (await fetch(s.url)).text()); s.stop(true)',
    };
    expect(await outputOf(files, ["--user-agent=my agent/1.0", "a.ts"])).toBe("my agent/1.0");
    expect(await outputOf(files, ["--user-agent", "other", "a.ts"])).toBe("other");
  });

  prove("experimental-http2-fetch", "uses HTTP/2 when the server supports it", async () => {
    const server = createSecureServer({ key: certificates.key, cert: certificates.cert, allowHTTP1: true });
    server.on("request", (request, response) => response.end(request.httpVersion));
    server.listen(0);
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const files = { "a.ts": `console.log(await (await fetch("https://localhost:${port}/")).text())` };
    const env = { NODE_EXTRA_CA_CERTS: certificates.authority };
    expect(await outputOf(files, ["a.ts"], { env })).toBe("1.1");
    expect(await outputOf(files, ["--experimental-http2-fetch", "a.ts"], { env })).toBe("2.0");
    server.close();
  });

  prove("experimental-http3-fetch", "tries HTTP/3 when the server offers it", async () => {
    const quic = createSocket({ type: "udp6", ipv6Only: false }).bind(0, "::");
    await once(quic, "listening");
    const { port: udp } = quic.address();
    const { promise: tried, resolve } = Promise.withResolvers<string>();
    quic.on("message", () => resolve("tried"));
    using server = Bun.serve({
      port: 0,
      tls: { key: certificates.key, cert: certificates.cert },
      fetch: () => new Response("", { headers: { "alt-svc": `h3=":${udp}"; ma=86400` } }),
    });
    await using project = await createProject({
      "a.ts": `for (;;) await (await fetch("https://localhost:${server.port}/")).text();`,
    });
    const env = { NODE_EXTRA_CA_CERTS: certificates.authority };
    const child = startRt({ args: ["--experimental-http3-fetch", "a.ts"], cwd: project.path, env });
    expect(await tried).toBe("tried");
    child.kill();
    quic.close();
  });

  prove("experimental-stream-iter", "makes node:stream/iter importable", async () => {
    const files = {
      "a.ts": 'import * as iter from "node:stream/iter"; console.log(Object.keys(iter).length > 0)',
    };
    expect((await runIn(files, ["a.ts"])).status).toBe(1);
    expect(await outputOf(files, ["--experimental-stream-iter", "a.ts"])).toBe("true");
  });

  prove("dns-result-order", "orders addresses", async () => {
    const files = { "a.ts": 'import dns from "node:dns"; console.log(dns.getDefaultResultOrder())' };
    for (const order of ["verbatim", "ipv4first", "ipv6first"])
      expect(await outputOf(files, [`--dns-result-order=${order}`, "a.ts"])).toBe(order);
    const { status, stderr } = await runIn(files, ["--dns-result-order=random", "a.ts"]);
    expect([status, stderr]).toEqual([1, expect.stringContaining("ipv4first")]);
  });
});

/** Requests a page from a server whose certificate only the test's authority signed. */
async function request(options: readonly string[], env: Record<string, string> = {}): Promise<string> {
  using server = Bun.serve({
    port: 0,
    tls: { key: certificates.key, cert: certificates.cert },
    fetch: () => new Response("trusted"),
  });
  const files = {
    "a.ts": `try { console.log(await (await fetch("https://localhost:${server.port}")).text()) } catch (e) { console.log(e.code) }`,
  };
  return await outputOf(files, [...options, "a.ts"], { env });
}

const REFUSED = "UNABLE_TO_VERIFY_LEAF_SIGNATURE";
const STORES = ["--use-system-ca", "--use-openssl-ca", "--use-bundled-ca"];

/** Three certificate stores, of which an option selects one. */
async function expectExclusive(option: string): Promise<void> {
  for (const other of STORES) {
    if (other === option) continue;
    const { status, stderr } = await runIn({ "a.ts": "" }, [option, other, "a.ts"]);
    expect([status, stderr]).toEqual([1, expect.stringContaining("choose exactly one")]);
  }
}

describe("TLS", () => {
  const count = {
    "a.ts": 'import tls from "node:tls"; console.log(tls.getCACertificates("default").length)',
  };

  prove("use-system-ca", "adds the system's authorities", async () => {
    const env = { SSL_CERT_FILE: certificates.authority };
    const bundled = Number(await outputOf(count, ["a.ts"], { env }));
    const withSystem = Number(await outputOf(count, ["--use-system-ca", "a.ts"], { env }));
    expect(withSystem).toBeGreaterThan(bundled);
    expect(await request(["--use-system-ca"])).toBe(REFUSED);
    expect(await request(["--use-system-ca"], env)).toBe("trusted");
    await expectExclusive("--use-system-ca");
  });

  prove("use-openssl-ca", "trusts SSL_CERT_FILE and SSL_CERT_DIR", async () => {
    expect(await request(["--use-openssl-ca"])).toBe(REFUSED);
    expect(await request(["--use-openssl-ca"], { SSL_CERT_FILE: certificates.authority })).toBe("trusted");
    expect(await request(["--use-openssl-ca"], { SSL_CERT_DIR: certificates.directory })).toBe("trusted");
    await expectExclusive("--use-openssl-ca");
  });

  prove("use-openssl-ca", "trusts none of the bundled authorities", async () => {
    const files = {
      "a.ts": `import tls from "node:tls";
        const trusted = new Set(tls.getCACertificates("default"));
        console.log(tls.rootCertificates.filter((each) => trusted.has(each)).length, trusted.size);`,
    };
    const env = { SSL_CERT_FILE: certificates.authority, SSL_CERT_DIR: certificates.directory };
    expect(await outputOf(files, ["--use-openssl-ca", "a.ts"], { env })).toBe("0 1");
  });

  // The engine reads its own certificates at the first connection. A file that changed since the start represents them.
  prove("use-openssl-ca", "also applies to fetch() and WebSocket", async () => {
    using server = Bun.serve({
      port: 0,
      tls: { key: certificates.key, cert: certificates.cert },
      fetch: (request, server) => (server.upgrade(request) ? undefined : new Response("trusted")),
      websocket: { message() {} },
    });
    await using others = await createCertificates();
    const files = {
      "ca.pem": await Bun.file(others.authority).text(),
      "a.ts": `await Bun.write("ca.pem", Bun.file(${JSON.stringify(certificates.authority)}));
        const url = "https://localhost:${server.port}";
        console.log(await fetch(url).then((r) => r.text(), (e) => e.code));
        const socket = new WebSocket(url.replace("https", "wss"));
        socket.onopen = () => (console.log("open"), socket.close());
        socket.onerror = () => console.log("refused");`,
    };
    const env = { SSL_CERT_FILE: "ca.pem" };
    expect(await outputOf(files, ["--smol", "a.ts"], { env })).toBe("trusted\nopen");
    expect(await outputOf(files, ["--use-openssl-ca", "a.ts"], { env })).toBe(`${REFUSED}\nrefused`);
  });

  prove(
    "use-bundled-ca",
    "trusts the bundled authorities, and neither OpenSSL's nor the system's",
    async () => {
      const trusts = async (env: Record<string, string>) => await request(["--use-bundled-ca"], env);
      expect(await trusts({})).toBe(REFUSED);
      const places: Record<string, string>[] = [
        { SSL_CERT_FILE: certificates.authority },
        { SSL_CERT_DIR: certificates.directory },
        { SSL_CERT_FILE: certificates.authority, NODE_USE_SYSTEM_CA: "1" },
      ];
      for (const env of places) {
        expect(await request([], env)).toBe("trusted");
        expect(await trusts(env)).toBe(REFUSED);
      }
      expect(await trusts({ NODE_EXTRA_CA_CERTS: certificates.authority })).toBe("trusted");
      expect(Number(await outputOf(count, ["--use-bundled-ca", "a.ts"]))).toBe(
        Number(await outputOf(count, ["a.ts"])),
      );
      await expectExclusive("--use-bundled-ca");
    },
  );

  prove("use-bundled-ca", "leaves the environment of child processes unchanged", async () => {
    const files = {
      "a.ts":
        'const { stdout } = Bun.spawnSync(["sh", "-c", "echo $SSL_CERT_FILE [$SSL_CERT_DIR]"]); console.log(process.env.SSL_CERT_FILE, stdout.toString())',
    };
    const env = { SSL_CERT_FILE: "/given" };
    expect(await outputOf(files, ["--use-bundled-ca", "a.ts"], { env })).toBe("/given /given []");
  });

  const versions = async (...options: string[]) =>
    await outputOf({}, [
      ...options,
      "-p",
      'const t = require("tls"); t.DEFAULT_MIN_VERSION + " " + t.DEFAULT_MAX_VERSION',
    ]);

  prove("tls-min-v1.0", "allows TLS 1.0", async () => {
    expect(await versions("--tls-min-v1.0")).toBe("TLSv1 TLSv1.3");
  });
  prove("tls-min-v1.1", "allows TLS 1.1", async () => {
    expect(await versions("--tls-min-v1.1")).toBe("TLSv1.1 TLSv1.3");
  });
  prove("tls-min-v1.2", "allows TLS 1.2, which is the default", async () => {
    expect(await versions("--tls-min-v1.2")).toBe("TLSv1.2 TLSv1.3");
  });
  prove("tls-min-v1.3", "allows only TLS 1.3", async () => {
    expect(await versions("--tls-min-v1.3")).toBe("TLSv1.3 TLSv1.3");
  });
  prove("tls-max-v1.2", "allows nothing above TLS 1.2", async () => {
    expect(await versions("--tls-max-v1.2")).toBe("TLSv1.2 TLSv1.2");
  });
  prove("tls-max-v1.3", "allows TLS 1.3, which is the default", async () => {
    expect(await versions("--tls-max-v1.3")).toBe("TLSv1.2 TLSv1.3");
    expect(await versions("--tls-max-v1.2", "--tls-max-v1.3")).toBe("TLSv1.2 TLSv1.3");
  });
});
