import { assertEquals, test } from "../../../tests/testing.ts";
import { resolveOwnership } from "./plan.ts";

interface Case {
  readonly name: string;
  readonly live?: string;
  readonly desired?: string;
  readonly claimed?: string;
  /** The value that another pool has set. */
  readonly shared?: string;
  /** managedFields contain another manager. */
  readonly owned?: boolean;
  readonly change: "set" | "remove" | "conflict" | "nothing";
  readonly claims?: string;
}

const cases: readonly Case[] = [
  { name: "a missing value is set", desired: "1", change: "set", claims: "1" },
  { name: "an own value that is live stays", live: "1", desired: "1", claimed: "1", change: "nothing", claims: "1" },
  { name: "an own value that was removed is set again", desired: "1", claimed: "1", change: "set", claims: "1" },
  { name: "an equal value of another client is accepted without a claim", live: "1", desired: "1", change: "nothing" },
  { name: "a different value of another client stays", live: "2", desired: "1", change: "conflict" },
  { name: "an own value that another client changed stays", live: "2", desired: "1", claimed: "1", change: "conflict" },
  {
    name: "a new value that another client set before is accepted without a claim",
    live: "2",
    desired: "2",
    claimed: "1",
    change: "nothing",
  },
  { name: "an own value is replaced", live: "1", desired: "2", claimed: "1", change: "set", claims: "2" },
  {
    name: "an own value that another pool has set, too, is not replaced",
    live: "1",
    desired: "2",
    claimed: "1",
    shared: "1",
    change: "conflict",
  },
  {
    name: "an own value that another manager owns, too, is not replaced",
    live: "1",
    desired: "2",
    claimed: "1",
    owned: true,
    change: "conflict",
  },
  {
    name: "an equal value of another pool is claimed",
    live: "1",
    desired: "1",
    shared: "1",
    change: "nothing",
    claims: "1",
  },
  { name: "a different value of another pool stays", live: "2", desired: "1", shared: "2", change: "conflict" },
  { name: "an own value that is no longer desired is removed", live: "1", claimed: "1", change: "remove" },
  { name: "the claim of a value that is already removed is dropped", claimed: "1", change: "nothing" },
  { name: "a dropped value that another client changed stays", live: "2", claimed: "1", change: "nothing" },
  {
    name: "a dropped value that another pool has set, too, stays",
    live: "1",
    claimed: "1",
    shared: "1",
    change: "nothing",
  },
  {
    name: "a dropped value that another manager owns, too, stays",
    live: "1",
    claimed: "1",
    owned: true,
    change: "nothing",
  },
  { name: "a value without a claim stays", live: "1", change: "nothing" },
];

function named(value: string | undefined): ReadonlyMap<string, string> {
  return new Map(value === undefined ? [] : [["constructor", value]]);
}

for (const { name, live, desired, claimed, shared, owned = false, change, claims } of cases) {
  test(`resolveOwnership(): ${name}`, () => {
    const changes = resolveOwnership({
      live: named(live),
      desired: named(desired),
      claimed: named(claimed),
      isShared: (_, value) => value === shared,
      isOwnedByOthers: () => owned,
    });
    assertEquals(changes.set, named(change === "set" ? desired : undefined));
    assertEquals([...changes.remove], change === "remove" ? ["constructor"] : []);
    assertEquals(changes.conflicts.length, change === "conflict" ? 1 : 0);
    assertEquals(changes.claims, named(claims));
  });
}
