"""Asks a server which tables hold personal data, and where the jobs carry it: ask.py URL [DAY]"""

import sys
from datetime import datetime, timezone

from annals_client import Client
from annals_client.api.graph import get_entities_id_reach
from annals_client.api.search import get_entities
from annals_client.models import Problem
from annals_client.types import UNSET


def items(page):
    if isinstance(page, Problem):
        sys.exit(f"{page.title}: {page.detail}")
    return page.items


url, *day = sys.argv[1:]
valid_at = datetime.fromisoformat(day[0]).replace(tzinfo=timezone.utc) if day else UNSET
with Client(base_url=url, raise_on_unexpected_status=True) as client:
    search = "table where has out has-column to (classified pii)"
    for table in items(get_entities.sync(client=client, q=search, valid_at=valid_at)):
        along = ["reads:in", "writes:out"]
        reached = items(get_entities_id_reach.sync(table.id, client=client, type_=along, valid_at=valid_at))
        names = [item.entity.properties["name"] for item in reached if item.entity.type_ == "table"]
        print(f"{table.properties['name']} of {table.properties['owner']} -> {', '.join(names) or 'no table'}")
