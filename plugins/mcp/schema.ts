/**
 * JSON Schema of a tool's arguments as an agent needs it: names, kinds, choices. What only refuses (lengths, patterns, null
 * where leaving out says the same) is the route's business, and its refusal explains it. Pure.
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

/** Joi allows '' and null beside the choices; an agent that means them says them, and it is taken. */
const said = (choice: unknown): boolean => choice !== null && choice !== '';

/** The schema without what does not help to call; `description` and `default` stay. */
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
  // A choice among words says what kind it is.
  if (out['enum'] !== undefined && out['type'] === 'string') delete out['type'];
  return out;
}

/** Of alternatives the one that is not merely null or empty. */
function oneOf(schema: Schema): Schema {
  const { anyOf, oneOf: either, ...rest } = schema;
  const choices = [anyOf ?? either ?? []].flat().filter(isSchema);
  const first = choices.find((choice) => choice['type'] !== 'null' && !('const' in choice && !said(choice['const'])));
  return first === undefined ? rest : { ...rest, ...oneOf(first) };
}

const single = (types: unknown[]): unknown => (types.length === 1 ? types[0] : types);
