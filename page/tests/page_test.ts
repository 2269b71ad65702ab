/**
 * The page in a browser: each view of a recording and of a running process, what a user can do in it, and what it must not do.
 * Each test fails when the page asks another origin, or when a script has an error.
 */
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { assert, assertEquals, assertMatch } from "../../tests/testing.ts";
import {
  assertQuiet,
  browserTest,
  open,
  picture,
  serve,
  serveRecording,
  show,
  watchedPage,
  workOf,
} from "./_browser.ts";
import { hostile, hostileRecording, incident, manyObjects } from "./recordings.ts";

const checkout = "#/objects/deployments.apps/shop/checkout";
const ledger = "#/objects/foos.samplecontroller.k8s.io/shop/ledger";

/** What axe finds on the page as it is shown. */
async function faults(page: Page, prepare = () => Promise.resolve()): Promise<readonly string[]> {
  // As a string, it runs in a world of its own that the policy of the page does not bind.
  await page.addInitScript(axe.source);
  await page.reload();
  await page.locator(".bar, .gate").first().waitFor();
  await page.locator(".object, .controllers, .gate, .message, .plan").first().waitFor();
  await prepare();
  return await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { readonly axe: typeof import("axe-core") };
    const { violations } = await axe.run();
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
  });
}

browserTest("[138] the overview shows each controller with its plots, and what needs attention", async (browser) => {
  await using served = await serveRecording(incident());
  const watched = await watchedPage(browser, served);
  const { page } = watched;
  await open(watched, served);
  const row = page.locator(".controllers tbody tr");
  await row.filter({ hasText: "1 failing" }).waitFor();
  assertEquals(await row.count(), 1);
  assertEquals(await row.locator("canvas").count(), 4);
  const drawn = await row.locator("canvas").first().evaluate((canvas: HTMLCanvasElement) =>
    canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0)
  );
  assertEquals(drawn, true);
  assertMatch(await page.locator(".attention").innerText(), /failing[\s\S]*shop\/ledger[\s\S]*Cannot adopt Deployment/);
  await picture(page, "overview");
  await page.locator(".attention a").click();
  await page.locator(".chain").first().waitFor();
  assertMatch(page.url(), /#\/objects\/foos\.samplecontroller\.k8s\.io\/shop\/ledger$/);
  assertQuiet(watched);
});

browserTest(
  "[138] an object shows its owner, the chain of its causes, what changed, and why nothing happens",
  async (browser) => {
    await using served = await serveRecording(incident());
    const watched = await watchedPage(browser, served);
    const { page } = watched;
    await open(watched, served, checkout);
    const chain = page.locator(".chain").first();
    await chain.waitFor();
    assertEquals(await chain.locator(".step-text").allInnerTexts(), [
      "Deployment shop/checkout: spec.replicas 2 → 5 by kubectl (kubectl-edit)",
      "Foo shop/checkout queued, waited 3 ms",
      "reconciled in 9 ms: applied Deployment shop/checkout (spec.replicas 5 → 2)",
      "the same happened 2 times since 09:12:21",
      "let only one of them write spec.replicas of Deployment shop/checkout: stop kubectl (kubectl-edit), or change what Foo shop/checkout asks for",
    ]);
    assertMatch(await chain.locator(".diff").innerText(), /spec\.replicas\s+−\s?2\s+\+\s?5/);
    assertMatch(await page.locator(".family").innerText(), /Owned by\s+Foo shop\/checkout/);
    assertMatch(await page.locator(".callout").innerText(), /Nothing is left to do/);
    await picture(page, "object");
    await show(page, ledger);
    await page.locator(".chain.tone-bad").first().waitFor();
    assertMatch(
      await page.locator(".callout").innerText(),
      /waits until 09:13:22.*after 4 failures in a row with: Cannot adopt/,
    );
    assertMatch(await page.locator(".facts").innerText(), /Next attempt/);
    await picture(page, "failing");
    assertQuiet(watched);
  },
);

browserTest(
  "[138] the tree shows each object below its owner; the search and the keyboard find and open them",
  async (browser) => {
    await using served = await serveRecording(incident());
    const watched = await watchedPage(browser, served);
    const { page } = watched;
    await open(watched, served);
    await page.locator(".controllers").waitFor();
    await page.keyboard.press("2");
    const rows = page.locator("[role=treeitem]");
    await rows.first().waitFor();
    assertEquals((await rows.first().innerText()).replaceAll(/\s+/g, " "), "Foo shop/cart reconciled");
    assertEquals(await rows.nth(1).getAttribute("aria-level"), "2");
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.locator(".object-head", { hasText: "deployments.apps" }).waitFor();
    assertMatch(page.url(), /#\/objects\/deployments\.apps\/shop\/cart$/);
    await page.keyboard.press("k");
    await page.locator(".object-head", { hasText: "foos.samplecontroller" }).waitFor();
    await page.keyboard.press("ArrowLeft");
    await page.locator("[role=treeitem][aria-expanded=false]", { hasText: "shop/cart" }).waitFor();
    assertMatch(await rows.nth(1).innerText(), /catalog/);
    await page.keyboard.press("/");
    await page.keyboard.type("ledger");
    await page.getByText("1 shown").waitFor();
    await page.keyboard.press("Enter");
    await page.keyboard.press("j");
    await page.locator(".object-head", { hasText: "ledger" }).waitFor();
    await page.keyboard.press("Enter");
    await page.locator("#detail:focus").waitFor();
    await picture(page, "search");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    assertMatch(page.url(), /#\/objects$/);
    await page.keyboard.press("?");
    await page.locator("dialog[open]").waitFor();
    await picture(page, "help");
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("t");
    await page.keyboard.press("t");
    await page.locator("html[data-shown=dark]").waitFor();
    assertQuiet(watched);
  },
);

browserTest("[138] a key acts on the object that is shown, also before the browser has drawn it", async (browser) => {
  await using served = await serveRecording(incident());
  const watched = await watchedPage(browser, served);
  const { page } = watched;
  await open(watched, served, "#/objects");
  await page.locator("[role=treeitem]").first().waitFor();
  await page.evaluate(pressWhenShown, [
    { key: "j", selector: ".object-head", text: "foos.samplecontroller" },
    { key: "j", selector: ".object-head", text: "deployments.apps" },
    { key: "k", selector: ".object-head", text: "foos.samplecontroller" },
    { key: "ArrowLeft" },
  ]);
  await page.locator("[role=treeitem][aria-expanded=false]", { hasText: "shop/cart" }).waitFor();
  assertQuiet(watched);
});

/** A key, and the text that it puts into the document. */
interface Press {
  readonly key: string;
  readonly selector?: string;
  readonly text?: string;
}

/** Begins to press keys in the browser, each in the task that put the text of the key before into the document. */
function pressWhenShown(presses: readonly Press[]): void {
  const [next, ...later] = presses;
  if (next === undefined) return;
  const { key, selector = "body", text = "" } = next;
  const observer = new MutationObserver(() => {
    if (!document.querySelector(selector)?.textContent?.includes(text)) return;
    observer.disconnect();
    pressWhenShown(later);
  });
  observer.observe(document.body, { childList: true, subtree: true, attributes: true, characterData: true });
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
}

browserTest("[138] the timeline leads from an entry to its causes and effects", async (browser) => {
  await using served = await serveRecording(incident());
  const watched = await watchedPage(browser, served);
  const { page } = watched;
  await open(watched, served, "#/timeline/40");
  await page.locator(".linked").first().waitFor();
  assertMatch(await page.locator(".entry-title").innerText(), /apply Deployment shop\/checkout: stored in 7 ms/);
  await picture(page, "timeline");
  await page.keyboard.press("[");
  await page.locator(".entry-title", { hasText: "started after 3 ms" }).waitFor();
  await page.keyboard.press("]");
  await page.locator(".entry-title", { hasText: "apply Deployment" }).waitFor();
  await page.goto(`${served.url}#/timeline/9999`);
  await page.getByText("There is no entry 9999").waitFor();
  assertQuiet(watched);
});

browserTest("[138] the stepper goes through a recording in time, beside the world at each moment", async (browser) => {
  await using served = await serveRecording(incident());
  const watched = await watchedPage(browser, served);
  const { page } = watched;
  await open(watched, served, "#/timeline/37");
  await page.locator(".moment-title", { hasText: "has changed" }).waitFor();
  assertMatch(await page.locator(".line.removed", { hasText: "replicas:" }).innerText(), /^- {2}replicas: 2/);
  assertMatch(await page.locator(".line.added", { hasText: "replicas:" }).innerText(), /^\+ {2}replicas: 5/);
  assertMatch(await page.locator(".moment-rows li").first().innerText(), /Deployment\s+shop\/checkout\s+not Available/);
  assertEquals(await page.locator(".stepper").innerText().then((text) => /37 of 68/.test(text)), true);
  await picture(page, "moment");
  await page.getByRole("button", { name: "Later" }).click();
  await page.locator(".stepper", { hasText: "38 of 68" }).waitFor();
  await page.locator(".moment-title", { hasText: "as it is" }).waitFor();
  await page.getByRole("button", { name: "Earlier" }).click();
  await page.locator(".stepper", { hasText: "37 of 68" }).waitFor();
  await page.locator(".moment-rows button", { hasText: "cart" }).first().click();
  await page.locator(".moment-title", { hasText: "shop/cart" }).waitFor();
  await page.goto(`${served.url}#/timeline/1`);
  await page.locator(".stepper", { hasText: "1 of 68" }).waitFor();
  assertEquals(await page.getByRole("button", { name: "Earlier" }).isDisabled(), true);
  assertQuiet(watched);
});

browserTest(
  "[138] 2,000 objects with 2,000 owners are a bounded document, and scrolling works no more than with 200",
  async (browser) => {
    const few = await scrolled(browser, 200);
    const many = await scrolled(browser, 2_000);
    assert(many.nodes < 900, `${many.nodes} nodes`);
    // What is drawn is the same. One pass over all objects for each scroll is 1.87 times as much.
    assert(many.work < 1.5 * few.work, `${many.work} calls and branches with 2,000 objects, ${few.work} with 200`);
  },
);

/** What it takes to scroll through a part of the list of `count` objects with owners, whose last is selected. */
async function scrolled(browser: Browser, count: number): Promise<{ readonly work: number; readonly nodes: number }> {
  await using served = await serveRecording(manyObjects(count));
  const watched = await watchedPage(browser, served);
  const { page } = watched;
  await open(watched, served, "#/objects");
  await page.getByText(`${(2 * count).toLocaleString("en-US")} objects`).waitFor();
  await page.keyboard.press("End");
  await page.locator("[aria-selected=true]", { hasText: `foo-${String(count - 1).padStart(4, "0")}` }).waitFor();
  await page.locator(".chain").first().waitFor();
  const work = await workOf(page, async () => {
    for (let step = 1; step <= 40; step++) {
      await page.locator(".list").evaluate((list, top) => void (list.scrollTop = top), step % 3 * 3_000);
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    }
  });
  const nodes = await page.evaluate("document.querySelectorAll('*').length") as number;
  await picture(page, `objects_${count}`);
  assertQuiet(watched);
  return { work, nodes };
}

browserTest(
  "[security 33] names, notes and errors of a cluster are text on the page, and never markup",
  async (browser) => {
    await using served = await serveRecording(hostileRecording());
    const watched = await watchedPage(browser, served);
    const { page } = watched;
    await open(watched, served);
    await page.locator(".attention li").waitFor();
    assert((await page.locator(".attention").innerText()).includes("<script>document.title=2</script>"));
    await show(page, "#/objects");
    // A character that turns the text around is shown as what it is.
    await page.locator("[role=treeitem]", { hasText: "attack\\u202egnp" }).waitFor();
    const row = page.locator("[role=treeitem]", { hasText: hostile }).first();
    await row.click();
    await page.locator(".object-head h2", { hasText: hostile }).waitFor();
    await page.locator(".chain").first().waitFor();
    await picture(page, "hostile_names");
    await show(page, "#/timeline");
    await page.locator("[role=option]", { hasText: "</pre>" }).click();
    await page.locator(".entry-title", { hasText: "</pre>" }).waitFor();
    assertEquals(await page.locator("#app img, #app script").count(), 0);
    assert(!/^[12]$/.test(await page.title()));
    assertQuiet(watched);
  },
);

browserTest(
  "[security 33] the page runs its own script only, asks its own origin only, and keeps the token out of addresses",
  async (browser) => {
    await using served = await serveRecording(incident());
    const watched = await watchedPage(browser, served);
    const { page, requests, problems } = watched;
    const response = await page.goto(`${served.url}#token=${served.token}`);
    const policy = response?.headers()["content-security-policy"] ?? "";
    for (
      const rule of [
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
      ]
    ) {
      assert(policy.includes(rule), `${policy} should have ${rule}`);
    }
    assert(!/unsafe|\*/.test(policy), policy);
    await page.locator(".controllers").waitFor();
    assertEquals([page.url(), await page.evaluate("sessionStorage.getItem('token')")], [
      `${served.url}#/`,
      served.token,
    ]);
    assertEquals(requests.filter((url) => url.includes(served.token)), []);
    assertEquals(await page.evaluate("localStorage.length + document.cookie.length"), 0);
    assertQuiet(watched);
    // What another script would try.
    await page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "document.title = 'injected'";
      document.body.append(script);
    }).catch(() => {});
    await page.evaluate(() => fetch("http://127.0.0.1:9/")).catch(() => {});
    assert(await page.title() !== "injected");
    assert(problems.some((problem) => /Content Security Policy|TrustedScript/.test(problem)), problems.join("\n"));
  },
);

browserTest(
  "[138] without a token, with a wrong one, and without a server the page says what to do",
  async (browser) => {
    await using served = await serveRecording(incident());
    const watched = await watchedPage(browser, served);
    const { page } = watched;
    await page.goto(served.url);
    await page.getByText("This page needs a token").waitFor();
    await picture(page, "token");
    await page.getByLabel("Token").fill("not-the-token-of-this");
    await page.keyboard.press("Enter");
    await page.getByText("That token is not the one").waitFor();
    assertEquals(await page.evaluate("sessionStorage.length"), 0);
    await page.getByLabel("Token").fill(served.token);
    await page.keyboard.press("Enter");
    await page.locator(".controllers").waitFor();
    await page.route(
      "**/debug/source",
      (route) => route.fulfill({ status: 403, json: { error: "This server serves loopback addresses only" } }),
    );
    await page.reload();
    await page.getByText("The server refuses this page").waitFor();
    await picture(page, "forbidden");
    await page.unroute("**/debug/source");
    await page.route("**/debug/source", (route) => route.abort());
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("The server does not answer").first().waitFor();
    await page.unroute("**/debug/source");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator(".controllers").waitFor();
  },
);

browserTest(
  "[138] dev serves the page of a live process: it follows what happens, and says when the process has ended",
  async (browser) => {
    await using served = await serve("dev", "foo", "--samples", "--debug-bind-address", "127.0.0.1:0");
    const watched = await watchedPage(browser, served);
    const { page, problems } = watched;
    await open(watched, served);
    await page.locator(".connection", { hasText: "live" }).waitFor();
    await page.getByText("follows").first().waitFor();
    await picture(page, "live_overview");
    await show(page, "#/objects");
    await page.locator("[role=treeitem][aria-level='2']", { hasText: "example-foo" }).waitFor();
    await page.locator("[role=treeitem]", { hasText: "Foo" }).first().click();
    await page.locator(".step-text", { hasText: "reconciled in" }).first().waitFor();
    await picture(page, "live_object");
    assertQuiet(watched);
    await served.stop();
    await page.locator(".banner", { hasText: "The process does not answer" }).waitFor();
    await picture(page, "process_gone");
    // Requests to a process that has ended are errors in the console.
    assertEquals(
      problems.filter((problem) =>
        !/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY|ERR_CONNECTION_RESET/.test(problem)
      ),
      [],
    );
  },
);

const plan = "#/plan";

/** A plan with all that a plan can have. */
const everything = {
  time: "2026-01-06T09:12:03.000Z",
  controllers: ["foo"],
  changes: [
    {
      ...{ action: "delete", apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: hostile },
      ...{ by: ["foo: Foo shop/cart"], waitsFor: ["example.dev/<b>"] },
      diff: ["--- LIVE/v1", "+++ PLAN/v1", "@@ -1,1 +0,0 @@", `-data: ${hostile}`],
    },
    {
      ...{ action: "update", apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "cart" },
      by: ["foo: Foo shop/cart"],
      diff: ["--- LIVE/apps.v1", "+++ PLAN/apps.v1", "@@ -7,3 +7,3 @@", " spec:", "-  replicas: 5", "+  replicas: 2"],
    },
    { action: "update", apiVersion: "v1", kind: "Secret", namespace: "shop", name: "key", by: ["foo"], diff: [] },
    { action: "create", apiVersion: "v1", kind: "Node", name: "big", by: ["foo"] },
  ],
  failing: [{ controller: "foo", key: "shop/ledger", problem: `Cannot adopt Deployment ${hostile}` }],
  endless: [{ controller: "foo", key: "shop/loop", problem: "it wrote configmaps 250 times" }],
  warnings: [{ controller: "foo", key: "Foo shop/ledger", problem: "ErrResourceExists: it is there" }],
  keys: 500,
  leftOut: [{ controller: "foo", keys: 1_200 }],
  notes: ["the plan does not run the further parts (runnables) of foo"],
};

browserTest(
  "[138] the plan is computed on a button, of a live process, and shows diffs, keys without a plan and its limits",
  async (browser) => {
    await using served = await serve("dev", "foo", "--samples", "--debug-bind-address", "127.0.0.1:0");
    const watched = await watchedPage(browser, served);
    const { page, problems } = watched;
    await open(watched, served);
    await page.getByText("follows").first().waitFor();
    await page.keyboard.press("4");
    const button = page.getByRole("button", { name: "Compute the plan" });
    await button.waitFor();
    assertEquals(watched.requests.filter((url) => url.includes("debug/plan")), []);
    await picture(page, "plan_before");
    await button.click();
    await page.locator(".plan-outcome", { hasText: "1 key of foo" }).waitFor();
    await picture(page, "plan_live");
    assertQuiet(watched);
    await page.route("**/debug/plan", (route) => route.fulfill({ json: everything }));
    await button.click();
    await page.locator(".plan-outcome", { hasText: "1 to delete, 2 to update, 1 to create" }).waitFor();
    assertMatch(await page.locator("main").innerText(), /1,200 more keys of foo left out: the limit is 500 keys/);
    assertEquals((await page.locator(".line.added").allInnerTexts()).map((line) => line.trimEnd()), ["+  replicas: 2"]);
    assertEquals(await page.locator(".plan-changes > li").count(), 4);
    assertMatch(
      await page.locator("section[aria-labelledby=failing]").innerText(),
      /Keys without a plan[\s\S]*shop\/ledger[\s\S]*Cannot adopt Deployment/,
    );
    assert((await page.locator(".plan-title").first().innerText()).includes(hostile));
    assertEquals(await page.locator("#app img, #app script").count(), 0);
    await picture(page, "plan");
    // It stays while another view is shown.
    await show(page, "#/objects");
    await page.locator("[role=treeitem]").first().waitFor();
    await show(page, plan);
    await page.locator(".plan-changes > li").first().waitFor();
    await page.unroute("**/debug/plan");
    await page.route(
      "**/debug/plan",
      (route) => route.fulfill({ status: 409, json: { error: "Another plan is being computed." } }),
    );
    await button.click();
    await page.locator(".plan-outcome", { hasText: "Another plan is being computed" }).waitFor();
    assertEquals(await button.isEnabled(), true);
    await picture(page, "plan_busy");
    // The status of the refusal is a message of the console.
    assertEquals(problems.filter((problem) => !problem.includes("409")), []);
  },
);

browserTest("[138] axe finds no violation in a plan, in light and dark", async (browser) => {
  await using served = await serve("dev", "foo", "--debug-bind-address", "127.0.0.1:0");
  const watched = await watchedPage(browser, served);
  const { page } = watched;
  await page.route("**/debug/plan", (route) => route.fulfill({ json: everything }));
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await open(watched, served, plan);
    const compute = async () => {
      await page.getByRole("button", { name: "Compute the plan" }).click();
      await page.locator(".plan-changes > li").first().waitFor();
    };
    assertEquals(await faults(page, compute), [], colorScheme);
  }
});

browserTest("[138] axe finds no violation in any view, in light and dark, also on a small screen", async (browser) => {
  await using served = await serveRecording(incident());
  const watched = await watchedPage(browser, served);
  const { page } = watched;
  await page.goto(served.url);
  await page.getByText("This page needs a token").waitFor();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    assertEquals(await faults(page), [], `token, ${colorScheme}`);
  }
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const view of ["#/", "#/objects", checkout, ledger, "#/timeline", "#/timeline/40"]) {
      await open(watched, served, view);
      assertEquals(await faults(page), [], `${view}, ${colorScheme}`);
    }
  }
  await page.setViewportSize({ width: 420, height: 800 });
  await open(watched, served, checkout);
  assertEquals(await faults(page), [], "small");
  await picture(page, "small_object");
});
