"""Run other projects' own tests of live servers against xsgi.

    PYTHONPATH=build/dev/python .venv/bin/python tests/suites/run.py
    ... tests/suites/run.py werkzeug -k chunked

Their source packages come from pip, pinned by hash in requirements.txt, into
.cache/suites. What is expected to fail, and why, stands in django_live.py and
werkzeug_live.py. Exits with 0 if all is as expected.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CACHE = ROOT / ".cache" / "suites"
REQUIREMENTS = HERE / "requirements.txt"

DJANGO = ("servers", "staticfiles_tests.test_liveserver")


def fetch():
    """The folders of the sources, by name."""
    stamp = CACHE / "requirements.txt"
    wanted = REQUIREMENTS.read_text()
    if not stamp.exists() or stamp.read_text() != wanted:
        shutil.rmtree(CACHE, ignore_errors=True)
        CACHE.mkdir(parents=True)
        command = [sys.executable, "-I", "-m", "pip", "download", "-q"]
        command += ["--no-deps", "--no-binary", ":all:", "--require-hashes"]
        command += ["-r", str(REQUIREMENTS), "-d", str(CACHE)]
        subprocess.run(command, check=True)
        for archive in CACHE.glob("*.tar.gz"):
            with tarfile.open(archive) as tar:
                tar.extractall(CACHE, filter="data")
        stamp.write_text(wanted)
    folders = [path for path in CACHE.iterdir() if path.is_dir()]
    return {path.name.partition("-")[0]: path for path in folders}


def run(command, folder, *path):
    path = [str(each) for each in path]
    path += [os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    return subprocess.run([sys.executable, *command], cwd=folder, env=env)


def django(folder, args):
    command = [str(HERE / "django_live.py"), *(args or DJANGO)]
    helpers = ROOT / "tests" / "python"
    return run(command, folder / "tests", folder, helpers).returncode


def werkzeug(folder, args):
    shutil.copy(HERE / "werkzeug_run.py", folder / "tests/live_apps/run.py")
    command = ["-m", "pytest", "-q", "-p", "werkzeug_live", "-m", "dev_server"]
    command += ["tests/test_serving.py", *args]
    return run(command, folder, HERE, folder / "src").returncode


def main(name=None, *args):
    suites = {"django": django, "werkzeug": werkzeug}
    folders = fetch()
    failed = 0
    for each in [name] if name else suites:
        failed |= suites[each](folders[each], args)
    sys.exit(failed)


if __name__ == "__main__":
    main(*sys.argv[1:])
