// The example's form in happy-dom: it starts quickly and lacks SameSite. The cookie is always sent and the token alone
// decides. browser.test.ts runs the same in Chromium.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Browser, type BrowserPage, type HTMLButtonElement, type HTMLInputElement } from "happy-dom";
import { FORGED_FIELDS, type FormApp, type Loot, startFormApp, visit } from "./form-app.ts";

let app: FormApp;
let attacker: Bun.Server<undefined>;
/** The status of each response to a POST. */
const statuses: number[] = [];

beforeAll(async () => {
  app = await startFormApp();
  attacker = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () =>
      new Response("<!doctype html><title>Win a prize</title>", { headers: { "content-type": "text/html" } }),
  });
});

afterAll(async () => {
  await app?.[Symbol.asyncDispose]();
  await attacker?.stop(true);
});

function openBrowser(): Browser {
  statuses.length = 0;
  return new Browser({
    settings: {
      fetch: {
        interceptor: {
          afterAsyncResponse: async ({ request, response }) => {
            if (request.method === "POST") statuses.push(response.status);
          },
        },
      },
    },
  });
}

async function openForm(browser: Browser): Promise<{ page: BrowserPage; loot: Loot }> {
  const page = browser.newPage();
  await page.goto(app.url);
  const token = page.mainFrame.document.querySelector<HTMLInputElement>("[name=csrf]")!.value;
  const sessionId = browser.defaultContext.cookieContainer
    .getCookies(new URL(app.url) as never, false)
    .find(({ key }) => key === "session")!.value!;
  return { page, loot: { sessionId, token, strangersToken: (await visit(app)).token } };
}

async function send(page: BrowserPage): Promise<string> {
  const answer = page.waitForNavigation();
  (page.mainFrame.document.querySelector("button") as HTMLButtonElement).click();
  await answer;
  await page.waitUntilComplete();
  return page.mainFrame.document.body.textContent;
}

async function forge(browser: Browser, csrf: string | undefined): Promise<string> {
  const page = browser.newPage();
  await page.goto(`http://127.0.0.1:${attacker.port}/`);
  const { document } = page.mainFrame;
  document.body.innerHTML = `<form method="post" action="${app.url}"><input name="message"><button></button></form>`;
  if (csrf !== undefined) {
    const field = document.createElement("input");
    field.name = "csrf";
    field.value = csrf;
    document.querySelector("form")!.append(field);
  }
  return send(page);
}

test("an honest visitor can submit the form", async () => {
  const browser = openBrowser();
  const { page } = await openForm(browser);
  (page.mainFrame.document.querySelector("[name=message]") as HTMLInputElement).value = "hello & <goodbye>";
  expect(await send(page)).toEndWith("Received: hello & <goodbye>");
  expect(statuses).toEqual([200]);
  await browser.close();
});

test.each(Object.entries(FORGED_FIELDS))(
  "the form application answers 403 to a form with %s",
  async (_, makeField) => {
    const browser = openBrowser();
    const { page, loot } = await openForm(browser);
    expect(await forge(browser, makeField(loot))).toContain("This form is no longer valid");
    expect(await send(page)).toContain("Received");
    expect(statuses).toEqual([403, 200]);
    await browser.close();
  },
);

test("the attacks above fail only for their token: the same form passes with the victim's own token", async () => {
  const browser = openBrowser();
  const { loot } = await openForm(browser);
  expect(await forge(browser, loot.token)).toContain("Received");
  expect(statuses).toEqual([200]);
  await browser.close();
});

test("the form application answers 403 to a form that was open for more than a day", async () => {
  const browser = openBrowser();
  const { page, loot } = await openForm(browser);
  try {
    await app.moveClock(86_460_000);
    await send(page);
    await forge(browser, loot.token);
    await send((await openForm(browser)).page);
    expect(statuses).toEqual([403, 403, 200]);
  } finally {
    await app.moveClock(0);
  }
  await browser.close();
});
