/**
 * `schema.describe()` of joi. joi holds each account that it gives against a schema of accounts, and that of every
 * inner schema again: seven eighths of the time, a tenth of a start, for an answer that is joi's own.
 */
import type { Description, Schema } from 'joi';

/** What each schema was made with, and what it asks for the check. */
interface Root {
  assert: (value: unknown, schema: Schema) => void;
}

export function descriptionOf(schema: Schema): Description {
  const root = (schema as unknown as { $_root: Root }).$_root;
  const { assert } = root;
  // Nothing else runs until `describe()` is through.
  root.assert = () => undefined;
  try {
    return schema.describe();
  } finally {
    root.assert = assert;
  }
}
