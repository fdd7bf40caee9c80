// Package discovery on Windows.
import { type Dirent, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { errorCode } from "../../caught-error.ts";
import type { DirectoryOperations } from "../contract/directories.ts";

const listDirectory: DirectoryOperations["listDirectory"] = (path) => {
  const [directories, links]: [string[], string[]] = [[], []];
  let entries: Dirent[];
  try {
    entries = readdirSync(path, { withFileTypes: true });
  } catch {
    return null;
  }
  for (const entry of entries) {
    if (entry.isDirectory()) directories.push(entry.name);
    else if (entry.isSymbolicLink()) links.push(entry.name);
  }
  return { directories, links };
};

const resolvePath: DirectoryOperations["resolvePath"] = (path) => {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
};

const resolveDirectory: DirectoryOperations["resolveDirectory"] = (path) => {
  try {
    return statSync(path).isDirectory() ? resolvePath(path) : null;
  } catch {
    return null;
  }
};

const openReader: DirectoryOperations["openReader"] = (directory) => ({
  readText(path) {
    try {
      return readFileSync(`${directory}/${path}`, "utf8");
    } catch (error) {
      const code = errorCode(error);
      return code === "ENOENT" || code === "ENOTDIR" ? null : "";
    }
  },
  close() {},
});

export const operations: DirectoryOperations = {
  separator: "\\",
  listDirectory,
  resolveDirectory,
  resolvePath,
  openReader,
};
