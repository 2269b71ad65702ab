import { assertRejects, test } from "../../../tests/testing.ts";
import { Client } from "../../client/mod.ts";
import { ShardMember } from "./shard_member.ts";

test("a replica that may not write its Lease ends with a rule that holds for the next one too", async () => {
  const client = new Client(() => Promise.resolve(new Response("", { status: 403 })));
  const member = new ShardMember({ client, namespace: "shop", name: "operator", identity: "pod-1_7f3a" });
  const rule =
    /not allowed to get it; .* needs \{.*resources: \["leases"\], verbs: \["get", "list", "create", "update", "delete"\]\}$/;
  await assertRejects(() => member.run(() => Promise.resolve(), new AbortController().signal), rule);
});
