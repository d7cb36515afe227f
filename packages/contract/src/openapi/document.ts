import type { z } from 'zod';

/** A JSON Schema of the 2020-12 dialect, which OpenAPI 3.1 uses. */
export type Schema = z.core.JSONSchema.BaseSchema;

export type Ref = { readonly $ref: string };

export type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
};

export type Header = { readonly description: string; readonly schema: Schema };

export type MediaType = {
  readonly schema: Schema;
  readonly example?: unknown;
  /** Schema of the `data:` line of one event in a `text/event-stream` body. */
  readonly 'x-event-schema'?: Schema;
};

export type Response = {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header | Ref>>;
  readonly content?: Readonly<Record<string, MediaType>>;
};

export type PathOperation = {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  /** The reason why the operation needs no scope. */
  readonly 'x-unscoped'?: string;
  readonly parameters?: readonly (Parameter | Ref)[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, MediaType>>;
  };
  readonly responses: Readonly<Record<string, Response | Ref>>;
  /** The values of `error` by status: the error responses themselves are shared between operations. */
  readonly 'x-error-codes': Readonly<Record<string, readonly string[]>>;
};

export type DocumentedEvent = {
  readonly type: string;
  readonly terminal: boolean;
  readonly description: string;
  readonly data: Ref;
};

export type SecurityScheme = { readonly type: string; readonly description: string } & Readonly<
  Record<string, unknown>
>;

export type OpenApiDocument = {
  readonly openapi: '3.1.0';
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly summary: string;
    readonly description: string;
    readonly contact: { readonly name: string; readonly url: string };
    readonly license: { readonly name: string; readonly identifier: string };
  };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, PathOperation>>>>;
  readonly components: {
    readonly responses: Readonly<Record<string, Response>>;
    readonly securitySchemes: Readonly<Record<string, SecurityScheme>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly headers: Readonly<Record<string, Header>>;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
  readonly 'x-event-types': readonly DocumentedEvent[];
};

export const schemaRefPrefix = '#/components/schemas/';
