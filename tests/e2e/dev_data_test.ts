/**
 * `controller dev --data-dir` with the compiled binary and kubectl: one kubeconfig before and after SIGKILL, and folders that
 * cannot be used. kubectl is part of the real control plane, which is not used otherwise.
 * ../data_folder_kills_test.ts kills at random moments.
 */
import { execFile } from "node:child_process";
import { copyFile, mkdtemp, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { controlPlaneTest } from "../controlplane/test.ts";
import { assertEquals, assertMatch } from "../testing.ts";
import { Binary, runBinary } from "./_binary.ts";

interface Site extends AsyncDisposable {
  readonly path: string;
  readonly data: string;
  kubectl(...args: readonly string[]): Promise<string>;
}

async function newSite(): Promise<Site> {
  const path = await mkdtemp("/tmp/pintle-dev-data-");
  const data = join(path, "data");
  const env = { PATH: process.env["PATH"] ?? "", HOME: path, KUBECONFIG: join(data, "kubeconfig.yaml") };
  return {
    path,
    data,
    kubectl: async (...args) => (await promisify(execFile)("kubectl", args, { env })).stdout.trim(),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true }),
  };
}

async function started({ data }: Site, ...args: readonly string[]): Promise<Binary> {
  const binary = new Binary(["dev", "--data-dir", data, ...args]);
  try {
    await binary.logged(/KUBECONFIG=\S+\n/);
    return binary;
  } catch (error) {
    await binary[Symbol.asyncDispose]();
    throw error;
  }
}

async function killed(binary: Binary): Promise<void> {
  binary.signal("SIGKILL");
  await binary.ended();
}

controlPlaneTest(
  "[140] kubectl goes on after SIGKILL: objects, UIDs, versions, a rollout, and no second process",
  async () => {
    await using site = await newSite();
    const identity = ["get", "deployment", "web", "-o", "jsonpath={.metadata.uid} {.metadata.generation}"];
    let before: string;
    {
      await using binary = await started(site);
      await site.kubectl("create", "deployment", "web", "--image=nginx", "--replicas=2");
      await site.kubectl("rollout", "status", "deployment/web", "--timeout=300s");
      await site.kubectl("create", "configmap", "settings", "--from-literal=a=1");
      const { code, stderr } = await runBinary(["dev", "--bare", "--data-dir", site.data]);
      assertEquals(code, 1);
      assertMatch(stderr, /: another process uses it\. End that process, or choose another folder\n$/);
      before = await site.kubectl(...identity);
      await killed(binary);
    }
    await using _binary = await started(site);
    assertEquals(await site.kubectl(...identity), before);
    assertEquals(await site.kubectl("get", "configmap", "settings", "-o", "jsonpath={.data.a}"), "1");
    await site.kubectl("scale", "deployment/web", "--replicas=3");
    await site.kubectl("rollout", "status", "deployment/web", "--timeout=300s");
    const ready = await site.kubectl("get", "deployment", "web", "-o", "jsonpath={.status.readyReplicas}");
    assertEquals(ready, "3");
  },
);

controlPlaneTest(
  "[140] a watch from before the restart gets a 410, and one from its end gets what follows",
  async () => {
    await using site = await newSite();
    const maps = "/api/v1/namespaces/default/configmaps";
    const watch = (version: string) =>
      site.kubectl("get", "--raw", `${maps}?watch=1&timeoutSeconds=1&resourceVersion=${version}`);
    let first: string, last: string;
    {
      await using binary = await started(site, "--bare");
      const create = (name: string) =>
        site.kubectl("create", "configmap", name, "-o", "jsonpath={.metadata.resourceVersion}");
      first = await create("a");
      last = await create("b");
      await killed(binary);
    }
    await using _binary = await started(site, "--bare");
    assertMatch(await watch(first), /^\{"type":"ERROR","object":\{.*"reason":"Expired".*"code":410\}\}$/);
    assertEquals(await watch(last), "");
    await site.kubectl("create", "configmap", "c");
    assertMatch(await watch(last), /^\{"type":"ADDED","object":\{.*"name":"c".*\}\}$/);
  },
);

controlPlaneTest(
  "[140] a damaged file and one of a newer version are refused, and nothing in them changes",
  async () => {
    await using site = await newSite();
    {
      await using binary = await started(site, "--bare");
      await site.kubectl("create", "configmap", "kept", "--from-literal=text=here-it-is");
      binary.signal("SIGTERM");
      await binary.ended();
    }
    const file = join(site.data, "objects.db");
    const good = join(site.path, "good.db");
    await copyFile(file, good);
    const bytes = await readFile(good);
    const cases = [
      [
        bytes.indexOf("here-it-is"),
        "H".charCodeAt(0),
        /objects\.db is damaged: .*Nothing was changed\. Put back a copy/,
      ],
      [63, 9, /objects\.db: it has the format 9 of a newer version; this one reads 1\. Use the version that wrote it/],
    ] as const;
    for (const [offset, value, message] of cases) {
      const handle = await open(file, "r+");
      await handle.write(Uint8Array.of(value), 0, 1, offset);
      await handle.close();
      const refused = await readFile(file);
      const { code, stderr } = await runBinary(["dev", "--bare", "--data-dir", site.data]);
      assertEquals(code, 1);
      assertMatch(stderr, message);
      assertEquals((await readFile(file)).equals(refused), true);
      await copyFile(good, file);
    }
    await using _binary = await started(site, "--bare");
    assertEquals(await site.kubectl("get", "configmap", "kept", "-o", "jsonpath={.data.text}"), "here-it-is");
  },
);
