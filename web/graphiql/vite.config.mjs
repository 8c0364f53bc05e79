import { defineConfig } from "vite";

export default defineConfig({
  base: "/static/graphiql/", // where the API mounts the bundle
  worker: { format: "es" },
  build: {
    outDir: "../../helix/_data/graphiql", // git-ignored; part of a wheel that is built afterwards
    emptyOutDir: true,
    target: "es2022",
    chunkSizeWarningLimit: 8192, // Monaco is one large chunk, read from the local disk
  },
});
