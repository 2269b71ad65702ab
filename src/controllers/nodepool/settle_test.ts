import { assertEquals, test } from "../../../tests/testing.ts";
import { settle } from "./settle.ts";

interface Case {
  readonly name: string;
  readonly live?: string;
  readonly wanted?: string;
  readonly mine?: string;
  /** Another pool gave this value. */
  readonly shared?: string;
  /** managedFields name another writer. */
  readonly owned?: boolean;
  readonly does: "set" | "remove" | "conflict" | "nothing";
  readonly claims?: string;
}

const cases: readonly Case[] = [
  { name: "what is missing is given", wanted: "1", does: "set", claims: "1" },
  { name: "what was given and is there is left", live: "1", wanted: "1", mine: "1", does: "nothing", claims: "1" },
  { name: "what was given and somebody removed is given again", wanted: "1", mine: "1", does: "set", claims: "1" },
  { name: "the same value of somebody else is fine, and stays theirs", live: "1", wanted: "1", does: "nothing" },
  { name: "another value of somebody else stays", live: "2", wanted: "1", does: "conflict" },
  { name: "a given value that somebody else changed is theirs", live: "2", wanted: "1", mine: "1", does: "conflict" },
  { name: "somebody else was there first with the new value", live: "2", wanted: "2", mine: "1", does: "nothing" },
  { name: "a given value is replaced", live: "1", wanted: "2", mine: "1", does: "set", claims: "2" },
  {
    name: "a given value that another pool gave, too, stays",
    live: "1",
    wanted: "2",
    mine: "1",
    shared: "1",
    does: "conflict",
  },
  {
    name: "a given value that another writer owns, too, stays",
    live: "1",
    wanted: "2",
    mine: "1",
    owned: true,
    does: "conflict",
  },
  {
    name: "the same value of another pool is shared",
    live: "1",
    wanted: "1",
    shared: "1",
    does: "nothing",
    claims: "1",
  },
  { name: "another value of another pool stays", live: "2", wanted: "1", shared: "2", does: "conflict" },
  { name: "what was given and is not wanted any more goes", live: "1", mine: "1", does: "remove" },
  { name: "what was given and is gone already is forgotten", mine: "1", does: "nothing" },
  { name: "what was given and somebody else changed stays", live: "2", mine: "1", does: "nothing" },
  { name: "what another pool gave, too, stays when dropped", live: "1", mine: "1", shared: "1", does: "nothing" },
  { name: "what another writer owns, too, stays when dropped", live: "1", mine: "1", owned: true, does: "nothing" },
  { name: "what was never given stays", live: "1", does: "nothing" },
];

function named(value: string | undefined): ReadonlyMap<string, string> {
  return new Map(value === undefined ? [] : [["constructor", value]]);
}

for (const { name, live, wanted, mine, shared, owned = false, does, claims } of cases) {
  test(`settle(): ${name}`, () => {
    const settlement = settle({
      live: named(live),
      wanted: named(wanted),
      mine: named(mine),
      isShared: (_, value) => value === shared,
      isOwned: () => owned,
    });
    assertEquals(settlement.set, named(does === "set" ? wanted : undefined));
    assertEquals([...settlement.remove], does === "remove" ? ["constructor"] : []);
    assertEquals(settlement.conflicts.length, does === "conflict" ? 1 : 0);
    assertEquals(settlement.claims, named(claims));
  });
}
