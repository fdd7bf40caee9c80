// What `rt doctor` finds of the installation itself: which rt this is, and what it needs of the machine to run scripts, to
// watch, to be debugged.
//
// Contract: it looks and changes nothing. What is found is text from elsewhere; whoever prints it makes it fit for that.
import { accessSync, constants, realpathSync } from "node:fs";
import { delimiter, dirname } from "node:path";
import type { DiagnosisCheck } from "../../../platform/secrets/contract/secret-provider.ts";
import { host } from "../../../platform/processes/process.ts";
import { temporaryDirectory } from "../../../platform/files/temporary-directory.ts";
import { type WatchLimits, watchLimits } from "../../../platform/files/watch-limits.ts";
import { VERSION } from "../../version.ts";

/** What a project of some size needs. */
const ENOUGH: WatchLimits = { watches: 16_384, instances: 128 };
const FEW_FILES = 256;

export function checkInstallation(): DiagnosisCheck[] {
  const limits = watchLimits();
  return [
    {
      name: "version",
      status: "ok",
      found: `rt ${VERSION}, with Bun ${Bun.version} (${Bun.revision.slice(0, 9)}), ${host.system}`,
    },
    { name: "program", status: "ok", found: process.execPath },
    checkPath(process.execPath, host.originalVariable("PATH") ?? ""),
    checkShell(),
    checkDebugger(),
    checkOpenFiles(host.descriptorLimit()),
    ...(limits ? [checkWatching(limits)] : []),
  ];
}

/** Whether a shell finds this program by its name, and no other one before it. */
function checkPath(program: string, path: string): DiagnosisCheck {
  const name = "PATH";
  const found = Bun.which("rt", { PATH: path });
  const folder = dirname(program);
  if (found === null)
    return { name, status: "warning", found: "No folder of PATH has rt", remedy: `add ${folder} to PATH` };
  if (isSame(found, program)) {
    const others = new Set(path.split(delimiter).flatMap((entry) => findIn(entry)));
    others.delete(found);
    const different = [...others].filter((other) => !isSame(other, program));
    const rest = different.length > 0 ? `; behind it ${different.join(", ")}` : "";
    return { name, status: "ok", found: `rt is ${found}${rest}` };
  }
  return {
    name,
    status: "warning",
    found: `rt is another program, ${found}`,
    remedy: `remove it, or put ${folder} in front of ${dirname(found)} in PATH`,
  };
}

function findIn(folder: string): string[] {
  const found = folder === "" ? null : Bun.which("rt", { PATH: folder });
  return found === null ? [] : [found];
}

function isSame(a: string, b: string): boolean {
  try {
    return realpathSync(a) === realpathSync(b);
  } catch {
    return false;
  }
}

function checkShell(): DiagnosisCheck {
  const name = "shell";
  if (host.defaultShell === "rt") return { name, status: "ok", found: "The built-in one" };
  const found = host.findShell(host.originalVariable("PATH") ?? "");
  if (found !== undefined) return { name, status: "ok", found };
  return { name, status: "problem", found: "There is no shell for scripts", remedy: host.shellHint };
}

/** It listens on an address of this machine, and writes a module for the program that is debugged. */
function checkDebugger(): DiagnosisCheck {
  const name = "debugger";
  const folder = temporaryDirectory();
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    const found = `Nothing can be written to ${folder} (${codeOf(error)})`;
    return { name, status: "warning", found, remedy: "set TMPDIR to a folder that can be written to" };
  }
  try {
    Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } }).stop(true);
  } catch (error) {
    const found = `No port of this machine can be listened on (${codeOf(error)})`;
    return { name, status: "warning", found, remedy: "allow it, or leave --inspect out" };
  }
  return { name, status: "ok", found: "VS Code and others can connect: rt --inspect-brk <file>" };
}

function checkOpenFiles(limit: number): DiagnosisCheck {
  const name = "open files";
  if (limit >= FEW_FILES)
    return {
      name,
      status: "ok",
      found: Number.isFinite(limit) ? `${limit} at a time` : "As many as there are",
    };
  return { name, status: "warning", found: `${limit} at a time`, remedy: "raise the limit: ulimit -n 4096" };
}

function checkWatching({ watches, instances }: WatchLimits): DiagnosisCheck {
  const name = "file watching";
  const found = `${watches} folders, ${instances} programs`;
  const short = [
    ...(watches < ENOUGH.watches ? ["fs.inotify.max_user_watches=524288"] : []),
    ...(instances < ENOUGH.instances ? ["fs.inotify.max_user_instances=1024"] : []),
  ];
  if (short.length === 0) return { name, status: "ok", found };
  return { name, status: "warning", found, remedy: `sudo sysctl ${short.join(" ")}` };
}

function codeOf(error: unknown): string {
  return (error as { code?: string }).code ?? String(error);
}
