/** The cases of the controller nodepool on an API server in memory, with a virtual clock. */
import { nodepoolCases } from "../cases/nodepool.ts";
import { memoryTests } from "./_memory_environment.ts";

memoryTests(nodepoolCases, "nodepool");
