/**
 * What the tests of the page share: the program that serves it, and a browser that notes errors and requests to elsewhere.
 *
 * The packages of the browser are those of the site's tests: docs/site/deno.json has their versions.
 */
import chromium from "@sparticuz/chromium";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { Readable } from "node:stream";
import { type Browser, chromium as playwright, type Page } from "playwright-core";
import { assertEquals, test } from "../../tests/testing.ts";

const root = join(import.meta.dirname ?? ".", "..", "..");

/** Pictures of all views, for people to look at. */
export const pictures = join(root, "dist", "page-screenshots");

/** Milliseconds until a wait for the browser fails: it only ends a test that hangs, also on a busy machine. */
const patienceMs = 300_000;

const missingBrowser = process.platform === "linux" && process.arch === "x64"
  ? undefined
  : "the browser of the package runs on Linux on x64 only";

/** The program with its page. */
export interface Served extends AsyncDisposable {
  /** `http://127.0.0.1:1234/` */
  readonly url: string;
  readonly token: string;
  /** Ends the program. */
  stop(): Promise<void>;
}

/** Starts the program from its sources, and waits until it serves the page. @param args Without the flags of the token */
export async function serve(...args: readonly string[]): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), "pintle-page-"));
  const tokenFile = join(folder, "token");
  const command = ["run", "-A", "--no-check", "--config", join(root, "deno.json"), join(root, "main.ts")];
  const child = spawn(process.execPath, [...command, ...args, "--debug-token-file", tokenFile], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, XDG_RUNTIME_DIR: folder },
  });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  };
  const port = await portOf(child);
  return {
    url: `http://127.0.0.1:${port}/`,
    token: readFileSync(tokenFile, "utf8").trim(),
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Serves a recording with this text. */
export async function serveRecording(text: string): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), "pintle-recording-"));
  const path = join(folder, "incident.jsonl");
  writeFileSync(path, text);
  const served = await serve("page", path);
  return {
    ...served,
    async [Symbol.asyncDispose]() {
      await served[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true });
    },
  };
}

/** The port in the log of a program. @throws Error when the program ends before it serves */
async function portOf(child: ChildProcessByStdio<null, null, Readable>): Promise<string> {
  let text = "";
  return await new Promise((resolve, reject) => {
    child.stderr.setEncoding("utf8");
    child.stderr.on("data", (part: string) => {
      text += part;
      const port = /serving the (?:page|debug endpoint).*port=(\d+)/.exec(text)?.[1];
      if (port !== undefined) resolve(port);
    });
    child.once("exit", (code) => reject(new Error(`Cannot serve the page: the program ended with ${code}: ${text}`)));
  });
}

/** A page of the browser; `problems` has what must not be. */
export interface WatchedPage {
  readonly page: Page;
  /** Errors of scripts, messages of the console, and requests to another origin. */
  readonly problems: string[];
  readonly requests: readonly string[];
}

/** Opens a page that notes what it does. */
export async function watchedPage(browser: Browser, { url }: Pick<Served, "url">): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, locale: "en-US" });
  context.setDefaultTimeout(patienceMs);
  const page = await context.newPage();
  const [problems, requests]: [string[], string[]] = [[], []];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("request", (request) => {
    requests.push(request.url());
    if (!request.url().startsWith(url)) problems.push(`request to ${request.url()}`);
  });
  return { page, problems, requests };
}

/** Opens the address that the program would show on a terminal, at a view. */
export async function open({ page }: WatchedPage, { url, token }: Served, view = "#/"): Promise<void> {
  await page.goto(`${url}#token=${token}`);
  // What is read page by page is complete then.
  await page.locator(".connection", { hasText: /^(recording|live)$/ }).waitFor({ state: "attached" });
  await show(page, view);
}

/** Shows a view by its address. */
export async function show(page: Page, view: string): Promise<void> {
  await page.evaluate((hash) => void (location.hash = hash), view);
}

/** Writes pictures of what is shown, in both themes. */
export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(pictures, { recursive: true });
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(pictures, `${name}.${colorScheme}.png`) });
  }
  await page.emulateMedia({ colorScheme: "light" });
}

/** How often functions of the page were called, and parts of them entered, while `act` ran: work that no busy machine changes. */
export async function workOf(page: Page, act: () => Promise<void>): Promise<number> {
  await page.coverage.startJSCoverage({ resetOnNavigation: false });
  await act();
  const scripts = await page.coverage.stopJSCoverage();
  const ranges = scripts.flatMap(({ functions }) => functions.flatMap((each) => each.ranges));
  return ranges.reduce((sum, { count }) => sum + count, 0);
}

/** Registers a test with a browser of its own. */
export function browserTest(name: string, run: (browser: Browser) => Promise<void>): void {
  if (missingBrowser !== undefined) return test.skip(name, missingBrowser);
  test(name, async () => {
    const executablePath = await chromium.executablePath();
    const browser = await playwright.launch({
      executablePath,
      // Functions that the browser has optimised are not counted.
      args: [...chromium.args, "--js-flags=--no-opt --no-maglev"],
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

/** Fails with what the page did and must not do. */
export function assertQuiet({ problems }: WatchedPage): void {
  assertEquals(problems, []);
}
