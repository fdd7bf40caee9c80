// `rt run --remote <script>`: one script of one package, carried out by a server that speaks the Remote Execution API.
//
//   inputs -> action -> a result that is there already? -> upload what is missing -> execute -> fetch, check, put in place
//
// Contract: exit code and output are the script's, as if it had run here. What its package and rtfig.toml do not name stays
// here, secrets at any rate. What fails on the way is tried again, and then one clear error; a script that fails is none.
// Until everything has come and is what it has to be, nothing is written.
//
// Surprising: an action may be carried out twice, when the server is lost and comes back. It runs in a folder of its own
// there, so that nobody sees the first.
import { status as Code } from "@grpc/grpc-js";
import { host } from "../../../platform/process.ts";
import { Failure } from "../../failure.ts";
import { oneLine } from "../../printable.ts";
import { type Action, describeAction, withoutSlash } from "../../reapi/action.ts";
import { RemoteClient } from "../../reapi/client.ts";
import { type Blob, blobOf, type ContentStore } from "../../reapi/content.ts";
import { codeOf, RemoteError } from "../../reapi/trouble.ts";
import { fromMessage } from "../../reapi/digest.ts";
import { buildInputRoot } from "../../reapi/input-root.ts";
import type { ActionResult } from "../../reapi/messages/remote_execution_pb.ts";
import { type Output, readOutputs, treesOf } from "../../reapi/outputs.ts";
import { type RemoteScript, type RemoteSettings, remoteScript } from "../../settings/remote.ts";
import type { ScriptSettings } from "../../settings/script.ts";
import { OutputQueue } from "../../tasks/report/output-queue.ts";
import { VERSION } from "../../version.ts";
import { textField } from "../../workspace/package-json.ts";
import type { Plan } from "../plan.ts";
import { describeEnding, type Line, linesOf } from "../script/launch.ts";
import type { Ending } from "../script/waiting.ts";
import { collectInputs, type Inputs } from "./inputs.ts";
import { placeOutputs } from "./placing.ts";

type ScriptPlan = Extract<Plan, { mode: "script" }>;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** How often an action is begun again, whose machine or content the server has lost. */
const TRIES = 3;
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** Each step with the name of its event in front; binaries are found from the package up to the workspace's root. */
const RUN_STEPS = `for up in $RT_UP; do PATH="$PWD/$up/node_modules/.bin:$PATH"; done
export PATH; unset RT_UP
while [ $# -gt 0 ]; do npm_lifecycle_event=$1 /bin/sh -c "$2" || exit; shift 2; done`;

interface Job {
  readonly name: string;
  readonly directory: string;
  readonly lines: readonly Line[];
  readonly declared: RemoteScript;
  readonly inputs: Inputs;
  readonly action: Action;
  readonly blobs: readonly Blob[];
}

/** Throws Failure. */
export async function runRemotely(
  plan: ScriptPlan,
  remote: RemoteSettings,
  script: ScriptSettings,
): Promise<Ending> {
  requireSystem(remote);
  const job = await prepare(plan, remote, script);
  if (remote.isDry) {
    return (await print([[1, describe(job, remote)]])) ? 0 : 1;
  }
  if (!script.silent) for (const { line } of job.lines) console.error(`$ ${oneLine(line)}`);
  const controller = new AbortController();
  let signal: NodeJS.Signals | undefined;
  const listeners = host.heeded(SIGNALS).map((name) => {
    const listener = () => {
      signal ??= name;
      controller.abort();
    };
    process.on(name, listener);
    return () => process.off(name, listener);
  });
  try {
    return await carryOut(job, remote, script, controller.signal);
  } catch (error) {
    if (signal) return { signal };
    if (error instanceof RemoteError) throw explain(error, remote);
    throw error;
  } finally {
    for (const remove of listeners) remove();
  }
}

/** What is installed here is for this system. Throws Failure. */
function requireSystem({ system }: RemoteSettings): void {
  const here = host.system.replace(" ", "-");
  if (system === here) return;
  throw new Failure(
    `The script cannot run remotely: there it is ${oneLine(system)}, and node_modules is for ${here}`,
    "run.remote.system in rtfig.toml says what is there",
  );
}

async function prepare(
  { target, args }: ScriptPlan,
  remote: RemoteSettings,
  script: ScriptSettings,
): Promise<Job> {
  const { name } = target;
  const { directory, manifest } = target.package;
  const lines = linesOf(target, args);
  const packageName = textField(manifest, "name");
  const declared = remoteScript(remote, packageName, name);
  const inputs = await collectInputs(directory, declared.inputs, declared.outputs);
  const own = inputs.root === directory ? "" : directory.slice(inputs.root.length + 1);
  const inputRoot = buildInputRoot(inputs.entries);
  const depth = own === "" ? 0 : own.split("/").length;
  const environment: Record<string, string> = {
    PATH,
    npm_package_name: packageName,
    npm_package_version: textField(manifest, "version"),
    RT_UP: Array.from({ length: depth + 1 }, (_, at) =>
      ["."].concat(Array(depth - at).fill("..")).join("/"),
    ).join(" "),
  };
  if (script.port !== undefined) environment.PORT = script.port;
  for (const variable of declared.env) {
    const value = host.originalVariable(variable);
    if (value !== undefined) environment[variable] = value;
  }
  const action = describeAction({
    argv: ["/bin/sh", "-c", RUN_STEPS, "sh", ...lines.flatMap(({ event, line }) => [event, line])],
    environment,
    directory: own,
    outputs: declared.outputs,
    platform: remote.properties,
    inputRoot: inputRoot.digest,
  });
  const blobs = [...[...inputRoot.messages, ...action.messages].map(blobOf), ...inputs.blobs];
  return { name, directory, lines, declared, inputs, action, blobs };
}

function describe({ name, lines, declared, inputs, action }: Job, { url }: RemoteSettings): string {
  const bytes = inputs.blobs.reduce((sum, { digest }) => sum + digest.size, 0);
  const files = inputs.entries.filter(({ kind }) => kind === "file").length;
  return [
    `${oneLine(name)} (on ${url}, since --remote asks for it)`,
    ...lines.map(({ line }) => `  $ ${oneLine(line)}`),
    `    reads ${files} files of ${bytes} bytes; makes ${declared.outputs.map(oneLine).join(", ") || "no files"}`,
    `    gets ${["PATH", ...declared.env.map(oneLine)].join(", ")}`,
    `    action ${action.digest.hash}/${action.digest.size}`,
    "",
    "1 script would run",
    "",
  ].join("\n");
}

async function carryOut(
  job: Job,
  remote: RemoteSettings,
  script: ScriptSettings,
  signal: AbortSignal,
): Promise<Ending> {
  using client = new RemoteClient({ ...remote, toolVersion: VERSION }, signal);
  const store = await client.connect();
  const { declared, directory, action } = job;
  for (let attempt = 1; ; attempt++) {
    try {
      const known = attempt === 1 ? await client.findResult(action.digest) : undefined;
      const result = known ?? (await execute(client, store, job, attempt > 1));
      const made = await fetchMade(store, result, declared.outputs);
      signal.throwIfAborted();
      placeOutputs(directory, made.roots, made.outputs, made.contents);
      const isPrinted = await print([
        [1, made.stdout],
        [2, made.stderr],
      ]);
      const { exitCode } = result;
      if (exitCode === 0) for (const line of describeMissing(declared, made.roots)) console.error(line);
      const ending = exitCode > 0 && exitCode < 256 ? exitCode : exitCode === 0 && isPrinted ? 0 : 1;
      if (ending !== 0) describeEnding(job.name, ending, script);
      return ending;
    } catch (error) {
      signal.throwIfAborted();
      if (attempt >= TRIES || !isWorthAnother(error)) throw error;
    }
  }
}

/** Content that is gone is uploaded or made again; a machine that is gone has others beside it. */
function isWorthAnother(error: unknown): boolean {
  const code = codeOf(error);
  const passing = [
    Code.NOT_FOUND,
    Code.FAILED_PRECONDITION,
    Code.UNAVAILABLE,
    Code.ABORTED,
    Code.RESOURCE_EXHAUSTED,
  ];
  return error instanceof RemoteError && (error.isDamaged || (code !== undefined && passing.includes(code)));
}

async function execute(
  client: RemoteClient,
  store: ContentStore,
  { blobs, action }: Job,
  isAgain: boolean,
): Promise<ActionResult> {
  await store.upload(blobs);
  const { result, status, message } = await client.execute(action.digest, isAgain);
  if (status && status.code !== 0) throw new RemoteError(status.message || message, status.code);
  if (!result) throw new RemoteError("it ends without a result");
  return result;
}

/** False where it could not be. */
async function print(
  texts: readonly (readonly [descriptor: 1 | 2, text: string | Uint8Array])[],
): Promise<boolean> {
  const queue = new OutputQueue();
  let isWhole = true;
  queue.onBroken = () => void (isWhole = false);
  for (const [descriptor, text] of texts) if (text.length > 0) void queue.write(descriptor, text);
  await queue.flush();
  return isWhole;
}

interface Made {
  readonly roots: readonly string[];
  readonly outputs: readonly Output[];
  readonly contents: ReadonlyMap<string, Uint8Array>;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
}

async function fetchMade(store: ContentStore, result: ActionResult, asked: readonly string[]): Promise<Made> {
  const trees = await store.download(treesOf(result));
  const outputs = readOutputs(result, asked, trees);
  const logs = [fromMessage(result.stdoutDigest), fromMessage(result.stderrDigest)] as const;
  const files = outputs.flatMap((output) => (output.kind === "file" ? [output.digest] : []));
  const contents = await store.download([...files, ...logs.filter((digest) => digest !== undefined)]);
  const [stdout, stderr] = logs.map((digest) => digest && contents.get(digest.hash));
  const made = new Set(outputs.map(({ path }) => path));
  return {
    roots: asked.map(withoutSlash).filter((path) => made.has(path)),
    outputs,
    contents,
    stdout: stdout ?? result.stdoutRaw,
    stderr: stderr ?? result.stderrRaw,
  };
}

function describeMissing({ outputs }: RemoteScript, roots: readonly string[]): string[] {
  return outputs
    .map(withoutSlash)
    .filter((output) => !roots.includes(output))
    .map((output) => `warning: the script has not made ${oneLine(output)}`);
}

const EXPLANATIONS: Readonly<Partial<Record<Code, string>>> = {
  [Code.UNAVAILABLE]: "cannot be reached",
  [Code.UNAUTHENTICATED]: "does not accept the credentials",
  [Code.PERMISSION_DENIED]: "does not allow it",
  [Code.DEADLINE_EXCEEDED]: "takes too long",
  [Code.RESOURCE_EXHAUSTED]: "has no room",
  [Code.UNIMPLEMENTED]: "does not know what is asked",
};

function explain({ message, code }: RemoteError, { url }: RemoteSettings): Failure {
  const reason = code === undefined ? undefined : EXPLANATIONS[code];
  const brief = message.replace(/ Resolution note:\s*$/, "");
  const said = oneLine(brief.length > 300 ? `${brief.slice(0, 300)}...` : brief);
  return new Failure(
    `The server ${url} ${reason ?? "has failed"}: ${said}`,
    "without --remote the script runs here",
  );
}
