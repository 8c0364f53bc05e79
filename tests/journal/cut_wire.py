"""A wire between a client and a server that can be cut at the moment at which the client asks for something."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from pathlib import Path


class Wire:
    """Listens in `folder` as a server of PostgreSQL does, and passes everything on to one, until it is cut."""

    def __init__(self, folder: Path, server: Path) -> None:
        self.folder = folder
        self._server = server
        self._word: bytes | None = None
        self._passes_on = True
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / ".s.PGSQL.5432"))
        self._listener.listen()
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def cut_at(self, word: bytes, *, passed_on: bool) -> None:
        """Cut the first connection whose client sends the word, once the server has it, or before it gets it."""
        self._word, self._passes_on = word, passed_on

    def close(self) -> None:
        """Take no more connections."""
        self._listener.shutdown(socket.SHUT_RDWR)  # or who waits at it would go on
        self._listener.close()
        self._accepting.join()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(str(self._server))
                threading.Thread(target=self._carry, args=(client, server), daemon=True).start()

    def _carry(self, client: socket.socket, server: socket.socket) -> None:
        back = threading.Thread(target=self._pass, args=(server, client, False))
        back.start()
        self._pass(client, server, True)
        back.join()
        client.close()
        server.close()

    def _pass(self, source: socket.socket, target: socket.socket, asks: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                if asks and self._word is not None and self._word in data:
                    self._word = None
                    source.shutdown(socket.SHUT_RDWR)
                    if not self._passes_on:
                        target.shutdown(socket.SHUT_RDWR)
                        return
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
