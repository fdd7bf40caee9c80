// Another process changes a state while a script runs, and changes it back. The script has observed both states, so its run
// is not cached.
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { chmod, link, mkdir, rename, rm, symlink, unlink } from "node:fs/promises";
import { waitUntil } from "../../support/processes.ts";
import { CAN_TRACE, cachedCases, cachedProject, mapCases } from "../cached-project.ts";

/** @param at returns the path of a file */
type Act = (at: (name: string) => string) => Promise<unknown>;

interface Flip {
  /** A shell command that observes the state. It runs once in each state. */
  readonly access: string;
  readonly change: Act;
  readonly back: Act;
  readonly path: string;
}

const FLIPS: Readonly<Record<string, Flip>> = {
  "an absent file": {
    access: "test -e f",
    change: async (at) => await Bun.write(at("f"), ""),
    back: async (at) => await unlink(at("f")),
    path: "f",
  },
  "an absent file that it opens": {
    access: "cat f",
    change: async (at) => await Bun.write(at("f"), ""),
    back: async (at) => await unlink(at("f")),
    path: "f",
  },
  "a listed folder": {
    access: "ls d",
    change: async (at) => await Bun.write(at("d/new"), ""),
    back: async (at) => await unlink(at("d/new")),
    path: "d/new",
  },
  "the type of a listed name": {
    access: "ls -F d",
    change: async (at) => {
      await rename(at("d/f"), at("moved"));
      await mkdir(at("d/f"));
    },
    back: async (at) => {
      await rm(at("d/f"), { recursive: true });
      await rename(at("moved"), at("d/f"));
    },
    path: "d/f",
  },
  "a symlink in the path": {
    access: "cat link/f",
    change: async (at) => {
      await unlink(at("link"));
      await symlink("e", at("link"));
    },
    back: async (at) => {
      await unlink(at("link"));
      await symlink("d", at("link"));
    },
    path: "d/f",
  },
  "a symlink that it reads": {
    access: "readlink link",
    change: async (at) => {
      await unlink(at("link"));
      await symlink("e", at("link"));
    },
    back: async (at) => {
      await unlink(at("link"));
      await symlink("d", at("link"));
    },
    path: "link",
  },
  "a renamed folder in the path": {
    access: "cat d/f",
    change: async (at) => await rename(at("d"), at("moved")),
    back: async (at) => await rename(at("moved"), at("d")),
    path: "d/f",
  },
  "the content of a file that gets a hard link": {
    access: "cat d/f",
    change: async (at) => {
      await link(at("d/f"), at("moved"));
      await Bun.write(at("d/f"), "two\n");
    },
    back: async (at) => await Bun.write(at("d/f"), "one\n"),
    path: "d/f",
  },
  "the mode of a folder": {
    access: "stat -c %a d",
    change: async (at) => await chmod(at("d"), 0o700),
    back: async (at) => await chmod(at("d"), 0o755),
    path: "d",
  },
};

const NODE: Readonly<Record<string, string>> = {
  "an absent file": 'fs.existsSync("f")',
  "an absent file that it opens": 'try { fs.readFileSync("f") } catch {}',
  "a listed folder": 'fs.readdirSync("d")',
  "a symlink in the path": 'fs.readFileSync("link/f")',
  "a symlink that it reads": 'fs.readlinkSync("link")',
  "a renamed folder in the path": 'try { fs.readFileSync("d/f") } catch {}',
  "the mode of a folder": 'fs.statSync("d")',
};

const wait = (name: string) => `echo > go${name}; until [ -e ready${name} ]; do sleep 0.05; done`;
const nodeWait = (name: string) =>
  `fs.writeFileSync("go${name}", ""); while (!fs.existsSync("ready${name}")) Atomics.wait(cell, 0, 0, 20);`;

const FILES = { "d/f": "one\n", "e/f": "two\n" };
const RULE = '{ ignore = ["go*", "ready*", "moved*"] }';

async function prepare(at: (name: string) => string): Promise<void> {
  await chmod(at("d"), 0o755);
  await symlink("d", at("link"));
}

const CHANGED = "^t was not cached: another process (?:changed|added or removed) \\$PROJECT/";
const DURING = " during the run; run it again(?:;.*)?$";

/** Makes the changes while the scripts wait. Each script waits after each access. */
async function makeChanges(
  acts: readonly Pick<Flip, "change" | "back">[],
  ats: readonly Parameters<Act>[0][],
) {
  for (const [round, act] of (["change", "back"] as const).entries()) {
    await waitUntil(() => ats.every((at) => existsSync(at(`go${round + 1}`))));
    for (const [index, at] of ats.entries()) await acts[index]![act](at);
    for (const at of ats) await Bun.write(at(`ready${round + 1}`), "");
  }
}

/** Runs scripts at once, and returns their outcomes. */
async function flipAll(scripts: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  await using project = await cachedCases(
    mapCases(scripts, (script) => ({ script, files: FILES, rule: RULE })),
  );
  const names = Object.keys(scripts);
  const ats = names.map((name) => (file: string) => project.at(name, file));
  for (const at of ats) await prepare(at);
  const running = project.runAll({}, `--concurrency=${names.length}`);
  await makeChanges(
    names.map((name) => FLIPS[name]!),
    ats,
  );
  return await running;
}

test.skipIf(!CAN_TRACE)(
  "a run is not cached when another process changes a state and changes it back between two accesses",
  async () => {
    const outcomes = await flipAll(
      mapCases(FLIPS, ({ access }) => `${access}; ${wait("1")}; ${access}; ${wait("2")}; true`),
    );
    expect(outcomes).toEqual(
      mapCases(
        FLIPS,
        ({ path }) => expect.stringMatching(new RegExp(`${CHANGED}${path}${DURING}`)) as string,
      ),
    );
  },
);

test.skipIf(!CAN_TRACE)(
  "a run of Node.js is not cached when another process changes a state and changes it back between two accesses",
  async () => {
    const outcomes = await flipAll(
      mapCases(
        NODE,
        (access) =>
          `node -e 'const cell = new Int32Array(new SharedArrayBuffer(4)); ${access}; ${nodeWait("1")} ${access}; ${nodeWait("2")}'`,
      ),
    );
    const changed = new RegExp(`${CHANGED}\\S+${DURING}`);
    expect(outcomes).toEqual(mapCases(NODE, () => expect.stringMatching(changed) as string));
  },
);

test.skipIf(!CAN_TRACE)(
  "a run is not cached when another process makes a change between two steps of the script",
  async () => {
    await using project = await cachedProject(
      { pret: `test -e f; ${wait("1")}`, t: `test -e f; ${wait("2")}; true` },
      FILES,
      `t = ${RULE}`,
    );
    const running = project.run("t");
    await makeChanges([FLIPS["an absent file"]!], [project.join]);
    const first = await running;
    expect(first).toMatch(/another process changed \S+f during the run/);
  },
);

test.skipIf(!CAN_TRACE)("a run is cached when the script makes all changes itself", async () => {
  const access = "test -e f; cat f; ls d; cat link/f; readlink link; stat -c %a d; cat d/f";
  const change = "touch f d/new; ln -sfn e link; chmod 700 d";
  const back = "rm f d/new; ln -sfn d link; chmod 755 d";
  await using project = await cachedProject(
    {
      t: `bash -c '(${access}; ${change}; ${access}; ${back}; ${access}; mv d g; ${access}; mv g d; ${access}) 2>&1; true'`,
    },
    FILES,
  );
  await prepare(project.join);
  const first = await project.run("t");
  expect(first).not.toContain("another process changed");
});

test.skipIf(!CAN_TRACE)(
  "a run is cached when another process makes and removes a hard link of a file that it reads",
  async () => {
    const access = "cat d/f; test -e d/f; cat e/f";
    await using project = await cachedProject(
      { t: `${access}; ${wait("1")}; ${access}; ${wait("2")}; true` },
      FILES,
      `t = ${RULE}`,
    );
    const { join } = project;
    await link(join("e/f"), join("moved2"));
    const running = project.run("t");
    const act = {
      change: async () => await link(join("d/f"), join("moved")),
      // The last link stays, as when a store's file was linked in the meantime.
      back: async () => await unlink(join("moved2")),
    };
    await makeChanges([act], [join]);
    expect(await running).toBe("ran");
    expect(await project.run("t")).toBe("hit");
  },
);
