import { Link } from "react-aria-components";
import { useRouteError } from "react-router";

import { Empty, Failed } from "../parts/states";

/** A view that failed while it was drawn. */
export function Broken() {
  return <Failed error={useRouteError()} again={() => window.location.reload()} />;
}

export function NoSuchPage() {
  return (
    <Empty title="There is no such page.">
      <Link className="link" href="/">
        Ask something
      </Link>
    </Empty>
  );
}
