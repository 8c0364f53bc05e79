"""Server errors: what a server of PostgreSQL says, as an error of Helix's own with what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors
from psycopg_pool import PoolTimeout

from helix.errors import DiskFullError, EngineError, HelixError, InvalidInputError, StoreError

_ANEW = "check that the server runs and that its address is right, then try again"
_PASSWORD = "have the role's password in PGPASSWORD or in the file that PGPASSFILE names; `psql ADDRESS` asks the same"
_USED_UP = "it lets no more connections in: end some, or raise its `max_connections` or the role's CONNECTION LIMIT"
_SAID = {
    "password": _PASSWORD,
    "too many connections": _USED_UP,
    "too many clients": _USED_UP,
    "connection slots are reserved": _USED_UP,
}
"""What a server that refuses a connection says, which has no code then; with what to do about it."""
_CHECK = "`helix engine check ADDRESS`"
_WITHOUT_PGVECTOR = "install it again, or have whoever runs the server drop the index: `helix engine index --drop`"
_READS_ALONE = "name its primary: several hosts in one address with `target_session_attrs=read-write` find it"


@contextmanager
def mapped() -> Iterator[None]:
    """Turn PostgreSQL's errors into Helix's own."""
    try:
        yield
    except HelixError:
        raise
    except errors.DiskFull as error:
        raise DiskFullError("the server has no room left", hint="nothing was lost: free some space there") from error
    except errors.ReadOnlySqlTransaction as error:
        raise EngineError("the server can only be read: it is a standby, or was set so", hint=_READS_ALONE) from error
    except (errors.UndefinedFile, errors.UndefinedFunction, errors.UndefinedObject) as error:
        if "vector" not in str(error):
            raise StoreError(f"the server refused a statement: {str(error).strip()}", hint=_CHECK) from error
        said = "the server has lost pgvector, without which an index of vectors cannot follow"
        raise StoreError(said, hint=_WITHOUT_PGVECTOR) from error
    except (PoolTimeout, psycopg.OperationalError) as error:
        said = str(error).strip()
        hint = next((hint for words, hint in _SAID.items() if words in said), _ANEW)
        raise EngineError(f"the server cannot be used: {said}", hint=hint) from error
    except psycopg.DataError as error:
        raise InvalidInputError(f"a server cannot keep this: {str(error).strip()}") from error
    except errors.InsufficientPrivilege as error:
        raise StoreError(
            f"the server refused a statement: {str(error).strip()}",
            hint="use the address of the role that owns the tables; it lets the serving role in with"
            " `helix engine migrate ADDRESS --role ROLE`",
        ) from error
    except psycopg.Error as error:
        raise StoreError(f"the server refused a statement: {str(error).strip()}", hint=_CHECK) from error
