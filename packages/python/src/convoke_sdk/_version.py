"""The version of the package. The wheel takes it from here."""

VERSION = "0.1.0"
USER_AGENT = f"convoke-sdk-python/{VERSION}"
