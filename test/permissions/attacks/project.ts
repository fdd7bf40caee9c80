// Attempts to change files of the project that other programs run or trust. By default a task may change its project.
import * as fs from "node:fs";
import { join } from "node:path";

const ROOT = "../..";

function appends(file: string, text = "evil\n"): () => boolean {
  return () => {
    fs.appendFileSync(join(ROOT, file), text);
    return fs.readFileSync(join(ROOT, file), "utf8").endsWith(text);
  };
}

export const project: Readonly<Record<string, () => boolean>> = {
  "adds a hook of git": () => {
    fs.writeFileSync(join(ROOT, ".git/hooks/pre-commit"), "evil", { mode: 0o755 });
    return true;
  },
  "changes the repository's configuration of git": appends(".git/config"),
  "adds a task of the editor": appends(".vscode/tasks.json"),
  "adds a workflow of the CI": () => {
    fs.writeFileSync(join(ROOT, ".github/workflows/evil.yml"), "evil");
    return true;
  },
  "adds a hook of an assistant": () => {
    fs.mkdirSync(join(ROOT, ".claude"), { recursive: true });
    fs.writeFileSync(join(ROOT, ".claude/settings.json"), "evil");
    return true;
  },
  "adds .npmrc to the project": () => {
    fs.writeFileSync(join(ROOT, ".npmrc"), "registry=https://evil.example\n");
    return true;
  },
  "adds a hook of husky": () => {
    fs.mkdirSync(join(ROOT, ".husky"), { recursive: true });
    fs.writeFileSync(join(ROOT, ".husky/pre-commit"), "evil");
    return true;
  },
  "changes the lockfile": appends("package-lock.json"),
  "replaces a program of node_modules/.bin": () => {
    fs.writeFileSync("out/program", "evil", { mode: 0o755 });
    fs.renameSync("out/program", join(ROOT, "node_modules/.bin/tool"));
    return true;
  },
  "changes a dependency that other projects share by hard links": appends(
    "node_modules/dependency/shared.js",
  ),
  "changes the scripts of another package": appends("packages/b/package.json", "\n"),
  "changes its own scripts": appends("packages/a/package.json", "\n"),
  "changes rtfig.toml": appends("rtfig.toml", "# evil\n"),
  "changes a dependency": appends("node_modules/dependency/index.js"),
  "exchanges the folder of git's hooks": () => {
    fs.renameSync(join(ROOT, ".git/hooks"), join(ROOT, ".git/old-hooks"));
    return true;
  },
  "changes a hook of git through a symlink": () => {
    fs.symlinkSync("../../../.git", "out/link-to-git");
    fs.writeFileSync("out/link-to-git/commit-msg", "evil");
    return true;
  },
  "changes a source file through a hard link": () => {
    fs.linkSync("source.ts", "out/linked.ts");
    fs.writeFileSync("out/linked.ts", "evil");
    return true;
  },
  "adds a file that direnv runs": () => {
    fs.writeFileSync(join(ROOT, ".envrc"), "evil");
    return true;
  },
  "replaces the repository by another one": () => {
    fs.renameSync(join(ROOT, ".git"), join(ROOT, ".replaced-git"));
    fs.writeFileSync(join(ROOT, ".git"), "gitdir: /evil\n");
    return true;
  },
  "adds code that the engine loads first": () => {
    fs.writeFileSync(join(ROOT, "bunfig.toml"), 'preload = ["./evil.js"]\n');
    return true;
  },
  "adds a filter to git's attributes": () => {
    fs.writeFileSync(join(ROOT, ".gitattributes"), "* filter=evil\n");
    return true;
  },
};
