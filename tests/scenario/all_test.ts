/** The cases of all controllers in one process on an API server in memory, under a clock that tests move. */
import { allCases } from "../cases/all.ts";
import { memoryTests } from "./_memory_site.ts";

memoryTests(allCases, "foo", "ecsbinding", "nodepool");
