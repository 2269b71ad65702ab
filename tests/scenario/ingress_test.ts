/** The cases of the controller ingress on an API server in memory, under a clock that tests move. */
import { ingressCases } from "../cases/ingress.ts";
import { memoryTests } from "./_memory_site.ts";

memoryTests(ingressCases);
