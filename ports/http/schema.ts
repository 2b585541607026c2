/** What a joi schema tells openapi.json beyond its rules. */
import type { Schema } from 'joi';

/**
 * A schema with a name: openapi.json holds it once, under `components/schemas`, and programs made from it call it so.
 * Give the name last; `allow(null)`, a default and another description may follow. Names are shared by all plugins.
 * @param name `Item`: a noun, or a noun with what is done to it (`WebhookCreation`). Not `New…`, which Go's clients
 * call the function that makes one; no type that a language has (`Error`)
 */
export const named = <S extends Schema>(name: string, schema: S): S => {
  // Not by `describe()`, which walks the whole schema: half of the program's start would go there.
  const description = schema.$_getFlag('description') as string | undefined;
  return schema.meta({ component: { name, description } }) as S;
};

/**
 * What JSON Schema can say of a schema where joi's rules cannot be read (a rule of its own: `custom`).
 * @param json keywords, for example `{ maxLength: 200 }`
 */
export const stated = <S extends Schema>(json: Readonly<Record<string, unknown>>, schema: S): S =>
  schema.meta({ json }) as S;

/**
 * A parameter of the query, or one of the alternatives of a body or an answer, that is not in openapi.json: another
 * operation describes it (`GET /bugs?action=next`, at POST), or the route's description does in words (a list of
 * reports).
 */
export const unlisted = <S extends Schema>(schema: S): S => schema.meta({ unlisted: true }) as S;
