/** Changed fields for the audit log, before and after. */

export type ShownValue = string | number | boolean | null;

export interface ChangedFields {
  before: Record<string, ShownValue>;
  after: Record<string, ShownValue>;
}

const MAX_SHOWN_LENGTH = 500;

const toShownValue = (value: unknown): ShownValue => {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, MAX_SHOWN_LENGTH);
};

/**
 * Returns changed fields, before and after.
 * @param secrets shown only as `set` or null
 */
export function findChangedFields(
  before: object,
  after: object,
  names: readonly string[],
  secrets: readonly string[] = [],
): ChangedFields {
  const of = (values: object): Record<string, ShownValue> =>
    Object.fromEntries(
      names.map((name) => {
        const value = (values as Record<string, unknown>)[name];
        return [name, secrets.includes(name) && value !== null && value !== undefined ? 'set' : toShownValue(value)];
      }),
    );
  return { before: of(before), after: of(after) };
}
