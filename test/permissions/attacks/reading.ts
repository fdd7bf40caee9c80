// Attempts to read credentials.
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import {
  around,
  AT_FDCWD,
  type Attempts,
  call,
  hasSecret,
  MEMFD_CREATE,
  OPENAT,
  SECRET,
  text,
} from "./calls.ts";

const { home, other } = around;

export const reading: Attempts = {
  "reads ~/.npmrc": () => hasSecret(join(home, ".npmrc")),
  "reads ~/.aws/credentials": () => hasSecret(join(home, ".aws/credentials")),
  "reads ~/.ssh/id_ed25519": () => hasSecret(join(home, ".ssh/id_ed25519")),
  "reads ~/.config/gh/hosts.yml": () => hasSecret(join(home, ".config/gh/hosts.yml")),
  "reads ~/.git-credentials": () => hasSecret(join(home, ".git-credentials")),
  "reads the keyring's file": () => hasSecret(join(home, ".local/share/keyrings/login.keyring")),
  "reads ~/.cargo/credentials.toml": () => hasSecret(join(home, ".cargo/credentials.toml")),
  "lists the home folder": () => fs.readdirSync(home).includes(".npmrc"),
  "reads .env of another package": () => hasSecret("../b/.env"),
  "reads .env of the root through a link": () => {
    fs.symlinkSync("../../.env", "link-to-env");
    return hasSecret("link-to-env");
  },
  "moves .env of another package to its own": () => {
    fs.renameSync("../b/.env.local", "stolen.env");
    return hasSecret("stolen.env");
  },
  "reads another project": () => hasSecret(join(other, "private.txt")),
  "reads a temporary file of another program": () => hasSecret(join(other, "../temporary.txt")),
  "reads a file through a symlink": () => {
    fs.symlinkSync(join(home, ".npmrc"), "link-to-npmrc");
    return hasSecret("link-to-npmrc");
  },
  "makes a hard link to a file of the home folder": () => {
    fs.linkSync(join(home, ".npmrc"), "hard-link");
    return hasSecret("hard-link");
  },
  "moves a file of the home folder into the project": () => {
    fs.renameSync(join(home, ".movable"), "moved");
    return hasSecret("moved");
  },
  "has a token in its environment": () => process.env.GITHUB_TOKEN === SECRET,
  "has the address of the session bus": () => process.env.DBUS_SESSION_BUS_ADDRESS !== undefined,
  "has the socket of the agent": () => process.env.SSH_AUTH_SOCK !== undefined,
  "reads the registry's token in ~/.docker/config.json": () => hasSecret(join(home, ".docker/config.json")),
  "reads ~/.kube/config": () => hasSecret(join(home, ".kube/config")),
  "reads the cloud's token in ~/.config/gcloud": () =>
    hasSecret(join(home, ".config/gcloud/application_default_credentials.json")),
  "reads the passwords of a browser": () => hasSecret(join(home, ".config/google-chrome/Default/Login Data")),
  "reads a wallet": () => hasSecret(join(home, ".ethereum/keystore/key")),
  "reads the history of the shell": () => hasSecret(join(home, ".bash_history")),
  "searches the home folder for credentials": () =>
    fs.readdirSync(home, { recursive: true }).some((name) => String(name).endsWith("credentials")),
  "reads a folder of the home folder that node_modules/.bin leads to": () =>
    hasSecret(join(home, ".gnupg/key")),
  "reads a file through the root of its own process": () =>
    hasSecret(`/proc/self/root${join(home, ".npmrc")}`),
  "reads a file below an opened folder": () => {
    const O_PATH = 0o10000000;
    const folder = call(OPENAT, AT_FDCWD, text(home), O_PATH, 0);
    const file = call(OPENAT, folder, text(".netrc"), 0, 0);
    return file >= 0 && fs.readFileSync(file, "utf8").includes(SECRET);
  },
  "reads ~/.npmrc with another program": () =>
    String(spawnSync("cat", [join(home, ".npmrc")]).stdout).includes(SECRET),
  "reads ~/.npmrc with a program that it runs from memory": () => {
    const file = call(MEMFD_CREATE, text("program"), 0);
    fs.writeSync(file, fs.readFileSync("/bin/cat"));
    const options = { argv0: "cat" };
    const { stdout } = spawnSync(`/proc/${process.pid}/fd/${file}`, [join(home, ".npmrc")], options);
    return String(stdout).includes(SECRET);
  },
  "asks git for a stored password": () => {
    const { GIT_CONFIG_GLOBAL: _own, ...env } = process.env;
    const input = "protocol=https\nhost=git.example\n\n";
    const { stdout } = spawnSync("git", ["credential", "fill"], { env, input });
    return String(stdout).includes(`password=${SECRET}`);
  },
  "reads the results of other projects in rt's cache": () => hasSecret(join(home, ".cache/rt/result")),
  "reads .env of another package through its own process": () => hasSecret("/proc/self/cwd/../b/.env"),
  "makes a hard link to .env of another package": () => {
    fs.linkSync("../b/.env", "linked-env");
    return hasSecret("linked-env");
  },
  "has the tokens of the CI job": () =>
    ["NPM_TOKEN", "AWS_SECRET_ACCESS_KEY", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"].some(
      (name) => process.env[name] === SECRET,
    ),
  "packs ~/.ssh with another program": () =>
    String(spawnSync("tar", ["-cf", "-", "-C", home, ".ssh"]).stdout).includes(SECRET),
  "moves a folder of the home folder into the project": () => {
    fs.renameSync(join(home, ".movable-folder"), "moved-folder");
    return hasSecret("moved-folder/key");
  },
  "exchanges a folder of its own for one of the home folder": () => {
    const RENAME_EXCHANGE = 2;
    fs.mkdirSync("exchanged-own");
    const paths = [text("exchanged-own"), text(join(home, ".exchangeable-folder"))] as const;
    call([316, 276], AT_FDCWD, paths[0], AT_FDCWD, paths[1], RENAME_EXCHANGE);
    return hasSecret("exchanged-own/key");
  },
  "reads a file from the home folder as its working folder": () => {
    const own = process.cwd();
    try {
      process.chdir(home);
      return hasSecret(".docker/config.json");
    } finally {
      process.chdir(own);
    }
  },
  "reads a file of the home folder by a descriptor without rights": () => {
    const O_PATH = 0o10000000;
    const file = call(OPENAT, AT_FDCWD, text(join(home, ".netrc")), O_PATH, 0);
    return hasSecret(`/proc/self/fd/${file}`);
  },
  "has a token of npm in its configuration": () =>
    Object.entries(process.env).some(([name, value]) => /^npm_config_/i.test(name) && value === SECRET),
  "reads .envrc of the root": () => hasSecret("../../.envrc"),
  "reads .dev.vars of another package": () => hasSecret("../b/.dev.vars"),
  "reads the configuration of npm for all users": () =>
    hasSecret(join(home, ".nvm/versions/node/v1/etc/npmrc")),
  "reads the configuration of npm of another version of Node.js": () =>
    hasSecret(join(home, ".nvm/versions/node/v0/etc/npmrc")),
  "reads the token of Deno Deploy": () => hasSecret(join(home, ".deno/deployctl/credentials.json")),
  "reads the sessions of an assistant's browser": () =>
    hasSecret(join(home, ".cache/ms-playwright/mcp-chrome-profile/Cookies")),
};
