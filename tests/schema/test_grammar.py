"""Texts that people write: what each means, and what is said where it means nothing."""

from collections.abc import Callable
from typing import Any

import pytest
from berth.schema import grammar
from berth.schema.documentproblems import Refusal, shown

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
# fmt: on
NAME_RULE = "Write at most 63 of a-z, 0-9 and -, with a letter or digit at both ends."
VALUE_RULE = "Write at most 63 letters, digits, -, _ and ., with a letter or digit at both ends."
KEY_RULE = (
    "Write at most 63 letters, digits, -, _ and ., if need be after a domain and a slash: example.org/course."
)
RESOURCE_RULE = "Write cpu, memory, ephemeral-storage, or a device such as nvidia.com/gpu."


def refused(read: Callable[[str], Any], text: str) -> str:
    with pytest.raises(Refusal) as caught:
        read(text)
    return f"{caught.value.code} {caught.value.message} {caught.value.fix}"


def accepts(read: Callable[[str], Any], text: str) -> bool:
    try:
        read(text)
    except Refusal:
        return False
    return True


def test_names_that_are_dns_labels() -> None:
    for text in LABELS:
        assert text == grammar.dns_label(text) == grammar.dns_name(text)


def test_names_that_are_none() -> None:
    for text in NO_LABELS:
        refusal = refused(grammar.dns_label, text)

        assert refusal.startswith(f"B019 {shown(text)} is not a name that Kubernetes allows. ")
        assert refusal.endswith(NAME_RULE)


@tabled("schema")
def test_a_name_that_is_nearly_one_is_refused_with_the_one_that_was_meant(text: str, meant: str) -> None:
    for read in (grammar.dns_label, grammar.dns_name):
        assert f" Did you mean {meant}? Write at most " in refused(read, text)
    for nothing in ("", "-", "a" * 64, "\u0430\u0431"):
        assert "Did you mean" not in refused(grammar.dns_label, nothing)


def test_names_with_dots_have_at_most_253_characters() -> None:
    assert accepts(grammar.dns_name, "a.b-c.1")
    assert accepts(grammar.dns_name, "a" * 253)
    for text in ("a" * 254, "a..b", ".a", "a.", "a.-b", "A.b", ""):
        assert " is not a name that Kubernetes allows. " in refused(grammar.dns_name, text)
        assert refused(grammar.dns_name, text).endswith(
            "Write at most 253 of a-z, 0-9, - and ., with a letter or digit at both ends of each part."
        )


def test_our_namespace_is_none_of_kubernetes_own() -> None:
    assert grammar.own_namespace("berth") == "berth"
    assert grammar.own_namespace("kubernetes") == "kubernetes"
    for text in ("default", "kube-system", "kube-anything"):
        assert refused(grammar.own_namespace, text) == (
            f'B019 "{text}" belongs to Kubernetes; Berth needs a namespace of its own. '
            "Write another one, for instance berth."
        )
    assert refused(grammar.own_namespace, "a_b").endswith(NAME_RULE)


def test_keys_of_labels() -> None:
    for text in KEYS:
        assert text == grammar.label_key(text)


def test_keys_of_labels_that_are_none() -> None:
    for text in NO_KEYS:
        told = shown(text)

        assert (
            refused(grammar.label_key, text) == f"B019 {told} is not a key that Kubernetes allows. {KEY_RULE}"
        )


def test_values_of_labels() -> None:
    for text in ("", "a", "A.b_c-D", "1e3", "x" * 63):
        assert text == grammar.label_value(text)
    for text in ("-1", "a.", "_", "a b", "ä", "x" * 64, "a/b", "a\n"):
        told = shown(text)
        assert refused(grammar.label_value, text) == (
            f"B019 {told} is not a label value that Kubernetes allows. {VALUE_RULE}"
        )


def test_quantities() -> None:
    for text in ("0", "500m", "1.5", "4Gi", "+2", "1e3", "1n", ".5"):
        assert text == grammar.quantity(text)
    assert refused(grammar.quantity, "-1") == 'B022 "-1" is negative. Write 0 or more.'
    for text in ("", "Gi", "0x10", "\u0967", "1,000", "4 apples", "4GB4"):
        assert refused(grammar.quantity, text) == (
            f'B022 "{text}" is not a quantity that Kubernetes reads. '
            'Write a number with a unit, for instance "500m", "2" or "4Gi".'
        )


@tabled("schema")
def test_a_quantity_in_other_words_is_answered_with_the_one_that_is_meant(text: str, meant: str) -> None:
    assert refused(grammar.quantity, text) == (
        f'B022 "{text}" is not a quantity that Kubernetes reads. Did you mean "{meant}"?'
    )
    assert grammar.quantity(meant) == meant


def test_images() -> None:
    for text in IMAGES:
        assert text == grammar.image(text)


def test_images_that_are_none() -> None:
    for text in NO_IMAGES:
        told = shown(text)

        assert refused(grammar.image, text) == (
            f"B019 {told} is not the name of a container image. "
            "Write registry/name:tag or registry/name@sha256:digest."
        )


def test_addresses_of_web_servers() -> None:
    for text in (
        "https://renkulab.io",
        "http://renku",
        "http://10.0.0.1:8080",
        "https://[::1]:6443/x",
        "https://a.b/c/d~e%20",
    ):
        assert text == grammar.url(text)
    assert grammar.url("https://renkulab.io//") == "https://renkulab.io"
    assert refused(grammar.url, "a.b:80/c") == (
        'B014 "a.b:80/c" is not the address of a web server. Write https://a.b:80/c.'
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "https://",
        "https:///x",
        "HTTPS://a",
        "file:///etc/passwd",
        "https://me:secret@a",
        "https://a b",
        "https://a?b",
        "https://a#b",
        "https://a\n",
        "https://\u00e4",
        "https://a:123456",
        "https://" + "a" * 500,
    ],
)
def test_what_is_no_address_of_a_web_server(text: str) -> None:
    assert refused(grammar.url, text) == (
        f"B014 {shown(text)} is not the address of a web server. "
        "Write https:// and the name of the server, for instance https://renkulab.io."
    )


def test_keys_of_secrets() -> None:
    for text in ("token", ".dockerconfigjson", "a_B-1", "a" * 253):
        assert text == grammar.secret_key(text)
    for text in ("", ".", "..", "a/b", "a" * 254, "\u00e4", "a\n"):
        assert refused(grammar.secret_key, text) == (
            f"B019 {shown(text)} is not a key that a Secret may have. "
            "Write at most 253 letters, digits, -, _ and ., for instance token."
        )


def test_ids_of_renku_are_26_characters_without_i_l_o_and_u() -> None:
    assert grammar.ulid("01JC3CB5426KC7P5STS5X3KSS8") == "01JC3CB5426KC7P5STS5X3KSS8"
    for text in ("", "01JC3CB5426KC7P5STS5X3KSS", "81JC3CB5426KC7P5STS5X3KSS8", "01jc3cb5426kc7p5sts5x3kss8"):
        assert refused(grammar.ulid, text) == (
            f'B019 "{text}" is not a ULID. Write the 26 characters that Renku shows.'
        )
    assert not accepts(grammar.ulid, "01JC3CB5426KC7P5STS5X3KSSU")


def test_resources_of_a_container() -> None:
    for text in RESOURCES:
        assert text == grammar.resource_name(text)


def test_what_a_container_cannot_request() -> None:
    for text in NO_RESOURCES:
        told = shown(text)

        assert refused(grammar.resource_name, text) == (
            f"B022 {told} is not a resource that a container can request. {RESOURCE_RULE}"
        )


def test_the_page_size_of_huge_pages_is_known_in_billionths() -> None:
    assert grammar.page_size("hugepages-2Mi") == 2 * 2**20 * 10**9
    assert grammar.page_size("memory") == 0
