// The commands that are rt's own: help, types, completions, doctor, secrets and the like, and rt in the place of node.
// Each is imported when it is called.
import { host } from "../../platform/process.ts";
import { dropEnvironmentFiles } from "../../platform/environment-files.ts";
import type { Outcome } from "../run/execution.ts";

export async function runOwn(command: string, args: readonly string[]): Promise<Outcome> {
  dropEnvironmentFiles();
  if (command === "help") return console.log(await (await import("./help.ts")).answerHelp(args));
  if (command === "debug-config") {
    const { writeDebugConfig } = await import("./debug-config.ts");
    const runtime =
      Bun.which("rt", { PATH: host.originalVariable("PATH") ?? "" }) === process.execPath
        ? "rt"
        : process.execPath;
    const { text, isWritten } = writeDebugConfig(args[0], process.cwd(), runtime);
    console.log(text);
    return isWritten ? undefined : 1;
  }
  if (command === "types") {
    const { readText, TYPES } = await import("./texts.ts");
    const { declareSecrets } = await import("../secrets/mapping/declaration.ts");
    return console.log((await readText(TYPES)).trimEnd() + declareSecrets());
  }
  if (command === "completions") {
    const { completionLines, completionText } = await import("./completions.ts");
    const { readText } = await import("./texts.ts");
    const [shell, separator, ...words] = args;
    return console.log(
      shell === "query"
        ? completionLines(separator === "--" ? words : [], process.cwd())
        : (await readText(completionText(shell))).trimEnd(),
    );
  }
  const showOwnHelp = async () => await showHelp(command);
  if (command === "upgrade") {
    if (args.some((word) => word === "--help" || word === "-h")) return await showHelp(command);
    return await (await import("../upgrade/command.ts")).runUpgradeCommand([...args]);
  }
  if (command === "cache") {
    if (args[0] === "import" && !args.includes("--help") && !args.includes("-h"))
      return console.log((await import("../cache/import/command.ts")).importCache(args.slice(1)));
    if (args[0] === "serve" || args[0] === "token") {
      const { makeToken, serveCache } = await import("../cache/server/command.ts");
      const text = args[0] === "serve" ? serveCache(args.slice(1)) : makeToken(args.slice(1));
      return text === undefined ? undefined : console.log(text);
    }
    if (args.some((word) => word === "--help" || word === "-h")) return await showHelp(command);
    const { answerCache } = await import("../cache/command.ts");
    return console.log(answerCache(args));
  }
  if (command === "trust") {
    if (args.some((word) => word === "--help" || word === "-h")) return await showHelp(command);
    return (await import("../secrets/mapping/trust-command.ts")).runTrustCommand(args);
  }
  if (command === "doctor")
    return await (await import("../secrets/doctor.ts")).runDoctorCommand([...args], showOwnHelp);
  const { runSecretsCommand } = await import("../secrets/command.ts");
  return await runSecretsCommand([...args], showOwnHelp);
}

export async function showHelp(command?: string): Promise<void> {
  const { renderHelp } = await import("./help.ts");
  console.log(await renderHelp(command));
}

export async function runAsNode(words: readonly string[]): Promise<void> {
  if (words[0] === "--version" || words[0] === "-v") return console.log(process.version);
  const { translateNodeWords } = await import("../run/engine/node-words.ts");
  const readsInput = words.length === 0 || words[0] === "-";
  if (readsInput && !host.isTerminal(0) && host.isInputEmpty()) return;
  const { argv, name } = translateNodeWords(words, host.isTerminal(0));
  const { becomeEngine } = await import("../run/engine/engine.ts");
  becomeEngine(argv, true, { name });
}
