// A form that other sites cannot submit in a visitor's name.
//
//   rt examples/csrf-form.ts
//
// The token in the hidden field is signed for one visitor's session. A page of another site can make the browser
// send the cookie, but it cannot read the token. A token that it requests itself belongs to another session.
import rt, { CSRF } from "rt";

// Several processes or restarts: give all of them the same CSRF_SECRET. One process: its own random secret.
const secret = process.env.CSRF_SECRET;

const server = rt.serve({
  hostname: process.env.HOST ?? "localhost",
  port: process.env.PORT ?? 3000,
  routes: {
    "/": {
      GET(request) {
        let sessionId = request.cookies.get("session");
        if (!sessionId) {
          sessionId = crypto.randomUUID();
          const secure = new URL(request.url).protocol === "https:";
          request.cookies.set("session", sessionId, { httpOnly: true, sameSite: "lax", secure });
        }
        const token = CSRF.generate(secret, { sessionId });
        return html(`<form method="post" action="/">
          <input type="hidden" name="csrf" value="${token}">
          <input name="message" aria-label="Message"> <button>Send</button>
        </form>`);
      },

      async POST(request) {
        const sessionId = request.cookies.get("session");
        const form = await request.formData().catch(() => new FormData());
        const token = form.get("csrf");
        if (!sessionId || typeof token !== "string" || !CSRF.verify(token, { secret, sessionId })) {
          return new Response("This form is no longer valid: load the page again", { status: 403 });
        }
        return html(`<p>Received: ${rt.escapeHTML(String(form.get("message") as string | null))}</p>`);
      },
    },
  },
});

function html(body: string): Response {
  const headers = { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" };
  return new Response(`<!doctype html><title>Message</title>${body}`, { headers });
}

console.log(`Listening on ${server.url}`);
