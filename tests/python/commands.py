"""The command line, called in this process, for tests."""

import pytest

from xsgi import cli


def complaint(capsys, *args):
    """The exit code and the one line of a command that fails."""
    with pytest.raises(SystemExit) as caught:
        cli.main(list(args))
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("xsgi: ")
    assert err.count("\n") == 1
    return caught.value.code, err
