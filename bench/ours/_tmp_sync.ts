import { heapStats } from "bun:jsc";
import process from "node:process";
import { Informer } from "../../src/cache/mod.ts";
import { connect } from "./_connect.ts";
import { Foo } from "./_foo.ts";
import { readFileSync } from "node:fs";
const mb = (n: number) => (n / 2 ** 20).toFixed(1);
const roll = () => {
  const t = readFileSync("/proc/self/smaps_rollup", "utf8");
  const s = readFileSync("/proc/self/status", "utf8");
  return "rss " + mb(1024 * +/Rss:\s+(\d+)/.exec(t)![1]!) + " anon " + mb(1024 * +/Anonymous:\s+(\d+)/.exec(t)![1]!) +
    " hwm " + mb(1024 * +/VmHWM:\s+(\d+)/.exec(s)![1]!);
};
const say = (w: string) => {
  const h = heapStats();
  console.error(
    w.padEnd(10),
    roll(),
    "heap",
    mb(h.heapSize),
    "cap",
    mb(h.heapCapacity),
    "extra",
    mb(h.extraMemorySize),
    "objs",
    h.objectCount,
  );
};
say("start");
const client = await connect();
say("connected");
const foos = new Informer({ name: "foos", listWatch: client.listWatch(Foo) });
const stop = new AbortController();
const running = foos.run(stop.signal);
await Promise.race([foos.synced(stop.signal), running]);
say("synced");
await new Promise((f) => setTimeout(f, 1500));
say("1.5s");
Bun.gc(true);
say("gc");
await new Promise((f) => setTimeout(f, 1500));
say("gc+1.5s");
const h = heapStats();
console.error(Object.entries(h.objectTypeCounts).sort((a, b) => b[1] - a[1]).slice(0, 12).join(" "));
console.error(JSON.stringify([...foos.lister.list()][7]));
process.exit(0);
