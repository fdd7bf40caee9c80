// Attempts to change files outside of the project, and modes.
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { around, AT_FDCWD, type Attempts, call, CHMOD, memory, SETXATTR, text } from "./calls.ts";

const { home, other } = around;

/** An access list with the rights of a mode: read, write and execute for owner, group and others. */
function accessList(mode: number): Uint32Array {
  const VERSION = 2;
  const NO_ID = 0xffffffff;
  const entries = [1, 4, 0x20].map((tag, index) => tag | (((mode >> (6 - 3 * index)) & 7) << 16));
  return new Uint32Array([VERSION, ...entries.flatMap((entry) => [entry, NO_ID])]);
}

export const writing: Attempts = {
  "writes the compile cache that projects share": () => {
    fs.writeFileSync(join(other, "../node-compile-cache.js"), "evil");
    return true;
  },
  "appends to ~/.bashrc": () => {
    fs.appendFileSync(join(home, ".bashrc"), "evil\n");
    return true;
  },
  "truncates ~/.profile": () => {
    fs.truncateSync(join(home, ".profile"));
    return fs.statSync(join(home, ".profile")).size === 0;
  },
  "makes an autostart entry": () => {
    fs.writeFileSync(join(home, ".config/evil.desktop"), "evil");
    return true;
  },
  "moves a file of the project to the home folder": () => {
    fs.writeFileSync("payload", "evil");
    fs.renameSync("payload", join(home, ".payload"));
    return true;
  },
  "writes to the home folder through a symlink": () => {
    fs.symlinkSync(home, "link-to-home");
    fs.writeFileSync("link-to-home/.through-link", "evil");
    return true;
  },
  "removes a file of the home folder": () => {
    fs.unlinkSync(join(home, ".removable"));
    return true;
  },
  "changes the mode of ~/.ssh": () => {
    fs.chmodSync(join(home, ".ssh"), 0o777);
    return true;
  },
  "makes a set-user-ID program": () => {
    fs.writeFileSync("privileged", "");
    fs.chmodSync("privileged", 0o4755);
    return (fs.statSync("privileged").mode & 0o4000) !== 0;
  },
  "creates a set-user-ID program": () => {
    fs.closeSync(fs.openSync("created", "wx", 0o4755));
    return (fs.statSync("created").mode & 0o4000) !== 0;
  },
  "adds a key to ~/.ssh/authorized_keys": () => {
    fs.appendFileSync(join(home, ".ssh/authorized_keys"), "evil\n");
    return true;
  },
  "adds a service to ~/.config/systemd": () => {
    fs.mkdirSync(join(home, ".config/systemd/user"), { recursive: true });
    fs.writeFileSync(join(home, ".config/systemd/user/evil.service"), "evil");
    return true;
  },
  "replaces a program in ~/.local/bin": () => {
    fs.writeFileSync(join(home, ".local/bin/tool"), "evil");
    return true;
  },
  "poisons the cache of a package manager": () => {
    fs.writeFileSync(join(home, ".npm/_cacache/content"), "evil");
    return true;
  },
  "changes the user's configuration of git": () => {
    fs.writeFileSync(join(home, ".gitconfig"), "[core]\nhooksPath = /tmp/evil\n");
    return true;
  },
  "adds a variable to the later steps of the CI job": () => {
    fs.appendFileSync(join(other, "../github-env"), "NODE_OPTIONS=--require=/tmp/evil\n");
    return true;
  },
  "changes ~/.npmrc": () => {
    fs.appendFileSync(join(home, ".npmrc"), "registry=https://evil.example\n");
    return true;
  },
  "adds node_modules above the project": () => {
    fs.mkdirSync(join(other, "../node_modules/evil"), { recursive: true });
    return true;
  },
  "changes rt's cache": () => {
    fs.writeFileSync(join(home, ".cache/rt/result"), "evil");
    return true;
  },
  "changes what rt trusts": () => {
    fs.mkdirSync(join(home, ".local/state/rt"), { recursive: true });
    fs.writeFileSync(join(home, ".local/state/rt/trust"), "evil");
    return true;
  },
  "makes a symlink in the home folder": () => {
    fs.symlinkSync("/tmp/evil", join(home, ".symlink"));
    return true;
  },
  "makes a socket in the home folder": async () => {
    const server = createServer().listen(join(home, ".socket"));
    await once(server, "listening");
    server.close();
    return true;
  },
  "makes a pipe in the home folder": () => {
    const S_IFIFO = 0o10000;
    return call([259, 33], AT_FDCWD, text(join(home, ".pipe")), S_IFIFO | 0o600, 0) === 0;
  },
  "exchanges a file of the home folder for its own": () => {
    const RENAME_EXCHANGE = 2;
    fs.writeFileSync("own-file", "evil");
    const paths = [text("own-file"), text(join(home, ".exchangeable"))] as const;
    return call([316, 276], AT_FDCWD, paths[0], AT_FDCWD, paths[1], RENAME_EXCHANGE) === 0;
  },
  "opens a file that it may read again to write it": () => {
    const file = fs.openSync(join(home, ".local/bin/tool"), "r");
    fs.appendFileSync(`/proc/self/fd/${file}`, "evil");
    return true;
  },
  "changes the mode of ~/.aws by an access list": () => {
    const list = accessList(0o707);
    const name = text("system.posix_acl_access");
    call(SETXATTR, text(join(home, ".aws")), name, memory(list.buffer), list.byteLength, 0);
    return (fs.statSync(join(home, ".aws")).mode & 0o777) === 0o707;
  },
  "changes the mode of a program by a descriptor and an access list": () => {
    const list = accessList(0o775);
    const file = fs.openSync(join(home, ".local/bin/tool"), "r");
    call([190, 7], file, text("system.posix_acl_access"), memory(list.buffer), list.byteLength, 0);
    return (fs.fstatSync(file).mode & 0o777) === 0o775;
  },
  "changes the mode of a program by its descriptor": () => {
    fs.fchmodSync(fs.openSync(join(home, ".local/bin/tool"), "r"), 0o777);
    return true;
  },
  "changes the mode of a program by an empty path": () => {
    const AT_EMPTY_PATH = 0x1000;
    const file = fs.openSync(join(home, ".local/bin/tool"), "r");
    return call([452, 452], file, text(""), 0o757, AT_EMPTY_PATH) === 0;
  },
  "makes a set-user-ID program by its descriptor": () => {
    const file = fs.openSync("by-descriptor", "w");
    fs.fchmodSync(file, 0o4755);
    return (fs.fstatSync(file).mode & 0o4000) !== 0;
  },
  "exchanges a symlink while rt decides a change of mode": () => {
    const [own, foreign, link] = ["own-folder", join(home, ".exchanged"), "exchanged-link"];
    fs.mkdirSync(own);
    fs.symlinkSync(own, link);
    const source = `const fs = require("node:fs"); const { targets, link } = require("node:worker_threads").workerData; let round = 0; for (;;) { fs.symlinkSync(targets[round++ % 2], "draft"); fs.renameSync("draft", link); }`;
    const worker = new Worker(source, { eval: true, workerData: { targets: [own, foreign], link } });
    return new Promise((resolve, reject) => {
      worker.on("error", reject);
      worker.once("online", () => {
        let hasChanged = false;
        const limit = Date.now() + 10_000;
        while (fs.readlinkSync(link) === own && Date.now() < limit) continue;
        const end = Date.now() + 500;
        while (!hasChanged && Date.now() < end) {
          // Without a race the change is refused.
          call(CHMOD, AT_FDCWD, text(link), 0o711, 0);
          hasChanged = (fs.statSync(foreign).mode & 0o777) === 0o711;
        }
        void worker.terminate().then(() => resolve(hasChanged));
      });
    });
  },
  "makes a hard link in the home folder": () => {
    fs.writeFileSync("linked-payload", "evil");
    fs.linkSync("linked-payload", join(home, ".hard-link"));
    return true;
  },
  "changes the owner of a file of the home folder": () => {
    const { uid, gid } = fs.statSync(join(home, ".bashrc"));
    fs.chownSync(join(home, ".bashrc"), uid, gid);
    return true;
  },
  "changes the owner of a symlink of the home folder": () => {
    const { uid, gid } = fs.lstatSync(join(home, ".link"));
    fs.lchownSync(join(home, ".link"), uid, gid);
    return true;
  },
  "changes the owner of a program by its descriptor": () => {
    const file = fs.openSync(join(home, ".local/bin/tool"), "r");
    const { uid, gid } = fs.fstatSync(file);
    fs.fchownSync(file, uid, gid);
    return true;
  },
  "changes the attributes of a program by its descriptor": () => {
    const [SET_FLAGS, NO_DUMP] = [0x40086602, 0x40];
    const file = fs.openSync(join(home, ".local/bin/tool"), "r");
    return call([16, 29], file, SET_FLAGS, memory(new Int32Array([NO_DUMP, 0]).buffer)) === 0;
  },
  "moves the folder of the project": () => {
    const root = fs.realpathSync("../..");
    fs.renameSync(root, `${root}-moved`);
    fs.renameSync(`${root}-moved`, root);
    return true;
  },
  "has the kernel write a file to the home folder": () => {
    const crash = `cd ${home} && ulimit -c unlimited && kill -SEGV $$`;
    spawnSync("sh", ["-c", crash]);
    return fs.existsSync(join(home, "core"));
  },
};
