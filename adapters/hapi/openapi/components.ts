import { isDeepStrictEqual } from 'node:util';
import type { SchemaDescription, JsonSchema } from './description.js';
import { jsonSchema, type SchemaOptions } from './json-schema.js';

export const ref = (kind: string, name: string): JsonSchema => ({ $ref: `#/components/${kind}/${name}` });

export class Components {
  readonly schemas: Record<string, JsonSchema> = {};

  readonly keep = (name: string, schema: JsonSchema): JsonSchema => {
    let free = name;
    for (let n = 2; this.schemas[free] !== undefined && !isDeepStrictEqual(this.schemas[free], schema); n++) {
      free = `${name}${n}`;
    }
    this.schemas[free] ??= schema;
    return ref('schemas', free);
  };

  readonly input: SchemaOptions = { keep: this.keep, strict: true };
  readonly output: SchemaOptions = { keep: this.keep };

  body(described: SchemaDescription, name: string): JsonSchema {
    const schema = jsonSchema(described, this.input);
    return schema['properties'] === undefined ? schema : this.keep(name, schema);
  }
}
