/** Tests of `deno task audit`: what npm is asked, and how its reports are read. */
import { gunzipSync } from "node:zlib";
import { readLock } from "../tasks/_bundled_packages.ts";
import { npmAudit, npmLockFile, readReport, verdictOn } from "../tasks/audit.ts";
import { serve } from "../src/runtime/mod.ts";
import { assert, assertEquals, assertMatch, test } from "./testing.ts";

const lock = {
  npm: {
    "left@1.0.0": { integrity: "sha512-x" },
    "left@2.0.0_right@1.0.0": {},
    "@scope/right@1.0.0": {},
  },
};
const lockFile = npmLockFile(lock);

/** A report as npm 11 prints it. */
function reportOf(vulnerabilities: object): string {
  return JSON.stringify({ auditReportVersion: 2, vulnerabilities, metadata: { dependencies: { total: 3 } } });
}

const leftPads = reportOf({
  left: {
    name: "left",
    severity: "high",
    isDirect: true,
    via: [{
      source: 1,
      name: "left",
      title: "Pads to the right",
      url: "https://advisories.example/1",
      severity: "high",
      range: "<2",
    }],
    effects: ["@scope/right"],
    range: "<2",
    nodes: ["node_modules/left"],
    fixAvailable: true,
  },
  "@scope/right": {
    name: "@scope/right",
    severity: "high",
    via: ["left"],
    nodes: ["node_modules/@scope/right"],
    range: "*",
  },
});
const advisory = {
  package: "left",
  version: "1.0.0",
  severity: "high",
  title: "Pads to the right",
  url: "https://advisories.example/1",
};

test("[security 27] the lockfile for npm has each version of each package, and names no registry", () => {
  const { packages } = JSON.parse(lockFile);
  assertEquals(packages["node_modules/left"], { name: "left", version: "1.0.0", integrity: "sha512-x" });
  assertEquals(packages["node_modules/left-2"], { name: "left", version: "2.0.0" });
  assertEquals(packages[""].dependencies["@scope/right"], "npm:@scope/right@1.0.0");
  assert(!/https?:/.test(npmLockFile(readLock())));
  assertEquals(Object.keys(JSON.parse(npmLockFile(readLock())).packages).length > 20, true);
});

test("[security 27] an advisory about a package in the binary fails the audit; another one is a warning", () => {
  const report = readReport(leftPads, lockFile);
  assertEquals(report, { kind: "report", advisories: [advisory] });
  const bad = verdictOn(report, [{ name: "left", version: "1.0.0" }]);
  assertEquals([bad.ok, bad.lines], [false, [
    "in the binary: left 1.0.0: high: Pads to the right (https://advisories.example/1)",
    "FAILED | 0 passed | 1 failed",
  ]]);
  const good = verdictOn(report, [{ name: "left", version: "2.0.0" }]);
  assertEquals([good.ok, good.lines.at(0)?.startsWith("only in development: left"), good.lines.at(-1)], [
    true,
    true,
    "ok | 1 passed | 0 failed",
  ]);
  assertEquals(verdictOn(readReport(reportOf({}), lockFile), []).lines, ["ok | 1 passed | 0 failed"]);
});

test("[security 27] a registry without advisories is no success: the audit counts as skipped, with the reason", () => {
  const refused = JSON.stringify({
    message: "405 Method Not Allowed - POST https://registry.example/-/npm/v1/x",
    statusCode: 405,
  });
  for (
    const [output, reason] of [[refused, /405 Method Not Allowed$/], ["", /no report/], [
      "{}",
      /unknown report/,
    ]] as const
  ) {
    const report = readReport(output, lockFile);
    assert(report.kind === "unavailable");
    assertMatch(report.reason, reason);
    assert(!report.reason.includes("example"));
    const { ok, lines } = verdictOn(report, []);
    assertEquals([ok, lines[0]?.startsWith("audit skipped: "), lines[1]], [
      true,
      true,
      "ok | 0 passed | 0 failed | 1 ignored",
    ]);
  }
});

test("[security 27] npm asks the registry about each package of deno.lock, and its report is understood", async () => {
  const asked = new Set<string>();
  const server = await serve({
    onError: (error) => {
      throw error;
    },
    handler: async (request) => {
      if (request.method !== "POST") return new Response("{}", { status: 404 });
      const body = new Uint8Array(await request.arrayBuffer());
      const isPacked = request.headers.get("content-encoding") === "gzip";
      const packages: Record<string, readonly string[]> = JSON.parse(
        new TextDecoder().decode(isPacked ? gunzipSync(body) : body),
      );
      for (const [name, versions] of Object.entries(packages)) for (const one of versions) asked.add(`${name}@${one}`);
      const found = { id: 1, url: advisory.url, title: advisory.title, severity: "high", vulnerable_versions: "<99" };
      return Response.json({ zod: [found] });
    },
  });
  try {
    const registry = `http://127.0.0.1:${server.port}/`;
    const report = await npmAudit(npmLockFile(readLock()), { npm_config_registry: registry });
    assert(report.kind === "report", JSON.stringify(report));
    assertEquals(report.advisories.map((one) => one.package), ["zod"]);
    const pins = Object.keys(readLock().npm).map((key) => /^@?[^@]+@[^_]+/.exec(key)?.[0] ?? "");
    assertEquals(pins.filter((pin) => !asked.has(pin)), []);
  } finally {
    await server.close();
  }
});
