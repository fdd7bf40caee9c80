// Creates docs/recording.svg, the terminal recording in README.md: `bun build/docs/terminal-recording.ts` types the commands below into
// dist/rt, on a pseudo-terminal with a private keyring, and draws the output. A test does the same and compares.
//
// The image uses the reader's monospaced font, with each line stretched to its width to keep columns aligned. It has colours for light
// and dark, respects reduced motion, and contains all text as its description. The output must be reproducible: no times, no process
// ids.
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DIST } from "../compile.ts";
import { openPrivateSession } from "../private-keyring.ts";
import { drawRecording, type RecordedOutputText } from "./terminal-svg.ts";

const FILES: Readonly<Record<string, string>> = {
  "deploy.ts": `import { secrets } from "rt";

const token = await secrets.get("com.example.deploy", "ci");
console.log(\`deploying with a token of \${token?.length} characters\`);
`,
  "package.json": JSON.stringify({ workspaces: ["packages/*"], scripts: { deploy: "rt deploy.ts" } }),
  "packages/app/package.json": JSON.stringify({
    name: "app",
    dependencies: { api: "workspace:*" },
    scripts: { build: "echo built app" },
  }),
  "packages/api/package.json": JSON.stringify({
    name: "api",
    dependencies: { log: "workspace:*" },
    scripts: { build: "echo built api" },
  }),
  "packages/log/package.json": JSON.stringify({ name: "log", scripts: { build: "echo built log" } }),
};

/** Each command with the answers to its questions, by the end of the question. */
const COMMANDS: ReadonlyArray<{
  readonly command: string;
  readonly answers?: ReadonlyArray<readonly [question: string, answer: string]>;
}> = [
  { command: "cat deploy.ts" },
  { command: "rt secrets set com.example.deploy ci", answers: [["(not shown): ", "s3cret-t0ken"]] },
  { command: "rt deploy.ts" },
  {
    command: "rt run --silent --pick",
    answers: [
      ["(empty to exit): ", "api"],
      ["(empty to exit): ", "1"],
      ["for none): ", ""],
    ],
  },
  { command: "rt run --silent --filter '*' build" },
  { command: "rt run deplyo" },
];

const COLUMNS = 84;
const TITLE = "rt in a terminal";

/** Returns the SVG. @throws Error if the keyring's programs are not installed */
export async function record(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "rt-recording-")));
  try {
    const session = await openPrivateSession(directory);
    if (!session) throw new Error("A recording needs dbus-run-session and gnome-keyring-daemon");
    const project = join(directory, "project");
    for (const [name, text] of Object.entries(FILES)) await Bun.write(join(project, name), text);
    const env = {
      ...session.env,
      PATH: `${DIST}:${process.env.PATH}`,
      LANG: "C.UTF-8",
      // Without the live view: it moves the cursor, and its last state equals plain output.
      TERM: "dumb",
      FORCE_COLOR: "1",
    };
    const shell = [...session.prefix, "bash", "--norc", "--noprofile", "-i"];
    const shown = await typeInto(shell, project, env);
    return drawRecording({ title: TITLE, columns: COLUMNS, shown });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Unique, so that it marks the shell's prompt reliably. */
const PROMPT = "<rt-recording>";

async function typeInto(
  shell: string[],
  cwd: string,
  env: Record<string, string>,
): Promise<RecordedOutputText[]> {
  let output = "";
  let notify = () => {};
  const decoder = new TextDecoder();
  const terminal = new Bun.Terminal({
    cols: COLUMNS,
    rows: 40,
    data(_terminal, bytes) {
      output += decoder.decode(bytes, { stream: true });
      notify();
    },
  });
  const child = Bun.spawn(shell, { cwd, env: { ...env, PS1: PROMPT, PROMPT_COMMAND: "" }, terminal });
  const after = async (text: string) => {
    while (!output.includes(text)) {
      const isOver = child.exited.then(() => true);
      const more = new Promise<false>((resolve) => (notify = () => resolve(false)));
      if (await Promise.race([more, isOver])) throw new Error(`The terminal ended with: ${output}`);
    }
    const before = output.slice(0, output.indexOf(text));
    output = output.slice(before.length + text.length);
    return before;
  };
  try {
    await after(PROMPT);
    const shown: RecordedOutputText[] = [];
    for (const { command, answers = [] } of COMMANDS) {
      terminal.write(`${command}\n`);
      await after("\r\n"); // the echo of the command
      let text = "";
      for (const [question, answer] of answers) {
        text += (await after(question)) + question;
        terminal.write(`${answer}\n`);
      }
      text += await after(PROMPT);
      shown.push({ command, output: text });
    }
    terminal.write("exit\n"); // ends the bus and the keyring too
    await child.exited;
    return shown;
  } finally {
    child.kill("SIGKILL");
    terminal.close();
  }
}

if (import.meta.main)
  await Bun.write(join(import.meta.dir, "../..", "docs", "recording.svg"), await record());
