"""Ladybug as a graph store: node tables with a primary key, relationship tables, and statements of Cypher.

The system allows one transaction that writes at a time and refuses all others at once. Threads that only repeat what was
refused starve each other for minutes, so that a lock of the program lets one after the other write.
There is no tuned form: with `enable_multi_writes`, release 0.22.0 connects edges to wrong vertices (783 of 800 edges of
4 threads, each of which appends to a chain of its own).
"""
import itertools
import pathlib
import threading

import ladybug

from loops import Conflict

# Node tables: of the chains, of the two halves of the bipartite graph, of the bulk graph.
TABLES = ("Point", "Source", "Target", "Numbered")
RELATIONSHIPS = {"Next": ("Point", "Point"), "Link": ("Source", "Target"), "Bulk": ("Numbered", "Numbered")}
TARGETS = "MATCH (a:Source)-[:Link]->(b:Target) WHERE a.id = $id RETURN b.id"
SOURCES = "MATCH (a:Source)-[:Link]->(b:Target) WHERE b.id = $id RETURN a.id"
TWO_HOPS = "MATCH (a:Numbered)-[:Bulk]->(b:Numbered)-[:Bulk]->(c:Numbered) WHERE a.id = $id RETURN b.id, c.id"
BUFFER_BYTES = 1 << 30
# What the system says when another transaction is in the way.
REFUSALS = ("only one write transaction", "conflict")


class Store:
    """The open system."""

    def __init__(self):
        self.ids = itertools.count()
        self.database = self.main = self.folder = None
        self.writing = threading.Lock()  # held by the worker that writes

    def settings(self):
        return {"buffer_pool_size": str(BUFFER_BYTES), "threads of a query": "1", "writers": "one, by a lock"}

    def open(self, folder):
        self.folder = pathlib.Path(folder)
        self.database = ladybug.Database(str(self.folder / "graph"), buffer_pool_size=BUFFER_BYTES)
        self.main = self.connect()
        for table in TABLES:
            self.main.execute(f"CREATE NODE TABLE IF NOT EXISTS {table} (id INT64, n INT64, PRIMARY KEY (id))")
        for name, (source, target) in RELATIONSHIPS.items():
            self.main.execute(f"CREATE REL TABLE IF NOT EXISTS {name} (FROM {source} TO {target})")

    def close(self):
        self.main.close()
        self.database.close()
        self.main = self.database = None

    def connect(self):
        # One thread a query: the measured threads are those of the program.
        return ladybug.Connection(self.database, num_threads=1)

    def worker(self):
        return Worker(self, self.connect())

    def count(self):
        vertices = sum(self.one(f"MATCH (a:{table}) RETURN count(*)") for table in TABLES)
        edges = sum(self.one(f"MATCH ()-[r:{name}]->() RETURN count(*)") for name in RELATIONSHIPS)
        return vertices, edges

    def one(self, statement, **values):
        return rows(self.main, statement, values)[0][0]

    def copy(self, files):
        """Loads tables from files, with all cores, which is the default of a connection."""
        connection = ladybug.Connection(self.database)
        try:
            for table, file in files.items():
                connection.execute(f'COPY {table} FROM "{file}" (HEADER=false)')
        finally:
            connection.close()

    def make_entity(self):
        entity = next(self.ids)
        self.main.execute("CREATE (:Point {id: $id})", {"id": entity})
        return entity

    def put_history(self, entity, versions):
        for version in range(1, versions + 1):
            self.main.execute("MATCH (a:Point) WHERE a.id = $id SET a.n = $n", {"id": entity, "n": version})


def rows(connection, statement, values):
    result = connection.execute(statement, values)
    try:
        found = []
        while result.has_next():
            found.append(result.get_next())
        return found
    finally:
        result.close()


class Worker:
    """The operations of one thread; reads share a transaction until `renew`."""

    def __init__(self, store, connection):
        self.store, self.connection = store, connection
        self.is_reading = False

    def rows(self, statement, **values):
        # Not prepared before: the system has deprecated that.
        return rows(self.connection, statement, values)

    def commit(self, previous):
        vertex = next(self.store.ids)
        try:
            with self.store.writing:
                if previous is None:
                    self.rows("CREATE (:Point {id: $id})", id=vertex)
                else:
                    statement = "MATCH (a:Point) WHERE a.id = $previous CREATE (a)-[:Next]->(:Point {id: $id})"
                    self.rows(statement, previous=previous, id=vertex)
        except RuntimeError as error:
            if any(refusal in str(error).lower() for refusal in REFUSALS):
                raise Conflict(str(error)) from None
            raise
        return vertex

    def read(self, statement, **values):
        if not self.is_reading:
            self.connection.execute("BEGIN TRANSACTION READ ONLY")
            self.is_reading = True
        return self.rows(statement, **values)

    def renew(self):
        if self.is_reading:
            self.connection.execute("COMMIT")
            self.is_reading = False

    def walk(self, first, steps_max):
        """Walks to the end of the chain, or as many steps; returns how many there were."""
        at = first
        for steps in range(steps_max):
            found = self.read("MATCH (a:Point)-[:Next]->(b:Point) WHERE a.id = $id RETURN b.id", id=at)
            if not found:
                return steps
            at = found[0][0]
        return steps_max

    def targets(self, number):
        return [row[0] for row in self.read(TARGETS, id=number)]

    def sources(self, number):
        return [row[0] for row in self.read(SOURCES, id=number)]

    def two_hops(self, number):
        return [row[1] for row in self.read(TWO_HOPS, id=number)]

    def close(self):
        try:
            self.renew()
        finally:
            self.connection.close()
