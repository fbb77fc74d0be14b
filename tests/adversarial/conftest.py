from cli.conftest import command

__all__ = ["command"]
