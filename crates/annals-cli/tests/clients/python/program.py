"""Uses the generated client against the server that its argument names."""

import datetime
import sys
from typing import TypeVar

from annals_client import AuthenticatedClient
from annals_client.api.entities import get_entities_id, patch_entities_id, post_entities, put_entities_id
from annals_client.api.graph import get_entities_id_neighbors
from annals_client.api.history import get_entities_id_history
from annals_client.api.operation import get_health_ready
from annals_client.api.relationships import post_relationships
from annals_client.api.search import get_entities, post_find
from annals_client.api.transactions import post_transactions
from annals_client.api.trees import get_tree_diff_steps, get_tree_find_steps, get_tree_steps, post_tree_revert, put_tree_steps
from annals_client.api.types import get_types_kind_name, post_types
from annals_client.models import (
    AllExpression,
    Attribute,
    AttributeType,
    CommitReceipt,
    DecimalValue,
    DryRunReceipt,
    Entity,
    EntityContent,
    EntityPage,
    Find,
    FindKind,
    GetTypesKindNameKind,
    HasExpression,
    HasExpressionHas,
    InstancePage,
    MergePatch,
    NeighborPage,
    NewEntity,
    NewRelationship,
    NoneExpression,
    Operation,
    OperationAction,
    OperationKind,
    PlainMapValue,
    Problem,
    ProblemKind,
    Properties,
    PropertyExpression,
    PropertyExpressionOperator,
    Ready,
    Relationship,
    SetStep,
    SetValue,
    TimestampValue,
    Transaction,
    TreeChangeChange,
    TreeChangePage,
    TreeMatches,
    TreePast,
    TreeReceipt,
    Type,
    TypeKind,
    Types,
    TypesReceipt,
    VersionPage,
)

Answer = TypeVar("Answer")


def expect(form: type[Answer], answer: object) -> Answer:
    assert isinstance(answer, form), f"expected {form.__name__}, found {answer}"
    return answer


def declare_a_type(client: AuthenticatedClient) -> None:
    new = Type(
        kind=TypeKind.ENTITY,
        name="package",
        attributes=[Attribute(name="name", type_=AttributeType.STRING, required=True)],
        statuses=["active"],
    )
    expect(TypesReceipt, post_types.sync(client=client, body=Types(types=[new])))
    kind = GetTypesKindNameKind.ENTITY
    found = expect(Type, get_types_kind_name.sync(kind=kind, name="package", client=client))
    attributes = found.attributes
    assert attributes and [known.name for known in attributes] == ["name"] and attributes[0].required is True


def create(client: AuthenticatedClient) -> None:
    """Values of several kinds come back as they were."""
    properties = Properties()
    properties["name"] = "bash"
    properties["size"] = 7
    properties["price"] = DecimalValue(decimal="1.20")
    properties["built"] = TimestampValue(
        timestamp=datetime.datetime(2025, 8, 9, 12, tzinfo=datetime.timezone.utc)
    )
    properties["tags"] = SetValue(set_=["shell"])
    properties["homes"] = ["a", {"$decimal": "2.0"}]
    properties["owner"] = PlainMapValue.from_dict({"name": "ada", "age": {"$decimal": "36"}})
    bash = NewEntity(id="bash", type_="package", properties=properties)
    created = expect(Entity, post_entities.sync(client=client, body=bash, annals_author="ada"))
    assert created.version == 1 and created.created.author == "ada"
    read = expect(Entity, get_entities_id.sync(id="bash", client=client))
    assert read.properties.to_dict() == properties.to_dict(), read.properties
    for name, value in properties.additional_properties.items():
        assert read.properties[name] == value, f"{name}: {read.properties[name]} is not {value}"

    libc = NewEntity(id="libc6", type_="package", properties=Properties.from_dict({"name": "libc6"}))
    expect(Entity, post_entities.sync(client=client, body=libc))
    depends = NewRelationship(id="r", type_="depends", from_="bash", to="libc6")
    made = expect(Relationship, post_relationships.sync(client=client, body=depends))
    assert (made.from_, made.to) == ("bash", "libc6")
    around = expect(NeighborPage, get_entities_id_neighbors.sync(id="bash", client=client))
    assert [item.entity.id for item in around.items] == ["libc6"] and around.next_ is None


def update(client: AuthenticatedClient) -> None:
    tag = get_entities_id.sync_detailed(id="bash", client=client).headers["etag"]
    patch = MergePatch.from_dict({"size": 8, "price": None})
    patched = expect(Entity, patch_entities_id.sync("bash", client=client, body=patch, if_match=tag))
    assert patched.version == 2 and patched.properties["size"] == 8 and "price" not in patched.properties
    late = patch_entities_id.sync_detailed("bash", client=client, body=patch, if_match=tag)
    assert late.status_code == 412
    refused = expect(Problem, late.parsed)
    assert refused.kind == ProblemKind.PRECONDITION_FAILED and refused["latestVersion"] == 2
    stepped = patch_entities_id.sync("bash", client=client, body=[SetStep(set_="size", value=9)])
    assert expect(Entity, stepped).properties["size"] == 9
    content = EntityContent(properties=Properties.from_dict({"name": "bash", "size": 10}))
    replaced = expect(Entity, put_entities_id.sync("bash", client=client, body=content))
    assert replaced.properties.to_dict() == {"name": "bash", "size": 10}


def search(client: AuthenticatedClient) -> None:
    text = expect(EntityPage, get_entities.sync(client=client, q="package where size >= 5", limit=10))
    assert [item.id for item in text.items] == ["bash"]
    repeated = get_entities.sync(client=client, type_=["package"], where=["name ^= b", "size = 10"])
    assert [item.id for item in expect(EntityPage, repeated).items] == ["bash"]
    large = PropertyExpression(property_="size", operator=PropertyExpressionOperator.GREATER_OR_EQUAL, value=5)
    leads = HasExpression(has=HasExpressionHas.OUT, type_="depends", to="name = libc6")
    where = AllExpression(all_=[large, leads, NoneExpression(none=["name = libc6"])])
    found = expect(InstancePage, post_find.sync(client=client, body=Find(type_="package", where=where)))
    assert [item.id for item in found.items] == ["bash"] and isinstance(found.items[0], Entity)
    related = post_find.sync(client=client, body=Find(kind=FindKind.RELATIONSHIP, where="@type = depends"))
    assert [item.id for item in expect(InstancePage, related).items] == ["r"]


def read_the_past(client: AuthenticatedClient) -> None:
    page = expect(VersionPage, get_entities_id_history.sync("bash", client=client, limit=3))
    assert page.next_
    rest = get_entities_id_history.sync("bash", client=client, limit=3, after=page.next_)
    versions = page.items + expect(VersionPage, rest).items
    assert [item.version for item in versions] == [4, 3, 2, 1]
    first = versions[-1]
    before = expect(Entity, get_entities_id.sync("bash", client=client, at_position=first.position))
    assert before.properties["size"] == 7
    at = expect(Entity, get_entities_id.sync("bash", client=client, at=first.instant))
    assert at.properties["size"] == 7 and at.created.instant == first.instant


def commit(client: AuthenticatedClient) -> None:
    zsh = Properties.from_dict({"name": "zsh"})
    operations = [
        Operation(
            action=OperationAction.CREATE, kind=OperationKind.ENTITY, id="zsh", type_="package", properties=zsh
        ),
        Operation(
            action=OperationAction.CREATE,
            kind=OperationKind.RELATIONSHIP,
            type_="depends",
            from_="zsh",
            to="libc6",
        ),
        Operation(
            action=OperationAction.UPDATE,
            kind=OperationKind.ENTITY,
            id="bash",
            patch=MergePatch.from_dict({"size": 11}),
            if_version=4,
        ),
    ]
    transaction = Transaction(author="ada", message="three at once", operations=operations)
    transaction.dry_run = True
    tried = expect(DryRunReceipt, post_transactions.sync(client=client, body=transaction))
    assert tried.entities == 3
    transaction.dry_run = False
    done = expect(CommitReceipt, post_transactions.sync(client=client, body=transaction))
    assert done.ids[0] == "zsh" and len(done.ids) == 2
    waited = get_entities_id.sync("bash", client=client, annals_wait_position=str(done.position))
    assert expect(Entity, waited).properties["size"] == 11
    # A second time an operation does not hold: none is done.
    again = expect(Problem, post_transactions.sync(client=client, body=transaction))
    assert (again.status, again.kind) == (412, ProblemKind.PRECONDITION_FAILED), again


def change_a_tree(client: AuthenticatedClient) -> None:
    tree = {"tags": ["core", "lab"], "clock": {"zone": "UTC"}}
    put = expect(TreeReceipt, put_tree_steps.sync("/config", client=client, body=tree))
    expect(TreeReceipt, put_tree_steps.sync("/config/clock/zone", client=client, body="CET", annals_author="ada"))
    assert get_tree_steps.sync("/config", client=client) == {**tree, "clock": {"zone": "CET"}}
    assert get_tree_steps.sync("config/clock/zone", client=client) == "CET"
    found = expect(TreeMatches, get_tree_find_steps.sync("//zone", client=client))
    assert [(one.path, one.value) for one in found.items] == [("/config/clock/zone", "CET")]
    differs = expect(TreeChangePage, get_tree_diff_steps.sync("/config", client=client, from_position=put.position))
    assert [(one.path, one.change) for one in differs.items] == [("/config/clock", TreeChangeChange.MODIFIED)]
    past = TreePast(path="/config", at_position=put.position)
    expect(TreeReceipt, post_tree_revert.sync(client=client, body=past))
    assert get_tree_steps.sync("/config", client=client) == tree


def be_refused(client: AuthenticatedClient) -> None:
    nameless = post_entities.sync_detailed(client=client, body=NewEntity(type_="package"))
    assert nameless.status_code == 422
    problem = expect(Problem, nameless.parsed)
    assert (problem.status, problem.kind) == (422, ProblemKind.INVALID_PROPERTY)
    assert problem.type_ == "/errors/invalid-property" and problem.title and "name" in problem.detail
    bad = expect(Problem, get_entities.sync(client=client, q="package where ("))
    assert bad.status == 400 and bad.kind == ProblemKind.INVALID_EXPRESSION
    lost = expect(Problem, get_entities_id.sync("nobody", client=client))
    assert lost.status == 404 and lost.kind == ProblemKind.NOT_FOUND


def main() -> None:
    with AuthenticatedClient(base_url=sys.argv[1], token="none", raise_on_unexpected_status=True) as client:
        assert expect(Ready, get_health_ready.sync(client=client)).ready
        for step in (declare_a_type, create, update, search, read_the_past, commit, change_a_tree, be_refused):
            step(client)
            print(f"python: {step.__name__}: ok")


main()
