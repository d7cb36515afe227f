import type { OpenApiDocument, Parameter, PathOperation } from '@convoke/contract';

/** An operation as a program calls it. */
export type Call = {
  readonly method: string;
  readonly path: string;
  readonly operation: PathOperation;
  readonly headers: readonly CallHeader[];
  readonly isStream: boolean;
};

export type CallHeader = {
  readonly name: string;
  /** The variable that holds the value; a new UUID when absent. */
  readonly variable: string | undefined;
};

const variables: Readonly<Record<string, string>> = {
  'X-Organization-ID': 'ORGANIZATION_ID',
  'X-Workspace-Tenant-ID': 'TENANT_ID',
};

export function callOf(
  { method, path }: Pick<Call, 'method' | 'path'>,
  operation: PathOperation,
  parameters: readonly Parameter[],
): Call {
  const answer = operation.responses['200'];
  const content = answer && 'content' in answer ? answer.content : undefined;
  const authorization = { name: 'Authorization', variable: 'TOKEN' };
  const others = parameters.flatMap(({ name, in: place, required }) => {
    const isNeeded = place === 'header' && (required || name in variables);
    return isNeeded ? [{ name, variable: variables[name] }] : [];
  });
  return {
    method,
    path,
    operation,
    headers: [...(operation.security.length > 0 ? [authorization] : []), ...others],
    isStream: content?.['text/event-stream'] !== undefined,
  };
}

/** Returns the parameters of the operation, with those that operations share. */
export function parametersOf(document: OpenApiDocument, operation: PathOperation): Parameter[] {
  return (operation.parameters ?? []).flatMap((one) => {
    if (!('$ref' in one)) return [one];
    return document.components.parameters[one.$ref.slice(one.$ref.lastIndexOf('/') + 1)] ?? [];
  });
}
