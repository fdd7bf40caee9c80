// What a Worker loads before the user's code when code runs in this process: see install.ts.
//
// A worker of a compiled program sees the options that were compiled in and a made-up argv[0]; the user's
// code is to see what a worker of the engine sees.
import { installRuntime } from "./install.ts";

installRuntime(import.meta.path);
process.argv[0] = process.execPath;
process.execArgv = process.execArgv.filter((option) => !/^--loader=\.[a-z0-9]+:file$/.test(option));
