// A form server as in examples/csrf-form.ts, reduced to the work of every such server. It reads the session cookie, parses the
// posted form and answers with a page.
//
// With the argument "rt" or "bun" it also verifies the token and issues the next one. Prints its port, a session and a valid
// token.
import { runningRt } from "./alternating-samples.ts";

const own = (runningRt() ?? (await import("../../src/csrf/csrf.ts"))).CSRF;
const CSRF = process.argv.includes("bun") ? Bun.CSRF : own;
const SECRET = "a secret of the usual length: 32+";
const usesTokens = !process.argv.includes("plain");

const page = (token: string) => `<!doctype html><title>Message</title><form method="post" action="/">
<input type="hidden" name="csrf" value="${token}"><input name="message"><button>Send</button></form>`;

const session = crypto.randomUUID();
const fixed = CSRF.generate(SECRET, { sessionId: session });

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  routes: {
    "/": {
      async POST(request) {
        const sessionId = request.cookies.get("session");
        const token = (await request.formData()).get("csrf");
        if (!sessionId || typeof token !== "string") return new Response("Forbidden", { status: 403 });
        let next = fixed;
        if (usesTokens) {
          if (!CSRF.verify(token, { secret: SECRET, sessionId }))
            return new Response("Forbidden", { status: 403 });
          next = CSRF.generate(SECRET, { sessionId });
        }
        return new Response(page(next), { headers: { "content-type": "text/html; charset=utf-8" } });
      },
    },
  },
});

console.log(JSON.stringify({ port: server.port, session, token: fixed }));
