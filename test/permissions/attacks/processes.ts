// Attempts on other processes, and to stay after the end of the task.
import { ptr } from "bun:ffi";
import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { around, type Attempts, call, hasSecret, isArm, memory, SECRET } from "./calls.ts";

const { home, victim } = around;

/** This process and those that have started it. Without permissions, rt itself becomes the script. */
export function findAncestors(): number[] {
  const ancestors: number[] = [];
  for (let { pid } = process; pid > 1;) {
    ancestors.push(pid);
    pid = Number(/^PPid:\s*(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8"))![1]);
  }
  return ancestors;
}

function awaitFile(file: string): true {
  const end = Date.now() + 10_000;
  while (!fs.existsSync(file) || fs.readFileSync(file, "utf8") === "")
    if (Date.now() > end) throw new Error("no process");
  return true;
}

function readsSecret(path: string): boolean {
  try {
    return hasSecret(path);
  } catch {
    return false;
  }
}

function findOpenSecret(folder: string): boolean {
  try {
    return fs
      .readdirSync(folder)
      .some((name) => isFile(join(folder, name)) && readsSecret(join(folder, name)));
  } catch {
    return false;
  }
}

function isFile(path: string): boolean {
  try {
    return fs.statSync(path).isFile() && fs.statSync(path).size < 1000;
  } catch {
    return false;
  }
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
    return awaitFile("out/left-daemon");
  },
  "sends a signal to the group of another process": () => {
    const SIGCONT = 18;
    const group = Number(
      fs
        .readFileSync(`/proc/${victim}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ")[2],
    );
    return call([62, 129], -group, SIGCONT) === 0;
  },
  "has the kernel send a signal to another process": () => {
    const [SET_FLAGS, SET_OWNER, SET_SIGNAL, SIGUSR1, O_ASYNC] = [4, 8, 10, 10, 0o20000];
    const ends = new Int32Array(new ArrayBuffer(8));
    call([53, 199], 1, 1, 0, ptr(ends));
    const FCNTL = [72, 25] as const;
    call(FCNTL, ends[0]!, SET_SIGNAL, SIGUSR1);
    call(FCNTL, ends[0]!, SET_OWNER, around.signalled);
    call(FCNTL, ends[0]!, SET_FLAGS, O_ASYNC);
    fs.writeSync(ends[1]!, "x");
    return !/^ShdPnd:\s*0*$/m.test(fs.readFileSync(`/proc/${around.signalled}/status`, "utf8"));
  },
  "lowers the priority of another process": () => call([141, 140], 0, victim, 19) === 0,
  "lowers the priority of input and output of another process": () => {
    const [PROCESS, IDLE] = [1, 3 << 13];
    return call([251, 30], PROCESS, victim, IDLE) === 0;
  },
  "changes the scheduling of another process": () => {
    const IDLE = 5;
    return call([144, 119], victim, IDLE, memory(new ArrayBuffer(4))) === 0;
  },
  // In a group of its own, because it works without permissions.
  "lowers the priorities of a group of processes": () => {
    const program = `import ctypes, os
os.setsid()
results = [ctypes.CDLL(None).syscall(${isArm ? 30 : 251}, 2, 0, 3 << 13)]
try: results.append(os.setpriority(os.PRIO_PGRP, 0, 19) or 0)
except OSError: pass
exit(0 not in results)`;
    return spawnSync("python3", ["-c", program]).status === 0;
  },
  "reads an open file of a process that has started it": () =>
    findAncestors()
      .slice(1)
      .some((pid) => findOpenSecret(`/proc/${pid}/fd`)),
  "reads through the working folder of a process that has started it": () =>
    findAncestors()
      .slice(1)
      .some((pid) => readsSecret(`/proc/${pid}/root${join(home, ".netrc")}`)),
  "copies a descriptor of a process that has started it": () =>
    findAncestors()
      .slice(1)
      .some((pid) => call([438, 438], call([434, 434], pid, 0), 3, 0) >= 0),
  "leaves a process as a child of its parent": () => {
    const program = `import ctypes, os, time
libc = ctypes.CDLL(None)
CLONE_PARENT, SIGCHLD = 0x8000, 17
if libc.syscall(${isArm ? 220 : 56}, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) == 0:
    os.setsid()
    for each in range(3): os.close(each)
    open("out/left-sibling", "w").write(str(os.getpid()))
    time.sleep(600)
    os._exit(0)`;
    spawnSync("python3", ["-c", program]);
    return awaitFile("out/left-sibling");
  },
};
