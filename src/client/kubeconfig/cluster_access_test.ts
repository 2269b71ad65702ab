import { inspect } from "node:util";
import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { Masked } from "./cluster_access.ts";

test("[security 5] a masked text is returned by reveal() only", () => {
  const secret = "canary-9f3b";
  const holder = { token: new Masked(secret), list: [new Masked(secret)] };
  const shown = [
    JSON.stringify(holder),
    `${holder.token}`,
    String(holder.list),
    inspect(holder, { depth: 9, showHidden: true }),
  ];
  for (const text of shown) assert(!text.includes(secret), text);
  assertEquals(holder.token.reveal(), secret);
});
