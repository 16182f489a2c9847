"""What the kernel says of connections, for tests of who has closed one."""

import pathlib

# As in /proc/net/tcp.
FIN_WAIT, TIME_WAIT = {"04", "05"}, {"06"}
OURS, PEERS = 0, 1


def has_state(states, end, port):
    """Whether a connection whose ``end`` has ``port`` is in one of them."""
    lines = pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
    for line in lines:
        _, *ends, state = line.split()[:4]
        if state in states and ends[end].endswith(f":{port:04X}"):
            return True
    return False
