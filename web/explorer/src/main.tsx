import "./styles.css";

import { QueryClientProvider } from "@tanstack/react-query";
import { lazy, StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { RouterProvider } from "react-aria-components";
import { createBrowserRouter, RouterProvider as Routes, useHref, useNavigate } from "react-router";

import { queries } from "./api";
import { Loading } from "./parts/states";
import { App } from "./shell/App";
import { Broken, NoSuchPage } from "./shell/Broken";
import { applyTheme } from "./shell/theme";
import { Ask } from "./views/Ask";
import { Decide } from "./views/Decide";
import { Happened, SessionView } from "./views/Happened";
import { Health } from "./views/Health";
import { InsightView, Insights } from "./views/Insights";
import { MemoryView } from "./views/MemoryView";
import { PlanView } from "./views/PlanView";
import { TaskView } from "./views/TaskView";
import { Transfer } from "./views/Transfer";

// Loaded with the page: once its daemon has ended, another program may answer where it was.
const [graph, helps] = [import("./views/Graph"), import("./views/Helps")];
const Graph = lazy(() => graph);
const Helps = lazy(() => helps);

/** Has react-aria's links go through the router. */
function Root() {
  const navigate = useNavigate();
  return (
    <RouterProvider navigate={(to) => void navigate(to)} useHref={useHref}>
      <App />
    </RouterProvider>
  );
}

const later = (view: React.ReactNode) => <Suspense fallback={<Loading what="this view" />}>{view}</Suspense>;

const router = createBrowserRouter([
  {
    element: <Root />,
    errorElement: (
      <main className="main">
        <Broken />
      </main>
    ),
    children: [
      {
        errorElement: <Broken />, // what breaks in a view leaves the way to the others
        children: [
          { path: "/", element: <Ask /> },
          { path: "/memory/:name", element: <MemoryView /> },
          { path: "/graph", element: later(<Graph />) },
          { path: "/happened", element: <Happened /> },
          { path: "/happened/session/:name", element: <SessionView /> },
          { path: "/plans/:id", element: <PlanView /> },
          { path: "/tasks/:id", element: <TaskView /> },
          { path: "/insights", element: <Insights /> },
          { path: "/insights/:id", element: <InsightView /> },
          { path: "/decide", element: <Decide /> },
          { path: "/helps", element: later(<Helps />) },
          { path: "/health", element: <Health /> },
          { path: "/transfer", element: <Transfer /> },
          { path: "*", element: <NoSuchPage /> },
        ],
      },
    ],
  },
]);

applyTheme();
createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Routes router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
