"""The asyncio client. `packages/python/scripts/blocking.ts` makes most of `_sync` from this folder."""
