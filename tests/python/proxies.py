"""nginx and HAProxy as processes of their own, in front of a server.

They run in the foreground and, where the tests are root, as nobody: in a
folder of their own below /tmp, since that of pytest is for its user only.
Their sockets are opened here and inherited, so no port is guessed.
"""

import contextlib
import csv
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from raw import Client
from serving import PATIENCE, Served

LOCAL = ("127.0.0.1", 0)

#: Idle connections that a proxy keeps to the server.
POOL = 16

SEARCH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])

#: The environment of other programs: nothing is loaded into them that was
#: meant for ours, a sanitizer for instance.
PLAIN = {"PATH": SEARCH}


def find(program):
    """Its path, or None: distributions hide them from users."""
    return shutil.which(program, path=SEARCH)


def unprivileged():
    """Options of Popen, and who owns the folder."""
    if os.getuid() != 0:
        return {}, None
    nobody = pwd.getpwnam("nobody")
    options = {"user": nobody.pw_uid, "group": nobody.pw_gid}
    return {**options, "extra_groups": []}, nobody


@contextlib.contextmanager
def folder():
    """A folder that the proxy may write to, and the server's socket is in."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="xsgi-proxy-"))
    owner = unprivileged()[1]
    if owner is not None:
        os.chown(path, owner.pw_uid, owner.pw_gid)
    try:
        yield path
    finally:
        shutil.rmtree(path)


class Proxy:
    """A running proxy. Use it as a context manager.

    ``addresses`` are where it listens, one for each name of ``doors``.
    ``upstream`` is (host, port) or the path of a socket.
    """

    program: str
    doors: tuple[str, ...]
    reload_signal: int

    def __init__(self, folder, upstream, **options):
        self.folder = folder
        self.log = folder / "said.log"
        self.sockets = {name: socket.socket() for name in self.doors}
        for each in self.sockets.values():
            each.bind(LOCAL)
            each.listen(1024)
            each.setblocking(False)  # as nginx leaves them to its heir
        self.addresses = {
            name: each.getsockname() for name, each in self.sockets.items()
        }
        (folder / "conf").write_text(self.configuration(upstream, **options))
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                self.command(),
                env={**PLAIN, **self.environment()},
                pass_fds=[each.fileno() for each in self.sockets.values()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                **unprivileged()[0],
            )
        for each in self.sockets.values():
            each.close()

    def configuration(self, upstream, **options):
        raise NotImplementedError

    def command(self):
        raise NotImplementedError

    def environment(self):
        return {}

    def said(self):
        """All of its logs."""
        return self.log.read_text()

    def connect(self, door="main", **options):
        return Client(self.addresses[door], **options)

    def url(self, door="main"):
        host, port = self.addresses[door]
        return f"http://{host}:{port}"

    def reload(self):
        """Ask for new workers; the old ones finish what they have."""
        self.process.send_signal(self.reload_signal)

    def workers(self):
        """The ids of its workers."""
        pid = self.process.pid
        path = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
        return {int(each) for each in path.read_text().split()}

    def wait_for(self, happened, what):
        deadline = time.monotonic() + PATIENCE
        while not happened():
            assert self.process.poll() is None, self.said()
            assert time.monotonic() < deadline, f"{what}: {self.said()}"
            time.sleep(0.02)

    def stop(self):
        """SIGTERM; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def __enter__(self):
        self.wait_for(self.workers, "no workers")
        return self

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            try:
                self.stop()
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if kind is not None:
            print(self.said())


#: Ways to run an application, each over TCP and over a unix socket.
WAYS = {
    "wsgi": ("proxied_app:wsgi",),
    "wsgi-threads": ("proxied_app:wsgi", "--threads", "8"),
    "asgi": ("proxied_app:asgi", "--interface", "asgi3"),
}
SITES = [f"{way}-{kind}" for way in WAYS for kind in ("tcp", "unix")]


class Site(contextlib.ExitStack):
    """A server and a proxy of ``kind`` in front of it. A context manager.

    If the server's socket is ``inherited``, the server can be replaced.
    """

    def __init__(
        self, kind, way, *options, unix=False, inherited=False, **configuration
    ):
        super().__init__()
        self.way = way
        self.is_unix = unix
        with contextlib.ExitStack() as stack:
            where = stack.enter_context(folder())
            self.release = where / "release"
            args = (*WAYS[way], *options)
            env = {"RELEASE": str(self.release)}
            popen = {}
            if unix:
                args += ("--uds", str(where / "app.sock"))
            if inherited:
                sock = stack.enter_context(socket.create_server(LOCAL))
                args += ("--fd", str(sock.fileno()))
                popen["pass_fds"] = [sock.fileno()]
            self._serve = lambda: self.enter_context(
                Served(*args, env=env, **popen)
            )
            self.served = stack.enter_context(Served(*args, env=env, **popen))
            self.proxy = stack.enter_context(
                kind(where, self.served.address, **configuration)
            )
            self.push(stack.pop_all())

    def replace_server(self):
        """Start another on the same socket, then stop the old one."""
        old, self.served = self.served, self._serve()
        return old.stop()


NGINX = """\
daemon off;
pid nginx.pid;
worker_processes {workers};
error_log error.log info;
events {{ worker_connections 512; }}
http {{
    log_format short '$status $upstream_status $request_method $request_uri';
    access_log access.log short;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    client_max_body_size 64m;

    upstream application {{
        server {upstream};
        keepalive {pool};
        keepalive_timeout {keep_alive};
    }}

    # Keep-alive to the application, and who the client is.
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Host $http_host;
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    proxy_set_header X-Forwarded-Proto $scheme;
    proxy_set_header X-Forwarded-Host $http_host;

    server {{
        listen {main};
        location / {{ proxy_pass http://application; }}
    }}
    # Bodies pass through as they come, both ways.
    server {{
        listen {streaming};
        location / {{
            proxy_pass http://application;
            proxy_request_buffering off;
            proxy_buffering off;
        }}
    }}
    # HTTP/2 in front.
    server {{
        listen {h2} http2;
        location / {{
            proxy_pass http://application;
            proxy_request_buffering off;
            proxy_buffering off;
        }}
    }}
    # What nginx does when it is told nothing.
    server {{
        listen {plain};
        location / {{
            proxy_pass http://application;
            proxy_http_version 1.0;
            proxy_set_header Connection close;
        }}
    }}
}}
"""


class Nginx(Proxy):
    program = "nginx"
    doors = ("main", "streaming", "h2", "plain")
    reload_signal = signal.SIGHUP

    def configuration(self, upstream, workers=2, keep_alive="60s"):
        if isinstance(upstream, str):
            upstream = f"unix:{upstream}"
        else:
            upstream = "{}:{}".format(*upstream)
        listen = {
            name: "{}:{}".format(*address)
            for name, address in self.addresses.items()
        }
        return NGINX.format(
            upstream=upstream,
            workers=workers,
            keep_alive=keep_alive,
            pool=POOL,
            **listen,
        )

    def command(self):
        return [
            find("nginx"),
            "-p",
            str(self.folder),
            "-c",
            str(self.folder / "conf"),
            "-e",
            "error.log",
        ]

    def environment(self):
        fds = (str(each.fileno()) for each in self.sockets.values())
        return {"NGINX": "".join(f"{fd};" for fd in fds)}

    def said(self):
        paths = [self.log, self.folder / "error.log"]
        return "".join(each.read_text() for each in paths if each.exists())

    def answered(self):
        """A line for every request: status, the application's, what for."""
        return (self.folder / "access.log").read_text().splitlines()

    def complaints(self):
        """What it says of the application's conduct."""
        return [
            line
            for line in self.said().splitlines()
            if re.search(r"\[(error|crit|alert|emerg)\]", line)
        ]


HAPROXY = """\
global
    log stdout format raw local0
    stats socket {folder}/stats.sock mode 600 level admin expose-fd listeners
    nbthread 2

defaults
    mode http
    log global
    log-format "%ts %ST %HM %HU"
    timeout connect 5s
    timeout client 30s
    timeout server 30s
    timeout http-keep-alive 10s
    timeout check 10s

frontend main
    bind fd@{main}
    bind fd@{h2} proto h2
    default_backend application

backend application
    http-reuse always
    retry-on conn-failure empty-response
    http-request disable-l7-retry unless METH_GET
    option forwardfor
    {backend}
    http-request set-header X-Forwarded-Proto http
    http-request set-header X-Forwarded-Host %[req.hdr(host)]
    server application {upstream} {options}
"""


class Haproxy(Proxy):
    program = "haproxy"
    doors = ("main", "h2")
    reload_signal = signal.SIGUSR2

    def configuration(self, upstream, options="", backend=""):
        if isinstance(upstream, str):
            upstream = f"unix@{upstream}"
        else:
            upstream = "{}:{}".format(*upstream)
        return HAPROXY.format(
            folder=self.folder,
            upstream=upstream,
            options=f"pool-max-conn {POOL} {options}",
            backend=backend,
            **{name: each.fileno() for name, each in self.sockets.items()},
        )

    def command(self):
        config = str(self.folder / "conf")
        return [find("haproxy"), "-W", "-db", "-f", config]

    def answered(self):
        """A line for every request: termination state, status, what for."""
        lines = self.said().splitlines()
        return [line for line in lines if re.match(r"\S\S -?\d+ \S+ /", line)]

    def complaints(self):
        """Those that ended in another way than well or by the client."""
        return [line for line in self.answered() if line[0] not in "-C"]

    def health(self):
        """What its checks say of the server, L7OK or the like."""
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(str(self.folder / "stats.sock"))
            sock.sendall(b"show stat\n")
            text = sock.makefile().read()
        rows = csv.DictReader(text.removeprefix("# ").splitlines())
        (row,) = (row for row in rows if row["svname"] == "application")
        return row["check_status"]
