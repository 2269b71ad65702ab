/** The cases of EcsBinding without its controller on an API server in memory, with a virtual clock. */
import { ecsbindingClientCases } from "../cases/ecsbinding_client.ts";
import { memoryTests } from "./_memory_environment.ts";

memoryTests(ecsbindingClientCases, "ecsbinding");
