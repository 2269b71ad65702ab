/** The cases of the controller ingress on an API server in memory, with a virtual clock. */
import { ingressCases } from "../cases/ingress.ts";
import { memoryTests } from "./_memory_environment.ts";

memoryTests(ingressCases);
