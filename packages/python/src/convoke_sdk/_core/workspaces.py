"""Selects the workspace of a client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._generated.operations import LIST_WORKSPACES
from ..errors import ConvokeError
from .calls import Access, Call, Calls
from .effects import Exclusive, Steps
from .listing import next_cursor_of
from .settings import Settings, TenantHeader
from .tokens import Bearer


class SelectedWorkspace:
    """Adds the headers that select a workspace. What is not given is looked up once, on first use."""

    def __init__(
        self,
        settings: Settings,
        bearer: Bearer,
        selector: tuple[str | None, str | None],
        tenant_header: TenantHeader,
    ) -> None:
        self.can_renew = bearer.can_renew
        self._bearer = bearer
        self._calls = Calls(settings, bearer)
        self._organization_id, self._tenant_id = selector
        self._tenant_header = tenant_header
        self._selectors: Mapping[str, str] | None = None
        if self._organization_id is not None and self._tenant_id is not None:
            self._selectors = self._headers(self._organization_id, self._tenant_id)

    def headers(self, access: Access, rejected: Mapping[str, str] | None) -> Steps[Mapping[str, str]]:
        authorization = yield from self._bearer.headers(access, rejected)
        if access != "tenant":
            return authorization
        selectors = self._selectors
        if selectors is None:
            selectors = yield Exclusive(self, self._select())
        return {**selectors, **authorization}

    def _select(self) -> Steps[Mapping[str, str]]:
        # Another thread may have looked it up while this one waited.
        if self._selectors is None:
            found = yield from self._find()
            self._selectors = self._headers(found["organization_id"], found["tenant"]["tenant_id"])
        return self._selectors

    def _find(self) -> Steps[Any]:
        found: list[Any] = []
        cursor: str | None = None
        while True:
            page = yield from self._calls.json(Call(LIST_WORKSPACES, query={"cursor": cursor}))
            found += [workspace for workspace in page["workspaces"] if self._matches(workspace)]
            if len(found) > 1:
                raise _ambiguous(found)
            cursor = next_cursor_of(page, cursor)
            if cursor is None:
                break
        if not found:
            raise ConvokeError("The credentials cannot access such a workspace.", code="no_workspace")
        return found[0]

    def _matches(self, workspace: Any) -> bool:
        is_organization = self._organization_id in (None, workspace["organization_id"])
        return is_organization and self._tenant_id in (None, workspace["tenant"]["tenant_id"])

    def _headers(self, organization_id: str, tenant_id: str) -> Mapping[str, str]:
        return {"x-organization-id": organization_id, self._tenant_header: tenant_id}


def _ambiguous(found: list[Any]) -> ConvokeError:
    names = ", ".join(f"{one['organization_id']}/{one['tenant']['tenant_id']}" for one in found[:2])
    return ConvokeError(
        f"The credentials can access more than one workspace ({names}, …): "
        "select one with organization_id and tenant_id.",
        code="ambiguous_workspace",
    )
