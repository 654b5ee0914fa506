"""Given to pytest by -p: LocalStack's tests take the engine for AWS, and compare all of its answers with what they recorded there."""
import importlib.abc
import importlib.machinery
import os
import sys
import types

import boto3
import botocore.config
import pytest

root = os.environ["LOCALSTACK"]
account, region = "123456789012", "us-east-1"


class Absent(types.ModuleType):
    """What LocalStack imports for its server, and its tests of DynamoDB do not use."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (Exception,), {"__init__": lambda *args, **named: None, "__class_getitem__": lambda *args: None})


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        frame = sys._getframe(1)
        while "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        if name.startswith("localstack.") or frame.f_code.co_filename.startswith(root):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return Absent(spec.name)

    def exec_module(self, module):
        pass


def module(name, **members):
    m = types.ModuleType(name)
    m.__dict__.update(members)
    sys.modules[name] = m


sys.path[:0] = [root, os.path.join(root, "localstack-core")]
sys.meta_path.append(Finder())
module("localstack.services", __path__=[])
module("localstack.testing.aws.util", is_aws_cloud=lambda: True, get_lambda_logs=None, wait_for_user=None)
module("localstack.testing.aws.lambda_utils", _await_dynamodb_table_active=lambda client, table: None)
module("tests.aws.services.kinesis.test_kinesis", get_shard_iterator=None)

from localstack_snapshot.snapshots.transformer import RegexTransformer  # noqa: E402

from localstack.testing.pytest.fixtures import (  # noqa: E402, F401  of the checkout
    dynamodb_create_table,
    dynamodb_create_table_with_parameters,
    dynamodb_wait_for_table_active,
    cleanups,
    wait_for_dynamodb_stream_ready,
)
from localstack.testing.snapshots.transformer_utility import SNAPSHOT_BASIC_TRANSFORMER, TransformerUtility  # noqa: E402


class Clients:
    """Clients of services; a test that wants one that the engine is not ends here."""

    def __init__(self, **options):
        self.options = {"region_name": region, **options}

    def __getattr__(self, service):
        if service not in ("dynamodb", "dynamodbstreams"):
            pytest.skip(f"needs {service}")
        return boto3.client(service, **self.options)


@pytest.fixture
def aws_client():
    return Clients()


@pytest.fixture
def aws_client_factory():
    return Clients


@pytest.fixture
def account_id():
    return account


@pytest.fixture
def region_name():
    return region


def absent(reason):
    @pytest.fixture
    def fixture():
        pytest.skip(reason)

    return fixture


kinesis_create_stream = absent("needs kinesis")
infrastructure_setup = absent("needs cloudformation")
secondary_region_name = absent("needs global tables")


@pytest.fixture
def snapshot(_snapshot_session):
    _snapshot_session.transform = TransformerUtility
    for pattern, replacement in ((account, "1" * 12), (region, "<region>"), ("arn:aws:", "arn:<partition>:")):
        _snapshot_session.add_transformer(RegexTransformer(pattern, replacement), priority=2)
    _snapshot_session.add_transformer(SNAPSHOT_BASIC_TRANSFORMER, priority=2)
    return _snapshot_session


def pytest_collection_modifyitems(config, items):
    recorded = [item for item in items if item.get_closest_marker("aws_validated")]
    config.hook.pytest_deselected(items=[item for item in items if item not in recorded])
    items[:] = recorded
    for item in items:  # what LocalStack itself is not sure to pass
        item.own_markers = [mark for mark in item.own_markers if mark.name not in ("skip", "skipif")]
