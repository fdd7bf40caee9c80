// Types of the used modules of dbus-next. Its index would load introspection, XML and two native packages, and only the index has types.

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
    marshallMessage(message: object): [Buffer, unknown[]];
  };
  export default compat;
}

declare module "dbus-next/lib/variant.js" {
  export class Variant {
    constructor(signature: string, value: unknown);
    signature: string;
    value: unknown;
  }
}
