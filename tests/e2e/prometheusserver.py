"""A Prometheus in the cluster's network. It reads an exporter every 3 seconds, and evaluates each second."""

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.e2e.binaries import binary
from tests.e2e.cluster import Cluster
from tests.e2e.errors import E2EError
from tests.e2e.sandbox import CLUSTER_ADDRESS
from tests.e2e.waiting import wait_for

PORT = 9390
_URL = f"http://{CLUSTER_ADDRESS}:{PORT}"


class QueryError(E2EError):
    """Prometheus does not answer, or refuses."""


class Series(NamedTuple):
    labels: Mapping[str, str]
    values: list[tuple[float, float]]  # instants in seconds since the epoch


class PrometheusServer:
    def __init__(self, cluster: Cluster, folder: Path, rules: Path, target: str) -> None:
        """`target` is the address and port of the exporter."""
        config = {
            "global": {"scrape_interval": "3s", "scrape_timeout": "3s", "evaluation_interval": "1s"},
            "rule_files": [str(rules)],
            "scrape_configs": [
                {
                    "job_name": "kube-state-metrics",
                    "honor_labels": True,
                    "static_configs": [{"targets": [target]}],
                }
            ],
        }
        (folder / "prometheus.json").write_text(json.dumps(config))
        words = [f"--config.file={folder}/prometheus.json", f"--storage.tsdb.path={folder}/data"]
        words += [f"--web.listen-address={CLUSTER_ADDRESS}:{PORT}", "--log.level=warn"]
        self._component = cluster.add(str(binary("prometheus")), *words)

    def start(self) -> None:
        self._component.start()
        wait_for(lambda: self.ask("vector(1)"), 60, "Prometheus to answer")

    def stop(self) -> None:
        self._component.stop()

    def ask(self, query: str) -> list[dict[str, Any]]:
        """The answer now; an E2EError while it does not answer."""
        found: list[dict[str, Any]] = self._get("query", query=query)["result"]
        return found

    def history(self, query: str, first: float, last: float) -> list[Series]:
        """The answers of each second."""
        found = self._get("query_range", query=query, start=first, end=last, step=1)["result"]
        return [Series(one["metric"], [(at, float(value)) for at, value in one["values"]]) for one in found]

    def _get(self, what: str, **parameters: Any) -> dict[str, Any]:
        url = f"{_URL}/api/v1/{what}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                found: dict[str, Any] = json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise QueryError(f"{parameters}: {error.read().decode(errors='replace')[:300]}") from error
        except OSError as error:
            raise QueryError(f"{url}: {error}") from error
        return found
