/** Builds the JSON Schema of the document from the bodies that openapi.json describes. */
import type { ConfigKind } from '../../ports/domain/config/kinds.js';

type JsonSchema = Record<string, unknown>;

const REFERENCE_PREFIX = '#/components/schemas/';

interface DescribedSchema {
  metas?: { component?: { name: string } }[];
  keys?: Record<string, { flags?: { description?: string } }>;
}

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Copies schemas of openapi.json with everything that they reference. */
class DefinitionCollector {
  readonly definitions: Record<string, JsonSchema> = {};

  constructor(private readonly schemas: Readonly<Record<string, JsonSchema>>) {}

  copyComponent(name: string | undefined): JsonSchema {
    return this.#copy(name === undefined ? {} : (this.schemas[name] ?? {})) as JsonSchema;
  }

  #copy(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((one) => this.#copy(one));
    if (!isSchema(value)) return value;
    const { $ref, ...rest } = value;
    const members = Object.fromEntries(Object.entries(rest).map(([name, one]) => [name, this.#copy(one)]));
    if (typeof $ref !== 'string') return members;
    const name = $ref.slice(REFERENCE_PREFIX.length);
    if (this.definitions[name] === undefined) {
      // Set first, because schemas may reference themselves.
      this.definitions[name] = {};
      this.definitions[name] = this.copyComponent(name);
    }
    return { ...members, $ref: `#/$defs/${name}` };
  }
}

export function buildConfigSchema(kinds: readonly ConfigKind[], openApi: object): JsonSchema {
  const { components } = openApi as { components?: { schemas?: Record<string, JsonSchema> } };
  const collector = new DefinitionCollector(components?.schemas ?? {});
  const sections = kinds.map((spec) => [spec.kind, { type: 'array', items: buildEntrySchema(spec, collector) }]);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration of AOS',
    type: 'object',
    properties: { version: { const: 1 }, ...(Object.fromEntries(sections) as JsonSchema) },
    required: ['version'],
    additionalProperties: false,
    $defs: collector.definitions,
  };
}

function buildEntrySchema({ schema, nameFields }: ConfigKind, collector: DefinitionCollector): JsonSchema {
  const { metas = [], keys = {} } = schema.describe() as DescribedSchema;
  const body = collector.copyComponent(metas.flatMap(({ component }) => component?.name ?? []).at(-1));
  const known = (body['properties'] ?? {}) as JsonSchema;
  const properties = Object.entries(keys).map(([name, { flags }]) => [
    name,
    known[name] ?? { type: 'string', ...(flags?.description !== undefined && { description: flags.description }) },
  ]);
  const required = [...new Set([...((body['required'] ?? []) as string[]), ...nameFields])];
  return {
    ...body,
    type: 'object',
    properties: Object.fromEntries(properties) as JsonSchema,
    required,
    additionalProperties: false,
  };
}
