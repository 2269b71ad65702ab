/** The cases of the controller pods on an API server in memory, with a virtual clock. */
import { podsCases } from "../cases/pods.ts";
import { memoryTests } from "./_memory_environment.ts";

memoryTests(podsCases);
