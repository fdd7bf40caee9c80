// The process: its arguments and environment, how it ends, what it reads, and what it starts.
import { compareAll, type Fixture } from "./compare.ts";

const SHOW_ARGUMENTS =
  "console.log(JSON.stringify([process.argv, process.argv0, process.execArgv, process.execPath, process.title === process.argv0, Bun.argv]))";

const ARGUMENTS: readonly Fixture[] = [
  {
    name: "argv, argv0, execArgv, execPath",
    files: { "main.ts": SHOW_ARGUMENTS },
    oneWay: "--smol is in execArgv",
  },
  ...[
    ["a", "b c", "", "-x", "--flag=1", "--help", "--version", "-e", "1"],
    ["--", "a"],
    ["a", "--", "b"],
    ["--", "--", "a"],
    ["--watch"],
    ["--smol", "--silent"],
    ["-"],
    ["日本", "é", "🙂", "a\nb", "\t", "'\"`$HOME*?"],
    ["run", "test"],
  ].flatMap((args): Fixture[] => [
    {
      name: `arguments ${JSON.stringify(args)}`,
      files: {
        "main.ts": "console.log(JSON.stringify(process.argv.slice(2)), JSON.stringify(Bun.argv.slice(2)))",
      },
      args: ["main.ts", ...args],
    },
    {
      name: `arguments ${JSON.stringify(args)} after run`,
      files: {
        "main.ts":
          "console.log(JSON.stringify(process.argv.slice(1)), process.execArgv.filter((o) => o !== '--smol'))",
      },
      args: ["run", "main.ts", ...args],
    },
  ]),
  {
    name: "node:util parseArgs and a CommonJS main",
    files: {
      "main.cjs":
        'const { parseArgs } = require("util"); console.log(parseArgs({ options: { a: { type: "boolean", short: "a" } }, allowPositionals: true }))',
    },
    args: ["main.cjs", "-a", "x"],
  },
  {
    name: "process.title can be set",
    files: { "main.ts": "process.title = 'x'; console.log(process.title)" },
  },
  {
    name: "versions and features",
    files: {
      "main.ts":
        "console.log(process.version, process.versions.bun, Bun.version, process.release.name, process.platform, process.features, Bun.revision, typeof Bun, navigator.userAgent, process.isBun, Bun.isMainThread, Bun.enableANSIColors)",
    },
  },
  {
    name: "globals",
    files: {
      "main.ts":
        "console.log(Object.getOwnPropertyNames(globalThis).filter((n) => n !== 'rt').sort().join())",
    },
  },
  {
    name: "enumerable globals",
    files: {
      "main.ts":
        "console.log(Object.keys(globalThis).sort().join()); for (const k in globalThis) if (k === 'rt') console.log('rt shows')",
    },
  },
  {
    name: "properties of Bun and process",
    files: {
      "main.ts":
        "console.log(Object.keys(Bun).sort().join()); console.log(Object.keys(process).sort().join())",
    },
  },
];

const SHOW_ENV =
  "console.log(JSON.stringify(Object.fromEntries(Object.entries(process.env).filter(([k]) => k.startsWith('X_') || k === 'NODE_ENV').sort())), JSON.stringify(Bun.env.X_A), process.env.NODE_ENV)";

const DOTENV = {
  ".env":
    'X_A=env\nX_B=\'single $X_A\'\nX_C="double ${X_A}"\n# c\nexport X_D=exported\nX_E=a b # comment\nX_F="line\nline"\nX_G=${X_NONE:-fallback}\nX_H=\\$X_A',
  ".env.local": "X_LOCAL=local\nX_A=local",
  ".env.development": "X_MODE=development\nX_A=dev",
  ".env.production": "X_MODE=production",
  ".env.test": "X_MODE=test",
  ".env.development.local": "X_MODE_LOCAL=dl",
  "main.ts": SHOW_ENV,
};

const ENVIRONMENT: readonly Fixture[] = [
  { name: ".env files", files: DOTENV },
  { name: ".env files with NODE_ENV=production", files: DOTENV, env: { NODE_ENV: "production" } },
  { name: ".env files with NODE_ENV=test", files: DOTENV, env: { NODE_ENV: "test" } },
  { name: ".env files with NODE_ENV=development", files: DOTENV, env: { NODE_ENV: "development" } },
  { name: ".env files with an empty NODE_ENV", files: DOTENV, env: { NODE_ENV: "" } },
  { name: ".env files with BUN_ENV", files: DOTENV, env: { BUN_ENV: "production" } },
  { name: "variables that are set win over .env files", files: DOTENV, env: { X_A: "set", X_B: "" } },
  {
    name: ".env files of the working directory, not of the program's",
    files: { ...DOTENV, "sub/.env": "X_A=sub", "sub/x": "" },
    in: "sub",
    args: ["../main.ts"],
  },
  { name: "NODE_ENV written in .env", files: { ".env": "NODE_ENV=production\nX_A=1", "main.ts": SHOW_ENV } },
  { name: "a directory called .env", files: { ".env/x": "", "main.ts": SHOW_ENV } },
  { name: "a malformed .env", files: { ".env": '=\n==\nX_A\nX_B="open\nX_C=3', "main.ts": SHOW_ENV } },
  {
    name: "process.env: set, delete, enumerate, coerce",
    files: {
      "main.ts":
        "process.env.X_N = 1 as never; console.log(process.env.X_N, 'X_A' in process.env, delete process.env.X_A, process.env.X_A, typeof process.env.X_U); process.env.TZ = 'Asia/Tokyo'; console.log(new Date(0).getHours())",
    },
    env: { X_A: "a" },
  },
  {
    name: "process.env as a child sees it",
    files: {
      ".env": "X_A=dotenv",
      "main.ts":
        "process.env.X_N = 'n'; console.log(Bun.spawnSync(['sh', '-c', 'env | grep ^X_ | sort']).stdout.toString()); console.log(require('child_process').execSync('env | grep ^X_ | sort').toString())",
    },
  },
  {
    name: "variables with odd bytes and a repeated name",
    files: { "main.ts": "console.log(JSON.stringify(process.env.X_A), JSON.stringify(process.env['X_Ü']))" },
    env: { X_A: "tab\tnl\n=é", X_Ü: "ü" },
  },
  {
    name: "TZ and LANG of the environment",
    files: {
      "main.ts": "console.log(new Date(0).toString(), Intl.DateTimeFormat().resolvedOptions().timeZone)",
    },
    env: { TZ: "America/New_York" },
  },
  {
    name: "NO_COLOR and FORCE_COLOR",
    files: { "main.ts": "console.log(Bun.enableANSIColors, { a: 1 })" },
    env: { FORCE_COLOR: "1" },
  },
  {
    name: "BUN_OPTIONS of the user",
    files: {
      "main.ts": "console.log(process.execArgv.filter((o) => o !== '--smol'), { a: { b: { c: { d: 1 } } } })",
    },
    env: { BUN_OPTIONS: "--console-depth=1" },
    differs: {
      way: "in process",
      reason: "options that the environment added are not shown, as with options compiled in",
      stdout: "[] {\n  a: {\n    b: [Object ...],\n  },\n}\n",
    },
  },
];

const throws = (code: string, name = code): Fixture => ({ name, files: { "main.ts": code } });

const ENDINGS: readonly Fixture[] = [
  throws("process.exit(7)"),
  throws("process.exitCode = 9"),
  throws("process.exitCode = 3; process.exit()"),
  throws("process.exitCode = 3; throw new Error('x')"),
  throws("process.exit(256 + 4)"),
  throws("process.exit('5' as never)"),
  throws("process.exit('a' as never)"),
  throws("process.on('exit', (c) => { console.log('exit', c, process.exitCode); process.exitCode = 8 })"),
  throws(
    "process.on('beforeExit', (c) => { console.log('before', c); if (!globalThis.x) { globalThis.x = 1; setTimeout(() => console.log('more'), 1) } }); process.on('exit', () => console.log('exit'))",
  ),
  throws(
    "process.on('exit', () => { setTimeout(() => console.log('never'), 0); console.log('exit') }); process.exit(2)",
  ),
  throws("process.on('exit', () => { throw new Error('in exit') })"),
  throws(
    "process.on('uncaughtException', (e, origin) => console.log('caught', e.message, origin)); setTimeout(() => { throw new Error('later') }, 1)",
  ),
  throws(
    "process.on('uncaughtException', (e, origin) => console.log('caught', e.message, origin)); throw new Error('now')",
  ),
  throws(
    "process.on('uncaughtExceptionMonitor', (e) => console.log('monitor', e.message)); setTimeout(() => { throw new Error('later') }, 1)",
  ),
  throws(
    "process.on('unhandledRejection', (e: any) => console.log('rejected', e.message)); Promise.reject(new Error('r'))",
  ),
  throws("Promise.reject(new Error('r')); await Bun.sleep(2); console.log('not reached')"),
  throws("Promise.reject('a string')"),
  throws("Promise.reject(undefined)"),
  throws("Promise.reject({ a: 1 })"),
  throws(
    "const p = Promise.reject(new Error('late')); setTimeout(() => p.catch(() => console.log('caught')), 5)",
  ),
  throws(
    "process.on('rejectionHandled', () => console.log('handled')); process.on('unhandledRejection', () => console.log('unhandled')); const p = Promise.reject(1); setTimeout(() => p.catch(() => {}), 5)",
  ),
  throws(
    "addEventListener('error', (e) => console.log('error event', e.message)); addEventListener('unhandledrejection', (e) => console.log('rejection event')); Promise.reject(new Error('x'))",
  ),
  {
    ...throws(
      "process.on('warning', (w) => console.log(w.name)); process.emitWarning('careful', { code: 'X1' })",
    ),
    differs: {
      reason: "the option is to be given to rt",
      stderr:
        "(node:$PID) [X1] Warning: careful\n(Use `rt --trace-warnings ...` to show where the warning was created)\n",
    },
  },
  throws("console.log('a'); await new Promise((r) => setTimeout(r, 5)); console.log('b')", "top-level await"),
  throws(
    "setTimeout(() => console.log('t'), 1); setImmediate(() => console.log('i')); process.nextTick(() => console.log('n')); queueMicrotask(() => console.log('m')); Promise.resolve().then(() => console.log('p')); console.log('s')",
    "the order of timers, ticks and microtasks",
  ),
  {
    name: "the order of ticks in CommonJS",
    files: {
      "main.cjs":
        "setImmediate(() => console.log('i')); process.nextTick(() => console.log('n')); Promise.resolve().then(() => console.log('p')); console.log('s')",
    },
    args: ["main.cjs"],
  },
  throws(
    "setInterval(() => {}, 1000).unref(); console.log('unref')",
    "an unreferenced timer does not keep the process",
  ),
  throws("process.kill(process.pid, 'SIGTERM'); await Bun.sleep(1000)"),
  throws("process.kill(process.pid, 'SIGKILL'); await Bun.sleep(1000)"),
  throws("process.kill(process.pid, 'SIGINT'); await Bun.sleep(1000)"),
  throws(
    "process.on('SIGTERM', (s, n) => { console.log(s, n); process.exit(5) }); process.kill(process.pid, 'SIGTERM'); await Bun.sleep(1000)",
  ),
  throws(
    "process.once('SIGUSR2', (s) => console.log(s)); process.kill(process.pid, 'SIGUSR2'); await Bun.sleep(20)",
  ),
  throws(
    "process.on('SIGPIPE', () => console.log('pipe')); process.kill(process.pid, 'SIGPIPE'); await Bun.sleep(20)",
  ),
  throws("process.kill(process.pid, 'SIGPIPE'); await Bun.sleep(20); console.log('lives')"),
  throws("process.abort()"),
  throws("process.reallyExit(6)"),
  throws(
    "require('domain'); console.log(process.uptime() < 10, performance.timeOrigin > 0, process.hrtime.bigint() > 0n)",
  ),
  throws(
    "console.error('to stderr'); console.log('to stdout'); process.stdout.write('raw\\n'); process.stderr.write('raw err\\n'); console.table([{ a: 1 }]); console.trace?.call; console.dir({ a: { b: { c: { d: 1 } } } })",
  ),
  throws(
    "process.stdout.write('x'.repeat(300_000) + '\\n', () => process.exit(0))",
    "a large write before the exit",
  ),
  throws("console.log('x'.repeat(300_000)); process.exit(0)", "a large console.log before the exit"),
  throws(
    "console.assert(false, 'm'); console.count(); console.group('g'); console.log('in'); console.groupEnd(); console.warn('w')",
  ),
  throws("alert?.name; console.log(prompt('?'), confirm('?'))"),
];

const collect =
  "const chunks: Buffer[] = []; for await (const c of process.stdin) chunks.push(c as Buffer); console.log(JSON.stringify(Buffer.concat(chunks).toString()))";

const INPUT: readonly Fixture[] = [
  { name: "process.stdin as an async iterator", files: { "main.ts": collect }, stdin: "some\ninput\n" },
  { name: "process.stdin, empty", files: { "main.ts": collect }, stdin: "" },
  {
    name: "process.stdin events",
    files: {
      "main.ts":
        "process.stdin.setEncoding('utf8').on('data', (d) => console.log('data', d)).on('end', () => console.log('end'))",
    },
    stdin: "é\n",
  },
  {
    name: "Bun.stdin.text()",
    files: { "main.ts": "console.log(JSON.stringify(await Bun.stdin.text()), process.stdin.isTTY)" },
    stdin: "abc",
  },
  {
    name: "for await of console",
    files: { "main.ts": "for await (const line of console) console.log('line', line)" },
    stdin: "1\n2\n3",
  },
  {
    name: "readline",
    files: {
      "main.ts":
        "import { createInterface } from 'node:readline/promises'; const r = createInterface({ input: process.stdin }); console.log(await r.question('q ')); r.close()",
    },
    stdin: "answer\n",
  },
  {
    name: "fs.readFileSync(0)",
    files: { "main.ts": "console.log(require('fs').readFileSync(0, 'utf8').length)" },
    stdin: "y".repeat(200_000),
  },
  {
    name: "a 1 MB input through to the output",
    files: { "main.ts": "await Bun.write(Bun.stdout, new Response(Bun.stdin.stream()))" },
    stdin: "line of text\n".repeat(80_000),
  },
];

const CHILDREN: readonly Fixture[] = [
  {
    name: "child_process.fork with messages both ways",
    files: {
      "child.ts":
        "process.on('message', (m: any) => { process.send!({ got: m, argv: process.argv.slice(1), execArgv: process.execArgv.filter((o) => o !== '--smol'), connected: process.connected, main: import.meta.main }); process.disconnect() })",
      "main.ts":
        "import { fork } from 'node:child_process'; const c = fork('./child.ts', ['a', '--b', '--', 'c']); c.on('message', (m) => console.log(JSON.stringify(m))); c.on('exit', (code, s) => console.log(code, s)); c.send({ hi: [1, 'é'] })",
    },
  },
  {
    name: "fork with execArgv, env, cwd and an exit code",
    files: {
      "sub/x": "",
      "child.ts":
        "console.log(process.execArgv.filter((o) => o !== '--smol'), process.env.X_A, process.cwd(), { a: { b: { c: { d: 1 } } } }); process.exit(4)",
      "main.ts":
        "import { fork } from 'node:child_process'; import { join } from 'node:path'; const c = fork(join(import.meta.dir, 'child.ts'), { execArgv: ['--console-depth=1'], env: { ...process.env, X_A: 'x' }, cwd: join(import.meta.dir, 'sub') }); c.on('exit', (code) => console.log(code))",
    },
  },
  {
    name: "fork of a CommonJS file, advanced serialization, a signal",
    files: {
      "child.cjs":
        "process.send({ map: new Map([[1, 2]]), main: require.main === module }); setInterval(() => {}, 1000)",
      "main.ts":
        "import { fork } from 'node:child_process'; const c = fork('./child.cjs', { serialization: 'advanced' }); c.on('message', (m: any) => { console.log(m); c.kill() }); c.on('exit', (code, s) => console.log(code, s))",
    },
  },
  {
    name: "cluster",
    files: {
      "main.ts":
        "import cluster from 'node:cluster'; if (cluster.isPrimary) { const w = cluster.fork({ X_A: 'a' }); w.on('message', (m) => { console.log('primary', m); w.send('stop') }); w.on('exit', (code) => console.log('exit', code)) } else { process.send!({ worker: cluster.worker!.id, a: process.env.X_A, argv: process.argv.slice(1) }); process.on('message', () => process.exit(3)) }",
    },
  },
  {
    name: "spawn(process.execPath, [file])",
    files: {
      "child.ts":
        "console.log('child', process.argv.slice(1), import.meta.main, process.execArgv.filter((o) => o !== '--smol')); process.exit(6)",
      "main.ts":
        "import { spawnSync, execFileSync, execSync } from 'node:child_process'; const r = spawnSync(process.execPath, ['child.ts', '-x', '--', 'y'], { encoding: 'utf8' }); console.log(r.stdout, r.stderr, r.status); console.log(spawnSync(process.execPath, ['run', 'child.ts'], { encoding: 'utf8' }).stdout); console.log(execFileSync(process.execPath, ['-e', 'console.log(1 + 1)']).toString(), execSync(`\"${process.execPath}\" -p '[3].length'`).toString())",
    },
  },
  {
    name: "Bun.spawn([process.execPath, file]) with IPC",
    files: {
      "child.ts":
        "process.send!({ from: 'child' }); process.on('message', (m) => { process.send!(m); process.disconnect() })",
      "main.ts":
        "const c = Bun.spawn([process.execPath, 'child.ts'], { ipc(m: any, child: any) { console.log(m); if (m.from) child.send({ echo: 1 }) } }); await c.exited; console.log(c.exitCode)",
    },
  },
  {
    name: "process.argv[0] and argv0 as programs to start",
    files: {
      "child.ts": "console.log('ok', process.argv0 === process.execPath)",
      "main.ts":
        "for (const p of [process.argv[0], process.execPath, Bun.argv[0]]) console.log(Bun.spawnSync([p!, 'child.ts']).stdout.toString())",
    },
  },
  {
    name: "Bun.$",
    files: {
      "main.ts":
        "const { $ } = Bun; console.log(await $`echo ${'a b'} | cat`.text(), (await $`exit 3`.nothrow()).exitCode, await $`echo $X_A`.env({ ...process.env, X_A: '1' }).text()); console.log(await $`${process.execPath} -p 1+1`.text()); for await (const l of $`printf 'a\\nb\\n'`.lines()) console.log(l)",
    },
  },
  { name: "Bun.$ that fails", files: { "main.ts": "await Bun.$`exit 9`" } },
  {
    name: "Bun.spawn: streams, exit code, signal",
    files: {
      "main.ts":
        "const p = Bun.spawn(['cat'], { stdin: 'pipe' }); p.stdin.write('hello'); p.stdin.end(); console.log(await new Response(p.stdout).text(), await p.exited); const q = Bun.spawn(['sleep', '100']); q.kill('SIGTERM'); console.log(await q.exited, q.signalCode, q.exitCode)",
    },
  },
  {
    name: "a program that does not exist",
    files: {
      "main.ts":
        "try { Bun.spawnSync(['no-such-program']) } catch (e: any) { console.log(e.code, e.message) } require('child_process').spawn('no-such-program').on('error', (e: any) => console.log(e.code, e.syscall))",
    },
  },
  {
    name: "inherited output keeps its order",
    files: {
      "main.ts":
        "console.log('a'); Bun.spawnSync(['echo', 'b'], { stdout: 'inherit' }); console.log('c'); require('child_process').execSync('echo d', { stdio: 'inherit' }); console.log('e')",
    },
  },
  {
    name: "a Worker",
    files: {
      "w.ts":
        "console.log('worker', import.meta.main, Bun.main, import.meta.path, process.argv.slice(1), process.execArgv.filter((o) => o !== '--smol'), Bun.isMainThread); self.onmessage = (e) => { postMessage({ got: e.data }); process.exit(0) }",
      "main.ts":
        "const w = new Worker(new URL('./w.ts', import.meta.url).href); w.onmessage = (e) => console.log(e.data); w.addEventListener('close', (e: any) => console.log('close', e.code)); w.postMessage([1])",
    },
    sorted: "the threads write on their own",
  },
  {
    name: "a Worker with preload, name, argv, env, smol",
    files: {
      "p.ts": "globalThis.pre = (globalThis.pre ?? 0) + 1",
      "w.ts":
        "postMessage([globalThis.pre, self.name, process.argv.slice(2), process.env.X_A, process.env.HOME])",
      "main.ts":
        "const w = new Worker('./w.ts', { preload: './p.ts', name: 'n', argv: ['x'], env: { X_A: 'a' }, smol: true } as any); w.onmessage = (e) => { console.log(e.data); w.terminate() }",
    },
  },
  {
    name: "a Worker from a blob",
    files: {
      "main.ts":
        "const w = new Worker(URL.createObjectURL(new Blob(['postMessage(typeof require)'], { type: 'text/javascript' }))); w.onmessage = (e) => { console.log(e.data); w.terminate() }",
    },
  },
  {
    name: "a Worker that throws",
    files: {
      "w.ts": "throw new Error('in worker')",
      "main.ts": "const w = new Worker('./w.ts'); w.onerror = (e) => console.log('onerror', e.message)",
    },
  },
  {
    name: "a Worker whose error nobody hears",
    files: { "w.ts": "throw new Error('in worker')", "main.ts": "new Worker('./w.ts')" },
  },
  {
    name: "a Worker that is missing",
    files: { "main.ts": "const w = new Worker('./none.ts'); w.onerror = (e) => console.log(e.message)" },
  },
  {
    name: "new Worker without arguments, and its class",
    files: {
      "main.ts":
        "try { new (Worker as any)() } catch (e: any) { console.log(e.name, e.code, e.message) } console.log(Worker.name, Worker.length, typeof Worker.prototype.postMessage, Object.prototype.toString.call(Worker)); class Mine extends Worker {} const w = new Mine('data:text/javascript,postMessage(1)'); w.onmessage = () => { console.log(w instanceof Mine, w instanceof Worker, w.constructor.name); w.terminate() }; try { (Worker as any)('x') } catch (e: any) { console.log(e.name, e.message) }",
    },
  },
  {
    name: "worker_threads: workerData, messages, exit",
    files: {
      "w.ts":
        "import { parentPort, workerData, isMainThread, threadId } from 'node:worker_threads'; parentPort!.postMessage({ workerData, isMainThread, threadId, argv: process.argv.slice(2) }); parentPort!.once('message', () => process.exit(2))",
      "main.ts":
        "import { Worker, isMainThread } from 'node:worker_threads'; const w = new Worker(new URL('./w.ts', import.meta.url), { workerData: { a: 1 }, argv: ['z'] }); w.on('message', (m) => { console.log(isMainThread, m); w.postMessage(0) }); w.on('exit', (c) => console.log('exit', c)); w.on('online', () => console.log('online'))",
    },
    sorted: "the threads write on their own",
  },
  {
    name: "worker_threads: eval",
    files: {
      "main.ts":
        "import { Worker } from 'node:worker_threads'; const w = new Worker(\"require('worker_threads').parentPort.postMessage(typeof require)\", { eval: true }); w.on('message', (m) => console.log(m)); w.on('exit', (c) => console.log(c))",
    },
  },
  {
    name: "worker_threads: an error reaches the parent",
    files: {
      "main.ts":
        "import { Worker } from 'node:worker_threads'; const w = new Worker(\"throw new TypeError('bad')\", { eval: true }); w.on('error', (e) => console.log(e.name, e.message)); w.on('exit', (c) => console.log(c))",
    },
  },
  {
    name: "worker_threads from CommonJS, stdout option, SHARE_ENV",
    files: {
      "main.cjs":
        "const { Worker, SHARE_ENV } = require('worker_threads'); process.env.X_S = '1'; const w = new Worker(\"process.env.X_S = '2'; require('worker_threads').parentPort.postMessage(1)\", { eval: true, env: SHARE_ENV }); w.on('exit', () => console.log(process.env.X_S))",
    },
    args: ["main.cjs"],
  },
  {
    name: "worker_threads: nested",
    files: {
      "a.ts":
        "import { Worker, parentPort, threadId } from 'node:worker_threads'; const w = new Worker(new URL('./b.ts', import.meta.url)); w.on('message', (m) => { parentPort!.postMessage(['a', m]); w.terminate() })",
      "b.ts": "import { parentPort } from 'node:worker_threads'; parentPort!.postMessage('b')",
      "main.ts":
        "import { Worker } from 'node:worker_threads'; const w = new Worker('./a.ts'); w.on('message', (m) => { console.log(m); w.terminate() })",
    },
  },
  {
    name: "MessageChannel, BroadcastChannel, structuredClone",
    files: {
      "main.ts":
        "const { port1, port2 } = new MessageChannel(); port2.onmessage = (e) => { console.log(e.data); port1.close(); port2.close() }; port1.postMessage(structuredClone({ d: new Date(0) })); console.log(MessagePort.prototype.close.name, Object.getOwnPropertyNames(MessagePort.prototype).sort().join())",
    },
  },
  {
    name: "EventEmitter and Object.prototype are as ever",
    files: {
      "main.ts":
        "import { EventEmitter } from 'node:events'; import { Worker } from 'node:worker_threads'; class E extends EventEmitter {} const e = new E(); e.on('x', (v) => console.log(v)); e.emit('x', 1); console.log(Object.keys(e), 'preload' in {}, Object.getOwnPropertyDescriptor(EventEmitter, 'prototype')!.configurable, EventEmitter.prototype.constructor === EventEmitter, Worker.prototype instanceof EventEmitter, Object.getOwnPropertyNames(Object.prototype).length)",
    },
  },
  {
    name: "the extra file descriptors of a spawned copy",
    files: {
      "child.ts": "console.log(require('fs').readFileSync(3, 'utf8'))",
      "main.ts":
        "import { spawnSync } from 'node:child_process'; import { openSync, writeFileSync } from 'node:fs'; writeFileSync('x.txt', 'three'); console.log(spawnSync(process.execPath, ['child.ts'], { stdio: ['ignore', 'pipe', 'inherit', openSync('x.txt', 'r')], encoding: 'utf8' }).stdout)",
    },
  },
];

/** Sends each signal after a line of the program's. */
const signalled = (name: string, code: string, ...signals: NodeJS.Signals[]): Fixture => ({
  name,
  files: { "main.ts": code },
  async talk(program) {
    const seen: string[] = [];
    for (const signal of signals) {
      seen.push(await program.line());
      program.kill(signal);
    }
    return seen;
  },
});

const SIGNALS: readonly Fixture[] = [
  ...(["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR2", "SIGQUIT"] as const).map((signal) =>
    signalled(`${signal} without a handler`, "console.log('ready'); setInterval(() => {}, 1000)", signal),
  ),
  ...(["SIGTERM", "SIGINT", "SIGHUP"] as const).map((signal) =>
    signalled(
      `${signal} with a handler`,
      `process.on("${signal}", async (s) => { await Bun.sleep(1); console.log("got", s); process.exit(11) }); console.log("ready"); setInterval(() => {}, 1000)`,
      signal,
    ),
  ),
  signalled(
    "SIGINT twice",
    "let n = 0; process.on('SIGINT', () => { console.log('int', ++n); if (n === 2) process.exit(0) }); console.log('ready'); setInterval(() => {}, 1000)",
    "SIGINT",
    "SIGINT",
  ),
  signalled(
    "SIGTERM during a top-level await that never settles",
    "console.log('ready'); await new Promise(() => {})",
    "SIGTERM",
  ),
  signalled(
    "SIGTERM in CommonJS-like TypeScript",
    "const os = require('os'); process.on('exit', (c) => console.log('exit', c)); console.log('ready'); setInterval(() => {}, 1000)",
    "SIGTERM",
  ),
];

compareAll("arguments and globals", ARGUMENTS);
compareAll("environment", ENVIRONMENT);
compareAll("endings", ENDINGS);
compareAll("input", INPUT);
compareAll("children and threads", CHILDREN);
compareAll("signals", SIGNALS);
