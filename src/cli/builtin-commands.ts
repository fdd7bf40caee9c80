// Dispatches the commands that rt implements itself, such as help, doctor and secrets. Each command's module is loaded on use.
import { resetEnvironment } from "../../platform/processes/dotenv-reset.ts";
import { host } from "../../platform/processes/process.ts";
import type { FindServerUses } from "../config/server-use.ts";
import type { RunOutcome } from "../runner/outcome.ts";
import { UserError } from "../user-error.ts";
import { oneLine } from "../printable.ts";
import { printLine } from "../output.ts";

/** @param args the arguments after the command's name */
type CommandHandler = (args: readonly string[]) => Promise<RunOutcome>;

/** Keyed by the name in options/commands.ts. */
const COMMANDS: Readonly<Record<string, CommandHandler>> = {
  help: withHelp("help", async (args) => {
    refuseSurplus("help", args.slice(1));
    printLine(await (await import("./help/help.ts")).renderHelpTopic(args));
  }),
  "debug-config": withHelp("debug-config", writeConfiguration),
  types: withHelp("types", async (args) => {
    refuseSurplus("types", args);
    const { readText, TYPES } = await import("./help/embedded-texts.ts");
    const { declareSecrets } = await import("../secrets/grants/secret-types.ts");
    printLine((await readText(TYPES)).trimEnd() + declareSecrets());
  }),
  completions: withHelp("completions", complete),
  upgrade: withHelp("upgrade", async (args) =>
    (await import("./upgrade/command.ts")).runUpgradeCommand([...args]),
  ),
  cache: runCache,
  config: withHelp("config", async (args) =>
    printLine((await import("./config-command.ts")).answerConfig(args)),
  ),
  permissions: withHelp("permissions", async (args) => {
    const { wordsOfCheck } = await import("./permissions-command.ts");
    const words = wordsOfCheck(args, process.cwd());
    return await (await import("./command-line.ts")).carryOutCommandLine(words);
  }),
  trust: withHelp("trust", async (args) => {
    if (args.length === 0) {
      const { allowChangedScripts } = await import("../runner/install-scripts/changed-scripts.ts");
      if (await allowChangedScripts(process.cwd())) return;
    }
    const { runTrustCommand } = await import("../secrets/trust/trust-command.ts");
    return runTrustCommand(args, await loadServerUses());
  }),
  doctor: async (args) =>
    await (await import("./doctor/command.ts")).runDoctorCommand([...args], () => showHelp("doctor")),
  secrets: async (args) =>
    await (
      await import("../secrets/command.ts")
    ).runSecretsCommand([...args], () => showHelp("secrets"), loadServerUses),
};

/** Loads the function that lists a project's servers; for commands that show which secrets they receive. */
async function loadServerUses(): Promise<FindServerUses> {
  const { readServerUses } = await import("../config/settings/server-uses.ts");
  return (config) => readServerUses(config, process.cwd());
}

export async function runOwn(command: string, args: readonly string[]): Promise<RunOutcome> {
  resetEnvironment();
  return await COMMANDS[command]!(args);
}

export async function showHelp(command?: string): Promise<void> {
  const { renderHelp } = await import("./help/help.ts");
  printLine(await renderHelp(command));
}

/** Adds --help to a command that does not handle it. Words after `--` are input of `rt completions query`, not options. */
function withHelp(name: string, command: CommandHandler): CommandHandler {
  return async (args) => {
    const end = args.indexOf("--");
    const own = end < 0 ? args : args.slice(0, end);
    return own.some((word) => word === "--help" || word === "-h")
      ? await showHelp(name)
      : await command(args);
  };
}

/** Subcommands of `rt cache` with their own modules. `serve` runs until a signal ends it. */
const CACHE: ReadonlyMap<string, CommandHandler> = new Map<string, CommandHandler>([
  ["serve", async (words) => await print((await import("../cache/server/command.ts")).serveCache(words))],
  ["token", async (words) => await print((await import("../cache/server/command.ts")).makeToken(words))],
  [
    "import",
    withHelp(
      "cache",
      async (words) => await print((await import("../cache/import/command.ts")).importCache(words)),
    ),
  ],
]);

const answerCache = withHelp(
  "cache",
  async (args) => await print((await import("../cache/command.ts")).answerCache(args)),
);

async function runCache(args: readonly string[]): Promise<RunOutcome> {
  const own = CACHE.get(args[0] ?? "");
  return own ? await own(args.slice(1)) : await answerCache(args);
}

async function print(text: string | undefined): Promise<void> {
  if (text !== undefined) printLine(text);
}

async function writeConfiguration(args: readonly string[]): Promise<RunOutcome> {
  const { writeDebugConfig } = await import("./debug-config.ts");
  const searchPath = host.originalVariable("PATH") ?? "";
  const { text, isWritten } = writeDebugConfig(args[0], process.cwd(), searchPath);
  printLine(text);
  return isWritten ? undefined : 1;
}

/** @throws UserError if a command has a surplus argument */
function refuseSurplus(command: string, [word]: readonly string[]): void {
  if (word !== undefined)
    throw new UserError(`Unexpected argument "${oneLine(word)}"`, `see rt help ${command}`);
}

async function complete([shell, separator, ...words]: readonly string[]): Promise<void> {
  if (shell !== "query" && separator !== undefined) refuseSurplus("completions", [separator]);
  const { completionLines, completionText } = await import("./completions/completions.ts");
  const { readText } = await import("./help/embedded-texts.ts");
  printLine(
    shell === "query"
      ? completionLines(separator === "--" ? words : [], process.cwd())
      : (await readText(completionText(shell))).trimEnd(),
  );
}
