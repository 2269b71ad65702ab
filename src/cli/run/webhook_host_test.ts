import { assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { findWebhookHost, type HostQueries, hostQueries } from "./webhook_host.ts";

interface Machine {
  /** What programs print, by their command line. */
  readonly programs?: Readonly<Record<string, string>>;
  readonly addresses?: readonly string[];
}

function machine({ programs = {}, addresses = ["127.0.0.1"] }: Machine): HostQueries {
  return {
    output: ([program, action]) => Promise.resolve(programs[`${program} ${action}`]),
    ownAddresses: () => addresses,
    addressTowards: (host, port) => Promise.resolve(`address towards ${host} ${port}`),
  };
}

const containers = "9c1a 127.0.0.1:34567->6443/tcp\n77aa 0.0.0.0:4567->80/tcp, :::4567->80/tcp\nb0b0 \n";
const kind = { "docker ps": containers, "docker inspect": "kind 172.18.0.1\n" };

test("the API server of kind calls the gateway of its network", async () => {
  const queries = machine({ programs: kind, addresses: ["127.0.0.1", "172.18.0.1"] });
  assertEquals(await findWebhookHost("https://127.0.0.1:34567", queries), {
    host: "172.18.0.1",
    because: 'gateway of the container network "kind"',
  });
});

test("a gateway that is no address of this machine belongs to the virtual machine of the container engine", async () => {
  const { host } = await findWebhookHost("https://127.0.0.1:34567", machine({ programs: kind }));
  assertEquals(host, "host.docker.internal");
  const podman = { "podman ps": containers, "podman inspect": "kind 10.89.0.1\n" };
  const other = await findWebhookHost("https://localhost:34567", machine({ programs: podman }));
  assertEquals(other.host, "host.containers.internal");
});

test("the container is found by its port, not by a port that ends with the same digits", async () => {
  const queries = machine({ programs: { ...kind, "docker inspect": "web 172.19.0.1\n" }, addresses: ["172.19.0.1"] });
  assertEquals((await findWebhookHost("https://127.0.0.1:4567", queries)).host, "172.19.0.1");
  assertEquals((await findWebhookHost("https://127.0.0.1:567", queries)).host, "127.0.0.1");
});

test("an API server on this machine, in no container, calls loopback", async () => {
  assertEquals((await findWebhookHost("https://127.0.0.1:6443", machine({}))).host, "127.0.0.1");
  assertEquals((await findWebhookHost("https://localhost:6443", machine({}))).host, "127.0.0.1");
  assertEquals((await findWebhookHost("https://[::1]:6443", machine({}))).host, "::1");
});

test("an API server elsewhere calls this machine's end of a connection to it", async () => {
  const { host } = await findWebhookHost("https://cluster.example.com", machine({}));
  assertEquals(host, "address towards cluster.example.com 443");
});

test("a container without a gateway is an error that asks for the address", async () => {
  const queries = machine({ programs: { ...kind, "docker inspect": "host \n" } });
  await assertRejects(
    () => findWebhookHost("https://127.0.0.1:34567", queries),
    /runs in container 9c1a, and docker names no gateway/,
  );
});

test("an API server elsewhere that is not connected is an error that asks for the address", async () => {
  const queries = { ...machine({}), addressTowards: () => Promise.reject(new Error("connection refused")) };
  await assertRejects(
    () => findWebhookHost("https://cluster.example.com", queries),
    /Cannot find the address of this machine for the webhooks: there is no direct connection to cluster.example.com:443/,
  );
});

test("a machine without a container engine is no error", async () => {
  const queries = hostQueries({ PATH: "/nonexistent" }, new AbortController().signal);
  assertEquals((await findWebhookHost("https://127.0.0.1:1", queries)).host, "127.0.0.1");
});
