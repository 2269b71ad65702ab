/** The cases of the controller ecsbinding on an API server in memory, under a clock that tests move. */
import { ecsbindingCases } from "../cases/ecsbinding.ts";
import { memoryTests } from "./_memory_site.ts";

memoryTests(ecsbindingCases, "ecsbinding");
