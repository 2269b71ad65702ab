import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { assertEquals, test } from "../../tests/testing.ts";
import { until } from "../../tests/until.ts";
import { scope, VirtualClock } from "../async/mod.ts";
import type { CertificatePair } from "../runtime/mod.ts";
import { certificateFiles } from "./certificate_files.ts";
import { issueCertificates } from "./_issue_certificates.ts";

async function issue(): Promise<CertificatePair> {
  const { cert, key } = await issueCertificates({ hosts: ["a"], now: Date.UTC(2026, 0, 1), lifetimeMs: 3_600_000 });
  return { cert, key };
}

/** Watches a folder; what it yields lands in `seen`. */
async function watching(use: (folder: string, look: () => Promise<CertificatePair[]>) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(`${tmpdir()}/pintle-`);
  const clock = new VirtualClock();
  const seen: CertificatePair[] = [];
  using watch = scope(new AbortController().signal);
  const done = (async () => {
    for await (const pair of certificateFiles(folder, { clock }).pairs(watch.signal)) seen.push(pair);
  })();
  try {
    await use(folder, async () => {
      await until(() => clock.pendingTimers === 1, "the wait for the next look");
      await clock.advance(10_000);
      await until(() => clock.pendingTimers === 1, "the end of the look");
      return seen;
    });
  } finally {
    watch.abort();
    await done;
    await rm(folder, { recursive: true });
  }
}

async function write(folder: string, pair: CertificatePair): Promise<void> {
  await writeFile(`${folder}/tls.key`, pair.key);
  await writeFile(`${folder}/tls.crt`, pair.cert);
}

test("[71] a certificate that appears, is written over or renamed over is served after one look", async () => {
  const [first, second, third] = [await issue(), await issue(), await issue()];
  await watching(async (folder, look) => {
    assertEquals(await look(), []);
    await write(folder, first);
    assertEquals(await look(), [first]);
    assertEquals(await look(), [first]);
    await write(folder, second);
    assertEquals(await look(), [first, second]);
    await mkdir(`${folder}/new`);
    await write(`${folder}/new`, third);
    for (const name of ["tls.key", "tls.crt"]) await rename(`${folder}/new/${name}`, `${folder}/${name}`);
    assertEquals(await look(), [first, second, third]);
  });
});

test("[71] a certificate behind a symbolic link that is swapped, as Secret volumes do, is served after one look", async () => {
  const [first, second] = [await issue(), await issue()];
  await watching(async (folder, look) => {
    for (const [name, pair] of [["..1", first], ["..2", second]] as const) {
      await mkdir(`${folder}/${name}`);
      await write(`${folder}/${name}`, pair);
    }
    await symlink("..1", `${folder}/..data`);
    for (const name of ["tls.crt", "tls.key"]) await symlink(`..data/${name}`, `${folder}/${name}`);
    assertEquals(await look(), [first]);
    await symlink("..2", `${folder}/..data_tmp`);
    await rename(`${folder}/..data_tmp`, `${folder}/..data`);
    assertEquals(await look(), [first, second]);
  });
});

test("[71] the old pair is kept while the new one is half written, does not fit, or is gone", async () => {
  const [first, second] = [await issue(), await issue()];
  await watching(async (folder, look) => {
    await write(folder, first);
    assertEquals(await look(), [first]);
    await writeFile(`${folder}/tls.key`, second.key);
    assertEquals(await look(), [first]);
    await writeFile(`${folder}/tls.crt`, second.cert.slice(0, 200));
    assertEquals(await look(), [first]);
    await writeFile(`${folder}/tls.crt`, `${second.cert}${second.cert.slice(0, 200)}`);
    assertEquals(await look(), [first]);
    await rm(`${folder}/tls.crt`);
    assertEquals(await look(), [first]);
    await writeFile(`${folder}/tls.crt`, second.cert);
    assertEquals(await look(), [first, second]);
  });
});
