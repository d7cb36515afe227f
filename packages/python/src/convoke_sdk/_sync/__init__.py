"""The blocking client. Files that name it were made from `_async`; `transport`, `driver` and `following` are its own."""
