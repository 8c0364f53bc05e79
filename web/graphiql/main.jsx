// GraphiQL for Helix: same origin only, so the cookie that `helix open` set is all the login there is.
import "graphiql/setup-workers/vite";
import "graphiql/style.css";
import "@graphiql/plugin-explorer/style.css";

import { explorerPlugin } from "@graphiql/plugin-explorer";
import { useGraphiQL, useGraphiQLActions } from "@graphiql/react";
import { createGraphiQLFetcher } from "@graphiql/toolkit";
import { GraphiQL, HISTORY_PLUGIN } from "graphiql";
import { createRoot } from "react-dom/client";

import { isDaemon } from "../shared/daemon.ts";

const EXAMPLES = Object.entries(import.meta.glob("./examples/*.graphql", { query: "?raw", import: "default", eager: true }))
  .sort(([one], [other]) => one.localeCompare(other))
  .map(([, text]) => text);

const endpoint = new URL("/graphql", window.location.href);
const socket = new URL(endpoint);
socket.protocol = endpoint.protocol === "https:" ? "wss:" : "ws:";

const fetcher = createGraphiQLFetcher({
  url: endpoint.href,
  subscriptionUrl: socket.href,
  fetch: (input, init) => fetch(input, { ...init, credentials: "same-origin" }),
});
/** Asks the daemon that this page is of, and nobody who listens in its place. */
const proven = async (asked, options) => {
  if (!(await isDaemon())) throw new Error("The daemon has ended: close this page and run `helix open`.");
  return fetcher(asked, options);
};

/** The examples: a click opens one in a tab of its own. */
function Examples() {
  const { addTab } = useGraphiQLActions();
  const editor = useGraphiQL((state) => state.queryEditor);
  const open = (query) => {
    addTab();
    editor?.setValue(query);
  };
  return (
    <section className="examples">
      <h2>Examples</h2>
      <ul>
        {EXAMPLES.map((query) => {
          const [comment] = query.split("\n", 1);
          return (
            <li key={comment}>
              <button type="button" className="graphiql-un-styled" onClick={() => open(query)}>
                {comment.slice(2)}
              </button>
            </li>
          );
        })}
      </ul>
      <p>
        <a href="/">Back to the explorer</a>
      </p>
    </section>
  );
}

const EXAMPLES_PLUGIN = {
  title: "Examples",
  icon: () => (
    <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth="1.5" aria-hidden="true">
      <path d="M5 4h11l3 3v13H5zM9 10h6M9 14h6" />
    </svg>
  ),
  content: Examples,
};

createRoot(document.getElementById("graphiql")).render(
  <GraphiQL
    fetcher={proven}
    defaultQuery={EXAMPLES[0]}
    plugins={[EXAMPLES_PLUGIN, explorerPlugin({ showAttribution: false }), HISTORY_PLUGIN]}
  >
    <GraphiQL.Logo>Helix</GraphiQL.Logo>
  </GraphiQL>,
);
