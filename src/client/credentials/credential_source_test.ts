/** Tests of credentials that change: token files, plugins, concurrent requests. */
import { assert, assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { type Credentials, CredentialsError, Masked } from "../kubeconfig/mod.ts";
import { execPlugin } from "../testing/cluster_access.ts";
import { testSource } from "../testing/credential_source.ts";
import { TemporaryFolder } from "../testing/temporary_folder.ts";

const never = new AbortController().signal;

test("constant credentials have a header, and stay the same object", async () => {
  assertEquals(await testSource({ kind: "none" }).header(), undefined);
  assertEquals(await testSource({ kind: "token", token: new Masked("abc") }).header(), "Bearer abc");
  assertEquals(
    await testSource({ kind: "basic", username: "ü", password: new Masked("p:w") }).header(),
    "Basic w7w6cDp3",
  );
  const { source } = testSource({ kind: "none" });
  const first = await source.current(never);
  source.reject(first);
  assertEquals(await source.current(never) === first, true);
});

test("[76] a token file is read again every 60 s minus 10 s", async () => {
  await using folder = await TemporaryFolder.with({ token: "one\n" });
  const { clock, header } = testSource({ kind: "tokenFile", path: `${folder.path}/token` });
  assertEquals(await header(), "Bearer one");
  await folder.write("token", "two");
  await clock.advance(49_000);
  assertEquals(await header(), "Bearer one");
  await clock.advance(2_000);
  assertEquals(await header(), "Bearer two");
});

test("[76] a token file is read at once after a rejection of the current token", async () => {
  await using folder = await TemporaryFolder.with({ token: "one" });
  const { source, header } = testSource({ kind: "tokenFile", path: `${folder.path}/token` });
  const first = await source.current(never);
  await folder.write("token", "two");
  source.reject(first);
  assertEquals(await header(), "Bearer two");
  await folder.write("token", "three");
  source.reject(first);
  assertEquals(await header(), "Bearer two");
});

test("[76] a rejected token whose file has not changed stays the same object", async () => {
  await using folder = await TemporaryFolder.with({ token: "one" });
  const { source } = testSource({ kind: "tokenFile", path: `${folder.path}/token` });
  const first = await source.current(never);
  source.reject(first);
  assertEquals(await source.current(never) === first, true);
});

test("[76] a token stays in use while its file cannot be read, and a warning is logged", async () => {
  await using folder = await TemporaryFolder.with({ token: "one" });
  const { source, clock, logger, header } = testSource({ kind: "tokenFile", path: `${folder.path}/token` });
  const first = await source.current(never);
  await folder.write("token", "");
  await clock.advance(60_000);
  assertEquals(await header(), "Bearer one");
  assertEquals(logger.warnings, ["renewing credentials failed, using the old ones"]);
  source.reject(first);
  assert(await assertRejects(header, /it is empty$/) instanceof CredentialsError);
});

/** A plugin that counts its runs in a file. */
async function countingPlugin(): Promise<
  { folder: TemporaryFolder; credentials: Credentials; runs(): Promise<number> }
> {
  const folder = await TemporaryFolder.with({ "runs": "" });
  const expirationTimestamp = new Date(Date.UTC(2026, 0, 1) + 60_000).toISOString();
  const status = `{"token":"t%s","expirationTimestamp":"${expirationTimestamp}"}`;
  await folder.write(
    "plugin",
    `#!/bin/sh\ncd "$(dirname "$0")"\necho x >> runs\n` +
      `printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":${status}}' $(wc -l < runs)\n`,
  );
  const { readFile } = await import("node:fs/promises");
  return {
    folder,
    credentials: { kind: "exec", plugin: execPlugin(`${folder.path}/plugin`) },
    runs: async () => (await readFile(`${folder.path}/runs`, "utf8")).length / 2,
  };
}

test("[77] a plugin runs once for all requests that wait, and not again before its credentials expire", async () => {
  const { folder, credentials, runs } = await countingPlugin();
  await using _ = folder;
  const { clock, header } = testSource(credentials);
  const headers = await Promise.all(Array.from({ length: 50 }, header));
  assertEquals(new Set(headers), new Set(["Bearer t1"]));
  await clock.advance(59_000);
  assertEquals([await header(), await runs()], ["Bearer t1", 1]);
  await clock.advance(1_000);
  assertEquals([await header(), await runs()], ["Bearer t2", 2]);
});

test("[77] a rejection runs the plugin again, once for all rejected requests", async () => {
  const { folder, credentials, runs } = await countingPlugin();
  await using _ = folder;
  const { source } = testSource(credentials);
  const first = await source.current(never);
  const renewed = await Promise.all(Array.from({ length: 10 }, () => {
    source.reject(first);
    return source.current(never);
  }));
  assertEquals(new Set(renewed.map((one) => one.authorization?.reveal())), new Set(["Bearer t2"]));
  assertEquals(await runs(), 2);
});

test("[77] an abort of one request does not stop the plugin for the others", async () => {
  const { folder, credentials, runs } = await countingPlugin();
  await using _ = folder;
  const { source, header } = testSource(credentials);
  const aborting = new AbortController();
  const reason = new Error("stop");
  const aborted = source.current(aborting.signal);
  const waiting = header();
  aborting.abort(reason);
  assertEquals(await assertRejects(() => aborted), reason);
  assertEquals([await waiting, await runs()], ["Bearer t1", 1]);
});
