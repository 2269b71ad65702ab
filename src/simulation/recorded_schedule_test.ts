/** Tests of the causes between notes and the entries of the engine, across the server, the network and the processes. */
import { assert, assertEquals, test } from "../../tests/testing.ts";
import type { Entry, NoteEntry } from "../observe/mod.ts";
import type { Fault } from "./fault_plan.ts";
import { recordSchedule } from "./recorded_schedule.ts";
import { summaryOf } from "./summary.ts";
import { correct, recreateWorkload } from "./testing/sample_controllers.ts";

async function entriesWith(...faults: readonly Fault[]): Promise<readonly Entry[]> {
  const { entries } = await recordSchedule({ controllers: [correct], workload: recreateWorkload, plan: { faults } });
  return entries;
}

/** The entries that led to this one, at any distance. */
function allCausesOf(entry: Entry | undefined, entries: readonly Entry[]): readonly Entry[] {
  assert(entry !== undefined);
  const byId = new Map(entries.map((one) => [one.id, one]));
  const found = new Set<Entry>();
  const add = ({ causes }: Entry): void => {
    for (const cause of causes.map((id) => byId.get(id))) {
      assert(cause !== undefined, "a cause is no entry");
      if (!found.has(cause)) add(cause);
      found.add(cause);
    }
  };
  add(entry);
  return [...found];
}

function isFault(entry: Entry): entry is NoteEntry {
  return entry.kind === "note" && entry.actor === "fault";
}

test("[137] the step of a user is the cause of the change, and through it of the write", async () => {
  const entries = await entriesWith();
  const write = entries.find(({ kind }) => kind === "write");
  const causes = allCausesOf(write, entries);
  assert(
    causes.some((entry) => entry.kind === "note" && entry.actor === "user" && entry.what.startsWith("create Secret")),
  );
  assertEquals(new Set(entries.filter(({ kind }) => kind !== "note").map(({ process }) => process)), new Set([1]));
  for (const { id, causes } of entries) assert(causes.every((cause) => cause > 0 && cause < id));
});

test("[137] a fault is the cause of the answer that it made, of a request, a watch and a list", async () => {
  const faults: readonly (readonly [Fault, Entry["kind"]])[] = [
    [{ kind: "reset", write: 1, committed: true }, "write"],
    [{ kind: "answer", of: "write", request: 1, code: 409 }, "write"],
    [{ kind: "answer", of: "read", request: 1, code: 500 }, "cache"],
    [{ kind: "event", event: 1, action: "duplicate", forMs: 0 }, "change"],
  ];
  for (const [fault, kind] of faults) {
    const entries = await entriesWith(fault);
    const note = entries.find(isFault);
    const effect = entries.find((entry) => entry.causes.includes(note?.id ?? 0));
    assertEquals(effect?.kind, kind, JSON.stringify(fault));
  }
});

test("[137] a process that ends, and the next one, have the fault and the reconciles in between as causes", async () => {
  for (const moment of ["before", "committed", "answered"] as const) {
    const entries = await entriesWith({ kind: "crash", write: 1, moment, downMs: 1_000 });
    const list = entries.find((entry) => entry.kind === "list" && entry.process === 2);
    const kinds = allCausesOf(list, entries).map((entry) => entry.kind === "note" ? entry.what : entry.kind);
    assert(kinds.includes("the process is killed") && kinds.includes("reconcile-start"), `${moment}: ${kinds}`);
    const killed = entries.find((entry) => entry.kind === "note" && entry.what === "the process is killed");
    assert(entries.every(({ id, kind, process }) => id < (killed?.id ?? 0) || kind === "note" || process === 2));
  }
  const stale = await entriesWith({ kind: "stale", step: 1, back: 2, thawMs: 20_000 });
  const list = stale.find((entry) => entry.kind === "list" && entry.process === 2);
  assert(allCausesOf(list, stale).some((entry) => isFault(entry) && entry.what === "restart on a stale server"));
});

test("[137] the changes of notes are the state of the world: folded, they are the objects at the end", async () => {
  const { entries, outcome } = await recordSchedule({ controllers: [correct], workload: recreateWorkload });
  const world = new Map<string, unknown>();
  for (const entry of entries) {
    for (const { change, object, state } of entry.kind === "note" ? entry.changes ?? [] : []) {
      if (change === "deleted") world.delete(`${object.resource} ${object.key}`);
      else world.set(`${object.resource} ${object.key}`, state);
    }
  }
  const names = [...summaryOf(outcome).fields.keys()].map((field) => field.split(" ").slice(0, 2).join(" "));
  assertEquals(new Set(world.keys()), new Set(names));
  assertEquals((world.get("configmaps default/welcome") as { readonly data?: unknown }).data, { text: "welcome" });
});
