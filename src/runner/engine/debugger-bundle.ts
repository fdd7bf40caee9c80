// Debugger bundles that build/compile.ts creates from src/debugger/domains, loaded once to write them to files.
export { program, thread } from "rt:debugger-texts";
