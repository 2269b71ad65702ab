/** The cases of the controller nodepool on an API server in memory, under a clock that tests move. */
import { nodepoolCases } from "../cases/nodepool.ts";
import { memoryTests } from "./_memory_site.ts";

memoryTests(nodepoolCases, "nodepool");
