/**
 * The compiled binary's webhooks with certificates from `--cert-dir`, called 200 times a second while the files are
 * replaced in each usual way (fault class F13). The binary checks the files every ten seconds, so of replacements
 * that come faster clients see only the last one. Run with:
 *
 *   ./compile.sh && deno run -A tests/controlplane/with.ts --apply crds -- deno test -A tests/e2e/webhook_rotation_test.ts
 */
import { Buffer } from "node:buffer";
import { X509Certificate } from "node:crypto";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CertificateAuthority, type ControlPlane, type KeyPair, until } from "../controlplane/mod.ts";
import { controlPlaneTest } from "../controlplane/test.ts";
import { assert, assertEquals } from "../testing.ts";
import { NodePoolObjects } from "./_node_pool_objects.ts";
import { ReviewLoad, type ReviewResponse } from "./_review_load.ts";

/** Reviews a second. A machine that is too busy for the first rate gets the next one. */
const rates = [200, 40, 8];
const replacementsPerRound = 4;

controlPlaneTest(
  "[71] 200 requests/s through 12 replacements of the certificate: swapped, renamed, written in two halves; none fails",
  async (controlPlane) => {
    const failures: unknown[] = [];
    for (const rate of rates) {
      try {
        return await replaceUnderLoad(controlPlane, rate);
      } catch (error) {
        console.log(`failed with ${rate} reviews a second: ${error}`);
        failures.push(error);
      }
    }
    throw failures[0];
  },
);

async function replaceUnderLoad(controlPlane: ControlPlane, rate: number): Promise<void> {
  const authority = await CertificateAuthority.create("e2e");
  const issue = () => authority.issue({ commonName: "webhook", usage: "server", hosts: ["127.0.0.1"] });
  const dir = mkdtempSync(join(tmpdir(), "pintle-e2e-certs-"));
  try {
    await swapped(dir, await issue(), 0);
    for (const name of ["tls.crt", "tls.key"]) symlinkSync(join("..data", name), join(dir, name));
    await using site = await serving(controlPlane, dir);
    await using load = loadOn(site.port, authority.certificate, rate);
    let number = 0;
    for (const [name, replace] of [["swapped", swapped], ["renamed", renamed], ["written", written]] as const) {
      const pairs = await Promise.all(Array.from({ length: replacementsPerRound }, issue));
      for (const pair of pairs) await replace(dir, pair, ++number);
      for (const pair of pairs.slice(-1)) await shown(load, pair, name);
    }
    const perSecond = await load.stopped();
    assertEquals(load.failures, []);
    assertEquals(number, 12);
    assert(perSecond > rate * 0.99, `only ${perSecond} reviews a second were sent`);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

async function serving(controlPlane: ControlPlane, dir: string) {
  const site = await NodePoolObjects.open(controlPlane);
  const binary = site.run(undefined, "--cert-dir", dir, "--webhook-port", "0", "--log-format", "json");
  await binary.logged(/"serving webhooks"/);
  const port = Number(/"serving webhooks".*?"port":(\d+)/.exec(binary.stderr)?.[1]);
  return {
    port,
    async [Symbol.asyncDispose]() {
      await binary[Symbol.asyncDispose]();
      await site[Symbol.asyncDispose]();
    },
  };
}

function loadOn(port: number, ca: string, rate: number): ReviewLoad {
  const object = (number: number) => ({
    apiVersion: "nodes.lailin.xyz/v1",
    kind: "NodePool",
    metadata: { name: `pool-${number}` },
    spec: {},
  });
  return new ReviewLoad({ port, ca, rate, object, isRight, path: "/mutate-nodes-lailin-xyz-v1-nodepool" });
}

/** The defaults of an empty pool: its label, its handler. */
function isRight({ uid, allowed, patch = "" }: ReviewResponse): boolean {
  const operations = Buffer.from(patch, "base64").toString();
  return allowed && operations.includes(uid.replace("review-", "node-pool.lailin.xyz/pool-")) &&
    operations.includes('"runc"');
}

/** Waits until clients see the certificate. */
async function shown(load: ReviewLoad, pair: KeyPair, name: string): Promise<void> {
  const serialNumber = new X509Certificate(pair.certificate).serialNumber.toLowerCase();
  await until(`see the certificate that was ${name}`, () => {
    assertEquals(load.failures, []);
    return load.shown(serialNumber) > 20
      ? { kind: "found", value: undefined }
      : { kind: "pending", state: "another one was shown" };
  });
}

/** As the kubelet does it for a Secret: a new folder, and a swapped link to it. */
function swapped(dir: string, pair: KeyPair, number: number): Promise<void> {
  const folder = `..version-${number}`;
  mkdirSync(join(dir, folder));
  writeFileSync(join(dir, folder, "tls.crt"), pair.certificate);
  writeFileSync(join(dir, folder, "tls.key"), pair.key);
  symlinkSync(folder, join(dir, "..data_tmp"));
  renameSync(join(dir, "..data_tmp"), join(dir, "..data"));
  return Promise.resolve();
}

/** As careful programs do it: the key first, then the certificate. For a moment they do not match. */
async function renamed(dir: string, pair: KeyPair): Promise<void> {
  for (const [name, text] of [["tls.key", pair.key], ["tls.crt", pair.certificate]] as const) {
    writeFileSync(join(dir, "new"), text);
    renameSync(join(dir, "new"), join(dir, name));
    await sleep(100);
  }
}

/** As careless programs do it: in place, half of each file at a time. */
async function written(dir: string, pair: KeyPair): Promise<void> {
  for (const [name, text] of [["tls.crt", pair.certificate], ["tls.key", pair.key]] as const) {
    for (const part of [text.slice(0, text.length / 2), text]) {
      writeFileSync(join(dir, name), part);
      await sleep(100);
    }
  }
}
