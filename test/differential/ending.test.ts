// How a program ends: exit codes, events, rejections, signals.
import { compareAll, type Fixture } from "./compare.ts";

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
    "setImmediate(() => { console.log('i'); setTimeout(() => console.log('t'), 1) }); process.nextTick(() => console.log('n')); queueMicrotask(() => console.log('m')); Promise.resolve().then(() => console.log('p')); console.log('s')",
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

/** Sends each signal after the program has printed a line. */
const withSignals = (name: string, code: string, ...signals: NodeJS.Signals[]): Fixture => ({
  name,
  files: { "main.ts": code },
  async interact(program) {
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
    withSignals(`${signal} without a handler`, "console.log('ready'); setInterval(() => {}, 1000)", signal),
  ),
  ...(["SIGTERM", "SIGINT", "SIGHUP"] as const).map((signal) =>
    withSignals(
      `${signal} with a handler`,
      `process.on("${signal}", async (s) => { await Bun.sleep(1); console.log("got", s); process.exit(11) }); console.log("ready"); setInterval(() => {}, 1000)`,
      signal,
    ),
  ),
  withSignals(
    "SIGINT twice",
    "let n = 0; process.on('SIGINT', () => { console.log('int', ++n); if (n === 2) process.exit(0) }); console.log('ready'); setInterval(() => {}, 1000)",
    "SIGINT",
    "SIGINT",
  ),
  withSignals(
    "SIGTERM during a top-level await that never settles",
    "console.log('ready'); await new Promise(() => {})",
    "SIGTERM",
  ),
  withSignals(
    "SIGTERM in CommonJS-like TypeScript",
    "const os = require('os'); process.on('exit', (c) => console.log('exit', c)); console.log('ready'); setInterval(() => {}, 1000)",
    "SIGTERM",
  ),
];

compareAll("endings", ENDINGS);
compareAll("signals", SIGNALS);
