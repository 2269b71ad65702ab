/**
 * Tests of the written site, as files and in a browser without a network; `deno task site` writes it.
 *
 * The browser comes from an npm package. Pictures of the pages go to dist/site-pictures, for people to look at.
 */
import chromium from "@sparticuz/chromium";
import axe from "axe-core";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { type Browser, chromium as playwright, type Page } from "playwright-core";
import { assert, assertEquals, test } from "../../tests/testing.ts";

const root = join(import.meta.dirname ?? ".", "..", "..");
const site = join(root, "dist", "site");
const pictures = join(root, "dist", "site-pictures");

/** Milliseconds until a wait for the browser fails: it only ends a test that hangs, also on a busy machine. */
const patienceMs = 300_000;

mkdirSync(pictures, { recursive: true });

/** One page of each sort, with words that it shows. */
const pages = [
  ["index.html", "Kubernetes"],
  ["documents/Your_first_operator.html", "Your first operator"],
  ["modules/mod.html", "controller"],
  ["functions/mod.controller.html", "Returns"],
] as const;

const missingBrowser = process.platform === "linux" && process.arch === "x64"
  ? undefined
  : "the browser of the package runs on Linux on x64 only";

/** Registers a test with a browser of its own. */
function browserTest(name: string, run: (browser: Browser) => Promise<void>): void {
  if (missingBrowser !== undefined) return test.skip(name, missingBrowser);
  test(name, async () => {
    const executablePath = await chromium.executablePath();
    const browser = await playwright.launch({
      executablePath,
      args: chromium.args,
      headless: true,
      timeout: patienceMs,
    });
    try {
      await run(browser);
    } finally {
      await browser.close();
    }
  });
}

test("each link between pages of the site has its page and its place there", () => {
  const texts = new Map<string, string>();
  const textOf = (path: string) => {
    if (!texts.has(path)) texts.set(path, readFileSync(join(site, path), "utf8"));
    return texts.get(path) ?? "";
  };
  const broken: string[] = [];
  for (
    const path of readdirSync(site, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".html"))
  ) {
    for (const [, link = ""] of textOf(path).matchAll(/<a [^>]*href="([^"]+)"/g)) {
      if (/^[a-z]+:/.test(link)) continue;
      const [file = "", place] = decodeURI(link).split("#");
      const target = file === "" ? path : normalize(join(dirname(path), file));
      if (!existsSync(join(site, target))) broken.push(`${path}: ${link}`);
      else if (place && target.endsWith(".html") && !textOf(target).includes(`id="${place}"`)) {
        broken.push(`${path}: ${link}`);
      }
    }
  }
  assertEquals([...new Set(broken)], []);
});

test("no page loads anything from elsewhere", () => {
  const foreign = readdirSync(site, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".html"))
    .filter((path) => /(?:src="|<link [^>]*href=")(?:https?:)?\/\//.test(readFileSync(join(site, path), "utf8")));
  assertEquals(foreign, []);
});

browserTest("pages are shown from files, without an error and without a request to anywhere", async (browser) => {
  const { page, problems } = await watchedPage(await browser.newContext({ viewport: { width: 1280, height: 900 } }));
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const [path, words] of pages) {
      await page.goto(pathToFileURL(join(site, path)).href);
      assert((await page.innerText("body")).includes(words), `${path} should show "${words}"`);
      await page.screenshot({ path: join(pictures, `${path.replaceAll("/", "_")}.${colorScheme}.png`) });
    }
  }
  assertEquals(problems, []);
});

browserTest("the search finds words of guides and of the reference, from the keyboard and offline", async (browser) => {
  const { page, problems } = await watchedPage(await browser.newContext({ offline: true }));
  for (
    const [words, title] of [["finalizers", "Running in production"], ["EmbeddedCluster", "EmbeddedCluster"]] as const
  ) {
    await page.goto(pathToFileURL(join(site, "index.html")).href);
    await page.waitForFunction("window.app !== undefined"); // it listens to the keyboard
    await page.keyboard.press("/");
    await page.locator("#tsd-search-input").waitFor();
    await page.keyboard.type(words);
    const results = page.locator("#tsd-search-results li");
    await results.filter({ hasText: title }).first().waitFor(); // the first letters find other pages before
    await page.screenshot({ path: join(pictures, `search_${words}.png`) });
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => !url.pathname.endsWith("/index.html"));
  }
  assertEquals(problems, []);
});

/** But that the tree of modules has links within its folding lines, which TypeDoc makes for all its sites. */
browserTest("pages have no serious fault that axe knows", async (browser) => {
  const { page } = await watchedPage(await browser.newContext());
  for (const [path] of pages) {
    await page.goto(pathToFileURL(join(site, path)).href);
    await page.evaluate(axe.source);
    const violations = await page.evaluate(async () => {
      // deno-lint-ignore no-explicit-any
      const { violations } = await (globalThis as any).axe.run({ rules: { "nested-interactive": { enabled: false } } });
      // deno-lint-ignore no-explicit-any
      return violations.map(({ id, impact, nodes }: any) => `${impact} ${id}: ${nodes.map((node: any) => node.html)}`);
    });
    assertEquals(violations.filter((text: string) => /^(serious|critical) /.test(text)), [], path);
  }
});

/** A page that notes errors and requests that are not for files. */
async function watchedPage(
  context: Awaited<ReturnType<Browser["newContext"]>>,
): Promise<{ readonly page: Page; readonly problems: readonly string[] }> {
  const problems: string[] = [];
  context.setDefaultTimeout(patienceMs);
  const page = await context.newPage();
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || problems.push(request.url()));
  return { page, problems };
}
