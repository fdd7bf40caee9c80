// The example's form in Chromium, against pages that submit it in a visitor's name.
// - A page on another site (127.0.0.1 instead of localhost): SameSite withholds the cookie.
// - A page on another origin of the same site (another port): the cookie is sent, and only the token protects the form.
//
// Each test checks the cookie header and so proves which defence worked.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, BrowserContext, Page, Response } from "playwright-core";
import { launchBrowser } from "../support/programs/browser.ts";
import { FORGED_FIELDS, type FormApp, type Loot, startFormApp, visit } from "./form-app.ts";

let app: FormApp;
let browser: Browser;
let context: BrowserContext;
let attacker: Bun.Server<undefined>;

beforeAll(async () => {
  attacker = Bun.serve({
    hostname: "0.0.0.0",
    port: 0,
    fetch: () =>
      new Response("<!doctype html><title>Win a prize</title>", { headers: { "content-type": "text/html" } }),
  });
  [app, browser] = await Promise.all([startFormApp(), launchBrowser()]);
  context = await browser.newContext();
  await context.newPage();
  await context.newPage();
});

afterAll(async () => {
  await browser?.close();
  await app?.[Symbol.asyncDispose]();
  await attacker?.stop(true);
});

interface Victim {
  /** The tab with the form. */
  page: Page;
  /** The tab for the attacker's pages. */
  other: Page;
  context: BrowserContext;
  loot: Loot;
}

/** Opens the form without cookies. All visitors use the same tabs, since each tab starts processes. */
async function openVictim(): Promise<Victim> {
  await context.clearCookies();
  const [page, other] = context.pages() as [Page, Page];
  await page.goto(app.url);
  const [cookie] = await context.cookies(app.url);
  const token = await page.inputValue("[name=csrf]");
  const { token: strangersToken } = await visit(app);
  return { page, other, context, loot: { sessionId: cookie!.value, token, strangersToken } };
}

async function send(page: Page): Promise<Response> {
  const answer = page.waitForResponse((response) => response.request().method() === "POST");
  const isShown = page.waitForEvent("load");
  await page.getByRole("button").click();
  await isShown;
  return answer;
}

/** Runs an action on the attacker's page and returns how the application answered the POST. */
async function attackFrom(victim: Victim, origin: string, act: (page: Page) => Promise<unknown>) {
  const { other: page } = victim;
  if (page.url() !== origin) await page.goto(origin);
  const answer = page.waitForResponse(
    (response) => response.request().method() === "POST" && response.url() === app.url,
  );
  await act(page);
  const response = await answer;
  const { cookie = "" } = await response.request().allHeaders();
  return { status: response.status(), cookieCame: cookie.includes(victim.loot.sessionId) };
}

/** Submits a form as any page can: visibly, which replaces the page, or in a hidden frame. */
function postForm(csrf: string | undefined, enctype = "application/x-www-form-urlencoded", isSeen = true) {
  return async (page: Page) => {
    const isAnswered = isSeen ? page.waitForEvent("load") : undefined;
    await page.evaluate(
      async ({ action, csrf, enctype, isSeen }) => {
        const form = document.createElement("form");
        Object.assign(form, { action, method: "post", enctype });
        for (const [name, value] of Object.entries({ csrf, message: "attack" })) {
          if (value === undefined) continue;
          const input = document.createElement("input");
          Object.assign(input, { name, value });
          form.append(input);
        }
        document.body.append(form);
        if (isSeen) return form.submit();
        const frame = document.createElement("iframe");
        frame.name = form.target = "unseen";
        frame.hidden = true;
        document.body.append(frame);
        await new Promise((answered) => {
          frame.onload = answered;
          form.submit();
        });
        frame.remove();
        form.remove();
      },
      { action: app.url, csrf, enctype, isSeen },
    );
    await isAnswered;
  };
}

const postUnseen = (csrf: string | undefined) => postForm(csrf, undefined, false);

function postWithFetch(csrf: string | undefined, as: "form" | "multipart" | "file" | "json") {
  return (page: Page) =>
    page.evaluate(
      async ({ url, csrf, as }) => {
        const fields = new URLSearchParams({ ...(csrf === undefined ? {} : { csrf }), message: "attack" });
        const parts = new FormData();
        for (const [name, value] of fields) {
          if (as === "file" && name === "csrf") parts.append(name, new Blob([value]), "csrf.txt");
          else parts.append(name, value);
        }
        const json = new Blob([JSON.stringify({ csrf, message: "attack" })], { type: "text/plain" });
        const body = { form: fields, multipart: parts, file: parts, json }[as];
        // "no-cors" requests need no permission: the response is hidden from the page, but the request is sent.
        await fetch(url, { method: "POST", mode: "no-cors", credentials: "include", body });
      },
      { url: app.url, csrf, as },
    );
}

const crossSite = () => `http://127.0.0.1:${attacker.port}/`;
const sameSite = () => `http://localhost:${attacker.port}/`;

describe("an honest visitor", () => {
  test("can submit the form repeatedly and in every tab", async () => {
    const victim = await openVictim();
    const { other: second } = victim;
    await second.goto(app.url);
    for (const [page, message] of [
      [second, "from the second tab"],
      [victim.page, "from the first <b>tab</b>"],
    ] as const) {
      await page.getByLabel("Message").fill(message);
      expect((await send(page)).status()).toBe(200);
      expect(await page.textContent("p")).toBe(`Received: ${message}`);
    }
    await victim.page.goBack();
    await victim.page.getByLabel("Message").fill("after going back");
    expect((await send(victim.page)).status()).toBe(200);
  });

  test("gets a session cookie that scripts cannot read", async () => {
    const victim = await openVictim();
    const [cookie] = await victim.context.cookies(app.url);
    expect(cookie).toMatchObject({ name: "session", httpOnly: true, sameSite: "Lax" });
    expect(await victim.page.evaluate(() => document.cookie)).toBe("");
  });

  test("gets 403 without a session until the page is loaded again", async () => {
    const victim = await openVictim();
    await victim.context.clearCookies();
    expect((await send(victim.page)).status()).toBe(403);
    await victim.page.goto(app.url);
    expect((await send(victim.page)).status()).toBe(200);
  });
});

describe.each([
  ["another site", crossSite, false],
  ["another origin of the same site", sameSite, true],
] as const)("from %s, the form application answers 403 to", (_, origin, cookieCame) => {
  // One victim for all attacks: no attack may change the state for the next one.
  let victim: Victim;
  beforeAll(async () => {
    victim = await openVictim();
  });
  afterAll(async () => {
    expect((await send(victim.page)).status()).toBe(200);
  });

  test.each(Object.entries(FORGED_FIELDS))("a hidden form with %s", async (_, makeField) => {
    const answer = await attackFrom(victim, origin(), postUnseen(makeField(victim.loot)));
    expect(answer).toEqual({ status: 403, cookieCame });
  });

  test("forms of every encoding", async () => {
    for (const enctype of ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"]) {
      const answer = await attackFrom(victim, origin(), postForm(victim.loot.strangersToken, enctype));
      expect(answer).toEqual({ status: 403, cookieCame });
    }
  });

  test("fetch with credentials and any body", async () => {
    for (const as of ["form", "multipart", "file", "json"] as const) {
      const answer = await attackFrom(victim, origin(), postWithFetch(victim.loot.strangersToken, as));
      expect([as, answer]).toEqual([as, { status: 403, cookieCame }]);
    }
    const file = await attackFrom(victim, origin(), postWithFetch(victim.loot.token, "file"));
    expect(file).toEqual({ status: 403, cookieCame });
  });

  test("a page that tries to read the token before", async () => {
    const { other: page } = victim;
    await page.goto(origin());
    const read = (url: string) =>
      fetch(url, { credentials: "include" }).then(
        (response) => response.text(),
        (error: Error) => error.message,
      );
    expect(await page.evaluate(read, app.url)).toBe("Failed to fetch");
  });
});

describe("a forged form with the victim's own token", () => {
  test("fails because of SameSite alone when it comes from another site", async () => {
    const victim = await openVictim();
    const answer = await attackFrom(victim, crossSite(), postForm(victim.loot.token));
    expect(answer).toEqual({ status: 403, cookieCame: false });
  });

  // This attack must succeed: it proves that the attacks above fail for the reason that they name.
  test("succeeds when it comes from the same site", async () => {
    const victim = await openVictim();
    for (const post of [postUnseen, postForm]) {
      const answer = await attackFrom(victim, sameSite(), post(victim.loot.token));
      expect(answer).toEqual({ status: 200, cookieCame: true });
    }
  });
});

test("a form that was open for more than a day is rejected, also on replay, and works after a reload", async () => {
  const victim = await openVictim();
  const { other: inTime } = victim;
  await inTime.goto(app.url);
  try {
    await app.moveClock(86_340_000);
    expect((await send(inTime)).status()).toBe(200);
    await app.moveClock(86_460_000);
    expect((await send(victim.page)).status()).toBe(403);
    const replay = await attackFrom(victim, sameSite(), postForm(victim.loot.token));
    expect(replay).toEqual({ status: 403, cookieCame: true });
    await victim.page.goto(app.url);
    expect((await send(victim.page)).status()).toBe(200);
  } finally {
    await app.moveClock(0);
  }
});
