/** Whether a test may have a file system of its own, in a namespace of its own. */
export const CAN_MOUNT =
  process.platform === "linux" &&
  Bun.spawnSync(["unshare", "-Urm", "bash", "-c", "mount -t tmpfs none /mnt"], {
    stdout: "ignore",
    stderr: "ignore",
  }).exitCode === 0;
