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
  'additionalProperties',
]);

/** Joi also allows '' and null beside the choices. They are not listed, but the route accepts them. */
const said = (choice: unknown): boolean => choice !== null && choice !== '';

/** The schema without keywords that do not help a caller; `description` and `default` stay. */
export function simplifySchema(schema: Schema): Schema {
  const out: Schema = {};
  for (const [keyword, value] of Object.entries(oneOf(schema))) {
    if (LEFT_OUT.has(keyword)) continue;
    if (keyword === 'properties' && isSchema(value))
      out[keyword] = Object.fromEntries(
        Object.entries(value).map(([name, one]) => [name, simplifySchema(one as Schema)]),
      );
    else if (keyword === 'enum' && Array.isArray(value)) out[keyword] = value.filter(said);
    else if (keyword === 'type' && Array.isArray(value)) out[keyword] = typeIn(value);
    else out[keyword] = isSchema(value) ? simplifySchema(value) : value;
  }
  if (out['type'] === 'array') out['items'] ??= { type: 'string' };
  else delete out['items'];
  return out;
}

/** The first alternative that is not just null or empty. */
function oneOf(schema: Schema): Schema {
  const { anyOf, oneOf: either, ...rest } = schema;
  const choices = [anyOf ?? either ?? []].flat().filter(isSchema);
  const first = choices.find((choice) => choice['type'] !== 'null' && !('const' in choice && !said(choice['const'])));
  return first === undefined ? rest : { ...rest, ...oneOf(first) };
}

/**
 * One type of several, since public clients reject lists of types (contract 20, Amendments). Where one value or a list
 * is taken, it is the list; two values of yes and no are all that there are, so there it is the one. The route still
 * takes both.
 */
function typeIn(types: readonly unknown[]): unknown {
  const [first, ...others] = types.filter((type) => type !== 'null');
  return first !== 'boolean' && others.includes('array') ? 'array' : first;
}
