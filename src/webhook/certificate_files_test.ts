import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { assertEquals, test } from "../../tests/testing.ts";
import { until } from "../../tests/until.ts";
import { scope, VirtualClock } from "../async/mod.ts";
import type { CertificatePair } from "../runtime/mod.ts";
import { MetricsRegistry } from "../observe/mod.ts";
import { certificateFiles } from "./certificate_files.ts";
import { issueCertificates } from "./certificates.ts";

async function issue(): Promise<CertificatePair> {
  const { cert, key } = await issueCertificates({ hosts: ["a"], now: Date.UTC(2026, 0, 1), lifetimeMs: 3_600_000 });
  return { cert, key };
}

/** Runs `use` with a watched folder. `poll` returns all pairs that the watch has yielded so far. */
async function watching(
  use: (folder: string, poll: () => Promise<CertificatePair[]>) => Promise<void>,
  metrics?: MetricsRegistry,
): Promise<void> {
  const folder = await mkdtemp(`${tmpdir()}/pintle-`);
  const clock = new VirtualClock();
  const seen: CertificatePair[] = [];
  using watch = scope(new AbortController().signal);
  const done = (async () => {
    for await (const pair of certificateFiles(folder, { clock, metrics }).pairs(watch.signal)) seen.push(pair);
  })();
  try {
    await use(folder, async () => {
      await until(() => clock.pendingTimers === 1, "the wait for the next poll");
      await clock.advance(10_000);
      await until(() => clock.pendingTimers === 1, "the end of the poll");
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

test("[71] a certificate that is created, overwritten or replaced by rename is served after one poll", async () => {
  const [first, second, third] = [await issue(), await issue(), await issue()];
  await watching(async (folder, poll) => {
    assertEquals(await poll(), []);
    await write(folder, first);
    assertEquals(await poll(), [first]);
    assertEquals(await poll(), [first]);
    await write(folder, second);
    assertEquals(await poll(), [first, second]);
    await mkdir(`${folder}/new`);
    await write(`${folder}/new`, third);
    for (const name of ["tls.key", "tls.crt"]) await rename(`${folder}/new/${name}`, `${folder}/${name}`);
    assertEquals(await poll(), [first, second, third]);
  });
});

test("[71] a certificate behind a symbolic link that is swapped, as in Secret volumes, is served after one poll", async () => {
  const [first, second] = [await issue(), await issue()];
  await watching(async (folder, poll) => {
    for (const [name, pair] of [["..1", first], ["..2", second]] as const) {
      await mkdir(`${folder}/${name}`);
      await write(`${folder}/${name}`, pair);
    }
    await symlink("..1", `${folder}/..data`);
    for (const name of ["tls.crt", "tls.key"]) await symlink(`..data/${name}`, `${folder}/${name}`);
    assertEquals(await poll(), [first]);
    await symlink("..2", `${folder}/..data_tmp`);
    await rename(`${folder}/..data_tmp`, `${folder}/..data`);
    assertEquals(await poll(), [first, second]);
  });
});

test("[71] the old pair stays in use while the new one is incomplete, does not match, or is missing", async () => {
  const [first, second] = [await issue(), await issue()];
  await watching(async (folder, poll) => {
    await write(folder, first);
    assertEquals(await poll(), [first]);
    await writeFile(`${folder}/tls.key`, second.key);
    assertEquals(await poll(), [first]);
    await writeFile(`${folder}/tls.crt`, second.cert.slice(0, 200));
    assertEquals(await poll(), [first]);
    await writeFile(`${folder}/tls.crt`, `${second.cert}${second.cert.slice(0, 200)}`);
    assertEquals(await poll(), [first]);
    await rm(`${folder}/tls.crt`);
    assertEquals(await poll(), [first]);
    await writeFile(`${folder}/tls.crt`, second.cert);
    assertEquals(await poll(), [first, second]);
  });
});

test("[124] the end of the certificate in the files is measured, as that of a managed one", async () => {
  const metrics = new MetricsRegistry();
  const expiry = async () =>
    /^pintle_certificate_expiration_timestamp_seconds\{server="webhook"\} (\d+)$/m.exec(await metrics.render())?.[1];
  await watching(async (folder, poll) => {
    assertEquals(await expiry(), "0");
    await write(folder, await issue());
    await poll();
    assertEquals(await expiry(), `${Date.UTC(2026, 0, 1) / 1000 + 3_600}`);
  }, metrics);
});
