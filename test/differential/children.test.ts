// Input of a program, and the processes and workers that it starts.
import { compareAll, type Fixture } from "./compare.ts";

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
    name: "fork with options of Node.js that the engine does not know",
    files: {
      "child.ts":
        "process.on('message', (m) => { process.send!([m, process.argv.slice(2), process.execArgv.filter((o) => o !== '--smol')]); process.disconnect() })",
      "main.ts":
        "import { fork } from 'node:child_process'; const c = fork('./child.ts', ['a'], { execArgv: ['--experimental-import-meta-resolve', '--max-old-space-size=100', '--no-warnings'] }); c.on('message', (m) => console.log(m)); c.on('exit', (code) => console.log(code)); c.send('early')",
    },
  },
  {
    name: "process.execPath with options of Node.js, without and with a shell",
    files: {
      "child.ts": "console.log(process.argv.slice(2), process.execArgv.filter((o) => o !== '--smol'))",
      "main.ts":
        "import { execSync, spawnSync } from 'node:child_process'; const words = ['--max-old-space-size=100', '--enable-source-maps', './child.ts', '--a']; console.log(spawnSync(process.execPath, words, { stdio: 'inherit' }).status); console.log(execSync([process.execPath, ...words].join(' ')).toString())",
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
    name: "a Worker with an unhandled error",
    files: { "w.ts": "throw new Error('in worker')", "main.ts": "new Worker('./w.ts')" },
  },
  {
    name: "a missing Worker",
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
    name: "EventEmitter and Object.prototype are unchanged",
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

compareAll("input", INPUT);
compareAll("children and threads", CHILDREN);
