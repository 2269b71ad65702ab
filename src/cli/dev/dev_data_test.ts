/** Tests of `dev --data-dir`: what stays in the folder, and what is refused. tests/data_folder_kills_test.ts kills the process. */
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { builtin } from "../../api/mod.ts";
import { controller, type ControllerDefinition, done } from "../../controller/mod.ts";
import { EmbeddedCluster } from "../../cluster/mod.ts";
import { Client } from "../../client/mod.ts";
import { withSamples } from "../../manager/mod.ts";
import { runCommandLine } from "../testing/run_command.ts";

const keeper: ControllerDefinition = controller("keeper").for(builtin.Namespace).reconcile(() => Promise.resolve(done));
const operator = {
  name: "op",
  version: "1.0.0",
  controllers: [withSamples(keeper, [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "sample" } }])],
};

async function site(): Promise<{ readonly path: string; readonly data: string } & AsyncDisposable> {
  const path = await mkdtemp("/tmp/pintle-data-");
  return { path, data: join(path, "data"), [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

/** @param day of the month on which it runs: a certificate is not valid before it was issued */
async function dev(data: string, day: number, ...words: readonly string[]) {
  const args = ["dev", "--bare", "--data-dir", data, ...words];
  return await runCommandLine(operator, args, { startAt: Date.UTC(2026, 0, day) });
}

function start(dataDir: string, workloads = false): Promise<EmbeddedCluster> {
  return EmbeddedCluster.start({
    dataDir,
    workloads,
    nodes: 1,
    onError: (error) => {
      throw error;
    },
  });
}

test("[140, security 6] dev --data-dir keeps objects, kubeconfig and port; what it writes is for its owner only", async () => {
  await using place = await site();
  const first = await dev(place.data, 1, "keeper", "--samples", "--until-settled");
  assertEquals(first.code, 0, first.err);
  const file = join(place.data, "kubeconfig.yaml");
  const config = await readFile(file, "utf8");
  assertEquals((await readdir(place.data)).sort(), ["kubeconfig.yaml", "objects.db"]);
  assertEquals((await stat(place.data)).mode & 0o777, 0o700);
  for (const name of await readdir(place.data)) {
    assertEquals([name, (await stat(join(place.data, name))).mode & 0o777], [name, 0o600]);
  }
  const second = await dev(place.data, 2, "keeper", "--until-settled");
  assertEquals(second.code, 0, second.err);
  assertEquals(await readFile(file, "utf8"), config);
  const count = (text: string) => Number(/keeper +(\d+) objects/.exec(text)?.[1]);
  assertEquals([count(first.out), count(second.out)], [5, 5]);
});

test("[140] a cluster that starts again continues versions, cluster IPs, kinds, tokens, and a client that has its kubeconfig", async () => {
  await using place = await site();
  const service = (name: string) => ({
    metadata: { namespace: "default", name },
    spec: { ports: [{ port: 80 }], selector: { app: name } },
  });
  const crd = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "foos.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "foos", kind: "Foo" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  };
  const foo = { apiVersion: "example.com/v1", kind: "Foo", metadata: { name: "a", namespace: "default" } };
  const foos = "/apis/example.com/v1/namespaces/default/foos";
  const post = (client: Client, path: string, body: object) =>
    client.raw(path, { method: "POST", body: JSON.stringify(body) });
  let before: unknown, revision: number, token: string, kubeconfig: string;
  {
    await using cluster = await start(place.data, true);
    const { client } = cluster;
    const [one] = await Promise.all([
      client.create(builtin.Service, service("one")),
      post(client, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd),
      client.waitFor(builtin.ServiceAccount, "default/default", (account) => account !== undefined),
    ]);
    await post(client, foos, foo);
    ({ token } = await client.createToken("default/default"));
    before = [one.spec?.clusterIP, cluster.url];
    ({ revision, kubeconfig } = cluster);
  }
  await using cluster = await start(place.data, true);
  const { client } = cluster;
  const one = await client.get(builtin.Service, "default/one");
  assertEquals([one.spec?.clusterIP, cluster.url], before);
  assertEquals(cluster.kubeconfig, kubeconfig);
  const two = await client.create(builtin.Service, service("two"));
  assertEquals(two.spec?.clusterIP === one.spec?.clusterIP, false);
  assertEquals(Number(two.metadata.resourceVersion) > revision, true);
  assertEquals(JSON.parse(await client.raw(`${foos}/a`)).metadata.name, "a");
  const file = join(place.path, "config");
  await writeFile(file, kubeconfig, { mode: 0o600 });
  using outside = await Client.fromKubeconfig({ environment: { KUBECONFIG: file } });
  assertEquals((await outside.list(builtin.Node)).items.length, 1);
  const review = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token } };
  const { status } = JSON.parse(await post(client, "/apis/authentication.k8s.io/v1/tokenreviews", review));
  assertEquals(status.user?.username, "system:serviceaccount:default:default");
});

test("[140] a folder that cannot be used is exit code 1 with what to do, and stays as it is", async () => {
  await using place = await site();
  const path = (name: string) => join(place.path, name);
  await writeFile(path("file"), "");
  await mkdir(path("open"));
  await chmod(path("open"), 0o777);
  for (const [name, text, mode] of [["text", "no database", 0o600], ["readable", "", 0o644]] as const) {
    await mkdir(path(name), { mode: 0o700 });
    await writeFile(join(path(name), "objects.db"), text.padEnd(text === "" ? 0 : 5_000, "."), { mode });
    await chmod(join(path(name), "objects.db"), mode);
  }
  await mkdir(join(path("odd"), "objects.db"), { recursive: true });
  const cases: readonly (readonly [string, RegExp])[] = [
    ["file", /: (ENOTDIR|EEXIST).* Choose another folder\n$/],
    ["open", /: other users can write in it\. Run: chmod 700 \S+\n$/],
    ["readable", /: other users can read objects\.db\. Run: chmod 600 \S+\n$/],
    ["text", /: objects\.db is damaged: file is not a database\. Nothing was changed\. Put back a copy of the folder/],
    ["odd", /: objects\.db is not a regular file\. Choose another folder\n$/],
  ];
  for (const [name, message] of cases) {
    const { code, err } = await dev(path(name), 1);
    assertEquals([name, code], [name, 1], err);
    assertMatch(err, /^op: Cannot open data folder "[^"]+": /);
    assertMatch(err, message);
  }
  assertEquals(await readFile(join(path("text"), "objects.db"), "utf8"), "no database".padEnd(5_000, "."));
  const none = await dev("/proc/none/data", 1);
  assertEquals(none.code, 1);
  assertMatch(none.err, /^op: Cannot open data folder "\/proc\/none\/data": .*\. Choose another folder\n$/);
});

test("[140] a folder that another process uses is refused, and is free at its end", async () => {
  await using place = await site();
  {
    await using _running = await start(place.data);
    const { code, err } = await dev(place.data, 1);
    assertEquals(code, 1);
    assertMatch(
      err,
      /^op: Cannot open data folder "[^"]+": another process uses it\. End that process, or choose another folder\n$/,
    );
  }
  assertEquals((await dev(place.data, 2, "keeper", "--until-settled")).code, 0);
});
