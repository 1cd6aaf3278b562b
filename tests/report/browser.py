"""A headless Chromium over the WebDriver protocol, with nothing but the standard library."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE_S = 30.0


def chromium_present() -> bool:
    return bool(shutil.which("chromium") and shutil.which("chromedriver"))


class Browser:
    """One tab: open a page, run JavaScript in it, read its logs, take a picture."""

    def __init__(self, address: str, session: str) -> None:
        self._base = f"{address}/session/{session}"

    def _call(self, path: str, **body: Any) -> Any:
        return _post(f"{self._base}/{path}", body)

    def open(self, page: Path, width: int = 1280, height: int = 900) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.devtools("Emulation.setDeviceMetricsOverride", **metrics)
        self._call("url", url=page.resolve().as_uri())

    def devtools(self, command: str, **parameters: Any) -> Any:
        return self._call("goog/cdp/execute", cmd=command, params=parameters)

    def prefer(self, **features: str) -> None:
        """Pretend that the reader's system has these preferences, such as a dark scheme."""
        listed = [{"name": k.replace("_", "-"), "value": v} for k, v in features.items()]
        self.devtools("Emulation.setEmulatedMedia", features=listed)

    def run(self, script: str, *arguments: Any) -> Any:
        return self._call("execute/sync", script=script, args=list(arguments))

    def wait_for(self, script: str) -> Any:
        """What ``script`` returns as soon as it is true."""
        deadline = time.monotonic() + PATIENCE_S
        while not (found := self.run(script)):
            if time.monotonic() > deadline:
                raise AssertionError(f"never became true: {script}")
            time.sleep(0.05)
        return found

    def press(self, *keys: str) -> None:
        for key in keys:
            for kind in ("keyDown", "keyUp"):
                self.devtools("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def log(self, kind: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._call("se/log", type=kind)
        return found

    def requests(self) -> list[str]:
        """Addresses on a network that were asked for since the last call."""
        messages = [json.loads(entry["message"])["message"] for entry in self.log("performance")]
        asked = [
            m["params"]["request"]["url"]
            for m in messages
            if m["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in asked if not url.startswith(("file:", "data:", "chrome:"))]

    def screenshot(self, path: Path, whole_page: bool = False) -> Path:
        taken = self.devtools(
            "Page.captureScreenshot", format="png", captureBeyondViewport=whole_page
        )
        path.write_bytes(base64.b64decode(taken["data"]))
        return path


@contextmanager
def chromium(profile: Path) -> Iterator[Browser]:
    """A browser with a fresh profile, ended together with its driver."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    driver = subprocess.Popen(
        ["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    session = ""
    try:
        _wait_until_ready(address)
        session = _post(f"{address}/session", _capabilities(profile))["sessionId"]
        yield Browser(address, session)
    finally:
        if session:
            _send(urllib.request.Request(f"{address}/session/{session}", method="DELETE"))
        driver.terminate()
        driver.wait(PATIENCE_S)


def _capabilities(profile: Path) -> dict[str, Any]:
    options = {"binary": shutil.which("chromium"), "args": [*FLAGS, f"--user-data-dir={profile}"]}
    wanted = {
        "browserName": "chrome",
        "goog:chromeOptions": options,
        "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
    }
    return {"capabilities": {"alwaysMatch": wanted}}


def _wait_until_ready(address: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            if _send(urllib.request.Request(f"{address}/status"))["ready"]:
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.05)


def _post(url: str, body: dict[str, Any]) -> Any:
    data = json.dumps(body).encode()
    return _send(urllib.request.Request(url, data, {"Content-Type": "application/json"}))


def _send(request: urllib.request.Request) -> Any:
    # The driver is on this machine: no proxy may come between.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=PATIENCE_S) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        raise AssertionError(json.load(error)["value"]["message"]) from None
