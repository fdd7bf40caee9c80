// Starts a child with permissions on macOS: sandbox-exec restricts itself by a profile and becomes the program.
//
// Invariants: if the profile cannot be applied, sandbox-exec fails and the program does not run.
// Non-obvious:
// - A sandbox cannot be put into another one. A nested task keeps the restrictions of the outer task.
// - sandbox-exec sets `argv[0]` of the program to its path.
import { realpathSync } from "node:fs";
import { FFIType } from "../../native/posix/ffi.ts";
import { openLibc } from "../../native/posix/libc.ts";
import type { Child, ChildRequest } from "../../processes/contract/process-tree.ts";
import { findOnPath } from "../../processes/program-search.ts";
import { compileProfile, unenforcedHosts } from "./sandbox-profile.ts";
import { SANDBOX_PROGRAM } from "./support.ts";

/** @throws an Error with a reason, or the system's error */
export function startPermitted(
  { permissions, ...request }: ChildRequest,
  start: (request: ChildRequest) => Child,
  isNested = isInsideSandbox(),
): Child {
  const { rules, variables } = permissions!;
  const env = { ...request.env, ...variables };
  if (isNested) return start({ ...request, env });
  const [host] = unenforcedHosts(rules);
  if (host) throw new Error(`the sandbox of macOS cannot open single hosts, such as ${host.name}`);
  const { argv, cwd } = request;
  const program = request.program ?? findOnPath(argv[0]!, { PATH: env.PATH ?? "", cwd });
  if (program === null) throw Object.assign(new Error("ENOENT"), { code: "ENOENT" });
  const profile = compileProfile(rules, resolve);
  return start({
    ...request,
    env,
    program: SANDBOX_PROGRAM,
    argv: [SANDBOX_PROGRAM, "-p", profile, program, ...argv.slice(1)],
  });
}

function resolve(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

let known: boolean | undefined;

/** The kernel answers, because a variable would prove nothing. */
function isInsideSandbox(): boolean {
  if (known === undefined) {
    const { i32, ptr } = FFIType;
    const { functions } = openLibc({ sandbox_check: { args: [i32, ptr, i32], returns: i32 } });
    known = functions.sandbox_check(process.pid, null, 0) !== 0;
  }
  return known;
}
