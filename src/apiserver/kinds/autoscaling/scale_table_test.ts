import { assertEquals, test } from "../../../../tests/testing.ts";
import { scaleTable } from "./scale_table.ts";

test("the table of a Scale shows the desired and the available replicas", () => {
  const metadata = { name: "web", creationTimestamp: "2026-01-01T00:00:00Z" };
  const cells = scaleTable.cells(
    { metadata, spec: { replicas: 3 }, status: { replicas: 1 } },
    Date.parse("2026-01-02T00:00:00Z"),
  );
  assertEquals(cells, ["web", 3, 1, "24h"]);
  assertEquals(scaleTable.columns.map(({ name }) => name), ["Name", "Desired", "Available", "Age"]);
});
