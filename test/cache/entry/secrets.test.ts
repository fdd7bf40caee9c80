// Cache entries and shared caches never contain values of secrets.
import { expect, test } from "bun:test";
import { zstdDecompressSync } from "node:zlib";
import { trustOf } from "../../support/trusted.ts";
import { CAN_TRACE, cachedProject } from "../cached-project.ts";
import { startLyingServer } from "../remote/lying-server.ts";
import { KEY } from "../server/served-cache.ts";

const VALUE = "hunter2-and-more";

test.skipIf(!CAN_TRACE)(
  "a secret's value in the output of a script is redacted in the cache entry and in the shared cache",
  async () => {
    await using server = startLyingServer();
    await using project = await cachedProject(
      { give: "echo given $PASSWORD", show: "cat found; echo and $CODE" },
      { found: VALUE, value: VALUE },
      [
        "give = true",
        'show = { env = ["CODE"] }',
        `[cache.remote]\nurl = "${server.url}"`,
        '[secrets.PASSWORD]\nfrom.command = ["cat", "value"]',
        '[run.secrets]\ngive = ["PASSWORD"]',
      ].join("\n"),
    );
    const env = {
      RT_TRUST: await trustOf(project.path),
      TURBO_TOKEN: "t",
      TURBO_REMOTE_CACHE_SIGNATURE_KEY: KEY,
      CODE: "a value that only its hash may tell",
    };
    const run = async () => {
      const { stdout, stderr, status } = await project.rt(["run", "--sequential", "give", "show"], env);
      expect(status).toBe(0);
      expect(stdout + stderr).not.toContain(VALUE);
      return stdout + stderr;
    };
    const first = await run();
    expect(first).toContain("give is not cached: it receives secrets");
    expect(first).toContain("[PASSWORD]and a value that only its hash may tell");
    const second = await run();
    expect(second).toContain("[PASSWORD]and a value that only its hash may tell");
    expect(second).toContain("Cached (saved");
    expect(second).toContain("given [PASSWORD]");
    // Neither the store nor the server has the secret's value. The variable's value is only in the output log.
    const kept = await Array.fromAsync(
      new Bun.Glob("**/*").scan({ cwd: project.cache, absolute: true, dot: true }),
    );
    expect(kept.length).toBeGreaterThan(3);
    const texts = [];
    for (const path of kept) texts.push(await textOf(await Bun.file(path).bytes()));
    for (const { bytes } of server.kept.values()) texts.push(await textOf(bytes));
    expect(server.kept.size).toBe(2);
    expect(texts.filter((text) => text.includes(VALUE))).toEqual([]);
    expect(texts.filter((text) => text.includes("only its hash")).length).toBe(2);
  },
);

test.skipIf(!CAN_TRACE)(
  "the token and the key come from [secrets], and only the server that the user allowed receives them",
  async () => {
    const tokens: (string | null)[] = [];
    await using server = startLyingServer(({ headers }) => void tokens.push(headers.get("authorization")));
    const config = (url: string) =>
      [
        `build = true\n[cache.remote]\nurl = "${url}"`,
        '[secrets.TURBO_TOKEN]\nfrom.command = ["cat", "token"]',
        '[secrets.TURBO_REMOTE_CACHE_SIGNATURE_KEY]\nfrom.command = ["cat", "key"]\n',
      ].join("\n");
    await using project = await cachedProject(
      { build: "cat page; env" },
      { page: "hello", token: "t0ken", key: KEY },
      config(server.url),
    );
    const run = async (trust?: string) => await project.rt(["--force", "run", "build"], { RT_TRUST: trust });
    const refused = await run();
    expect(refused.status).toBe(0);
    expect(refused.stderr).toStartWith(
      `warning: shared cache disabled: ${project.path} is not allowed to send TURBO_TOKEN and TURBO_REMOTE_CACHE_SIGNATURE_KEY to the shared cache ${server.url}\n` +
        "hint: review the secrets with rt secrets env, then allow them on a terminal: rt trust\n",
    );
    expect(tokens).toEqual([]);
    const [, hash] = /RT_TRUST=([\da-f]{64})$/m.exec(refused.stderr)!;
    const allowed = await run(hash);
    expect(allowed.stderr).not.toContain("warning");
    expect(new Set(tokens)).toEqual(new Set(["Bearer t0ken"]));
    expect(allowed.stdout).not.toContain("t0ken");
    expect(allowed.stdout).not.toContain(KEY);
    tokens.length = 0;
    await project.write({ "rtfig.toml": `[run.cache]\n${config(`${server.url}/elsewhere`)}` });
    expect((await run(hash)).stderr).toStartWith("warning: shared cache disabled: ");
    expect(tokens).toEqual([]);
  },
);

async function textOf(bytes: Uint8Array): Promise<string> {
  try {
    return zstdDecompressSync(bytes).toString("latin1");
  } catch {
    return Buffer.from(bytes).toString("latin1");
  }
}
