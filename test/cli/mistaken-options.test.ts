// Options that are wrong, and code given as an option: one clear line.
import { testTranscripts } from "../support/transcripts.ts";

testTranscripts("a mistake", [
  [
    "an unknown option",
    {
      args: ["--wach", "x.ts"],
      status: 1,
      stderr: 'error: Unknown option "--wach"\nhint: did you mean --watch?\n',
    },
  ],
  [
    "an unknown option after run",
    {
      args: ["run", "--sillent", "x"],
      status: 1,
      stderr: 'error: Unknown option "--sillent"\nhint: did you mean --silent?\n',
    },
  ],
  [
    "an unknown option that is near nothing",
    {
      args: ["--qqqqqqqq", "x"],
      status: 1,
      stderr: 'error: Unknown option "--qqqqqqqq"\nhint: list the options: rt help run\n',
    },
  ],
  [
    "an unknown short option",
    { args: ["-Z"], status: 1, stderr: /^error: Unknown option "-Z"\nhint: .+\n$/ },
  ],
  [
    "a value that is missing",
    {
      args: ["--preload"],
      status: 1,
      stderr: "error: --preload needs a value\nhint: write it as --preload=<module>\n",
    },
  ],
  [
    "a value that is not among the choices",
    {
      args: ["--shell", "fish", "x"],
      status: 1,
      stderr: 'error: --shell cannot be "fish"\nhint: use one of: rt, system\n',
    },
  ],
  [
    "a value that is no number",
    {
      args: ["--console-depth=x", "x.ts"],
      status: 1,
      stderr: 'error: --console-depth needs a whole number, not "x"\nhint: for example --console-depth=2\n',
    },
  ],
  [
    "a value for a switch",
    {
      args: ["--smol=yes", "x.ts"],
      status: 1,
      stderr: "error: --smol takes no value\nhint: write it as --smol\n",
    },
  ],
  [
    "options and nothing to run",
    {
      args: ["--smol"],
      status: 1,
      stderr: "error: Nothing to run\nhint: name a file or a script after the options\n",
    },
  ],
  [
    "a directory for --cwd that is not there",
    {
      args: ["--cwd", "$PROJECT/absent", "run"],
      status: 1,
      stderr: 'error: Cannot work in "$PROJECT/absent"\nhint: --cwd needs a directory that exists\n',
    },
  ],
  [
    "code for -e that is missing",
    { args: ["-e"], status: 1, stderr: "error: --eval needs a value\nhint: write it as --eval=<code>\n" },
  ],
  ["code for -e that is empty is no mistake", { args: ["-e", ""] }],
  ["code for -p that is empty is undefined", { args: ["-p", ""], stdout: "undefined\n" }],
  [
    "code piped to -, without run, with arguments",
    {
      args: ["-", "a"],
      stdin: "console.log(process.argv.slice(1), import.meta.main)",
      stdout: '[ "-", "a" ] true\n',
    },
  ],
]);
