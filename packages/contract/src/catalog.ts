import { requiredScopes } from './operation.ts';
import { operationList } from './operations/table.ts';
import type { ProfileCatalog } from './resources/client.ts';
import {
  catalogVersion,
  profileDescriptions,
  profileNames,
  type Scope,
  scopeDescriptions,
  scopes,
  scopesOf,
} from './scopes.ts';

/** D-66: the permission catalog. The operations of a scope are derived from the operation table. */
export function permissionCatalog(): ProfileCatalog {
  return {
    catalog_version: catalogVersion,
    profiles: profileNames.map((name) => ({
      name,
      description: profileDescriptions[name],
      scopes: [...scopesOf(name)],
    })),
    scopes: scopes.map((name) => ({
      name,
      description: scopeDescriptions[name],
      operations: operationsOfScope(name),
    })),
  };
}

export function operationsOfScope(scope: Scope): string[] {
  return operationList
    .filter((operation) => requiredScopes(operation).includes(scope))
    .map((operation) => operation.id);
}
