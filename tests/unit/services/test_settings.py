"""Settings: read from the environment, refused with the name of the variable."""

import pytest

from services.kit.settings import SettingError, Settings


def test_nothing_set_gives_the_defaults() -> None:
    assert Settings.from_environment({}) == Settings()


def test_values_are_read() -> None:
    settings = Settings.from_environment(
        {
            "BAOHUANG_DATABASE_URL": "postgresql://user:secret@db/baohuang",
            "BAOHUANG_VALKEY_URL": "redis://cache:6379/0",
            "BAOHUANG_BROKER_URL": "amqp://queue",
            "BAOHUANG_ENGINE_TARGET": "dns:///engine:50051",
            "BAOHUANG_PORT": " 8080 ",
            "BAOHUANG_METRICS_PORT": "9000",
            "BAOHUANG_LOG_LEVEL": "DEBUG",
            "BAOHUANG_LOG_FORMAT": "json",
            "ANOTHER": "x",
        }
    )
    assert settings.database_url == "postgresql://user:secret@db/baohuang"
    assert (settings.broker_url, settings.engine_target) == ("amqp://queue", "dns:///engine:50051")
    assert (settings.port, settings.metrics_port) == (8080, 9000)
    assert (settings.log_level, settings.log_format) == ("debug", "json")


def test_broker_is_valkey_unless_named() -> None:
    assert Settings.from_environment({"BAOHUANG_VALKEY_URL": "redis://a"}).broker_url == "redis://a"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("BAOHUANG_PORT", "eighty"),
        ("BAOHUANG_PORT", "65536"),
        ("BAOHUANG_PORT", "-1"),
        ("BAOHUANG_DATABASE_CONNECTIONS", "0"),
        ("BAOHUANG_DATABASE_URL", "mysql://user:secret@db"),
        ("BAOHUANG_VALKEY_URL", "cache:6379:secret"),
        ("BAOHUANG_BROKER_URL", "http://[secret"),
        ("BAOHUANG_LOG_LEVEL", "loud"),
        ("BAOHUANG_LOG_FORMAT", "xml"),
    ],
)
def test_unusable_value_is_refused_by_name(variable: str, value: str) -> None:
    with pytest.raises(SettingError) as refusal:
        Settings.from_environment({variable: value})
    assert str(refusal.value).startswith(variable)
    assert "secret" not in str(refusal.value)


def test_missing_address_is_named_at_the_start() -> None:
    settings = Settings(database_url="postgresql://db")
    assert settings.require("database_url") is settings
    with pytest.raises(SettingError, match="BAOHUANG_ENGINE_TARGET is not set"):
        settings.require("database_url", "engine_target")
