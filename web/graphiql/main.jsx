// GraphiQL for Helix: same origin only, so the cookie that `helix open` set is all the login there is.
import "graphiql/setup-workers/vite";
import "graphiql/style.css";

import { createGraphiQLFetcher } from "@graphiql/toolkit";
import { GraphiQL } from "graphiql";
import { createRoot } from "react-dom/client";

const DEFAULT_QUERY = `# Ctrl-Enter asks; then change the question.
query Recall {
  recall(
    query: "why did the tests break"
    limit: 5
    explain: true
  ) {
    items {
      score
      text
      reason
      node {
        __typename
        id
      }
    }
    mode
    notes
  }
}
`;

const endpoint = new URL("/graphql", window.location.href);
const socket = new URL(endpoint);
socket.protocol = endpoint.protocol === "https:" ? "wss:" : "ws:";

const fetcher = createGraphiQLFetcher({
  url: endpoint.href,
  subscriptionUrl: socket.href,
  fetch: (input, init) => fetch(input, { ...init, credentials: "same-origin" }),
});

createRoot(document.getElementById("graphiql")).render(
  <GraphiQL fetcher={fetcher} defaultQuery={DEFAULT_QUERY}>
    <GraphiQL.Logo>Helix</GraphiQL.Logo>
  </GraphiQL>,
);
