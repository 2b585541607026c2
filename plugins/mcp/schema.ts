/**
 * JSON Schema of a tool's arguments, reduced to what an agent needs: names, types, choices. Lengths, patterns and
 * meaningless nulls are left out: the route still checks them, and its error explains them. Pure.
 */
type Schema = Record<string, unknown>;

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const LEFT_OUT = new Set([
  'minLength',
  'maxLength',
  'pattern',
  'format',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'uniqueItems',
  'examples',
  'not',
  'allOf',
]);

/** Joi also allows '' and null beside the choices. They are not listed, but the route accepts them. */
const said = (choice: unknown): boolean => choice !== null && choice !== '';

/** Whether a schema says its type and nothing more. */
const isPlain = (schema: Schema, type: unknown): boolean => schema['type'] === type && Object.keys(schema).length === 1;

/** The schema without keywords that do not help a caller; `description` and `default` stay. */
export function lean(schema: Schema): Schema {
  const out: Schema = {};
  for (const [keyword, value] of Object.entries(oneOf(schema))) {
    if (LEFT_OUT.has(keyword)) continue;
    if (keyword === 'properties' && isSchema(value))
      out[keyword] = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, lean(one as Schema)]));
    else if (keyword === 'enum' && Array.isArray(value)) out[keyword] = value.filter(said);
    else if (keyword === 'type' && Array.isArray(value)) out[keyword] = single(value.filter((type) => type !== 'null'));
    else out[keyword] = isSchema(value) ? lean(value) : value;
  }
  // Elements that may be any text say nothing, and neither do elements of the type that stands alone.
  const { items, type } = out;
  if (isSchema(items) && Array.isArray(type) && (isPlain(items, 'string') || isPlain(items, type[0])))
    delete out['items'];
  // A list of words already shows the type.
  if (out['enum'] !== undefined && out['type'] === 'string') delete out['type'];
  return out;
}

/** The first alternative that is not just null or empty. */
function oneOf(schema: Schema): Schema {
  const { anyOf, oneOf: either, ...rest } = schema;
  const choices = [anyOf ?? either ?? []].flat().filter(isSchema);
  const first = choices.find((choice) => choice['type'] !== 'null' && !('const' in choice && !said(choice['const'])));
  return first === undefined ? rest : { ...rest, ...oneOf(first) };
}

const single = (types: unknown[]): unknown => (types.length === 1 ? types[0] : types);
