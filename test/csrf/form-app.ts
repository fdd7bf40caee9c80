// Runs examples/csrf-form.ts in the compiled program, and lists the forged values of its hidden field.
import { join } from "node:path";
import { CSRF } from "../../src/csrf/csrf.ts";
import { cleanEnvironment, REPOSITORY, RT } from "../support/rt.ts";
import { forgeToken } from "./forge.ts";

const SECRET = "the secret of the form application";

export interface FormApp extends AsyncDisposable {
  /** The page with the form; its host is `localhost`. */
  readonly url: string;
  /** Sets the application's clock this many milliseconds ahead. */
  moveClock(milliseconds: number): Promise<void>;
}

export async function startFormApp(): Promise<FormApp> {
  const child = Bun.spawn(
    [RT, join(import.meta.dir, "shifted-clock.ts"), join(REPOSITORY, "examples", "csrf-form.ts")],
    {
      env: cleanEnvironment({ PORT: "0", HOST: "localhost", CSRF_SECRET: SECRET }),
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    },
  );
  const output = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const waitFor = async (pattern: RegExp): Promise<RegExpMatchArray> => {
    for (;;) {
      const match = text.match(pattern);
      if (match) return match;
      const { value, done } = await output.read();
      if (done) throw new Error(`The form application ended before it printed ${pattern}: ${text}`);
      text += value;
    }
  };
  const [, url] = await waitFor(/Listening on (\S+)\n/);
  return {
    url: url!,
    async moveClock(milliseconds) {
      text = "";
      void child.stdin.write(`${milliseconds}\n`);
      await child.stdin.flush();
      await waitFor(/Clock moved/);
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
    },
  };
}

/** Opens the form without a browser and returns its session and its token. */
export async function visit(app: FormApp): Promise<{ sessionId: string; token: string }> {
  const response = await fetch(app.url);
  const sessionId = response.headers.get("set-cookie")?.match(/session=([^;]+)/)?.[1];
  const token = (await response.text()).match(/name="csrf" value="([^"]+)"/)?.[1];
  if (!sessionId || !token) throw new Error("The page has no session or no token");
  return { sessionId, token };
}

/** The secrets of the victim's browser, from which an attacker could forge a token. */
export interface Loot {
  sessionId: string;
  token: string;
  /** A token of the attacker's own session. */
  strangersToken: string;
}

const recode = (token: string, encoding: "hex" | "base64") =>
  Buffer.from(token, "base64url").toString(encoding);

/** Each function makes the `csrf` field of a forged form; `undefined` omits the field. */
export const FORGED_FIELDS: Record<string, (loot: Loot) => string | undefined> = {
  "no token": () => undefined,
  "an empty token": () => "",
  "a made-up token": () => "x".repeat(86),
  "the stolen token of another session": ({ strangersToken }) => strangersToken,
  "a token for no session": () => CSRF.generate(SECRET),
  "a token of another secret": ({ sessionId }) => CSRF.generate("another secret", { sessionId }),
  "the victim's token in hex": ({ token }) => recode(token, "hex"),
  "the victim's token in base64": ({ token }) => recode(token, "base64"),
  "the victim's token with padding": ({ token }) => `${token}==`,
  "the victim's token cut short": ({ token }) => token.slice(0, -1),
  "the victim's token twice": ({ token }) => token + token,
  "a token of another algorithm": ({ sessionId }) =>
    CSRF.generate(SECRET, { sessionId, algorithm: "sha512" }),
  "a token of another algorithm of the same length": ({ sessionId }) =>
    CSRF.generate(SECRET, { sessionId, algorithm: "blake2b256" }),
  "a token that has expired": ({ sessionId }) =>
    forgeToken({ secret: SECRET, sessionId, issuedAt: Date.now() - 5000, expiresIn: 1000 }).toString(
      "base64url",
    ),
  "a token that is older than a day": ({ sessionId }) =>
    forgeToken({ secret: SECRET, sessionId, issuedAt: Date.now() - 86_400_001, expiresIn: 0 }).toString(
      "base64url",
    ),
};
