/** The cases of EcsBinding without its controller on an API server in memory, under a clock that tests move. */
import { ecsbindingClientCases } from "../cases/ecsbinding_client.ts";
import { memoryTests } from "./_memory_site.ts";

memoryTests(ecsbindingClientCases, "ecsbinding");
