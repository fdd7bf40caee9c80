// Wrong options, and code given as an option: one error line and a hint.
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
    "an unknown option without a similar name",
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
    "a missing value",
    {
      args: ["--preload"],
      status: 1,
      stderr: "error: --preload needs a value\nhint: write it as --preload=<module>\n",
    },
  ],
  [
    "a value outside of the choices",
    {
      args: ["--shell", "fish", "x"],
      status: 1,
      stderr: 'error: --shell cannot be "fish"\nhint: use one of: rt, system\n',
    },
  ],
  [
    "a value that is not a number",
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
    "options without a target",
    {
      args: ["--smol"],
      status: 1,
      stderr: "error: No file or script is named\nhint: name a file or a script after the options\n",
    },
  ],
  [
    "a missing directory for --cwd",
    {
      args: ["--cwd", "$PROJECT/absent", "run"],
      status: 1,
      stderr: 'error: Cannot work in "$PROJECT/absent"\nhint: --cwd needs a directory that exists\n',
    },
  ],
  [
    "missing code for -e",
    { args: ["-e"], status: 1, stderr: "error: --eval needs a value\nhint: write it as --eval=<code>\n" },
  ],
  ["empty code for -e is accepted", { args: ["-e", ""] }],
  ["empty code for -p prints undefined", { args: ["-p", ""], stdout: "undefined\n" }],
  [
    "code piped to -, without run, with arguments",
    {
      args: ["-", "a"],
      stdin: "console.log(process.argv.slice(1), import.meta.main)",
      stdout: '[ "-", "a" ] true\n',
    },
  ],
]);
