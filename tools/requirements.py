"""Print what pyproject.toml asks for, one requirement a line, for pip.

    tools/requirements.py [EXTRA...]

The package's own dependencies come first. It exists so that the development
environment can be installed without building the package.
"""

import pathlib
import sys

try:
    import tomllib
except ImportError:  # Python 3.10; every virtualenv has pip's copy
    from pip._vendor import tomli as tomllib


def main(extras: list[str]) -> None:
    root = pathlib.Path(__file__).resolve().parent.parent
    with open(root / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    lists = [project["dependencies"]]
    lists += [project["optional-dependencies"][extra] for extra in extras]
    print(*(line for each in lists for line in each), sep="\n")


main(sys.argv[1:])
