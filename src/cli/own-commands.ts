// The commands that are rt's own: help, types, completions, doctor, secrets and the like. Each is imported when it is called.
import { dropEnvironmentFiles } from "../../platform/environment-files.ts";
import { host } from "../../platform/process.ts";
import type { Outcome } from "../run/execution.ts";

/** @param args behind the command's name */
type Command = (args: readonly string[]) => Promise<Outcome>;

/** By its name in options/commands.ts. */
const COMMANDS: Readonly<Record<string, Command>> = {
  help: async (args) => console.log(await (await import("./help.ts")).answerHelp(args)),
  "debug-config": writeConfiguration,
  types: async () => {
    const { readText, TYPES } = await import("./texts.ts");
    const { declareSecrets } = await import("../secrets/mapping/declaration.ts");
    console.log((await readText(TYPES)).trimEnd() + declareSecrets());
  },
  completions: complete,
  upgrade: withHelp("upgrade", async (args) =>
    (await import("../upgrade/command.ts")).runUpgradeCommand([...args]),
  ),
  cache: async (args) =>
    args[0] === "serve" || args[0] === "token" ? await runServer(args) : await answerCache(args),
  trust: withHelp("trust", async (args) =>
    (await import("../secrets/mapping/trust-command.ts")).runTrustCommand(args),
  ),
  doctor: async (args) =>
    await (await import("../doctor/command.ts")).runDoctorCommand([...args], () => showHelp("doctor")),
  secrets: async (args) =>
    await (await import("../secrets/command.ts")).runSecretsCommand([...args], () => showHelp("secrets")),
};

export async function runOwn(command: string, args: readonly string[]): Promise<Outcome> {
  dropEnvironmentFiles();
  return await COMMANDS[command]!(args);
}

export async function showHelp(command?: string): Promise<void> {
  const { renderHelp } = await import("./help.ts");
  console.log(await renderHelp(command));
}

/** For a command that does not answer --help itself. */
function withHelp(name: string, command: Command): Command {
  return async (args) =>
    args.some((word) => word === "--help" || word === "-h") ? await showHelp(name) : await command(args);
}

const answerCache = withHelp("cache", async (args) =>
  console.log((await import("../cache/command.ts")).answerCache(args)),
);

/** It goes on until it is ended. */
async function runServer([word, ...words]: readonly string[]): Promise<void> {
  const { makeToken, serveCache } = await import("../cache/server/command.ts");
  const text = word === "serve" ? serveCache(words) : makeToken(words);
  if (text !== undefined) console.log(text);
}

async function writeConfiguration(args: readonly string[]): Promise<Outcome> {
  const { writeDebugConfig } = await import("./debug-config.ts");
  const found = Bun.which("rt", { PATH: host.originalVariable("PATH") ?? "" });
  const runtime = found === process.execPath ? "rt" : process.execPath;
  const { text, isWritten } = writeDebugConfig(args[0], process.cwd(), runtime);
  console.log(text);
  return isWritten ? undefined : 1;
}

async function complete([shell, separator, ...words]: readonly string[]): Promise<void> {
  const { completionLines, completionText } = await import("./completions.ts");
  const { readText } = await import("./texts.ts");
  console.log(
    shell === "query"
      ? completionLines(separator === "--" ? words : [], process.cwd())
      : (await readText(completionText(shell))).trimEnd(),
  );
}
