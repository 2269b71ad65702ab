/** The cases of the controller foo on an API server in memory, under a clock that tests move. */
import { fooCases } from "../cases/foo.ts";
import { memoryTests } from "./_memory_site.ts";

memoryTests(fooCases, "foo");
