/** Tests which answers requests and commands get. */
import { assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { RecordedAnswers } from "./recorded_answers.ts";

const answers = () =>
  RecordedAnswers.parse({
    http: [
      { path: "/ready", status: 503, times: 2 },
      { path: "/ready", body: "yes" },
      { method: "PUT", path: "/queues/*/policy", status: 204 },
      { path: "/queues?page=1", body: { items: [] }, headers: { "x-total": "0" } },
    ],
    exec: [
      { command: "sh -c *ctl status*", pod: "*-server-0", stdout: "first", times: 1 },
      { command: "sh -c *ctl status*", stdout: "other", exitCode: 3 },
    ],
  }, "answers.yaml");

const ask = async (recorded: RecordedAnswers, path: string, method = "GET") => {
  const response = recorded.respond(new Request(`http://stub${path}`, { method }));
  return [response.status, await response.text()];
};

test("answers come in their order, as often as the file says, and again after a reset", async () => {
  const recorded = answers();
  const statuses =
    async () => [await ask(recorded, "/ready"), await ask(recorded, "/ready"), await ask(recorded, "/ready")];
  const expected = [[503, ""], [503, ""], [200, "yes"]];
  assertEquals(await statuses(), expected);
  assertEquals(await ask(recorded, "/ready?x=1"), [200, "yes"]);
  recorded.reset();
  assertEquals(await statuses(), expected);
});

test("method, path and query select, a body that is no text is JSON, and what has no answer is remembered", async () => {
  const recorded = answers();
  assertEquals(await ask(recorded, "/queues/a/b/policy", "PUT"), [204, ""]);
  assertEquals((await ask(recorded, "/queues/policy", "PUT"))[0], 404);
  assertEquals((await ask(recorded, "/queues/a/policy"))[0], 404);
  const response = recorded.respond(new Request("http://stub/queues?page=1"));
  assertEquals([response.headers.get("content-type"), response.headers.get("x-total")], ["application/json", "0"]);
  assertEquals(await response.json(), { items: [] });
  assertEquals(recorded.unanswered, ["PUT /queues/policy", "GET /queues/a/policy"]);
});

test("commands are answered by Pod, container and text", () => {
  const recorded = answers();
  const run = (pod: string, ...command: readonly string[]) =>
    recorded.execute({ namespace: "default", pod, container: "main", command });
  assertEquals(run("a-server-0", "sh", "-c", "rabbitmqctl status -q")?.stdout, "first");
  assertEquals(run("a-server-0", "sh", "-c", "rabbitmqctl status")?.stdout, "other");
  assertEquals(run("a-server-1", "sh", "-c", "rabbitmqctl status")?.exitCode, 3);
  assertEquals(run("a-server-1", "rabbitmqctl", "status"), undefined);
});

test("a file of another form names the field", () => {
  assertThrows(
    () => RecordedAnswers.parse({ http: [{ path: "/a", status: 99 }] }, "a.yaml"),
    /^Cannot read the recorded answers in "a.yaml": http\[0\].status/,
  );
});
