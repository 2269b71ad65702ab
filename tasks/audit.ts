/**
 * `deno task audit`: asks the npm registry, through npm, for the advisories about the packages in deno.lock.
 *
 * It fails when an advisory concerns a package in the binary, and warns about the others. A registry without advisories, such
 * as most mirrors, and a machine without a network are no success: the audit then counts as skipped.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import * as z from "zod";
import { bundledPackages, type LockFile, readLock } from "./_bundled_packages.ts";
import { root } from "./_root.ts";
import { bunVersion } from "./sbom.ts";

/** One advisory about a version in the lockfile. */
export interface Advisory {
  readonly package: string;
  readonly version: string;
  readonly severity: string;
  readonly title: string;
  readonly url: string;
}

/** What npm reported. */
export type AuditReport =
  | { readonly kind: "report"; readonly advisories: readonly Advisory[] }
  | { readonly kind: "unavailable"; readonly reason: string };

/** A package of the lockfile. */
interface Pin {
  readonly name: string;
  readonly version: string;
  /** Where npm would install it: the name, and a number if another version has the name. */
  readonly alias: string;
  readonly integrity: string | undefined;
}

/** All packages of a lockfile, one for each name and version. */
function pinsOf(lock: LockFile): readonly Pin[] {
  const pins = new Map<string, Pin>();
  const versions = new Map<string, number>();
  for (const [key, { integrity }] of Object.entries(lock.npm)) {
    // `@scope/name@version`, and the versions of its peers behind `_`.
    const [, name = "", version = ""] = /^(@?[^@]+)@([^_]+)/.exec(key) ?? [];
    if (pins.has(`${name}@${version}`)) continue;
    const count = (versions.get(name) ?? 0) + 1;
    versions.set(name, count);
    pins.set(`${name}@${version}`, { name, version, alias: count === 1 ? name : `${name}-${count}`, integrity });
  }
  return [...pins.values()];
}

/** The lockfile of npm with the packages of deno.lock, side by side. It names no registry. */
export function npmLockFile(lock: LockFile): string {
  const pins = pinsOf(lock);
  const dependencies = Object.fromEntries(pins.map(({ name, version, alias }) => [alias, `npm:${name}@${version}`]));
  const packages = Object.fromEntries(
    pins.map(({ name, version, alias, integrity }) => [`node_modules/${alias}`, { name, version, integrity }]),
  );
  const self = { name: "audited", version: "0.0.0" };
  return JSON.stringify({
    ...self,
    lockfileVersion: 3,
    requires: true,
    packages: { "": { ...self, dependencies }, ...packages },
  });
}

const advisory = z.object({ title: z.string(), url: z.string(), severity: z.string() });
const vulnerability = z.object({
  name: z.string(),
  nodes: z.array(z.string()),
  // A text names another package of the report that this one uses.
  via: z.array(z.union([z.string(), advisory])),
});
const report = z.object({
  auditReportVersion: z.literal(2),
  vulnerabilities: z.record(z.string(), vulnerability),
  metadata: z.object({ dependencies: z.object({ total: z.number() }) }),
});
const failure = z.object({ message: z.string() });

/** Reads what `npm audit --json` printed. @param lockFile the lockfile of npm that was audited */
export function readReport(output: string, lockFile: string): AuditReport {
  let value: unknown;
  try {
    value = JSON.parse(output);
  } catch {
    return { kind: "unavailable", reason: `npm printed no report: ${firstLine(output)}` };
  }
  const { data, success } = report.safeParse(value);
  if (!success) {
    const { data } = failure.safeParse(value);
    return {
      kind: "unavailable",
      reason: data === undefined ? "npm printed an unknown report" : reasonOf(data.message),
    };
  }
  const { packages } = lockPackages.parse(JSON.parse(lockFile));
  const advisories = Object.values(data.vulnerabilities).flatMap(({ nodes, via }) =>
    via.filter((one) => typeof one === "object").flatMap((one) =>
      nodes.map((node): Advisory => {
        const { name = node, version = "unknown" } = packages[node] ?? {};
        return { ...one, package: name, version };
      })
    )
  );
  return { kind: "report", advisories };
}

const lockPackages = z.object({
  packages: z.record(z.string(), z.object({ name: z.string(), version: z.string() })),
});

/** Without the address of the registry, which differs between machines. */
function reasonOf(message: string): string {
  return firstLine(message).replace(/ - \w+ https?:\S+/, "").replace(/https?:\S+/, "the registry");
}

function firstLine(text: string): string {
  return text.trim().split("\n")[0]?.slice(0, 200) ?? "";
}

/** The lines about a report, and whether it lets a release pass. The last line is one that the gate counts. */
export function verdictOn(
  report: AuditReport,
  shipped: readonly { readonly name: string; readonly version: string }[],
): { readonly ok: boolean; readonly lines: readonly string[] } {
  if (report.kind === "unavailable") {
    return {
      ok: true,
      lines: [
        `audit skipped: no advisories from the registry: ${report.reason}`,
        "ok | 0 passed | 0 failed | 1 ignored",
      ],
    };
  }
  const isShipped = (one: Advisory) =>
    shipped.some(({ name, version }) => name === one.package && version === one.version);
  const lines = report.advisories.map((one) =>
    `${
      isShipped(one) ? "in the binary" : "only in development"
    }: ${one.package} ${one.version}: ${one.severity}: ${one.title} (${one.url})`
  );
  const count = report.advisories.filter(isShipped).length;
  const last = count === 0 ? "ok | 1 passed | 0 failed" : `FAILED | 0 passed | ${count} failed`;
  return { ok: count === 0, lines: [...lines.sort(), last] };
}

/** Runs `npm audit` on a lockfile. @param environment variables for npm, such as its registry */
export async function npmAudit(
  lockFile: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<AuditReport> {
  const folder = mkdtempSync(join(tmpdir(), "pintle-audit-"));
  try {
    const { packages } = JSON.parse(lockFile);
    writeFileSync(join(folder, "package.json"), JSON.stringify(packages[""]));
    writeFileSync(join(folder, "package-lock.json"), lockFile);
    // Offline, npm would report no advisories instead of an error.
    const args = ["audit", "--json", "--package-lock-only", "--no-offline", "--prefer-online"];
    const output = await new Promise<string>((resolve) => {
      const options = { cwd: folder, env: { ...process.env, ...environment }, maxBuffer: 64 * 1024 * 1024 };
      // npm ends with 1 when there are advisories too.
      execFile("npm", args, options, (error, stdout) => resolve(stdout === "" ? error?.message ?? "" : stdout));
    });
    return readReport(output, lockFile);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.main) {
  const shipped = [...bundledPackages(join(root, "main.ts")), { name: "bun", version: bunVersion() }];
  const { ok, lines } = verdictOn(await npmAudit(npmLockFile(readLock())), shipped);
  for (const line of lines) console.log(line);
  process.exit(ok ? 0 : 1);
}
