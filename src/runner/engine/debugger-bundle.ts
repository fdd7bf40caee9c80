// What build/compile.ts makes of src/debugger/domains, for the one start that writes it to files.
export { program, thread } from "rt:debugger-texts";
