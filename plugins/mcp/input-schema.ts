/**
 * Lengths, patterns and meaningless nulls are omitted, because the route checks them and its error
 * explains them.
 */
type JsonSchema = Record<string, unknown>;

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const OMITTED_KEYWORDS = new Set([
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

/** joi also allows '' and null, which are accepted but not listed. */
const isListedChoice = (choice: unknown): boolean => choice !== null && choice !== '';

export function simplifySchema(schema: JsonSchema): JsonSchema {
  const out: JsonSchema = {};
  for (const [keyword, value] of Object.entries(selectAlternative(schema))) {
    if (OMITTED_KEYWORDS.has(keyword)) continue;
    if (keyword === 'properties' && isSchema(value))
      out[keyword] = Object.fromEntries(
        Object.entries(value).map(([name, one]) => [name, simplifySchema(one as JsonSchema)]),
      );
    else if (keyword === 'enum' && Array.isArray(value)) out[keyword] = value.filter(isListedChoice);
    else if (keyword === 'type' && Array.isArray(value)) out[keyword] = selectType(value);
    else out[keyword] = isSchema(value) ? simplifySchema(value) : value;
  }
  if (out['type'] === 'array') out['items'] ??= { type: 'string' };
  else delete out['items'];
  return out;
}

function selectAlternative(schema: JsonSchema): JsonSchema {
  const { anyOf, oneOf: either, ...rest } = schema;
  const choices = [anyOf ?? either ?? []].flat().filter(isSchema);
  const first = choices.find(
    (choice) => choice['type'] !== 'null' && !('const' in choice && !isListedChoice(choice['const'])),
  );
  return first === undefined ? rest : { ...rest, ...selectAlternative(first) };
}

/**
 * Selects one type of several, because public clients reject lists of types (contract 20,
 * Amendments). A list is preferred over its element, but a boolean over a list of booleans. The
 * route still accepts both.
 */
function selectType(types: readonly unknown[]): unknown {
  const [first, ...others] = types.filter((type) => type !== 'null');
  return first !== 'boolean' && others.includes('array') ? 'array' : first;
}
