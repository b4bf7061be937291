"""Texts that people write: which each grammar takes, and what is meant by some that it refuses."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from berth.schema import grammar
from berth.schema.documentproblems import Refusal

from tests.cases import tabled

LONG_DOMAIN = ("d" * 60 + ".") * 4
# fmt: off
LABELS = ("a", "1", "a-b", "a--b", "0a", "a" * 63)
NO_LABELS = ("", "A", "a_b", "-a", "a-", "a.b", "a" * 64, "ä", "a\n", "a b")
KEYS = ("a", "A", "1", "a.b_c-d", "x" * 63, "example.org/a", "a.b-c/X_1", f"{LONG_DOMAIN}abcdefghi/x")
NO_KEYS = (
    "", "-a", "a-", "a b", "ä", "x" * 64, "/a", "a/", "a/b/c", "Example.org/a", "a..b/c", "a_b/c", "-a/b",
    f"{LONG_DOMAIN}abcdefghij/x",
)
IMAGES = (
    "a", "python:3.13-slim", "registry.k8s.io/pause:3.10.1", "localhost:5000/a/b_c__d.e-f", "Example.ORG/a",
    f"a/b:c@sha256:{'0' * 64}", "x" * 255, f"a:{'t' * 128}",
)
NO_IMAGES = (
    "", "A", "a/B", "a:b:c", "a/", "/a", "a//b", "a b", " a", "a___b", "a..b", "http://a/b", "a:-t",
    "a@sha256:00", "x" * 256, f"a:{'t' * 129}", "x/" * 300,
)
RESOURCES = (
    "cpu", "memory", "ephemeral-storage", "nvidia.com/gpu", "koordinator.sh/gpu-core", "hugepages-2Mi",
    "hugepages-1Gi", "hugepages-1.5Mi", "requests/x", f"{LONG_DOMAIN[:-61]}{'d' * 61}/x",
)
NO_RESOURCES = (
    "", "gpu", "storage", "pods", "limits.cpu", "requests.cpu", "requests.a.com/x", "kubernetes.io/x",
    "a.kubernetes.io/x", "Example.org/gpu", "a/b/c", "a/", "x/-a", f"{LONG_DOMAIN}d/x", "hugepages-",
    "hugepages-0", "hugepages-500m", "hugepages--2Mi", "hugepages-+2Mi", "hugepages-x", "hugepages-5Ei",
)
NAMES = ("a.b-c.1", "a" * 253)
NO_NAMES = ("a" * 254, "a..b", ".a", "a.", "a.-b", "A.b", "")
VALUES = ("", "a", "A.b_c-D", "1e3", "x" * 63)
NO_VALUES = ("-1", "a.", "_", "a b", "ä", "x" * 64, "a/b", "a\n")
QUANTITIES = ("0", "500m", "1.5", "4Gi", "+2", "1e3", "1n", ".5")
NO_QUANTITIES = ("-1", "", "Gi", "0x10", "\u0967", "1,000", "4 apples", "4GB4")
URLS = (
    "https://renkulab.io", "http://renku", "http://10.0.0.1:8080", "https://[::1]:6443/x", "https://a.b/c/d~e%20",
)
NO_URLS = (
    "", "https://", "https:///x", "HTTPS://a", "file:///etc/passwd", "https://me:secret@a", "https://a b",
    "https://a?b", "https://a#b", "https://a\n", "https://\u00e4", "https://a:123456", "https://" + "a" * 500,
)
SECRET_KEYS = ("token", ".dockerconfigjson", "a_B-1", "a" * 253)
NO_SECRET_KEYS = ("", ".", "..", "a/b", "a" * 254, "\u00e4", "a\n")
ULIDS = ("01JC3CB5426KC7P5STS5X3KSS8",)
NO_ULIDS = (
    "", "01JC3CB5426KC7P5STS5X3KSS", "81JC3CB5426KC7P5STS5X3KSS8", "01jc3cb5426kc7p5sts5x3kss8",
    "01JC3CB5426KC7P5STS5X3KSSU",
)
OWN = ("berth", "kubernetes")
NOT_OWN = ("default", "kube-system", "kube-anything", "a_b")
# fmt: on


def refused(read: Callable[[str], Any], text: str) -> Refusal:
    with pytest.raises(Refusal) as caught:
        read(text)
    return caught.value


@pytest.mark.parametrize(
    ("read", "good", "code", "bad"),
    [
        (grammar.dns_label, LABELS, "B019", NO_LABELS),
        (grammar.dns_name, (*LABELS, *NAMES), "B019", NO_NAMES),
        (grammar.own_namespace, OWN, "B019", NOT_OWN),
        (grammar.label_key, KEYS, "B019", NO_KEYS),
        (grammar.label_value, VALUES, "B019", NO_VALUES),
        (grammar.quantity, QUANTITIES, "B022", NO_QUANTITIES),
        (grammar.image, IMAGES, "B019", NO_IMAGES),
        (grammar.url, URLS, "B014", NO_URLS),
        (grammar.secret_key, SECRET_KEYS, "B019", NO_SECRET_KEYS),
        (grammar.ulid, ULIDS, "B019", NO_ULIDS),
        (grammar.resource_name, RESOURCES, "B022", NO_RESOURCES),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_grammar_takes_some_texts_and_refuses_others(
    read: Callable[[str], Any], good: Sequence[str], code: str, bad: Sequence[str]
) -> None:
    assert [read(text) for text in good] == [*good]
    assert [(text, refused(read, text).code) for text in bad] == [(text, code) for text in bad]


@tabled("schema")
def test_a_nearly_valid_name_is_refused_with_a_suggestion(text: str, meant: str) -> None:
    for read in (grammar.dns_label, grammar.dns_name):
        assert refused(read, text).fix.startswith(f"Did you mean {meant}? Write at most ")
    for nothing in ("", "-", "a" * 64, "\u0430\u0431"):
        assert "Did you mean" not in refused(grammar.dns_label, nothing).fix


@tabled("schema")
def test_an_invalid_quantity_is_refused_with_a_suggestion(text: str, meant: str) -> None:
    assert refused(grammar.quantity, text).fix == f'Did you mean "{meant}"?'
    assert grammar.quantity(meant) == meant


def test_a_refusal_says_what_to_write() -> None:
    for read, text, fix in (
        (grammar.quantity, "-1", "Write 0 or more."),
        (grammar.url, "a.b:80/c", "Write https://a.b:80/c."),
        (grammar.own_namespace, "default", "Write another one, for instance berth."),
    ):
        assert refused(read, text).fix == fix


def test_slashes_at_the_end_of_an_address_say_nothing() -> None:
    assert grammar.url("https://renkulab.io//") == "https://renkulab.io"


def test_the_page_size_of_huge_pages_is_parsed() -> None:
    assert grammar.page_size("hugepages-2Mi") == 2 * 2**20 * 10**9
    assert grammar.page_size("memory") == 0
