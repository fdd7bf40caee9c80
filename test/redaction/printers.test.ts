// Values that real programs print by their own quoting rules: each must be redacted. Each program runs as a script of the
// compiled rt, so a row of src/redaction/printers.ts that differs from its program fails here.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { homedir } from "node:os";
import { join } from "node:path";
import { hasProgram } from "../../build/system-programs.ts";
import { createProject, type Project } from "../support/project.ts";
import { RT, runRt } from "../support/rt.ts";
import { trustOf } from "../support/trusted.ts";

/** Each part of a value contains "s3cret", so the test finds any part that is not redacted. */
const VALUES = {
  TOKEN: `s3cretA"s3cretB\\s3cretC-0123`,
  EVERY: `s3cretA'"\`$HOME\${x}#{y}#@z\\n\\ts3cretB&<b>é€😀 %+/=@!~^*()[]{}|;:,?\x01-\x1bs3cretC`,
  KEY: `{\n\t"s3cretA": "x\\ny's3cretB",\n  "s3cretC": 'é\${s3cretD}'\r\n}\n`,
};
const NAMES = Object.keys(VALUES);

const each = (write: (variable: string) => string, separator = "; ") => NAMES.map(write).join(separator);
/** Runs a line in a shell other than the script's. */
const shell = (program: string, line: (name: string) => string) => `${program} -c '${each(line)}'`;
const node = (expression: string) => `node -e "const e = process.env; ${expression}"`;
const nodeEach = (call: (value: string) => string) =>
  node(each((name) => `console.log(${call(`e.${name}`)})`));
const python = (imports: string, call: (value: string) => string) =>
  `python3 -c "import os, ${imports}; e = os.environ; ${each((name) => `print(${call(`e['${name}']`)})`)}"`;
const ruby = (call: (value: string) => string, requires = "") =>
  `ruby ${requires} -e '${each((name) => `puts((${call(`ENV["${name}"]`)}))`)}'`;
const php = (call: (value: string) => string) =>
  `php -n -r '${each((name) => `echo ${call(`getenv("${name}")`)}, "\\n";`, "")}'`;
const perl = (code: (value: string) => string, options = "") =>
  `perl ${options} -e '${each((name) => `print ${code(`$ENV{${name}}`)}, "\\n"`)}'`;
const jq = (filter: string, options = "") =>
  `jq -n ${options} '${each((name) => `($ENV.${name} | ${filter})`, ", ")}'`;
const zsh = (flags: string) => shell("zsh", (name) => `print -r -- "\${(${flags})${name}}"`);

const GO = `package main
import ("encoding/json"; "fmt"; "html"; "net/url"; "os")
func main() { for _, name := range []string{${NAMES.map((name) => `"${name}"`)}} { v := os.Getenv(name)
  fmt.Printf("%q %+q %#v %v\\n%x % x %X % X\\n", v, v, v, []string{v}, v, v, v, v)
  j, _ := json.Marshal(v); fmt.Println(string(j)); n, _ := json.Marshal(string(j)); fmt.Println(string(n))
  fmt.Println(url.QueryEscape(v), url.PathEscape(v), url.UserPassword("u", v), html.EscapeString(v)) } }
`;
const RUST = `fn main() { for name in [${NAMES.map((name) => `"${name}"`)}] { let v = std::env::var(name).unwrap();
  println!("{:?} {:#?} {}", v, Some(&v), v.escape_debug()); println!("{}", v.escape_default()); } }
`;

const PROGRAMS: Readonly<Record<string, string>> = {
  "Node.js console.log of an array": node(`console.log([${NAMES.map((name) => `e.${name}`)}])`),
  "Node.js console.log of an object": node(
    `console.log({ all: { ${NAMES.map((name) => `${name}: e.${name}`)} } })`,
  ),
  "Node.js console.log of nested JSON": nodeEach((value) => `[JSON.stringify({ v: ${value} })]`),
  "Node.js JSON.stringify": nodeEach((value) => `JSON.stringify({ v: ${value} }, null, 2)`),
  "Node.js JSON.stringify three times": nodeEach(
    (value) => `JSON.stringify(JSON.stringify(JSON.stringify(${value})))`,
  ),
  "Node.js encodeURIComponent": nodeEach((value) => `encodeURIComponent(${value}), encodeURI(${value})`),
  "Node.js encodeURIComponent twice": nodeEach((value) => `encodeURIComponent(encodeURIComponent(${value}))`),
  "Node.js encodeURIComponent of JSON": nodeEach(
    (value) => `encodeURIComponent(JSON.stringify({ v: ${value} }))`,
  ),
  "Node.js URLSearchParams": nodeEach((value) => `'' + new URLSearchParams({ v: ${value} })`),
  "Node.js URLSearchParams of JSON": nodeEach(
    (value) => `'' + new URLSearchParams({ v: JSON.stringify([${value}]) })`,
  ),
  "Node.js URL": nodeEach((value) => `Object.assign(new URL('http://h/'), { password: ${value} }).href`),
  "Node.js Buffer": nodeEach((value) => `Buffer.from(${value}), Buffer.from('x-access-token:' + ${value})`),
  "Node.js base64": nodeEach((value) => `Buffer.from('ab' + ${value}).toString('base64')`),
  "rt console.log": `${RT} -e "const e = process.env; console.log([${NAMES.map((name) => `e.${name}`)}], { v: [${NAMES.map((name) => `e.${name}`)}] })"`,
  "Python print of a list": python("sys", (value) => `[${value}]`),
  "Python print of a dictionary": python("sys", (value) => `{'v': (${value}, 1)}`),
  "Python bytes": python("sys", (value) => `${value}.encode()`),
  "Python ascii": python("sys", (value) => `ascii(${value})`),
  "Python json": python("json", (value) => `json.dumps(${value})`),
  "Python json in Unicode": python("json", (value) => `json.dumps({'v': ${value}}, ensure_ascii=False)`),
  "Python print of a list of JSON": python("json", (value) => `[json.dumps(${value})]`),
  "Python urllib": python(
    "urllib.parse as u",
    (value) => `u.quote(${value}), u.quote_plus(${value}), u.quote(${value}, safe='')`,
  ),
  "Python html.escape": python(
    "html",
    (value) => `html.escape(${value}), html.escape(${value}, quote=False)`,
  ),
  "Python html.escape of JSON": python(
    "html, json",
    (value) => `html.escape(json.dumps(${value}, ensure_ascii=False))`,
  ),
  "Python xml": python("xml.sax.saxutils as x", (value) => `x.escape(${value}), x.quoteattr(${value})`),
  "Python shlex.quote": python("shlex", (value) => `shlex.quote(${value})`),
  "Python csv": python("csv, sys", (value) => `csv.writer(sys.stdout).writerow([${value}])`),
  "Python base64.encodebytes": python(
    "base64",
    (value) => `base64.encodebytes(b'x-access-token:' + ${value}.encode() * 3)`,
  ),
  PyYAML: python("yaml", (value) => `yaml.dump({'v': ${value}}, width=1000)`),
  "PyYAML with double quotes": python(
    "yaml",
    (value) => `yaml.dump(${value}, default_style=chr(34), width=1000)`,
  ),
  "PyYAML with double quotes in Unicode": python(
    "yaml",
    (value) => `yaml.dump(${value}, default_style=chr(34), allow_unicode=True, width=1000)`,
  ),
  "bash -x": shell("bash -x", (name) => `: "$${name}" v="$${name}"`),
  "bash set": "bash -c set",
  "bash declare": `bash -c 'declare -p ${NAMES.join(" ")}; export -p'`,
  "bash declare in ASCII": `LC_ALL=C bash -c 'declare -p ${NAMES.join(" ")}; set'`,
  "bash printf %q": shell("bash", (name) => `printf "%q\\n" "$${name}"`),
  "bash @Q and @A": shell("bash", (name) => `echo "\${${name}@Q} \${${name}@A}"`),
  "bash of an array": shell(
    "bash",
    (name) => `a=("$${name}"); declare -p a; declare -A b=([x]="$${name}"); declare -p b`,
  ),
  "coreutils printf %q": each((name) => `/usr/bin/printf "%q\\n" "$${name}"`),
  "dash set": "dash -c 'set; export -p'",
  "dash -x": shell("dash -x", (name) => `: "$${name}"`),
  "busybox sh": "busybox sh -c 'set; export -p'",
  "busybox sh -x": shell("busybox sh -x", (name) => `: "$${name}"`),
  "zsh set": "zsh -fc 'set; typeset -p; export -p'",
  "zsh -x": shell("zsh -fx", (name) => `: "$${name}"`),
  "zsh (q)": zsh("q"),
  "zsh (qq)": zsh("qq"),
  "zsh (qqq)": zsh("qqq"),
  "zsh (qqqq)": zsh("qqqq"),
  "zsh (q-)": zsh("q-"),
  "zsh (q+)": zsh("q+"),
  fish: `fish -N -c '${each((name) => `set --show ${name}; string escape -- $${name}; string escape --no-quoted -- $${name}`)}'`,
  "fish string escape": `fish -N -c '${each((name) => `string escape --style=url -- $${name}`)}'`,
  "ksh set": "ksh -c 'set; export -p'",
  "ksh -x": shell("ksh -x", (name) => `: "$${name}"`),
  "ksh printf %q": shell("ksh", (name) => `printf "%q\\n" "$${name}"`),
  Go: "go run main.go",
  Rust: "PATH=/usr/bin:$PATH rustc -o main main.rs && ./main",
  "Ruby inspect": ruby((value) => `[${value}, ${value}.dump, {v: ${value}}]`),
  "Ruby p": `ruby -e 'p ENV["TOKEN"], ENV["EVERY"], ENV["KEY"], [ENV["EVERY"]]'`,
  "Ruby bytes": ruby((value) => `${value}.b.inspect`),
  "Ruby json": ruby((value) => `${value}.to_json + JSON.generate(${value}, ascii_only: true)`, "-rjson"),
  "Ruby Shellwords": ruby((value) => `Shellwords.escape(${value})`, "-rshellwords"),
  "Ruby CGI": ruby(
    (value) =>
      `[CGI.escape(${value}), CGI.escapeHTML(${value}), URI.encode_www_form_component(${value})].join(" ")`,
    "-rcgi -ruri",
  ),
  "Ruby ERB": ruby((value) => `ERB::Util.url_encode(${value})`, "-rerb"),
  "Ruby YAML": ruby((value) => `{"v" => ${value}}.to_yaml(line_width: -1)`, "-ryaml"),
  "PHP json_encode": php(
    (value) =>
      `json_encode(${value}), json_encode(${value}, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES), json_encode(${value}, JSON_UNESCAPED_UNICODE), json_encode(${value}, JSON_HEX_TAG | JSON_HEX_AMP | JSON_HEX_APOS | JSON_HEX_QUOT)`,
  ),
  "PHP var_export": php(
    (value) => `var_export([${value}], true), print_r([${value}], true), serialize(${value})`,
  ),
  "PHP addslashes": php((value) => `addslashes(${value}), " ", escapeshellarg(${value})`),
  "PHP urlencode": php(
    (value) => `urlencode(${value}), " ", rawurlencode(${value}), http_build_query(["v" => ${value}])`,
  ),
  "PHP htmlspecialchars": php(
    (value) =>
      `htmlspecialchars(${value}), htmlspecialchars(${value}, ENT_QUOTES | ENT_HTML5), htmlspecialchars(${value}, ENT_NOQUOTES)`,
  ),
  "Perl Data::Dumper": perl((value) => `Dumper([${value}])`, "-MData::Dumper"),
  "Perl Data::Dumper with double quotes": perl(
    (value) => `Data::Dumper->new([${value}])->Useqq(1)->Dump`,
    "-MData::Dumper",
  ),
  "Perl JSON::PP": perl((value) => `JSON::PP->new->encode([${value}])`, "-MJSON::PP"),
  "Lua %q": `lua5.4 -e '${each((name) => `print(string.format("%q", os.getenv("${name}")))`)}'`,
  jq: jq("., tojson, {v: .}"),
  "jq in ASCII": jq("., tojson", "-a"),
  "jq @sh, @csv, @html, @uri": jq("@sh, ([.] | @csv), @html, @uri, ([.] | @tsv)", "-r"),
  strace: each((name) => `strace -f -s 500 -e trace=write printf %s "$${name}"`),
  env: "env; printenv; cat -A /proc/self/environ",
};

/** The programs of this list that not every machine has are in build/system-packages.json. */
const NEEDS: readonly string[] = [
  "node",
  "python3",
  "bash",
  "dash",
  "busybox",
  "zsh",
  "fish",
  "ksh",
  "go",
  "rustc",
  "ruby",
  "php",
  "perl",
  "lua5.4",
  "jq",
  "strace",
];

/** Runs each program as a script does, with its number before its output on both streams, and its exit code after it. */
const RUN_ALL = `for file in programs/*; do
  printf '\\n== %s\\n' "\${file##*/}"
  printf '\\n== %s\\n' "\${file##*/}" >&2
  bash -c "$(cat "$file")"
  printf '\\n-- %d\\n' $?
done`;

describe.skipIf(process.platform !== "linux")("values are redacted", () => {
  let project: Project;
  /** The exit code and the output of each program. */
  const results = new Map<number, { status: number; shown: string }>();
  beforeAll(async () => {
    const programs = Object.values(PROGRAMS).map((command, index) => [`programs/${index}`, command] as const);
    const tables = NAMES.map((name) => `[secrets.${name}]\nfrom.command = ["cat", "values/${name}"]\n`);
    project = await createProject({
      "rtfig.toml": `${tables.join("")}[run.secrets]\n"*" = ${JSON.stringify(NAMES)}\n`,
      "package.json": { scripts: { all: "bash ./all.sh" } },
      "all.sh": RUN_ALL,
      ...Object.fromEntries(Object.entries(VALUES).map(([name, value]) => [`values/${name}`, value])),
      ...Object.fromEntries(programs.filter(([, command]) => isRunnable(command))),
      "main.go": GO,
      "main.rs": RUST,
    });
    // One start of rt for all programs, because each start takes longer than most of them.
    const { stdout, stderr } = await runRt({
      args: ["--silent", "run", "all"],
      cwd: project.path,
      env: {
        RT_TRUST: await trustOf(project.path),
        GOCACHE: project.join("go"),
        HOME: project.path,
        // A rustc of rustup finds its toolchain there.
        RUSTUP_HOME: process.env.RUSTUP_HOME ?? join(homedir(), ".rustup"),
        GO111MODULE: "off",
        GOFLAGS: "",
      },
    });
    const errors = partsOf(stderr);
    for (const [index, output] of partsOf(stdout)) {
      const [, shown = "", status] = /^([^]*)\n-- (\d+)\n$/.exec(output) ?? [];
      results.set(index, { status: Number(status), shown: `${shown}${errors.get(index) ?? ""}` });
    }
  });
  afterAll(async () => await project?.[Symbol.asyncDispose]());

  for (const [index, [name, command]] of Object.entries(PROGRAMS).entries())
    test.skipIf(!isRunnable(command))(name, () => {
      const { status, shown } = results.get(index)!;
      expect([shown.match(/.{0,40}s3cret.{0,40}/gs) ?? [], status, shown.includes("[TOKEN]")]).toEqual([
        [],
        0,
        true,
      ]);
    });
});

function isRunnable(command: string): boolean {
  const needed = NEEDS.find((program) => ` ${command}`.includes(` ${program} `));
  return needed === undefined || hasProgram(needed);
}

/** Returns the output after each number. */
function partsOf(output: string): Map<number, string> {
  const [, ...parts] = output.split("\n== ");
  return new Map(
    parts.map((part) => {
      const end = part.indexOf("\n");
      return [Number(part.slice(0, end)), part.slice(end + 1)];
    }),
  );
}
