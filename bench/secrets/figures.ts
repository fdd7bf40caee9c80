// Measures the credential store on Linux, compared with Bun.secrets and secret-tool in the same private GNOME Keyring.
//
//   bun bench/secrets/figures.ts
//
// A new process that reads one secret is measured from its start to its exit, with alternating clients. The last row shows the
// unavoidable part: the engine's start and the service's own work.
import { join } from "node:path";
import { type Keyring, startKeyring } from "../../test/support/keyring/keyring.ts";
import { createProject } from "../../test/support/project.ts";
import { RT } from "../../test/support/rt.ts";
import { trustOf } from "../../test/support/trusted.ts";
import type { Figure } from "../row.ts";
import { copyPrograms, timeCommands } from "../processes.ts";

const RUNS = 101;
const PAIR = { service: "dev.rt.bench", name: "first" };
const PROGRAMS = {
  "rt.ts": `const { secrets } = require("rt"); if ((await secrets.get(${JSON.stringify(PAIR)})) !== "value") process.exit(1);`,
  "bun.ts": `if ((await Bun.secrets.get(${JSON.stringify(PAIR)})) !== "value") process.exit(1);`,
  "empty.ts": "export {};",
};

export async function measure(): Promise<Figure[]> {
  await using keyring = await startKeyring();
  await using project = await createProject(PROGRAMS);
  const attributes = ["service", PAIR.service, "account", PAIR.name];
  const store = [
    "secret-tool",
    "store",
    "--label=bench",
    "xdg:schema",
    "com.oven-sh.bun.Secret",
    ...attributes,
  ];
  await keyring.run(store, "value");

  await using copies = await copyPrograms({ rt: RT, bun: process.execPath });
  const { rt, bun } = copies.paths as Record<"rt" | "bun", string>;
  const commands = {
    ours: [rt, "rt.ts"],
    peer: [bun, "bun.ts"],
    tool: ["secret-tool", "lookup", ...attributes],
    empty: [rt, "empty.ts"],
    peerEmpty: [bun, "empty.ts"],
  };
  const timings = timeCommands(
    Object.entries(commands).map(([name, argv]) => ({ name, argv, env: keyring.env })),
    RUNS,
    project.path,
  );
  const { ours, peer, tool, empty, peerEmpty } = Object.fromEntries(
    timings.map(({ name, median: milliseconds }) => [name, milliseconds]),
  ) as Record<keyof typeof commands, number>;
  const steady = JSON.parse(await keyring.run([RT, join(import.meta.dir, "repeated-reads.ts")])) as Record<
    "sequential" | "parallel" | "samePair",
    { ours: number; peer: number }
  >;
  return [
    compare("a process that reads one secret, against Bun.secrets", ours, peer, 1),
    compare("the same, against secret-tool and rt's own start", ours, tool + empty, 1),
    compare("the read alone: less the start of each engine", ours - empty, peer - peerEmpty, 0.8),
    compare(
      "1000 reads one after the other, against Bun.secrets",
      steady.sequential.ours,
      steady.sequential.peer,
      0.8,
    ),
    compare("200 reads at once, against Bun.secrets", steady.parallel.ours, steady.parallel.peer, 0.4),
    compare(
      "200 reads of one pair at once, against Bun.secrets",
      steady.samePair.ours,
      steady.samePair.peer,
      0.4,
    ),
    ...(await measureScripts(keyring, rt)),
  ];
}

const FIVE = ["S1", "S2", "S3", "S4", "S5"];

/** Secrets of a script, from its rtfig.toml. */
async function measureScripts(keyring: Keyring, rt: string): Promise<Figure[]> {
  const config = FIVE.map((name) => `[secrets.${name}]\nfrom = "dev.rt.bench/${name}"\n`).join("");
  await using project = await createProject({
    "rtfig.toml": `${config}[run.secrets]\nfive = ${JSON.stringify(FIVE)}\n`,
    "package.json": { scripts: { none: "/bin/true", five: "/bin/true" } },
  });
  for (const name of FIVE)
    await keyring.run(
      ["secret-tool", "store", "--label=bench", "service", PAIR.service, "account", name],
      `a value of ${name}`,
    );
  const env = { ...keyring.env, RT_TRUST: await trustOf(project.path) };
  const reads = FIVE.map((name) => `"${rt}" secrets get ${PAIR.service} ${name}`).join("; ");
  const [five, none, separate] = timeCommands(
    [
      { name: "five", argv: [rt, "--silent", "run", "five"], env },
      { name: "none", argv: [rt, "--silent", "run", "none"], env },
      { name: "separate", argv: ["/bin/sh", "-c", reads], env },
    ],
    RUNS,
    project.path,
  ).map(({ median }) => median) as [number, number, number];
  const more = five - none;
  return [
    {
      figure: "a script with five secrets, milliseconds more than without",
      ours: `${five.toFixed(2)} ms`,
      peer: `${none.toFixed(2)} ms`,
      ratio: more,
      goal: "<= 25",
      met: more <= 25,
    },
    compare(
      "what five secrets add to a script, against a process that reads one",
      more,
      separate / FIVE.length,
      1,
    ),
    compare("a script with five secrets, against five times rt secrets get", five, separate, 0.33),
  ];
}

function compare(figure: string, ours: number, peer: number, most: number): Figure {
  const ratio = ours / peer;
  const show = (milliseconds: number) => `${milliseconds.toFixed(2)} ms`;
  return { figure, ours: show(ours), peer: show(peer), ratio, goal: `<= ${most}`, met: ratio <= most };
}

if (import.meta.main) {
  for (const { figure, ours, peer, ratio, goal, met } of await measure()) {
    console.log(`${figure}: ${ours} : ${peer} = ${ratio.toFixed(2)} (${goal}${met ? "" : ", not met"})`);
  }
}
