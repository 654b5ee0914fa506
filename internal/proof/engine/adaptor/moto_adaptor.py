"""Given to pytest by -p: of moto's tests those run that were verified on AWS. The engine is the one service that they find."""
import boto3
import pytest

client = boto3.client


def only_dynamodb(service, *args, **named):
    """Stands for boto3.client. STS tells an account, which tests ask for; a test that wants another service ends here."""
    if service == "sts":
        return Accounts()
    if not service.startswith("dynamodb"):
        pytest.skip(f"needs {service}")
    return client(service, *args, **named)


class Accounts:
    def get_caller_identity(self):
        return {"Account": "123456789012"}


boto3.client = only_dynamodb


def pytest_configure(config):
    for mark in ("aws_verified", "requires_clean_slate", "requires_docker"):
        config.addinivalue_line("markers", mark)


def pytest_collection_modifyitems(config, items):
    verified = [item for item in items if item.get_closest_marker("aws_verified")]
    config.hook.pytest_deselected(items=[item for item in items if item not in verified])
    items[:] = verified
