// Adds the store's token to all that a program asks by HTTP, where nobody can tell it one.
import { createRequire } from "node:module";

const { Agent, setGlobalDispatcher } = createRequire(process.argv[1])("undici");
const token = `Bearer ${process.env.HELIX_TOKEN}`;

const signed = (send) => (request, handler) => {
  const { headers } = request;
  if (Array.isArray(headers)) headers.push("authorization", token);
  else if (typeof headers?.append === "function") headers.append("authorization", token);
  else request.headers = { ...headers, authorization: token };
  return send(request, handler);
};
setGlobalDispatcher(new Agent().compose(signed));
