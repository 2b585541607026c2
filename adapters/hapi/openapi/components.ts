import { isDeepStrictEqual } from 'node:util';
import type { SchemaDescription, JsonSchema } from './schema-description.js';
import { toJsonSchema, type SchemaOptions } from './json-schema.js';

export const buildRef = (kind: string, name: string): JsonSchema => ({ $ref: `#/components/${kind}/${name}` });

export class Components {
  readonly schemas: Record<string, JsonSchema> = {};

  readonly register = (name: string, schema: JsonSchema): JsonSchema => {
    let free = name;
    for (let n = 2; this.schemas[free] !== undefined && !isDeepStrictEqual(this.schemas[free], schema); n++) {
      free = `${name}${n}`;
    }
    this.schemas[free] ??= schema;
    return buildRef('schemas', free);
  };

  readonly input: SchemaOptions = { keep: this.register, strict: true };
  readonly output: SchemaOptions = { keep: this.register };

  buildBodySchema(described: SchemaDescription, name: string): JsonSchema {
    const schema = toJsonSchema(described, this.input);
    return schema['properties'] === undefined ? schema : this.register(name, schema);
  }
}
