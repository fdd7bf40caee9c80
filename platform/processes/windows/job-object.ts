// Job objects of Windows: sets of processes that end together. Children of a member are members, unless the job excludes them.
import { ptr } from "bun:ffi";
import { address, kernel } from "../../native/windows/kernel32.ts";

/** JOBOBJECT_EXTENDED_LIMIT_INFORMATION: class, size and offset of the flags, on 64-bit systems. */
const LIMITS = { class: 9, size: 144, flags: 16 } as const;
const KILL_ON_JOB_CLOSE = 0x2000;
const SILENT_BREAKAWAY_OK = 0x1000;

/** JOBOBJECT_BASIC_ACCOUNTING_INFORMATION */
const ACCOUNTING = { class: 1, size: 48, activeProcesses: 40 } as const;

const PROCESS_TERMINATE = 0x1;
const PROCESS_SET_QUOTA = 0x100;

/**
 * Creates a job that ends with this process.
 *
 * @param keepsChildren whether children of members become members
 */
export function createJob(keepsChildren = true): bigint {
  const job = BigInt(kernel().CreateJobObjectW(0, 0));
  setLimits(job, keepsChildren ? KILL_ON_JOB_CLOSE : KILL_ON_JOB_CLOSE | SILENT_BREAKAWAY_OK);
  return job;
}

function setLimits(job: bigint, flags: number): void {
  const limits = new DataView(new ArrayBuffer(LIMITS.size));
  limits.setUint32(LIMITS.flags, flags, true);
  kernel().SetInformationJobObject(job, LIMITS.class, address(new Uint8Array(limits.buffer)), LIMITS.size);
}

export function addToJob(job: bigint, process: bigint): void {
  kernel().AssignProcessToJobObject(job, process);
}

/** Adds a process to the job. No effect if the process has exited. */
export function putIntoJob(job: bigint, pid: number): void {
  const process = BigInt(kernel().OpenProcess(PROCESS_TERMINATE | PROCESS_SET_QUOTA, 0, pid));
  if (process === 0n) return;
  addToJob(job, process);
  kernel().CloseHandle(process);
}

export function endJob(job: bigint, exitCode: number): void {
  kernel().TerminateJobObject(job, exitCode);
}

export function countProcesses(job: bigint): number {
  const accounting = new Uint8Array(ACCOUNTING.size);
  const { class: kind, size } = ACCOUNTING;
  kernel().QueryInformationJobObject(job, kind, BigInt(ptr(accounting)), size, 0); // too frequent to retain the buffer
  return new DataView(accounting.buffer).getUint32(ACCOUNTING.activeProcesses, true);
}

/** Closes the job; its processes live on. */
export function freeJob(job: bigint): void {
  setLimits(job, 0);
  kernel().CloseHandle(job);
}
