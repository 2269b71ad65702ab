/** The cases of the controller pods on an API server in memory, under a clock that tests move. */
import { podsCases } from "../cases/pods.ts";
import { memoryTests } from "./_memory_site.ts";

memoryTests(podsCases);
