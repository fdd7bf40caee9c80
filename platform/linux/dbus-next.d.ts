// The parts of dbus-next that are used, by file: its index would load introspection, XML and two native
// packages. The package types its index only.

declare module "dbus-next/lib/message-type.js" {
  export class Message {
    constructor(fields: {
      serial: number;
      destination: string;
      path: string;
      interface: string;
      member: string;
      signature?: string;
      body?: unknown[];
    });
    signature: string;
    body: unknown[];
  }
}

declare module "dbus-next/lib/message.js" {
  const message: { marshall(message: object): [Buffer, unknown[]] };
  export default message;
}

declare module "dbus-next/lib/marshall.js" {
  export default function marshall(signature: string, body: unknown[]): Buffer;
}

declare module "dbus-next/lib/marshall-compat.js" {
  const compat: {
    messageToJsFmt<T extends { body: unknown[] }>(message: T): T;
    marshallMessage(message: object): [Buffer, unknown[]];
  };
  export default compat;
}

declare module "dbus-next/lib/constants.js" {
  const constants: {
    headerTypeName: (string | null)[];
    MessageType: { METHOD_CALL: 1; METHOD_RETURN: 2; ERROR: 3; SIGNAL: 4 };
  };
  export default constants;
}

declare module "dbus-next/lib/dbus-buffer.js" {
  export default class DBusBuffer {
    constructor(buffer: Buffer, start: number, endian: number, fds: null, options: { ayBuffer: boolean });
    align(power: number): void;
    read(signature: string): unknown[];
  }
}

declare module "dbus-next/lib/variant.js" {
  export class Variant {
    constructor(signature: string, value: unknown);
    signature: string;
    value: unknown;
  }
}
