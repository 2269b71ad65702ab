import { assert, test } from "../../../tests/testing.ts";
import { heapBytes, heapSnapshot, startCpuProfile } from "./profiles.ts";

test("a CPU profile has the nodes and samples of a .cpuprofile file, and a second one can follow", async () => {
  for (let round = 0; round < 2; round++) {
    const profiling = await startCpuProfile();
    let sum = 0;
    for (let n = 0; n < 2_000_000; n++) sum += Math.sqrt(n);
    assert(sum > 0);
    const profile: { nodes: unknown[]; samples: unknown[]; startTime: number } = JSON.parse(await profiling.stop());
    assert(profile.nodes.length > 0 && Array.isArray(profile.samples) && profile.startTime > 0);
  }
});

test("a heap snapshot has the parts of a .heapsnapshot file", async () => {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of await heapSnapshot()) text += decoder.decode(chunk, { stream: true });
  const { snapshot, nodes }: { snapshot: { meta: object }; nodes: number[] } = JSON.parse(text);
  assert(snapshot.meta !== undefined && nodes.length > 0 && (heapBytes() ?? 0) > 1_000_000);
});
