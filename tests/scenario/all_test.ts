/** The cases of all controllers in one process on an API server in memory, with a virtual clock. */
import { allCases } from "../cases/all.ts";
import { memoryTests } from "./_memory_environment.ts";

memoryTests(allCases, "foo", "ecsbinding", "nodepool");
