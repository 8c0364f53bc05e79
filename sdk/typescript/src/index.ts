export { Helix } from "./client.js";
export type { Address, Answer, Options } from "./client.js";
export type { Document } from "./document.js";
export * from "./errors.js";
export * from "./operations.js";
