// Attempts on other processes, and to stay after the end of the task.
import { ptr } from "bun:ffi";
import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { around, type Attempts, call, hasSecret, memory, SECRET } from "./calls.ts";

const { home, victim } = around;

/** This process and those that have started it. Without permissions, rt itself becomes the script. */
function findAncestors(): number[] {
  const ancestors: number[] = [];
  for (let { pid } = process; pid > 1;) {
    ancestors.push(pid);
    pid = Number(/^PPid:\s*(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8"))![1]);
  }
  return ancestors;
}

export const processes: Attempts = {
  "reads the environment of another process": () => hasSecret(`/proc/${victim}/environ`),
  "reads the environment of rt": () =>
    findAncestors().some((pid) => {
      try {
        return hasSecret(`/proc/${pid}/environ`);
      } catch {
        return false;
      }
    }),
  "opens the memory of another process": () => {
    fs.closeSync(fs.openSync(`/proc/${victim}/mem`, "r"));
    return true;
  },
  "reads through the root of another process": () => hasSecret(`/proc/${victim}/root${join(home, ".npmrc")}`),
  "sends a signal to another process": () => process.kill(victim, "SIGCONT"),
  "traces another process": () => {
    const SEIZE = 0x4206;
    if (call([101, 117], SEIZE, victim) < 0) throw new Error("ptrace");
    call([101, 117], 17, victim);
    return true;
  },
  "copies a descriptor of another process": () => {
    const pidfd = call([434, 434], victim, 0);
    return call([438, 438], pidfd, 1, 0) >= 0;
  },
  "changes the limits of another process": () => {
    const limits = new BigUint64Array([512n, 1024n]);
    return call([302, 261], victim, 7, memory(limits.buffer), 0) === 0;
  },
  "sends a signal to a thread of another process": () => {
    const SIGCONT = 18;
    return call([200, 130], victim, SIGCONT) === 0;
  },
  "moves the memory of another process": () => call([279, 239], victim, 0, 0, 0, 0, 0) === 0,
  "leaves a process running": () => {
    const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
    child.unref();
    fs.writeFileSync("out/left-process", `${child.pid}`);
    return true;
  },
  "reads the memory of another process": () => {
    const bytes = new Uint8Array(new ArrayBuffer(64));
    const [own, foreign] = [new BigUint64Array(2), new BigUint64Array(2)];
    own.set([BigInt(ptr(bytes)), 64n]);
    foreign.set([BigInt(around.place), 64n]);
    call([310, 270], victim, memory(own.buffer), 1, memory(foreign.buffer), 1, 0);
    return new TextDecoder().decode(bytes).includes(SECRET);
  },
  "writes the memory of another process": () => {
    const bytes = new TextEncoder().encode("S");
    const [own, foreign] = [new BigUint64Array(2), new BigUint64Array(2)];
    own.set([BigInt(memory(bytes.buffer)), 1n]);
    foreign.set([BigInt(around.place), 1n]);
    return call([311, 271], victim, memory(own.buffer), 1, memory(foreign.buffer), 1, 0) === 1;
  },
  "sends a signal by a descriptor of a process": () => {
    const SIGCONT = 18;
    return call([424, 424], call([434, 434], victim, 0), SIGCONT, 0, 0) === 0;
  },
  "reads the maps of another process": () => fs.readFileSync(`/proc/${victim}/maps`, "utf8").length > 0,
  "reads an open file of another process": () =>
    fs.readFileSync(`/proc/${victim}/fd/${around.opened}`, "utf8").includes(SECRET),
  "writes to the terminal of another program": () => {
    fs.appendFileSync(around.terminal, "evil");
    return true;
  },
  "compares the kernel's objects with another process": () =>
    call([312, 272], process.pid, victim, 0, 1, 1) >= 0,
  "leaves a daemon running": () => {
    const script = `(setsid sh -c 'echo $$ > out/left-daemon; exec sleep 600' > /dev/null 2>&1 < /dev/null &)`;
    spawnSync("sh", ["-c", script]);
    const end = Date.now() + 10_000;
    while (!fs.existsSync("out/left-daemon") || fs.readFileSync("out/left-daemon", "utf8") === "")
      if (Date.now() > end) throw new Error("no daemon");
    return true;
  },
};
