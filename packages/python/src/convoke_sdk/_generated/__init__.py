# Generated from packages/contract by packages/python/scripts/write-wire.ts. Do not edit.
