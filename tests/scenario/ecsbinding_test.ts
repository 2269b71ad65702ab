/** The cases of the controller ecsbinding on an API server in memory, with a virtual clock. */
import { ecsbindingCases } from "../cases/ecsbinding.ts";
import { memoryTests } from "./_memory_environment.ts";

memoryTests(ecsbindingCases, "ecsbinding");
