"""yaml-language-server, as VS Code runs it: a program that is asked about one file over its pipes."""

import json
import subprocess
from pathlib import Path
from typing import Any

PACKAGE = "yaml-language-server@1.25.0"


class LanguageServer:
    """Of one folder. Its npm package is installed there. Use it in a `with`."""

    def __init__(self, folder: Path, packages: Path) -> None:
        install = ["npm", "install", "--silent", "--no-audit", "--no-fund", PACKAGE]
        packages.mkdir()
        subprocess.run(install, cwd=packages, check=True, capture_output=True, timeout=300)
        self._folder = folder
        self._process = subprocess.Popen(
            [packages / "node_modules/.bin/yaml-language-server", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._number = 0

    def __enter__(self) -> "LanguageServer":
        self.ask("initialize", {"rootUri": self._folder.as_uri(), "processId": None, "capabilities": {}})
        self._send({"method": "initialized", "params": {}})
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def problems(self, file: str, text: str) -> list[str]:
        """What it says of a file with this text: line, column and message, both from 1."""
        uri = self._open(file, text)
        said = self._until(
            lambda one: one.get("method") == "textDocument/publishDiagnostics" and one["params"]["uri"] == uri
        )
        found = said["params"]["diagnostics"]
        places = [(one["range"]["start"], one["message"]) for one in found]
        return [f"{at['line'] + 1}:{at['character'] + 1}: {message}" for at, message in places]

    def completions(self, file: str, text: str, line: int, column: int) -> list[str]:
        """What it offers at a place, both from 1."""
        document = {"uri": self._open(file, text)}
        position = {"line": line - 1, "character": column - 1}
        answer = self.ask("textDocument/completion", {"textDocument": document, "position": position})
        return [one["label"] for one in answer["items"]]

    def _open(self, file: str, text: str) -> str:
        uri = (self._folder / file).as_uri()
        about = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": about}})
        return uri

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        self._number += 1
        number = self._number
        self._send({"id": number, "method": method, "params": params})
        return self._until(lambda one: one.get("id") == number and "method" not in one)["result"]

    def _until(self, is_it: Any) -> Any:
        while True:
            said = self._read()
            if is_it(said):
                return said
            if "id" in said and "method" in said:  # it asks for settings; it gets the usual ones
                items = said.get("params", {}).get("items", [])
                self._send({"id": said["id"], "result": [None] * len(items) or None})

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self._process.stdin.flush()

    def _read(self) -> Any:
        assert self._process.stdout is not None
        size = 0
        while line := self._process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            size = int(value) if name.lower() == b"content-length" else size
        if not size:
            raise EOFError("yaml-language-server has ended")
        return json.loads(self._process.stdout.read(size))
