/** What a new cluster has before its first request, and what the server derives from objects: APIServices, addresses. */
export { createDefaultObjects } from "./default_objects.ts";
export { DerivedObjects } from "./derived_objects.ts";
export { advertise, type Advertised } from "./kubernetes_service.ts";
