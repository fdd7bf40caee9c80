// Refusals of tasks with permissions: the line of rtfig.toml that allows each, on the terminal and in reports.
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createProject, type Files } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { hashIn } from "../support/trusted.ts";

/** A project beside a folder and a home folder that its tasks cannot reach. */
async function besideFolders(script: string, files: Files = {}) {
  return await createProject({
    "outside/data": "outside\n",
    "home/.npmrc": "token\n",
    "home/.tool/cache/x": "cache\n",
    "shop/package.json": { name: "shop", workspaces: ["packages/*"], scripts: { t: script } },
    "shop/packages/app/package.json": { name: "app" },
    "shop/packages/app/.env": "SECRET=1\n",
    ...Object.fromEntries(Object.entries(files).map(([name, content]) => [`shop/${name}`, content])),
  });
}

describe.skipIf(process.platform !== "linux")("--explain", () => {
  test("names process, file and line of each refusal once, in the messages and the reports of a task that succeeds", async () => {
    await using place = await besideFolders(
      "cat ../outside/data ../outside/data ~/.npmrc ~/.tool/cache/x; ls ../outside; cat packages/app/.env; echo > ../new; mkdir -p out; rmdir ../home; true",
    );
    const [cwd, env] = [place.join("shop"), { HOME: place.join("home") }];
    const reports = ["r.json", "r.xml", "r.html"].map((file) => `--report=../${file}`);
    const { stderr, status } = await runRt({ args: ["run", "--explain", ...reports, "t"], cwd, env });
    expect(status).toBe(0);
    const add = "to allow it, add to [tasks.t.permissions] of rtfig.toml:";
    const warnings = stderr
      .split("\n")
      .filter((line) => line.startsWith("warning: "))
      .map((line) => line.replaceAll(place.path, "/p").replace(/process \d+/, "process 1"));
    expect(warnings.toSorted()).toEqual(
      [
        "warning: t was refused: bash (process 1) writes /p/new, which no permission allows",
        "warning: t was refused: cat (process 1) reads /p/shop/packages/app/.env, which no permission allows",
        `warning: t was refused: cat (process 1) reads /p/home/.npmrc; ${add} read = ["~/.npmrc"]`,
        `warning: t was refused: cat (process 1) reads /p/home/.tool/cache/x; ${add} read = ["~/.tool/cache/**"]`,
        `warning: t was refused: ls (process 1) reads /p/outside; ${add} read = ["../outside/**"]`,
        "warning: t was refused: rmdir (process 1) writes /p, which no permission allows",
      ].toSorted(),
    );
    const { tasks } = JSON.parse(readFileSync(place.join("r.json"), "utf8")) as {
      tasks: { refusals: object[] }[];
    };
    expect(tasks[0]!.refusals).toContainEqual({
      kind: "read",
      process: "cat",
      pid: expect.any(Number) as number,
      target: place.join("home/.npmrc"),
      allow: 'read = ["~/.npmrc"]',
    });
    expect(readFileSync(place.join("r.xml"), "utf8")).toContain("<system-err>");
    const sentence = "t was refused: ls (process";
    expect(readFileSync(place.join("r.xml"), "utf8")).toContain(sentence);
    expect(readFileSync(place.join("r.html"), "utf8")).toContain(sentence);
  });

  test("names exactly the env files of another package that are closed", async () => {
    const examples = ["example", "sample", "template", "defaults", "schema"].map((name) => `.env.${name}`);
    const open = [...examples, ".env.", ".environment", ".dev.vars.example"];
    const closed = [
      ...[".env", ".env.local", ".env.example.local", ".env.a\nb", ".env.d/.env"],
      ...[".envrc", ".dev.vars", ".dev.vars.local"],
    ];
    const content = (name: string) => `content of ${name.replace("\n", " ")};`;
    const files = [...open, ...closed].map((name) => [`packages/app/${name}`, content(name)]);
    await using place = await besideFolders(
      "cd packages/app && cat .env* .dev.vars* .env.d/.env",
      Object.fromEntries(files) as Files,
    );
    const { stdout } = await runRt({
      args: ["run", "--explain", "--silent", "--report=r.json", "t"],
      cwd: place.join("shop"),
      env: { HOME: place.join("home") },
    });
    expect(stdout.match(/content of [^;]+;/g)?.toSorted()).toEqual(open.map(content).toSorted());
    const { tasks } = JSON.parse(readFileSync(place.join("shop/r.json"), "utf8")) as {
      tasks: { refusals: { target: string }[] }[];
    };
    const app = place.join("shop/packages/app/");
    const targets = tasks[0]!.refusals.map(({ target }) => target.replace(app, ""));
    expect(targets.toSorted()).toEqual(closed.toSorted());
  });

  test("shows a list that exists with its new entry, and the line lets the task run", async () => {
    const table = (list: string) => `[tasks.t.permissions]\nread = ${list}\nwrite = ["out/**"]\n`;
    await using place = await besideFolders("cat ../outside/data ~/.npmrc; echo > other/x; echo > out/y", {
      "rtfig.toml": table('["../outside"]'),
      "other/keep": "",
    });
    const [cwd, home] = [place.join("shop"), { HOME: place.join("home") }];
    const args = ["run", "--explain", "--silent", "t"];
    const env = { ...home, RT_TRUST: hashIn(await runRt({ args, cwd, env: home })) };
    const { stdout, stderr } = await runRt({ args, cwd, env });
    expect(stdout).toBe("outside\n");
    expect(stderr).toContain(
      'to allow it, change in [tasks.t.permissions] of rtfig.toml: read = ["../outside", "~/.npmrc"]\n',
    );
    expect(stderr).toContain('write = ["out/**", "other/**"]\n');
    await place.write({
      "shop/rtfig.toml": table('["../outside", "~/.npmrc"]').replace("out/**", "*".repeat(2)),
    });
    const again = { ...home, RT_TRUST: hashIn(await runRt({ args, cwd, env: home })) };
    const allowed = await runRt({ args, cwd, env: again });
    expect([allowed.stdout, allowed.stderr]).toEqual(["outside\ntoken\n", ""]);
  });

  test("stops at 30 lines of a task", async () => {
    await using place = await besideFolders("for n in $(seq 40); do echo > /dev/tcp/10.0.0.1/$n; done", {
      "rtfig.toml": "[tasks.t.permissions]\nhosts = []\n",
    });
    const { stderr } = await runRt({ args: ["run", "--silent", "t"], cwd: place.join("shop") });
    const warnings = stderr.split("\n").filter((line) => line.startsWith("warning: "));
    expect([warnings.filter((line) => line.includes("was refused")).length, warnings.at(-2)]).toEqual([
      30,
      "warning: t: further refusals are not shown",
    ]);
  });
});
