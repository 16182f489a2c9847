"""_xsgi.pyi says what _xsgi has."""

import ast
import pathlib

import xsgi
from xsgi import _xsgi


def stub():
    path = pathlib.Path(xsgi.__file__).parent / "_xsgi.pyi"
    return ast.parse(path.read_text())


def names(body):
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            yield node.name
        elif isinstance(node, ast.AnnAssign):
            yield node.target.id


def test_stub_has_each_public_name_of_the_module():
    public = {name for name in dir(_xsgi) if not name.startswith("__")}

    assert public == set(names(stub().body)) - {"__version__"}


def test_stub_has_each_public_member_of_each_type():
    for node in stub().body:
        if not isinstance(node, ast.ClassDef):
            continue
        kind = getattr(_xsgi, node.name)
        if issubclass(kind, BaseException):
            continue
        public = {name for name in vars(kind) if not name.startswith("_")}

        assert public == set(names(node.body)) - {"__new__"}, node.name
