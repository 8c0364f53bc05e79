/** The button below a list that has further pages. */
import { Button } from "react-aria-components";

interface Pages {
  hasMore: boolean;
  more: () => void;
  total: number;
}

export function More({ of: { hasMore, more, total } }: { of: Pages }) {
  return (
    hasMore && (
      <Button className="button" onPress={more}>
        More of {total.toLocaleString()}
      </Button>
    )
  );
}
