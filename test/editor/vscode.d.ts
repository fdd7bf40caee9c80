// The part of VS Code's extension interface that extension.ts uses.
declare module "vscode" {
  export class Uri {
    static file(path: string): Uri;
    readonly fsPath: string;
  }
  export class Position {
    constructor(line: number, character: number);
  }
  export class Location {
    constructor(uri: Uri, position: Position);
  }
  export class Breakpoint {}
  export class SourceBreakpoint extends Breakpoint {
    constructor(location: Location, enabled?: boolean, condition?: string, hits?: string, log?: string);
  }
  export interface WorkspaceFolder {
    readonly uri: Uri;
  }
  export interface DebugSession {
    readonly id: string;
    readonly name: string;
    customRequest(command: string, args?: object): Thenable<any>;
  }
  export type Thenable<T> = PromiseLike<T>;
  export const workspace: { readonly workspaceFolders?: readonly WorkspaceFolder[] };
  export const window: {
    onDidCloseTerminal(listener: () => void): { dispose(): void };
    readonly terminals: readonly { dispose(): void }[];
    showTextDocument(uri: Uri): Thenable<unknown>;
  };
  export const commands: { executeCommand(command: string, ...args: unknown[]): Thenable<unknown> };
  export const debug: {
    readonly breakpoints: readonly Breakpoint[];
    addBreakpoints(breakpoints: readonly Breakpoint[]): void;
    removeBreakpoints(breakpoints: readonly Breakpoint[]): void;
    startDebugging(folder: WorkspaceFolder, configuration: object): Thenable<boolean>;
    stopDebugging(session?: DebugSession): Thenable<void>;
    onDidStartDebugSession(listener: (session: DebugSession) => void): { dispose(): void };
    onDidTerminateDebugSession(listener: (session: DebugSession) => void): { dispose(): void };
    registerDebugAdapterTrackerFactory(
      type: string,
      factory: {
        createDebugAdapterTracker(session: DebugSession): { onDidSendMessage(message: any): void };
      },
    ): void;
  };
}
