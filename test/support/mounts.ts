/** Whether a test may mount a file system in a separate namespace. */
export const CAN_MOUNT =
  process.platform === "linux" &&
  Bun.spawnSync(["unshare", "-Urm", "bash", "-c", "mount -t tmpfs none /mnt"], {
    stdout: "ignore",
    stderr: "ignore",
  }).exitCode === 0;
