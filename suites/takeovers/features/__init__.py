"""Features that take several requests: for each a client that uses it, and the rule that judges what the client was told."""
from typing import Callable, Iterator

from clients import Board, Client
from evidence import Evidence
from features.compactions import compactions
from features.confirmations import Confirming, confirmations
from features.contents import Downloading, Uploading, contents
from features.grants import Granting, Guest, grants
from features.keys import Repeating, keys
from features.leases import Leasing, leases

# Clients of every run; those that need a store of contents.
CLIENTS: tuple[Callable[[Board, int], Client], ...] = (Repeating, Confirming, Granting, Guest, Leasing)
CLIENTS_OF_CONTENTS: tuple[Callable[[Board, int], Client], ...] = (Uploading, Downloading)

RULES: tuple[Callable[[Evidence], Iterator[str]], ...] = (keys, confirmations, grants, leases, contents, compactions)
