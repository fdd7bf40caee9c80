// `rt install` and `rt publish` with a registry's token from the keyring, and what their scripts see of it.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fillRegistries, findRegistryUses } from "../../src/secrets/registries/registry-tokens.ts";
import { openRegistry, type Registry } from "../options/registry.ts";
import { type Keyring, startKeyring } from "../support/keyring/keyring.ts";
import { trustAll } from "../support/trusted.ts";
import { createProject } from "../support/project.ts";
import { ABSENT, RT, runRt } from "../support/rt.ts";
import { startOnTerminal } from "../support/programs/terminal.ts";

const TOKEN = "npm-93fd51c7aa21";

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}

test("a registry is found with the variable of its credentials, by the engine's rules", () => {
  const find = (config: object, ...npmrcs: string[]) => findRegistryUses(config, npmrcs);
  const url = "https://r.example/npm/";
  const token = { token: "T" };
  expect(find({}, "//registry.npmjs.org/:_authToken=${T}")).toEqual([
    { scope: undefined, url: "https://registry.npmjs.org/", variables: token },
  ]);
  expect(find({}, `registry = "${url}"\n//r.example/:_authToken = \${T}\n# //x/:_authToken=\${U}`)).toEqual([
    { scope: undefined, url, variables: token },
  ]);
  expect(find({ install: { registry: { url, token: "$T", username: "u" } } })).toEqual([
    { scope: undefined, url, variables: token },
  ]);
  expect(find({ install: { scopes: { "@a": { url, password: "${T}" } } } }, "@b:registry=" + url)).toEqual([
    { scope: "a", url, variables: { password: "T" } },
  ]);
  expect(
    find({}, `@b:registry=${url}\n//r.example/npm/:_authToken=\${T}\n//r.example/:_authToken=\${U}`),
  ).toEqual([{ scope: "b", url, variables: token }]);
  // The project's .npmrc wins over the home folder's, and rtfig.toml wins over both.
  expect(
    find({}, "//registry.npmjs.org/:_authToken=literal", "//registry.npmjs.org/:_authToken=${T}"),
  ).toEqual([]);
  const literal = { install: { registry: { url, token: "literal" } } };
  expect(find(literal, "//r.example/npm/:_authToken=${T}")).toEqual([]);
  for (const other of [
    "//other.example/:_authToken=${T}",
    "//r.example:8443/npm/:_authToken=${T}",
    "//r.example/npm2/:_authToken=${T}",
    "//r.example/npm/:_authToken=x${T}",
    "//r.example/npm/:_authToken=${T}x",
  ])
    expect(find({}, `registry=${url}\n${other}`)).toEqual([]);
});

test("the engine's configuration contains the values, and none of rt's own keys", () => {
  const url = "https://r.example/npm/";
  const config = {
    preload: ["./mine.ts"],
    run: { shell: "rt" },
    secrets: { T: { from: "a/b" } },
    test: { smol: true },
    install: { exact: true, scopes: { "@a": { url, token: "$T", other: 1 }, b: "https://b.example/" } },
  };
  const before = structuredClone(config);
  const uses = [
    { scope: undefined, url: "https://d.example/", variables: { token: "T" } },
    { scope: "a", url, variables: { token: "T", password: "GONE" } },
  ];
  expect(fillRegistries(config, uses, new Map([["T", "value"]]))).toEqual({
    test: { smol: true },
    install: {
      exact: true,
      registry: { url: "https://d.example/", token: "value" },
      scopes: { a: { url, token: "value", other: 1 }, b: "https://b.example/" },
    },
  });
  expect(config).toEqual(before);
});

describe.skipIf(process.platform !== "linux")("registry tokens", () => {
  let keyring: Keyring;
  let registry: Registry;
  beforeAll(async () => {
    const dep = { name: "dep", version: "1.0.0", files: {} };
    [keyring, registry] = await Promise.all([startKeyring(), openRegistry([dep])]);
    await runRt({ args: ["secrets", "set", "acme", "npm"], stdin: TOKEN, env: keyring.env });
  });
  afterAll(async () => {
    await registry?.[Symbol.asyncDispose]();
    await keyring?.[Symbol.asyncDispose]();
  });

  const MAPPING = '[secrets.NPM_TOKEN]\nfrom = "acme/npm"\n';
  /** Prints its environment, its descriptors and their targets, and how it and the engine were started. */
  const INSPECT =
    "env > seen; ls -l /proc/self/fd >> seen; cat /proc/self/fd/[3-9] >> seen 2>&1; " +
    "cat /proc/self/cmdline /proc/$PPID/cmdline /proc/$PPID/environ >> seen; true";
  const createShop = async (rtfig: string, npmrc?: string) =>
    await createProject({
      "package.json": {
        name: "shop",
        version: "1.0.0",
        dependencies: { dep: "1.0.0" },
        scripts: { postinstall: INSPECT, prepublishOnly: INSPECT },
      },
      "rtfig.toml": rtfig,
      ...(npmrc === undefined ? {} : { ".npmrc": npmrc }),
    });
  const run = async (cwd: string, args: string[], env: Record<string, string> = {}) => {
    registry.forget();
    const cache = { BUN_INSTALL_CACHE_DIR: `${cwd}/.cache` };
    return await runRt({
      args,
      cwd,
      env: { ...keyring.env, ...cache, RT_AGE_KEY: "AGE-SECRET-KEY-1X", ...env },
    });
  };
  const trusted = async (cwd: string, args: string[], env: Record<string, string> = {}) => {
    const { stderr } = await run(cwd, args, env);
    return { RT_TRUST: /RT_TRUST=(\S+)/.exec(stderr)?.[1] ?? "none" };
  };
  const sent = () => [...new Set(registry.credentials)];

  test("tokens of rtfig.toml and .npmrc reach a trusted registry and no script", async () => {
    const { host } = new URL(registry.url);
    for (const [rtfig, npmrc] of [
      [`${MAPPING}[install.registry]\nurl = "${registry.url}"\ntoken = "$NPM_TOKEN"\n`, undefined],
      [MAPPING, `registry=${registry.url}\n//${host}/:_authToken=\${NPM_TOKEN}\n`],
    ] as const) {
      await using shop = await createShop(rtfig, npmrc);
      const refused = await run(shop.path, ["install"]);
      expect(refused.stderr).toContain("is not allowed to read these secrets");
      expect(registry.requests).toEqual([]);
      const allowed = await trusted(shop.path, ["install"]);
      const installed = await run(shop.path, ["install"], allowed);
      expect(installed.status).toBe(0);
      expect(installed.stdout + installed.stderr).not.toContain(TOKEN);
      expect(sent()).toEqual([`Bearer ${TOKEN}`]);
      const seen = await Bun.file(shop.join("seen")).text();
      expect(seen).toContain("npm_lifecycle_event=postinstall");
      for (const absent of [TOKEN, "NPM_TOKEN", "RT_AGE_KEY", "memfd"]) expect(seen).not.toContain(absent);
      const published = await run(shop.path, ["publish"], allowed);
      expect(published.stdout + published.stderr).not.toContain(TOKEN);
      expect(registry.requests).toContain("PUT /shop");
      expect(sent()).toEqual([`Bearer ${TOKEN}`]);
      const again = await Bun.file(shop.join("seen")).text();
      expect(again).toContain("npm_lifecycle_event=prepublishOnly");
      expect(again).not.toContain(TOKEN);
      expect(readdirSync(shop.path)).toContain("bun.lock");
      for (const file of filesBelow(shop.path))
        expect([file, readFileSync(file).includes(TOKEN)]).toEqual([file, false]);
      // Another registry needs trust again.
      const elsewhere = (text = "") =>
        text.replaceAll(registry.url, "http://127.0.0.1:1/").replaceAll(host, "127.0.0.1:1");
      await shop.write({ "rtfig.toml": elsewhere(rtfig), ...(npmrc && { ".npmrc": elsewhere(npmrc) }) });
      expect((await run(shop.path, ["install"], allowed)).stderr).toContain(
        "is not allowed to read these secrets",
      );
    }
  });

  test("tokens in the environment are not fetched, and a missing token is an error before any request", async () => {
    await using shop = await createShop(
      `${MAPPING}[secrets.GONE]\nfrom = "acme/gone"\n[install.registry]\nurl = "${registry.url}"\ntoken = "$NPM_TOKEN"\n`,
    );
    const env = {
      ...{ NPM_TOKEN: "from-ci", DBUS_SESSION_BUS_ADDRESS: `unix:path=${ABSENT}` },
      ...(await trustAll(shop.path)),
    };
    // The missing permission is that for the registry, so the hint about set variables would be wrong.
    const untrusted = await run(shop.path, ["install"], { NPM_TOKEN: "from-ci", GONE: "from-ci" });
    expect(untrusted.stderr).toContain("is not allowed to read these secrets");
    expect(untrusted.stderr).not.toContain("need no permission");
    expect(await run(shop.path, ["install"], env)).toMatchObject({ status: 0 });
    expect(sent()).toEqual(["Bearer from-ci"]);
    const text = await Bun.file(shop.join("rtfig.toml")).text();
    await shop.write({ "rtfig.toml": text.replace("$NPM_TOKEN", "$GONE") });
    const allowed = await trusted(shop.path, ["install"]);
    const missing = await run(shop.path, ["install", "--force"], allowed);
    expect(missing.stderr).toContain("hint: rt secrets set acme gone\n");
    expect([missing.status, registry.requests]).toEqual([1, []]);
    await shop.write({ "rtfig.toml": text.replace("$NPM_TOKEN", "$OTHER") });
    expect((await run(shop.path, ["install", "--force"])).stderr).not.toContain("allowed");
  });

  test("tokens of the home folder's .npmrc are sent, other tools fetch none, and passwords in addresses are hidden", async () => {
    const { host } = new URL(registry.url);
    const rtfig = `${MAPPING}[install]\nregistry = "${registry.url}"\n`;
    await using shop = await createShop(rtfig);
    await using home = await createProject({ ".npmrc": `//${host}/:_authToken=\${NPM_TOKEN}\n` });
    const env = { HOME: home.path };
    const { stderr } = await run(shop.path, ["install"], env);
    const allowed = { ...env, RT_TRUST: /RT_TRUST=(\S+)/.exec(stderr)![1]! };
    expect(await run(shop.path, ["install"], allowed)).toMatchObject({ status: 0 });
    expect(sent()).toEqual([`Bearer ${TOKEN}`]);
    expect((await run(shop.path, ["why", "dep"], env)).stderr).not.toContain("allowed");
    await shop.write({ "rtfig.toml": rtfig.replace("//127.0.0.1", "//me:pass-word@127.0.0.1") });
    const command = ["bash", "-c", 'cd "$1" && exec "$0" install', RT, shop.path];
    await using terminal = startOnTerminal(command, { ...keyring.env, ...env });
    await terminal.awaitOutput("Allow it?");
    const shown = registry.url;
    expect(terminal.shown).toContain(`registry ${shown} gets NPM_TOKEN`);
    expect(terminal.shown).not.toContain("pass-word");
    terminal.type("n\r");
    expect(await terminal.awaitExit()).toBe(1);
    const { stdout } = await run(shop.path, ["secrets", "env", "--json"], env);
    expect(JSON.parse(stdout).registries).toEqual([{ url: shown, names: ["NPM_TOKEN"] }]);
  });

  const allow = async (cwd: string, env: Record<string, string>) => {
    const command = ["bash", "-c", 'cd "$1" && exec "$0" trust', RT, cwd];
    await using terminal = startOnTerminal(command, { ...keyring.env, ...env });
    await terminal.awaitOutput("Allow it?");
    terminal.type("y\r");
    expect(await terminal.awaitExit()).toBe(0);
    return terminal.shown;
  };

  test("rt trust shows and allows the tokens, also in a member's folder, with one hash for all commands", async () => {
    const { host } = new URL(registry.url);
    const npmrc = `registry=${registry.url}\n//${host}/:_authToken=\${NPM_TOKEN}\n`;
    await using shop = await createShop(MAPPING, npmrc);
    // A variable that [secrets] does not have needs no trust.
    await using home = await createProject({
      ".npmrc": "@other:registry=http://127.0.0.1:9/\n//127.0.0.1:9/:_authToken=${NOT_OURS}\n",
    });
    const env = { HOME: home.path };
    await shop.write({
      "package.json": { name: "shop", workspaces: ["packages/*"] },
      "packages/web/package.json": { name: "web", dependencies: { dep: "1.0.0" } },
      // The engine reads only the root project's .npmrc.
      "packages/web/.npmrc": "registry=http://127.0.0.1:1/\n//127.0.0.1:1/:_authToken=${NPM_TOKEN}\n",
    });
    const hashes = [];
    for (const cwd of [shop.path, shop.join("packages/web")]) {
      for (const words of [["install"], ["trust"]]) hashes.push((await trusted(cwd, words, env)).RT_TRUST);
      const { stdout } = await run(cwd, ["secrets", "env", "--json"], env);
      hashes.push(JSON.parse(stdout).hash);
    }
    expect(hashes).toEqual(Array(6).fill(hashes[0]));
    expect((await run(shop.path, ["secrets", "env"], env)).stdout).toEndWith(
      `\nregistry ${registry.url} gets NPM_TOKEN\n\n${shop.path} is not allowed to read secrets\n`,
    );
    expect(await allow(shop.join("packages/web"), env)).toContain(`registry ${registry.url} gets NPM_TOKEN`);
    expect(await run(shop.join("packages/web"), ["install"], env)).toMatchObject({ status: 0 });
    expect(sent()).toEqual([`Bearer ${TOKEN}`]);
    const list = await run(shop.path, ["trust", "--list"], env);
    expect(list.stdout).toBe(`${shop.path}\tNPM_TOKEN\t${hashes[0]}\n`);
  });

  test("tokens of a --config file take precedence over the project's rtfig.toml", async () => {
    await using shop = await createShop("");
    await shop.write({
      "ci/ci.toml": `${MAPPING}[install.registry]\nurl = "${registry.url}"\ntoken = "$NPM_TOKEN"\n`,
    });
    await using home = await createProject();
    const env = { HOME: home.path };
    const allowed = await trusted(shop.path, ["trust", "--config=ci/ci.toml"], env);
    const installed = await run(shop.path, ["--config=ci/ci.toml", "install"], { ...env, ...allowed });
    expect([installed.status, sent()]).toEqual([0, [`Bearer ${TOKEN}`]]);
  });

  test("tokens are sent through no proxy of the project's .env, but through one of the environment", async () => {
    const seen: (string | null)[] = [];
    using proxy = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        seen.push(request.headers.get("authorization"));
        return new Response(null, { status: 404 });
      },
    });
    const url = proxy.url.href;
    await using shop = await createShop(
      `${MAPPING}[install.registry]\nurl = "${registry.url}"\ntoken = "$NPM_TOKEN"\n`,
    );
    await shop.write({ ".env": `HTTP_PROXY=${url}\nhttp_proxy=${url}\nNODE_TLS_REJECT_UNAUTHORIZED=0\n` });
    const allowed = await trusted(shop.path, ["install"]);
    expect(await run(shop.path, ["install"], allowed)).toMatchObject({ status: 0 });
    expect([seen, sent()]).toEqual([[], [`Bearer ${TOKEN}`]]);
    // The same applies to the variables that disable certificate checks.
    expect(await Bun.file(shop.join("seen")).text()).toContain("NODE_TLS_REJECT_UNAUTHORIZED=\n");
    await run(shop.path, ["install", "--force"], { ...allowed, HTTP_PROXY: url, BUN_INSTALL_CACHE_DIR: "" });
    expect(new Set(seen)).toEqual(new Set([`Bearer ${TOKEN}`]));
  });

  test("another registry, also in the user's .npmrc, needs trust again for rt install, but not for scripts", async () => {
    const { host } = new URL(registry.url);
    const grants = '[run.secrets]\nshow = ["NPM_TOKEN"]\n';
    await using shop = await createShop(`${MAPPING}${grants}[install]\nregistry = "${registry.url}"\n`);
    await shop.write({ "package.json": { name: "shop", scripts: { show: "echo ${#NPM_TOKEN}" } } });
    await using home = await createProject({ ".npmrc": `//${host}/:_authToken=\${NPM_TOKEN}\n` });
    const env = { HOME: home.path };
    const show = async (more = {}) =>
      (await run(shop.path, ["--silent", "run", "show"], { ...env, ...more })).stdout;
    const isRefused = async () =>
      (await run(shop.path, ["install", "--force"], env)).stderr.includes(
        "is not allowed to read these secrets",
      );
    expect(await show()).toBe("");
    // The hash covers the whole request.
    expect(await show(await trusted(shop.path, ["install"], env))).toBe(`${TOKEN.length}\n`);
    await allow(shop.path, env);
    expect([await show(), await isRefused()]).toEqual([`${TOKEN.length}\n`, false]);
    await home.write({
      ".npmrc": `//${host}/:_authToken=\${NPM_TOKEN}\n@a:registry=http://127.0.0.1:1/\n//127.0.0.1:1/:_authToken=\${NPM_TOKEN}\n`,
    });
    expect([await show(), await isRefused()]).toEqual([`${TOKEN.length}\n`, true]);
    expect((await run(shop.path, ["secrets", "env"], env)).stdout).toEndWith(
      `${shop.path} is allowed to read secrets, but not to send them to these registries\n`,
    );
    expect(await allow(shop.path, env)).toContain("registry http://127.0.0.1:1/ gets NPM_TOKEN");
    expect(await isRefused()).toBe(false);
    // Scripts still need trust, and --remove revokes everything at once.
    await run(shop.path, ["trust", "--remove"], env);
    expect([await show(), await isRefused()]).toEqual(["", true]);
  });
});
