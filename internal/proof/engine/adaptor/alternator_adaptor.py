"""Given to pytest by -p: Alternator's tests take the engine for AWS, without the rest of Scylla's test framework."""
import os
import sys
import types

import pytest

root = os.path.join(os.environ["ALTERNATOR"], "test")


def module(name, **members):
    m = types.ModuleType(name)
    m.__dict__.update(members)
    sys.modules[name] = m
    return m


@pytest.fixture(scope="session")
def host():
    return "127.0.0.1"


class Cluster:
    """What the tests ask first: whether there is a Scylla beside the endpoint."""

    def __init__(self, *args, **named):
        raise ConnectionError


def skip(reason="", *args, **named):
    pytest.skip(reason)


module("cassandra", ConsistencyLevel=None, InvalidRequest=Exception).__path__ = []
module("cassandra.auth", PlainTextAuthProvider=lambda **named: None)
module("cassandra.cluster", Cluster=Cluster, NoHostAvailable=ConnectionError, ConsistencyLevel=None, ExecutionProfile=None, EXEC_PROFILE_DEFAULT=None)
module("cassandra.policies", RoundRobinPolicy=None)
module("cassandra.query", SimpleStatement=None)
module("test").__path__ = [root]
module("test.conftest", dynamic_scope=lambda: "session")
module("test.cqlpy").__path__ = []
module("test.cqlpy.conftest", host=host)
module("test.cqlpy.util", config_value_context=None)
module("test.pylib").__path__ = []
module("test.pylib.driver_utils", safe_driver_shutdown=lambda cluster: None)
module("test.pylib.skip_types", skip_env=skip, skip_bug=skip)
module("test.pylib.connect_options", add_host_option=lambda parser: parser.addoption("--host", default="127.0.0.1"))

import test.alternator.util  # noqa: E402  of the checkout

test.alternator.util.is_aws = lambda dynamodb: True


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("skip_env") or item.get_closest_marker("skip_bug"):
            item.add_marker(pytest.mark.skip(reason="as its mark says, which the test framework of Scylla reads"))
