// Writes to standard output and error on Windows, where consoles and pipes accept whole buffers.
import { writeSync } from "node:fs";
import { errorCode } from "../../caught-error.ts";
import type { OutputOperations } from "../contract/output.ts";
import { isSameFile } from "../../files/same-file.ts";

const writeSome: OutputOperations["writeSome"] = (descriptor, bytes) => {
  try {
    return writeSync(descriptor, bytes);
  } catch (error) {
    const code = errorCode(error);
    if (code === "EAGAIN") return 0;
    throw code === "EOF" ? Object.assign(new Error("broken pipe"), { code: "EPIPE" }) : error;
  }
};

const awaitWritable: OutputOperations["awaitWritable"] = (_descriptor, milliseconds) =>
  Bun.sleepSync(milliseconds);

const areJoined: OutputOperations["areJoined"] = () => isSameFile(1, 2);

const terminalSize: OutputOperations["terminalSize"] = () => {
  const { columns, rows } = process.stdout;
  return columns > 0 && rows > 0 ? { columns, rows } : null;
};

export const operations: OutputOperations = {
  writeSome,
  awaitWritable,
  areJoined,
  terminalSize,
};
