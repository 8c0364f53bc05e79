import { fileURLToPath } from "node:url";

import { defineConfig } from "vite";

export default defineConfig({
  base: "/static/explorer/", // where the API mounts the bundle
  resolve: { alias: { "helix-memory": fileURLToPath(new URL("../../sdk/typescript/src/index.ts", import.meta.url)) } },
  worker: { format: "es" },
  build: {
    outDir: "../../helix/_data/explorer", // git-ignored; part of a wheel that is built afterwards
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0, // the content security policy lets nothing in but files of the daemon
    modulePreload: { polyfill: false },
  },
});
