/** Tests of the comparison with other frameworks: its rows are complete, and what they name exists. */
import {
  type Facts,
  parseRows,
  type PeerRow,
  peerRows,
  peersPage,
  problemsOf,
  repositoryFacts,
  rowCount,
} from "../tasks/_peers.ts";
import { assertEquals, assertStringIncludes, assertThrows, test } from "./testing.ts";

const facts: Facts = {
  exports: new Set(["Client"]),
  helpOf: (command) => Promise.resolve(command === "run" ? "  --once   reconciles once" : undefined),
  read: (path) => (path === "a_test.ts" ? 'test("a watch ends", () => {});' : undefined),
};

const row: PeerRow = {
  ...{ id: 1, group: "Client", feature: "A | B", peers: ["kopf"], state: "yes", surface: ["Client"] },
  test: { file: "a_test.ts", name: "a watch ends" },
};

test("problemsOf() finds nothing in rows whose evidence exists", async () => {
  const command = { ...row, id: 2, surface: ["controller run", "controller run --once"] };
  assertEquals(
    await problemsOf([row, command, { ...row, id: 3, state: "open", surface: [], test: undefined }], facts),
    [],
  );
});

test("problemsOf() names exports, commands, flags, files and tests that do not exist", async () => {
  const surface = ["Server", "controller walk", "controller run --on"];
  const rows: readonly PeerRow[] = [
    { ...row, surface, test: { file: "b_test.ts", name: "x" } },
    { ...row, id: 2, test: { file: "a_test.ts", name: "a watch" } },
  ];
  assertEquals(await problemsOf(rows, facts), [
    "row 1: the package exports no Server",
    "row 1: there is no command walk",
    "row 1: run has no flag --on",
    "row 1: there is no file b_test.ts",
    'row 2: a_test.ts has no test "a watch"',
  ]);
});

test("problemsOf() wants evidence for each claim, and a reason for what is missing", async () => {
  const rows: readonly PeerRow[] = [{ ...row, test: undefined }, { ...row, id: 3, state: "partial" }];
  assertEquals(await problemsOf(rows, facts), [
    "Cannot list the rows: their ids are not 1 to n",
    "row 1: yes needs a surface and a test",
    "row 3: partial needs a note",
  ]);
});

test("peersPage() shows texts to the letter, and parseRows() refuses unknown fields", () => {
  assertStringIncludes(peersPage([row]), "A \\| B | kopf | yes | `Client` | a watch ends ([test](../a_test.ts)) |");
  assertThrows(() => parseRows("- {id: 1, group: a, feature: b, peers: [], state: open, proof: c}"), /proof/);
});

test("each row of tests/peers.yaml names exports, flags and tests that exist; those without are open", async () => {
  const rows = peerRows();
  assertEquals(await problemsOf(rows, repositoryFacts()), []);
  assertEquals(rows.length, rowCount);
  const open = rows.filter(({ state }) => state === "open" || state === "partial");
  console.log(open.map(({ id, state, feature }) => `${state}: ${id} ${feature}`).join("\n"));
});
