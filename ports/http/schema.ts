/** OpenAPI metadata of joi schemas. */
import type { Schema } from 'joi';

/**
 * Names a schema in openapi.json and generated clients; unique among all plugins. Apply it last,
 * except for `allow(null)`, a default or a description.
 * @param name noun, or noun with action: `Item`, `WebhookCreation`; not `New…` (Go constructors) or
 *   built-in types (`Error`)
 */
export const withSchemaName = <S extends Schema>(name: string, schema: S): S => {
  // `describe()` walks the whole schema, which would dominate start-up time.
  const description = schema.$_getFlag('description') as string | undefined;
  return schema.meta({ component: { name, description } }) as S;
};

/** Adds JSON Schema keywords for joi rules that cannot be translated (`custom`). */
export const withJsonSchema = <S extends Schema>(json: Readonly<Record<string, unknown>>, schema: S): S =>
  schema.meta({ json }) as S;

/** Hides a query parameter or an alternative from openapi.json. */
export const hideFromOpenApi = <S extends Schema>(schema: S): S => schema.meta({ unlisted: true }) as S;
