"""What several tests of the runtime share."""

import shutil
from pathlib import Path

import pytest

from tests.runtime.stub_server import make_account


@pytest.fixture(scope="session")
def account(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A service account and the certificate of a server that it trusts, made once."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not on this machine: nothing can sign the certificate of the test server")
    return make_account(tmp_path_factory.mktemp("account") / "serviceaccount")
